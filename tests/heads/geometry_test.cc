// Entropy and Jensen-Shannon distance: known values (figures of articles: see lessons_test.cc).
// Eigenvalues and ranks: matrices whose answer is known.
#include "headlab/lab/heads/weights/matrix.h"

#include <array>
#include <cmath>

#include "headlab/core/base/random.h"
#include "headlab/core/ops/ops.h"
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

TEST(EffectiveRank, EqualsKnownRanks) {
  EXPECT_EQ(effective_rank(Matrix(3, 3)), 0);
  EXPECT_NEAR(effective_rank(Matrix(3, 3, std::equal_to<>())), 3, 1e-14);
  Generator random(Key{6});
  Matrix column(5, 1, [&](Index, Index) { return random.normal(); });
  Matrix row(1, 4, [&](Index, Index) { return random.normal(); });
  // Rounding leaves singular values of about 1e-8 of the first, and 18 times that as entropy.
  EXPECT_NEAR(effective_rank(gram(column * row)), 1, 3 * 4 * 18e-8);
  // Singular values 3 and 1: shares 3/4 and 1/4.
  const double entropy = -(0.75 * std::log(0.75) + 0.25 * std::log(0.25));
  const auto rank_of = [](double diagonal, double beside, double last) {
    return effective_rank(Matrix(2, 2, [&](Index i, Index j) {
      return i != j ? beside : i == 0 ? diagonal : last;
    }));
  };
  EXPECT_NEAR(rank_of(9, 0, 1), std::exp(entropy), 1e-14);
  EXPECT_NEAR(rank_of(5, 4, 5), std::exp(entropy), 1e-13);
}

}  // namespace
}  // namespace headlab
