// Entropy and Jensen-Shannon distance: known values (figures of articles: see lessons_test.cc).
// Eigenvalues and ranks: matrices whose answer is known.
#include "headlab/heads/matrix.h"

#include <array>
#include <cmath>

#include "headlab/base/random.h"
#include "headlab/ops/ops.h"
#include "support/tensors.h"

namespace headlab { namespace {

TEST(JensenShannonDistance, IsZeroForEqualsAndTheRootOfLn2ForOpposites) {
  const std::array<Scalar, 3> left = {1, 0, 0}, right = {0, .5, .5};
  EXPECT_EQ(jensen_shannon_distance(3, left.data(), left.data()), 0);
  EXPECT_NEAR(jensen_shannon_distance(3, left.data(), right.data()), std::sqrt(std::log(2)), 1e-15);
}

TEST(JensenShannonDistance, IsSymmetricAndKeepsTheTriangleInequality) {
  Generator random(Key{3});
  for (int i = 0; i < 200; ++i) {
    std::array<std::array<Scalar, 5>, 3> p{};
    for (auto& weights : p) {
      double sum = 0;
      for (Scalar& w : weights)
        sum += static_cast<double>(w = static_cast<Scalar>(random.uniform()));
      for (Scalar& w : weights) w = static_cast<Scalar>(static_cast<double>(w) / sum);
    }
    const auto distance = [&](std::size_t a, std::size_t b) {
      return jensen_shannon_distance(5, p[a].data(), p[b].data());
    };
    EXPECT_EQ(distance(0, 1), distance(1, 0));
    EXPECT_LE(distance(0, 2), distance(0, 1) + distance(1, 2) + 1e-6);
  }
}

TEST(JensenShannonDistance, IsItsDefinitionForAnyLength) {
  Generator random(Key{5});
  for (Index n = 1; n < 40; ++n) {
    std::vector<double> p(static_cast<std::size_t>(n)), q = p;
    for (auto* weights : {&p, &q}) {  // of every size, 0 among them
      for (double& w : *weights) w = random.uniform() < .2 ? 0 : std::exp(-30 * random.uniform());
      weights->back() = 1 + random.uniform();
    }
    double divergence = 0;
    for (std::size_t i = 0; i < p.size(); ++i)
      for (const double w : {p[i], q[i]})
        divergence += w > 0 ? w * std::log(2 * w / (p[i] + q[i])) / 2 : 0;
    EXPECT_NEAR(jensen_shannon_distance(n, p.data(), q.data()),
                std::sqrt(std::max(0.0, divergence)), 1e-12)
        << n;
  }
}

std::vector<double> random_numbers(Index count, Key key) {
  Generator random(key);
  std::vector<double> values;
  for (Index i = 0; i < count; ++i) values.push_back(random.normal());
  return values;
}

double dot(Index n, const double* x, const double* y) {
  double sum = 0;
  for (Index i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

/// Z^T Z of Z [rows, n].
std::vector<double> gram_of(Index rows, Index n, const std::vector<double>& z) {
  std::vector<double> gram(static_cast<std::size_t>(n * n));
  for (Index row = 0; row < rows; ++row) {
    for (Index i = 0; i < n * n; ++i) {
      gram[static_cast<std::size_t>(i)] += z[static_cast<std::size_t>(row * n + i / n)] *
                                           z[static_cast<std::size_t>(row * n + i % n)];
    }
  }
  return gram;
}

TEST(SymmetricEigenvalues, HaveTheSumsOfTheMatrixAndOfItsSquares) {
  for (const Index n : {1, 2, 3, 8, 30}) {
    const std::vector<double> matrix =
        gram_of(n, n, random_numbers(n * n, Key{static_cast<std::uint64_t>(n)}));
    const std::vector<double> values = symmetric_eigenvalues(n, matrix);
    double trace = 0, squares = dot(n * n, matrix.data(), matrix.data());
    for (Index i = 0; i < n; ++i) trace += matrix[static_cast<std::size_t>(i * n + i)];
    for (const double value : values) {
      trace -= value, squares -= value * value;
      EXPECT_GT(value, 0) << "of Z^T Z";
    }
    EXPECT_NEAR(trace, 0, 1e-13 * static_cast<double>(n) * values[0]);
    EXPECT_NEAR(squares, 0, 1e-13 * static_cast<double>(n) * values[0] * values[0]);
    EXPECT_TRUE(std::is_sorted(values.rbegin(), values.rend()));
  }
}

TEST(SymmetricEigenvalues, AreKnownOfAPath) {
  // The matrix with 2 on the diagonal and -1 beside it has 2 - 2 cos(pi k / (n + 1)).
  constexpr Index n = 12;
  std::vector<double> matrix(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    matrix[i * n + i] = 2;
    if (i + 1 < n) matrix[i * n + i + 1] = -1;
  }
  const std::vector<double> values = symmetric_eigenvalues(n, matrix);
  for (Index k = 1; k <= n; ++k) {
    const double expected = 2 - 2 * std::cos(M_PI * static_cast<double>(k) / (n + 1));
    EXPECT_NEAR(values[static_cast<std::size_t>(n - k)], expected, 1e-14 * n);
  }
}

TEST(SymmetricEigenvalues, RefuseWhatIsNoMatrix) {
  expect_error(
      [] {
        symmetric_eigenvalues(2, std::vector<double>{1, 2, 3});
      },
      {"4 elements, got 3"});
  expect_error([] { symmetric_eigenvalues(1, std::vector<double>{std::nan("")}); }, {"not finite"});
}

TEST(EffectiveRank, OfKnownMatrices) {
  EXPECT_EQ(effective_rank(3, std::vector<double>(9)), 0);
  const std::vector<double> identity = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  EXPECT_NEAR(effective_rank(3, identity), 3, 1e-14);
  const std::vector<double> column = random_numbers(5, Key{6}), row = random_numbers(4, Key{7});
  std::vector<double> outer;
  for (const double x : column)
    for (const double y : row) outer.push_back(x * y);
  // Rounding leaves singular values of about 1e-8 of the first, and 18 times that as entropy.
  EXPECT_NEAR(effective_rank(4, gram_of(5, 4, outer)), 1, 3 * 4 * 18e-8);
  // Singular values 3 and 1: shares 3/4 and 1/4.
  const double entropy = -(0.75 * std::log(0.75) + 0.25 * std::log(0.25));
  EXPECT_NEAR(effective_rank(2, std::vector<double>{9, 0, 0, 1}), std::exp(entropy), 1e-14);
  EXPECT_NEAR(effective_rank(2, std::vector<double>{5, 4, 4, 5}), std::exp(entropy), 1e-13);
}

}  // namespace
}  // namespace headlab
