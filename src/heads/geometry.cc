// Jacobi's method: rotate two axes at a time so that their off-diagonal element vanishes, until all
// have. It is short, needs no tridiagonal form, and finds small eigenvalues as exactly as large
// ones, which effective ranks need; matrices here have a few dozen rows. Read next: scores.cc.
#include "headlab/heads/geometry.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "headlab/base/error.h"

namespace headlab {
namespace {

double x_log_x(double x) { return x > 0 ? x * std::log(x) : 0; }

/// A symmetric matrix on its way to a diagonal one, and the axes that it is seen along.
struct Rotating {
  Index n;
  std::vector<double> a, axes;  // [n, n], rows of `axes` are eigenvectors in the end

  double& el(Index i, Index j) { return a[i * n + j]; }

  static void turn(double& x, double& y, double c, double s) {
    const double old = x;
    x = c * old - s * y, y = s * old + c * y;
  }
  /// Makes element (p, q) zero.
  void rotate(Index p, Index q) {
    if (el(p, q) == 0) return;
    const double theta = (el(q, q) - el(p, p)) / (2 * el(p, q));
    const double t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::hypot(theta, 1.0));
    const double c = 1 / std::hypot(t, 1.0), s = t * c;
    for (Index k = 0; k < n; ++k) turn(el(k, p), el(k, q), c, s);
    for (Index k = 0; k < n; ++k) {
      turn(el(p, k), el(q, k), c, s);
      turn(axes[p * n + k], axes[q * n + k], c, s);
    }
    el(p, q) = el(q, p) = 0;
  }
  double off_diagonal() {
    double sum = 0;
    for (Index p = 0; p < n; ++p)
      for (Index q = p + 1; q < n; ++q) sum += el(p, q) * el(p, q);
    return sum;
  }
};

}  // namespace

double mean_entropy(Index rows, Index n, const Scalar* weights) {
  double sum = 0;
  for (Index i = 0; i < rows * n; ++i) sum -= x_log_x(static_cast<double>(weights[i]));
  return rows > 0 ? sum / static_cast<double>(rows) : 0;
}

double jensen_shannon_distance(Index n, const Scalar* p, const Scalar* q) {
  double divergence = 0;
  for (Index i = 0; i < n; ++i) {
    const auto a = static_cast<double>(p[i]), b = static_cast<double>(q[i]);
    const double middle = (a + b) / 2;
    divergence +=
        (a > 0 ? a * std::log(a / middle) : 0) / 2 + (b > 0 ? b * std::log(b / middle) : 0) / 2;
  }
  return std::sqrt(std::max(0.0, divergence));
}

SymmetricEigen symmetric_eigen(Index n, std::span<const double> matrix) {
  require(n >= 0 && std::ssize(matrix) == n * n, "eigenvalues: a matrix of ", n, " rows has ",
          n * n, " elements, got ", matrix.size());
  require(std::ranges::all_of(matrix, [](double x) { return std::isfinite(x); }),
          "eigenvalues: an element is not finite");
  Rotating work{n, {matrix.begin(), matrix.end()}, std::vector<double>(n * n)};
  double whole = 0;
  for (Index p = 0; p < n; ++p) {
    work.axes[p * n + p] = 1;
    for (Index q = p; q < n; ++q) {
      work.el(q, p) = work.el(p, q);
      whole += work.el(p, q) * work.el(p, q);
    }
  }
  constexpr int kMostSweeps = 50;  // it converges quadratically: ten are many
  for (int sweep = 0; sweep < kMostSweeps && work.off_diagonal() > 1e-32 * whole; ++sweep) {
    for (Index p = 0; p < n; ++p)
      for (Index q = p + 1; q < n; ++q) work.rotate(p, q);
  }
  std::vector<Index> order(n);
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](Index i) { return work.el(i, i); });
  SymmetricEigen eigen;
  for (const Index i : order) {
    eigen.values.push_back(work.el(i, i));
    const auto row = work.axes.begin() + i * n;
    const double largest =
        *std::ranges::max_element(row, row + n, {}, [](double x) { return std::abs(x); });
    std::transform(row, row + n, std::back_inserter(eigen.vectors),
                   [largest](double x) { return largest < 0 ? -x : x; });
  }
  return eigen;
}

std::vector<std::array<double, 2>> classical_scaling(Index n, std::span<const double> distances) {
  std::vector<double> means(n), products(n * n);
  double mean = 0;
  for (Index i = 0; i < n * n; ++i) {
    const double square = distances[i] * distances[i];
    products[i] = square;
    means[i / n] += square / static_cast<double>(n);
    mean += square / static_cast<double>(n * n);
  }
  for (Index i = 0; i < n * n; ++i)
    products[i] = -(products[i] - means[i / n] - means[i % n] + mean) / 2;
  const SymmetricEigen eigen = symmetric_eigen(n, products);
  std::vector<std::array<double, 2>> points(n);
  for (Index k = 0; k < std::min<Index>(2, n); ++k) {
    const double scale = std::sqrt(std::max(0.0, eigen.values[k]));
    for (Index i = 0; i < n; ++i) points[i][k] = scale * eigen.vectors[k * n + i];
  }
  return points;
}

double effective_rank(Index n, std::span<const double> gram) {
  std::vector<double> singular = symmetric_eigen(n, gram).values;
  for (double& value : singular) value = std::sqrt(std::max(0.0, value));
  const double sum = std::accumulate(singular.begin(), singular.end(), 0.0);
  double entropy = 0;
  for (const double value : singular) entropy -= sum > 0 ? x_log_x(value / sum) : 0;
  return sum > 0 ? std::exp(entropy) : 0;
}

}  // namespace headlab
