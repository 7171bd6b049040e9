// A small matrix in double and the few things that the study of weights asks of it: products,
// Frobenius norms, eigenvalues. Private to this layer; models compute with tensors.
// Read next: matrix.cc.
#pragma once

#include <complex>
#include <vector>

#include "headlab/tensor/tensor.h"

namespace headlab {

class Matrix {
 public:
  Matrix(Index rows, Index columns) : rows_(rows), columns_(columns), values_(rows * columns) {}
  /// Copies a tensor of rank 2.
  explicit Matrix(const Tensor& tensor);

  Index rows() const { return rows_; }
  Index columns() const { return columns_; }
  double& operator()(Index i, Index j) { return values_[i * columns_ + j]; }
  double operator()(Index i, Index j) const { return values_[i * columns_ + j]; }
  const std::vector<double>& values() const { return values_; }
  Matrix transposed() const;

 private:
  Index rows_, columns_;
  std::vector<double> values_;
};

/// Error unless the sizes fit.
Matrix operator*(const Matrix& a, const Matrix& b);

/// sum over i, j of a_ij b_ij.
double inner(const Matrix& a, const Matrix& b);

/// |X M Y^T|_F = sqrt(tr(M^T (X^T X) M (Y^T Y))): X [C, n], M [n, m], Y [C, m] with n, m far below
/// C, so that the product [C, C] is never made.
double sandwich_norm(const Matrix& x, const Matrix& m, const Matrix& y);

/// The eigenvalues of a real square matrix, in no particular order: Householder reduction to
/// Hessenberg form, then QR steps with Wilkinson's shift in complex numbers. Errors: not square;
/// an element that is not finite. Golub and Van Loan, "Matrix Computations", sections 7.4 and 7.5.
std::vector<std::complex<double>> eigenvalues(const Matrix& matrix);

}  // namespace headlab
