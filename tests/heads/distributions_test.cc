// Entropy and Jensen-Shannon distance: known values, and the figures that articles print of heads
// with random weights (drawn as the articles draw them; see tests/nn/articles_test.cc).
#include <array>

#include "headlab/heads/scores.h"
#include "headlab/ops/ops.h"
#include "support/numpy.h"
#include "support/tensors.h"

namespace headlab::inline HEADLAB_SCALAR {
namespace {

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

/// Patterns [1, H, T, T] of heads with random weights.
Tensor random_pattern(const Tensor& x, Index heads) {
  const Index width = x.size(2);
  NumPyRandom random(42);
  const Tensor W = random.normals({width, 3 * width}, std::sqrt(2 / static_cast<double>(width)));
  const Tensor qkv = matmul(x, W);
  const auto part = [&](Index i) { return slice(qkv, 2, i * width, (i + 1) * width); };
  Tensor pattern;
  attention(part(0), part(1), part(2), {.heads = heads, .pattern = &pattern});
  return pattern;
}

TEST(RandomHeads, HaveTheEntropyAndFocusThatTheArticlePrints) {
  const Tensor pattern = random_pattern(NumPyRandom(42).normals({1, 6, 32}), 4);
  const double entropies[] = {1.206, 0.925, 1.259, 0.843}, focus[] = {32.7, 48.4, 29.7, 53.0};
  for (Index h = 0; h < 4; ++h) {
    const double entropy = mean_entropy(6, 6, pattern.data() + h * 36);
    EXPECT_NEAR(entropy, entropies[h], 0.5e-3) << "head " << h + 1;
    EXPECT_NEAR(100 * (1 - entropy / std::log(6)), focus[h], 0.05) << "head " << h + 1;
  }
}

TEST(RandomHeads, DifferAsMuchAsTheArticlePrints) {
  const Tensor x = NumPyRandom(42).normals({1, 8, 64});
  for (const auto& [heads, diversity] :
       {std::pair<Index, double>{1, 0}, {2, 0.5962}, {4, 0.5770}, {8, 0.5774}}) {
    const Tensor pattern = random_pattern(x, heads);
    double total = 0, pairs = 0;
    for (Index a = 0; a < heads; ++a) {
      for (Index b = a + 1; b < heads; ++b) {
        for (Index t = 0; t < 8; ++t, ++pairs) {
          total += jensen_shannon_distance(8, pattern.data() + (a * 8 + t) * 8,
                                           pattern.data() + (b * 8 + t) * 8);
        }
      }
    }
    EXPECT_NEAR(pairs > 0 ? total / pairs : 0, diversity, 0.5e-4 + 16 * kEpsilon) << heads;
  }
}

}  // namespace
}  // namespace headlab::inline HEADLAB_SCALAR
