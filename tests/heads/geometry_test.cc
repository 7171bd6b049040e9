// Entropy and Jensen-Shannon distance: known values (figures of articles: see lessons_test.cc).
// Eigenvalues, maps and ranks: matrices whose answer is known.
#include "headlab/heads/matrix.h"

#include <array>
#include <cmath>

#include "headlab/base/random.h"
#include "headlab/ops/ops.h"
#include "support/tensors.h"

namespace headlab { namespace {

TEST(MeanEntropy, OfOneKeyIsZeroAndOfAllAlikeTheLogarithmOfTheirNumber) {
  const std::array<Scalar, 8> weights = {1, 0, 0, 0, .25, .25, .25, .25};
  EXPECT_EQ(mean_entropy(1, 4, weights.data()), 0);
  EXPECT_NEAR(mean_entropy(1, 4, weights.data() + 4), std::log(4), 1e-15);
  EXPECT_NEAR(mean_entropy(2, 4, weights.data()), std::log(4) / 2, 1e-15);
  EXPECT_EQ(mean_entropy(0, 4, weights.data()), 0);
}

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

TEST(SymmetricEigen, TakesTheMatrixApartAndPutsItTogether) {
  for (const Index n : {1, 2, 3, 8, 30}) {
    const std::vector<double> matrix =
        gram_of(n, n, random_numbers(n * n, Key{static_cast<std::uint64_t>(n)}));
    const SymmetricEigen eigen = symmetric_eigen(n, matrix);
    const double bound = 1e-14 * static_cast<double>(n) * eigen.values[0];
    for (Index i = 0; i < n; ++i) {
      const double* v = eigen.vectors.data() + i * n;
      for (Index j = 0; j < n; ++j) {
        EXPECT_NEAR(dot(n, v, eigen.vectors.data() + j * n), i == j, 1e-13);
        const double product = dot(n, matrix.data() + j * n, v);
        EXPECT_NEAR(product, eigen.values[static_cast<std::size_t>(i)] * v[j], bound);
      }
    }
    EXPECT_TRUE(std::is_sorted(eigen.values.rbegin(), eigen.values.rend()));
  }
}

TEST(SymmetricEigen, KnowsTheValuesOfAPath) {
  // The matrix with 2 on the diagonal and -1 beside it has 2 - 2 cos(pi k / (n + 1)).
  constexpr Index n = 12;
  std::vector<double> matrix(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    matrix[i * n + i] = 2;
    if (i + 1 < n) matrix[i * n + i + 1] = -1;
  }
  const SymmetricEigen eigen = symmetric_eigen(n, matrix);
  for (Index k = 1; k <= n; ++k) {
    const double expected = 2 - 2 * std::cos(M_PI * static_cast<double>(k) / (n + 1));
    EXPECT_NEAR(eigen.values[static_cast<std::size_t>(n - k)], expected, 1e-14 * n);
  }
}

TEST(SymmetricEigen, RefusesWhatIsNoMatrix) {
  expect_error([] { symmetric_eigen(2, std::vector<double>{1, 2, 3}); }, {"4 elements, got 3"});
  expect_error([] { symmetric_eigen(1, std::vector<double>{std::nan("")}); }, {"not finite"});
}

std::vector<double> distances_of(const std::vector<std::array<double, 2>>& points) {
  std::vector<double> distances;
  for (const auto& a : points)
    for (const auto& b : points) distances.push_back(std::hypot(a[0] - b[0], a[1] - b[1]));
  return distances;
}

TEST(ClassicalScaling, FindsPlanarPointsUpToATurnOfTheMap) {
  const std::vector<double> numbers = random_numbers(20, Key{5});
  std::vector<std::array<double, 2>> points;
  for (std::size_t i = 0; i < 10; ++i) points.push_back({numbers[2 * i], numbers[2 * i + 1] + 7});
  const std::vector<double> distances = distances_of(points);
  const auto map = classical_scaling(10, distances);
  const std::vector<double> found = distances_of(map);
  double centre[2] = {};
  for (const auto& point : map) centre[0] += point[0], centre[1] += point[1];
  EXPECT_NEAR(std::hypot(centre[0], centre[1]), 0, 1e-12);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], distances[i], 1e-12);
}

TEST(ClassicalScaling, NeedsADistanceForEachPair) {
  expect_error([] { classical_scaling(2, std::vector<double>{0, 1}); }, {"4 distances, got 2"});
}

TEST(ClassicalScaling, OfOnePointOrNoneOrEqualsIsTheOrigin) {
  EXPECT_TRUE(classical_scaling(0, {}).empty());
  EXPECT_EQ(classical_scaling(1, std::vector<double>{0})[0], (std::array<double, 2>{0, 0}));
  for (const auto& point : classical_scaling(3, std::vector<double>(9)))
    EXPECT_EQ(point, (std::array<double, 2>{0, 0}));
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
