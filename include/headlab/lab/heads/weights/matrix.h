// Small matrices in double for the analysis of heads: products and norms, eigenvalues, distances
// between patterns, effective rank, one-to-one assignment. Models themselves compute with tensors.
// Read next: src/lab/heads/weights/matrix.cc.
#pragma once

#include <complex>
#include <concepts>
#include <span>
#include <vector>

#include "headlab/core/base/json.h"
#include "headlab/core/tensor/tensor.h"

namespace headlab {

class Matrix {
 public:
  Matrix(Index rows, Index columns) : rows_(rows), columns_(columns), values_(rows * columns) {}
  /// Sets element i, j to element(i, j), called row by row.
  template <class Element>
  Matrix(Index rows, Index columns, const Element& element) : Matrix(rows, columns) {
    for (Index n = 0; n < rows * columns; ++n) values_[n] = element(n / columns, n % columns);
  }
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

/// Returns an array of rows.
Json to_json(const Matrix& matrix);
/// Returns the matrix product. Error unless the sizes fit.
Matrix operator*(const Matrix& a, const Matrix& b);

/// Returns the sum over i, j of a_ij b_ij.
double inner(const Matrix& a, const Matrix& b);

/// Returns X^T X.
Matrix gram(const Matrix& x);
/// Returns |X Y^T|_F = sqrt(tr(X^T X Y^T Y)) from the Gram matrices of X [C, n] and Y [C, n]. If n
/// is far below C, this avoids computing the product [C, C].
double product_norm(const Matrix& gram_x, const Matrix& gram_y);
/// Returns |X M Y^T|_F = sqrt(tr(M^T (X^T X) M (Y^T Y))): X [C, n], M [n, m], Y [C, m], computed in
/// the same way.
double sandwich_norm(const Matrix& gram_x, const Matrix& m, const Matrix& gram_y);

/// Returns the eigenvalues of a real square matrix in no particular order: Householder reduction to
/// Hessenberg form, then QR steps with Wilkinson's shift in complex numbers. Errors: not square; an
/// element that is not finite. Golub and Van Loan, "Matrix Computations", sections 7.4 and 7.5.
std::vector<std::complex<double>> eigenvalues(const Matrix& matrix);

/// Returns the square root of the Jensen-Shannon divergence (natural logarithm) of two
/// distributions over n keys.
template <std::floating_point Number>
double jensen_shannon_distance(Index n, const Number* p, const Number* q);

/// Returns the exp of the entropy of the singular values of Z, divided by their sum, from Z^T Z [n,
/// n]: n for n equal ones, 1 for a single one; 0 for Z = 0. Errors: those of eigenvalues. Source:
/// Roy and Vetterli 2007, definition 1.
double effective_rank(const Matrix& gram);

/// Returns the assignment of a different column to each row of values [rows, columns] with the
/// largest sum of values; -1 for the rows left over if there are fewer columns. (A head that is
/// best for two relations can be assigned to only one of them, and a greedy choice would depend on
/// the order of the relations.) Errors: a value that is not finite, a matrix of another size.
/// Source: the Hungarian method, Kuhn 1955; with potentials, O(rows^2 columns).
std::vector<Index> best_assignment(Index rows, Index columns, std::span<const double> values);

}  // namespace headlab
