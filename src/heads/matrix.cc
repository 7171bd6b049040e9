// Eigenvalues without eigenvectors: the matrix is only ever turned by similarity, and a value falls
// off the end of the diagonal whenever the element beside it has become negligible. Complex
// arithmetic makes one kind of step serve real values and conjugate pairs alike.
// Read next: circuits.cc.
#include "heads/matrix.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "headlab/base/error.h"

namespace headlab {
namespace {

using Complex = std::complex<double>;

constexpr int kMostSteps = 300;  // for one eigenvalue; two or three are usual

/// Applies I - 2 v v^T / (v^T v) from both sides; v counts from row `first` on.
void reflect(Matrix& a, Index first, const std::vector<double>& v) {
  const Index n = a.rows();
  const double squares = std::inner_product(v.begin(), v.end(), v.begin(), 0.0);
  const auto at = [&](Index i) { return v[i - first]; };
  for (Index j = 0; j < n; ++j) {
    double dot = 0;
    for (Index i = first; i < n; ++i) dot += at(i) * a(i, j);
    for (Index i = first; i < n; ++i) a(i, j) -= 2 * dot / squares * at(i);
  }
  for (Index i = 0; i < n; ++i) {
    double dot = 0;
    for (Index j = first; j < n; ++j) dot += a(i, j) * at(j);
    for (Index j = first; j < n; ++j) a(i, j) -= 2 * dot / squares * at(j);
  }
}

/// The same eigenvalues, zeros below the first subdiagonal.
Matrix hessenberg(Matrix a) {
  for (Index k = 0; k + 2 < a.rows(); ++k) {
    std::vector<double> v;
    for (Index i = k + 1; i < a.rows(); ++i) v.push_back(a(i, k));
    const double norm = std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
    v[0] += v[0] < 0 ? -norm : norm;
    if (norm > 0) reflect(a, k + 1, v);
  }
  return a;
}

/// An upper Hessenberg matrix that QR steps make triangular.
class Iteration {
 public:
  explicit Iteration(const Matrix& h) : n_(h.rows()), h_(h.values().begin(), h.values().end()) {
    for (const Complex& value : h_) norm_ = std::max(norm_, std::abs(value));
  }

  std::vector<Complex> run() {
    int steps = 0;
    std::vector<Complex> values;
    for (Index end = n_ - 1; end >= 0;) {
      Index start = end;
      while (start > 0 && !negligible(start)) --start;
      if (start == end) {
        values.push_back(at(end, end));
        --end;
        steps = 0;
      } else {
        require(++steps <= kMostSteps, "the eigenvalues of a matrix of ", n_,
                " rows do not settle");
        step(start, end, steps % 10 == 0 ? Complex(norm_, norm_) : shift(end));
      }
    }
    return values;
  }

 private:
  Complex& at(Index i, Index j) { return h_[i * n_ + j]; }

  bool negligible(Index i) {
    const double beside = std::abs(at(i, i)) + std::abs(at(i - 1, i - 1));
    return std::abs(at(i, i - 1)) <=
           std::numeric_limits<double>::epsilon() * (beside > 0 ? beside : norm_);
  }

  /// The eigenvalue of the last 2 x 2 block that lies nearer to its last element.
  Complex shift(Index end) {
    const Complex a = at(end - 1, end - 1), d = at(end, end);
    const Complex half = (a - d) / 2.0;
    const Complex root = std::sqrt(half * half + at(end - 1, end) * at(end, end - 1));
    const Complex one = d + half + root, other = d + half - root;
    return std::abs(one - d) < std::abs(other - d) ? one : other;
  }

  /// H - shift = Q R by rotations of neighbouring rows; then H = R Q + shift.
  void step(Index start, Index end, Complex shift) {
    std::vector<std::pair<Complex, Complex>> rotations;
    for (Index k = start; k <= end; ++k) at(k, k) -= shift;
    for (Index k = start; k < end; ++k) {
      const double r = std::hypot(std::abs(at(k, k)), std::abs(at(k + 1, k)));
      const Complex c = r > 0 ? at(k, k) / r : 1, s = r > 0 ? at(k + 1, k) / r : 0;
      rotations.emplace_back(c, s);
      for (Index j = k; j <= end; ++j) {
        const Complex above = at(k, j), below = at(k + 1, j);
        at(k, j) = std::conj(c) * above + std::conj(s) * below;
        at(k + 1, j) = c * below - s * above;
      }
    }
    for (Index k = start; k < end; ++k) {
      const auto [c, s] = rotations[k - start];
      for (Index i = start; i <= std::min(k + 1, end); ++i) {
        const Complex left = at(i, k), right = at(i, k + 1);
        at(i, k) = left * c + right * s;
        at(i, k + 1) = right * std::conj(c) - left * std::conj(s);
      }
    }
    for (Index k = start; k <= end; ++k) at(k, k) += shift;
  }

  Index n_;
  std::vector<Complex> h_;
  double norm_ = 0;
};

}  // namespace

Matrix::Matrix(const Tensor& tensor) : Matrix(tensor.size(0), tensor.size(1)) {
  require(tensor.rank() == 2, "a matrix has two axes, got ", tensor.shape());
  std::copy(tensor.values().begin(), tensor.values().end(), values_.begin());
}

Matrix Matrix::transposed() const {
  Matrix result(columns_, rows_);
  for (Index i = 0; i < rows_; ++i)
    for (Index j = 0; j < columns_; ++j) result(j, i) = (*this)(i, j);
  return result;
}

Matrix operator*(const Matrix& a, const Matrix& b) {
  require(a.columns() == b.rows(), "a matrix of ", a.columns(), " columns times one of ", b.rows(),
          " rows");
  Matrix result(a.rows(), b.columns());
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index k = 0; k < a.columns(); ++k)
      for (Index j = 0; j < b.columns(); ++j) result(i, j) += a(i, k) * b(k, j);
  }
  return result;
}

double inner(const Matrix& a, const Matrix& b) {
  require(a.rows() == b.rows() && a.columns() == b.columns(), "matrices of different sizes");
  return std::inner_product(a.values().begin(), a.values().end(), b.values().begin(), 0.0);
}

double sandwich_norm(const Matrix& x, const Matrix& m, const Matrix& y) {
  const Matrix left = (x.transposed() * x) * m, right = m * (y.transposed() * y);
  return std::sqrt(std::max(0.0, inner(left, right)));
}

std::vector<Complex> eigenvalues(const Matrix& matrix) {
  require(matrix.rows() == matrix.columns(), "eigenvalues need a square matrix, got ",
          matrix.rows(), " x ", matrix.columns());
  for (const double value : matrix.values())
    require(std::isfinite(value), "a matrix with ", value, " has no eigenvalues");
  return Iteration(hessenberg(matrix)).run();
}

}  // namespace headlab
