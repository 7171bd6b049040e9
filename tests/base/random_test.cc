// The bits against the vectors that the authors of Philox publish, and the distributions by their
// moments. All draws are fixed by their key, so nothing here needs luck: bounds are five standard
// errors, or the .999 quantile of chi-square, and a change of the generator alone can cross them.
// Read next: random.cc.
#include "headlab/core/base/random.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include "headlab/core/base/error.h"

namespace headlab { namespace {

using Block = std::array<std::uint32_t, 4>;

TEST(Philox, GivesThePublishedVectors) {
  EXPECT_EQ(philox(0, 0, 0), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint64_t kOnes = ~std::uint64_t{0};
  EXPECT_EQ(philox(kOnes, kOnes, kOnes), (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, FlipsHalfOfTheBitsWhenOneInputBitChanges) {
  int flipped = 0;
  for (int bit = 0; bit < 64; ++bit) {
    const Block a = philox(7, 11), b = philox(7 ^ (std::uint64_t{1} << bit), 11);
    for (std::size_t i = 0; i < 4; ++i) flipped += std::popcount(a[i] ^ b[i]);
  }
  EXPECT_NEAR(flipped, 64 * 64, 5 * std::sqrt(64 * 128 * 0.25));  // binomial(64 x 128, 1/2)
}

TEST(Key, FoldsInOrder) {
  const Key key{1};
  EXPECT_NE(key.fold(2).fold(3), key.fold(3).fold(2));
  EXPECT_NE(key.fold("a").fold(3), key.fold(3).fold("a"));
}

TEST(Key, FoldOfNothingIsStillAnotherKey) {
  const Key key{1};
  EXPECT_NE(key.fold(0), key);
  EXPECT_NE(key.fold(""), key);
  EXPECT_NE(key.fold(0).fold(0), key.fold(0));
}

TEST(Key, KeepsNumbersAndTextApart) {
  const Key key{1};
  EXPECT_NE(key.fold("a"), key.fold(static_cast<int>('a')));
  EXPECT_NE(key.fold(""), key.fold(0));
  EXPECT_NE(key.fold(std::string_view("\0", 1)), key.fold(""));
  EXPECT_NE(key.fold("dropout1"), key.fold("dropout1").fold(""));
}

TEST(Key, ReadsTextLongerThanOneBlockToItsEnd) {
  const std::string whole = "blocks.0.attn.dropout";
  for (std::size_t at = 0; at < whole.size(); ++at)
    EXPECT_NE(Key{1}.fold(whole), Key{1}.fold(std::string(whole).replace(at, 1, "x"))) << at;
}

TEST(Key, NeverMeetsItselfInATreeOfFolds) {
  std::set<std::uint64_t> seen;
  for (std::int64_t step = 0; step < 300; ++step)
    for (int attention_layer = 0; attention_layer < 100; ++attention_layer)
      seen.insert(Key{42}.fold(step).fold(attention_layer).value);
  EXPECT_EQ(seen.size(), 30000u);
}

TEST(Key, IsNeverANumberThatItsOwnStreamDraws) {
  Generator random(Key{5});
  std::set<std::uint64_t> folded;
  for (int i = 0; i < 1000; ++i) folded.insert(Key{5}.fold(i).value);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t low = random.bits();
    EXPECT_FALSE(folded.contains(low | (static_cast<std::uint64_t>(random.bits()) << 32)));
  }
}

TEST(Generator, CopiesItsPosition) {
  Generator a(Key{9});
  a.bits();
  Generator b = a;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(a.bits(), b.bits());
}

TEST(Generator, DrawsTheWordsOfTheBlocksInOrder) {
  Generator random(Key{3});
  for (std::uint64_t counter = 0; counter < 3; ++counter)
    for (const std::uint32_t word : philox(3, counter)) EXPECT_EQ(random.bits(), word);
}

constexpr int kDraws = 200000;

/// Means of x, x^2, x^3, x^4 over the draws.
template <class Draw>
std::array<double, 4> moments(const Draw& draw) {
  std::array<double, 4> sums{};
  for (int i = 0; i < kDraws; ++i) {
    const double x = draw();
    double power = 1;
    for (double& sum : sums) sum += (power *= x) / kDraws;
  }
  return sums;
}

TEST(Uniform, HasTheMomentsOfTheUniformDistribution) {
  Generator random(Key{1});
  const auto m = moments([&] { return random.uniform(); });
  for (std::size_t i = 0; i < 4; ++i) {
    const double k = static_cast<double>(i) + 1;  // E x^k = 1/(k+1), var x^k = 1/(2k+1) - E^2
    const double variance = 1 / (2 * k + 1) - 1 / ((k + 1) * (k + 1));
    EXPECT_NEAR(m[i], 1 / (k + 1), 5 * std::sqrt(variance / kDraws)) << "moment " << k;
  }
}

TEST(Uniform, StaysInsideItsBounds) {
  Generator random(Key{2});
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.uniform(-3, 5);
    ASSERT_GE(x, -3);
    ASSERT_LT(x, 5);
  }
}

TEST(Uniform, UsesAllFiftyThreeBits) {
  Generator random(Key{2});
  std::uint64_t seen = 0;
  for (int i = 0; i < 200; ++i) seen |= static_cast<std::uint64_t>(random.uniform() * 0x1p53);
  EXPECT_EQ(seen, (std::uint64_t{1} << 53) - 1);
}

TEST(Normal, HasTheMomentsOfTheNormalDistribution) {
  Generator random(Key{3});
  const auto m = moments([&] { return random.normal(); });
  const double expected[] = {0, 1, 0, 3};
  const double variance[] = {1, 2, 15, 96};  // E x^2k - (E x^k)^2; E x^8 is 105
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(m[i], expected[i], 5 * std::sqrt(variance[i] / kDraws)) << "moment " << i + 1;
}

TEST(Normal, HasTheTailsOfTheNormalDistribution) {
  Generator random(Key{4});
  int outside = 0;
  for (int i = 0; i < kDraws; ++i) outside += std::abs(random.normal()) > 3 ? 1 : 0;
  const double p = std::erfc(3 / std::sqrt(2.0));
  EXPECT_NEAR(outside, p * kDraws, 5 * std::sqrt(p * kDraws));
}

/// The .999 quantile of chi-square (Wilson and Hilferty 1931).
double chi_square_limit(double freedom) {
  const double t = 2 / (9 * freedom);
  return freedom * std::pow(1 - t + 3.09 * std::sqrt(t), 3);
}

double chi_square(const std::vector<int>& counts) {
  const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
  const double expected = total / static_cast<double>(counts.size());
  double sum = 0;
  for (const int count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

class Below : public testing::TestWithParam<int> {};

TEST_P(Below, IsUniform) {
  const int n = GetParam();
  Generator random(Key{6}.fold(n));
  std::vector<int> counts(static_cast<std::size_t>(n));
  for (int i = 0; i < kDraws; ++i) ++counts[static_cast<std::size_t>(random.below(n))];
  EXPECT_LT(chi_square(counts), chi_square_limit(n - 1));
}

INSTANTIATE_TEST_SUITE_P(Sizes, Below, testing::Values(2, 3, 4, 5, 7, 16, 17, 33, 100, 1000));

TEST(BelowEdges, TakesOneAndTheLargest) {
  Generator random(Key{7});
  constexpr std::int64_t kLargest = INT64_MAX;
  std::int64_t most = 0;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(random.below(1), 0);
    const std::int64_t draw = random.below(kLargest);
    ASSERT_GE(draw, 0);
    ASSERT_LT(draw, kLargest);
    most = std::max(most, draw);
  }
  EXPECT_GT(most, kLargest / 2);
}

TEST(BelowEdges, IsUniformAboveTwoToTheThirtyTwo) {
  Generator random(Key{8});
  constexpr std::int64_t kParts = 10, kSize = std::int64_t{3} << 40;
  std::vector<int> counts(kParts);
  for (int i = 0; i < kDraws; ++i)
    ++counts[static_cast<std::size_t>(random.below(kSize) / (kSize / kParts + 1))];
  EXPECT_LT(chi_square(counts), chi_square_limit(kParts - 1));
}

TEST(BelowEdges, RefusesZeroAndLess) {
  Generator random(Key{7});
  EXPECT_THROW(random.below(0), Error);
  EXPECT_THROW(random.below(-5), Error);
}

TEST(Between, ReachesBothEnds) {
  Generator random(Key{7});
  std::set<std::int64_t> seen;
  for (int i = 0; i < 200; ++i) seen.insert(random.between(-1, 2));
  EXPECT_EQ(seen, (std::set<std::int64_t>{-1, 0, 1, 2}));
}

TEST(Shuffle, GivesEveryOrderEquallyOften) {
  Generator random(Key{10});
  std::vector<int> counts(27);  // index: the order as digits in base 3; 6 of 27 are orders
  for (int i = 0; i < 60000; ++i) {
    std::array<int, 3> items = {0, 1, 2};
    random.shuffle(std::span<int>(items));
    ++counts[static_cast<std::size_t>(items[0] * 9 + items[1] * 3 + items[2])];
  }
  std::erase(counts, 0);
  ASSERT_EQ(counts.size(), 6u);
  EXPECT_LT(chi_square(counts), chi_square_limit(5));
}

TEST(NeighbouringKeys, AreIndependentAlsoAfterFolding) {
  constexpr int kSide = 8;
  for (const bool folded : {false, true}) {
    const auto draw = [&](std::uint64_t key) {
      return Generator(folded ? Key{1}.fold("batch").fold(key) : Key{key}).below(kSide);
    };
    std::vector<int> counts(kSide * kSide);
    for (std::uint64_t key = 0; key < 100000; ++key)
      ++counts[static_cast<std::size_t>(draw(key) * kSide + draw(key + 1))];
    EXPECT_LT(chi_square(counts), chi_square_limit(kSide * kSide - 1)) << folded;
  }
}

TEST(NeighbouringKeys, AreUncorrelated) {
  Generator a(Key{11}), b(Key{12});
  double sum = 0;
  for (int i = 0; i < kDraws; ++i) sum += (a.uniform() - 0.5) * (b.uniform() - 0.5);
  EXPECT_NEAR(sum, 0, 5 * std::sqrt(kDraws) / 12);  // the variance of one product is 1/144
}

}  // namespace
}  // namespace headlab
