// Eigenvalues of general matrices, without eigenvectors. Similarity transformations make the matrix
// triangular, and a value is read off the end of the diagonal whenever the adjacent subdiagonal
// element has become negligible (deflation). In complex arithmetic one kind of step serves real
// values and conjugate pairs. Read next: scores.cc, circuits.cc.
#include "headlab/lab/heads/weights/matrix.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "core/kernels/simd.h"
#include "headlab/core/base/error.h"

namespace headlab {
namespace {

using Complex = std::complex<double>;

constexpr int kMostSteps = 300;  // for one eigenvalue; two or three are usual

/// Applies the reflection I - 2 v v^T / (v^T v) from both sides; v[0] belongs to row `first`.
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

/// Returns a matrix with the same eigenvalues and zeros below the first subdiagonal.
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

/// Upper Hessenberg matrix that QR steps make triangular.
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
        require(++steps <= kMostSteps, "cannot compute eigenvalues of a matrix of ", n_,
                " rows: they do not converge");
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

  /// Returns the eigenvalue of the last 2 x 2 block that is nearer to its last element.
  Complex shift(Index end) {
    const Complex a = at(end - 1, end - 1), d = at(end, end);
    const Complex half = (a - d) / 2.0;
    const Complex root = std::sqrt(half * half + at(end - 1, end) * at(end, end - 1));
    const Complex one = d + half + root, other = d + half - root;
    return std::abs(one - d) < std::abs(other - d) ? one : other;
  }

  /// Performs a step: H - shift = Q R by rotations of neighbouring rows; then H = R Q + shift.
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

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Returns the row of each column if there are at least as many columns as rows: shortest
/// augmenting paths. Rows are added one by one, and each takes the path of least cost to a free
/// column, along which earlier rows may have to move. Potentials keep all reduced costs
/// nonnegative, so that the paths are found as by Dijkstra. Both count from 1; 0: no row.
template <class Cost>
std::vector<Index> rows_of_columns(Index rows, Index columns, const Cost& cost) {
  std::vector<double> row_potential(rows + 1), column_potential(columns + 1);
  std::vector<Index> row_of(columns + 1), before(columns + 1);
  for (Index row = 1; row <= rows; ++row) {
    std::vector<double> least(columns + 1, kInfinity);  // cost of the best path to each column
    std::vector<bool> done(columns + 1);
    row_of[0] = row;  // column 0 is where the new row's path begins
    Index column = 0;
    while (row_of[column] != 0) {
      done[column] = true;
      Index nearest = 0;
      double step = kInfinity;
      for (Index c = 1; c <= columns; ++c) {
        if (done[c]) continue;
        const Index r = row_of[column];
        const double reduced = cost(r, c) - row_potential[r] - column_potential[c];
        if (reduced < least[c]) {
          least[c] = reduced;
          before[c] = column;
        }
        if (least[c] < step) {
          step = least[c];
          nearest = c;
        }
      }
      for (Index c = 0; c <= columns; ++c) {
        if (done[c]) {
          row_potential[row_of[c]] += step;
          column_potential[c] -= step;
        } else {
          least[c] -= step;
        }
      }
      column = nearest;
    }
    for (; column != 0; column = before[column]) row_of[column] = row_of[before[column]];
  }
  return row_of;
}

// Several doubles at once: heads are compared pair by pair, row by row.
using Doubles [[gnu::vector_size(kVectorBytes)]] = double;
using Longs [[gnu::vector_size(kVectorBytes)]] = std::int64_t;
constexpr Index kDoubles = kVectorBytes / static_cast<Index>(sizeof(double));

/// Loads the first `count` numbers, or as many as there are lanes; 0 in the others.
template <class Number>
inline Doubles lanes(const Number* from, Index count) {
  Doubles values{};
  if (count >= kDoubles) {
    for (Index i = 0; i < kDoubles; ++i) values[i] = static_cast<double>(from[i]);
  } else {
    for (Index i = 0; i < count; ++i) values[i] = static_cast<double>(from[i]);
  }
  return values;
}

/// Returns ln x within an ulp; large and finite for 0. x = 2^k (1 + f), 1 + f in [sqrt(1/2),
/// sqrt(2)), and with s = f / (2 + f) ln(1 + f) = f - f^2/2 + s (f^2/2 + R(s^2)). Source: FreeBSD's
/// e_log.c.
inline Doubles log_of(Doubles x) {
  const auto bits = std::bit_cast<Longs>(x);
  const Longs k = (bits - std::bit_cast<std::int64_t>(std::numbers::sqrt2 / 2)) >> 52;
  const Doubles f = std::bit_cast<Doubles>(bits - (k << 52)) - 1, s = f / (2 + f), z = s * s;
  Doubles r = z * 1.479819860511658591e-01 + 1.531383769920937332e-01;
  for (const double c :
       {1.818357216161805012e-01, 2.222219843214978396e-01, 2.857142874366239149e-01,
        3.999999999940941908e-01, 6.666666666666735130e-01}) {
    r = r * z + c;
  }
  const Doubles half = f * f / 2, power = __builtin_convertvector(k, Doubles);
  return power * 6.93147180369123816490e-01 -
         (half - (s * (half + r * z) + power * 1.90821492927058770002e-10) - f);
}

}  // namespace

Matrix::Matrix(const Tensor& tensor) : Matrix(tensor.size(0), tensor.size(1)) {
  require(tensor.rank() == 2, "cannot make a matrix of a tensor: expected two axes, got ",
          tensor.shape());
  std::copy(tensor.values().begin(), tensor.values().end(), values_.begin());
}

Matrix Matrix::transposed() const {
  return {columns_, rows_, [this](Index i, Index j) { return (*this)(j, i); }};
}

Json to_json(const Matrix& matrix) {
  Json::Array rows;
  const std::vector<double>& values = matrix.values();
  for (auto row = values.begin(); row != values.end(); row += matrix.columns()) {
    rows.emplace_back(Json::Array(row, row + matrix.columns()));
  }
  return rows;
}

Matrix operator*(const Matrix& a, const Matrix& b) {
  require(a.columns() == b.rows(), "cannot multiply a matrix of ", a.columns(),
          " columns by one of ", b.rows(), " rows");
  Matrix result(a.rows(), b.columns());
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index k = 0; k < a.columns(); ++k) {
      for (Index j = 0; j < b.columns(); ++j) result(i, j) += a(i, k) * b(k, j);
    }
  }
  return result;
}

double inner(const Matrix& a, const Matrix& b) {
  require(a.rows() == b.rows() && a.columns() == b.columns(),
          "cannot combine matrices of different sizes");
  return std::inner_product(a.values().begin(), a.values().end(), b.values().begin(), 0.0);
}

Matrix gram(const Matrix& x) { return x.transposed() * x; }

double product_norm(const Matrix& gram_x, const Matrix& gram_y) {
  return std::sqrt(std::max(0.0, inner(gram_x, gram_y)));
}

double sandwich_norm(const Matrix& gram_x, const Matrix& m, const Matrix& gram_y) {
  return std::sqrt(std::max(0.0, inner(gram_x * m, m * gram_y)));
}

std::vector<Complex> eigenvalues(const Matrix& matrix) {
  require(matrix.rows() == matrix.columns(),
          "cannot compute eigenvalues: expected a square matrix, got ", matrix.rows(), " x ",
          matrix.columns());
  for (const double value : matrix.values()) {
    if (!std::isfinite(value)) {
      throw NotFinite(text("cannot compute eigenvalues: the matrix holds ", value),
                      "go back to an earlier checkpoint: the weights are not finite");
    }
  }
  return Iteration(hessenberg(matrix)).run();
}

template <std::floating_point Number>
double jensen_shannon_distance(Index n, const Number* p, const Number* q) {
  double divergence = 0;
  for (Index i = 0; i < n; i += kDoubles) {
    const Doubles a = lanes(p + i, n - i), b = lanes(q + i, n - i), sum = a + b;
    const Doubles apart = (a - b) / (sum > 0 ? sum : Doubles{} + 1);  // a / middle is 1 + apart
    const Doubles terms = a * log_of(1 + apart) / 2 + b * log_of(1 - apart) / 2;
    for (Index lane = 0; lane < kDoubles; ++lane) divergence += terms[lane];
  }
  return std::sqrt(std::max(0.0, divergence));
}

template double jensen_shannon_distance(Index, const float*, const float*);
template double jensen_shannon_distance(Index, const double*, const double*);

double effective_rank(const Matrix& gram) {
  std::vector<double> singular;
  for (const Complex& value : eigenvalues(gram)) {  // real, and below 0 by rounding alone
    singular.push_back(std::sqrt(std::max(0.0, value.real())));
  }
  const double sum = std::accumulate(singular.begin(), singular.end(), 0.0);
  double entropy = 0;
  for (const double value : singular) {
    if (value > 0) entropy -= value / sum * std::log(value / sum);
  }
  return sum > 0 ? std::exp(entropy) : 0;
}

std::vector<Index> best_assignment(Index rows, Index columns, std::span<const double> values) {
  require(rows >= 0 && columns >= 0 && std::ssize(values) == rows * columns, "cannot assign ", rows,
          " rows to ", columns, " columns: it needs rows times columns values, got ",
          values.size());
  require(std::ranges::all_of(values, [](double v) { return std::isfinite(v); }),
          "cannot assign rows to columns: all values must be finite");
  const Index enough = std::max(rows, columns);  // missing columns are filled up with values of 0
  const std::vector<Index> row_of = rows_of_columns(rows, enough, [&](Index row, Index column) {
    return column <= columns ? -values[(row - 1) * columns + column - 1] : 0;
  });
  std::vector<Index> column_of(rows, -1);
  for (Index column = 1; column <= columns; ++column) {
    if (row_of[column] != 0) column_of[row_of[column] - 1] = column - 1;
  }
  return column_of;
}

}  // namespace headlab
