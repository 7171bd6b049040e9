// Two arms seed by seed: exact p counted by hand, Holm's own example, and calibration by simulation
// where losses are as skewed as those of pruned models.
#include "headlab/lab/results/comparison.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "headlab/core/base/random.h"
#include "headlab/lab/results/arms.h"

namespace headlab { namespace {

using Row = std::vector<double>;

double p_of(const Row& row, bool above = false) { return sign_flip_p(std::span(&row, 1), above); }

TEST(SignFlips, AreCountedInEveryWay) {
  EXPECT_EQ(p_of({1, 2, 3, 4, 5}), 0.0625);  // two of 32
  EXPECT_EQ(p_of({1, 2, 3, 4, 5}, true), 0.03125);
  EXPECT_EQ(p_of({-1, -2, -3, -4, -5}, true), 1);
  // |sum| >= 4 of -1 + 2 + 3: the four ways of +-(1, 2, 3) with sums 6 and 4, and their mirrors.
  EXPECT_EQ(p_of({-1, 2, 3}), 0.5);
  EXPECT_EQ(p_of({0, 0, 0}), 1);
  Row most(14, 1);  // seeds that are flipped in every way
  std::fill_n(most.begin(), 4, -1);
  EXPECT_EQ(p_of(most), 2 * (1001 + 364 + 91 + 14 + 1) / 16384.) << "ten of one sign or more";
  EXPECT_TRUE(std::isnan(p_of({1, std::nan("")})));
  EXPECT_EQ(least_p(5), 0.0625);
  EXPECT_EQ(p_of(Row(40, 1)), least_p(40)) << "drawn";
}

TEST(SignFlips, SeveralArmsUseTheLargestStatistic) {
  // Flipped together: what one arm has in every way, two that agree have as well.
  const Row row = {1, 2, 3, 4, 5};
  EXPECT_EQ(sign_flip_p(std::vector<Row>{row, row}), 0.0625);
  const std::vector<Row> other = {row, {1, -2, 3, -4, 5}};
  EXPECT_EQ(sign_flip_p(other), 0.125) << "flips of the second and fourth make it as large";
  const std::vector<Row> mixed = {{1, -1, 1, 1, 2}, {1, 1, 1, -1, 1}};
  EXPECT_GT(sign_flip_p(mixed), p_of(mixed[0]));
}

TEST(EqualP, NeedsDifferencesWithinTheMargin) {
  EXPECT_EQ(equal_p(Row(5, 0), 0.005), 0.03125);
  EXPECT_EQ(equal_p(Row{0.001, -0.001, 0.002, 0, 0}, 0.005), 0.03125);
  EXPECT_GT(equal_p(Row{0.001, -0.001, 0.02, 0, 0}, 0.005), 0.05);
  EXPECT_EQ(equal_p(Row(5, 0.01), 0.005), 1);
}

TEST(Holm, StepsDownAndStaysInOrder) {
  const Row p = {0.01, 0.04, 0.03, 0.005, std::nan("")};
  const Row corrected = holm(p);
  EXPECT_DOUBLE_EQ(corrected[3], 0.02);  // 4 x .005
  EXPECT_DOUBLE_EQ(corrected[0], 0.03);  // 3 x .01
  EXPECT_DOUBLE_EQ(corrected[2], 0.06);  // 2 x .03
  EXPECT_DOUBLE_EQ(corrected[1], 0.06);  // .04, not below the one before
  EXPECT_TRUE(std::isnan(corrected[4]));
}

TEST(Holm, MultipliesByNoMoreThanTheHypothesesThatCanBeTrue) {
  const Row corrected = holm({0.01, 0.04, 0.03, 0.005, 0.5}, 2);
  EXPECT_DOUBLE_EQ(corrected[3], 0.01);  // 2 x .005, not 5
  EXPECT_DOUBLE_EQ(corrected[0], 0.02);  // 2 x .01
  EXPECT_DOUBLE_EQ(corrected[2], 0.06);  // 2 x .03
  EXPECT_DOUBLE_EQ(corrected[1], 0.08);  // 2 x .04: two are left
  EXPECT_DOUBLE_EQ(corrected[4], 0.5);   // the last alone
}

TEST(Correct, CoversDifferencesAndEqualitiesTogether) {
  headlab::Test first{.p = 0.01}, second{.p = 0.03};
  headlab::Test first_equal{.p = 1}, second_equal{.p = 0.02};
  const std::vector<headlab::Test*> tests = {&first, &second, &first_equal, &second_equal};
  correct(tests, 2);
  EXPECT_DOUBLE_EQ(first.corrected, 0.02);
  EXPECT_DOUBLE_EQ(second_equal.corrected, 0.04);
  EXPECT_DOUBLE_EQ(second.corrected, 0.06) << "it is the last difference, but an equality is left";
  EXPECT_DOUBLE_EQ(first_equal.corrected, 1);
}

TEST(SignTest, CountsSeedsOnEitherSide) {
  EXPECT_DOUBLE_EQ(sign_test_p(Row{1, 2, 3, 4, 5, 600}), 2 / 64.0);
  EXPECT_NEAR(sign_test_p(Row{-1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), 22 / 1024.0, 1e-12);
  EXPECT_DOUBLE_EQ(sign_test_p(Row{0, 0, 1, 1}), 0.5) << "a seed without a difference has no side";
  EXPECT_DOUBLE_EQ(sign_test_p(Row{-1, 1}), 1);
  EXPECT_DOUBLE_EQ(sign_test_p(Row{0}), 1);
  Row most(20, 1);
  std::fill_n(most.begin(), 4, -1);
  EXPECT_NEAR(sign_test_p(most), 0.0118, 1e-4) << "16 of 20, SciPy binomtest";
}

TEST(Picked, CountsSeedsIfTheStatisticIsTheirSigns) {
  const Row arms[] = {{2, 3, 5, 2, 4, 3, 2, 900}, {1, 2, 2, 3, 1, 1, 1, 1}};
  EXPECT_NEAR(p_of_picked(arms, 0, 1, Statistic::signs), sign_test_p(log_ratios(arms[0], arms[1])),
              1e-12);
}

/// The p of the differences less a shift.
double p_at(Row row, double shift) {
  for (double& x : row) x -= shift;
  return p_of(row);
}

// 10 seeds in every way, and 20 of which flips are drawn.
TEST(SignFlipInterval, HoldsExactlyTheShiftsThatTheTestDoesNotReject) {
  Generator random(Key{}.fold("inverted"));
  for (const std::size_t seeds : {std::size_t{7}, std::size_t{10}, std::size_t{20}}) {
    Row row;
    for (std::size_t i = 0; i < seeds; ++i) row.push_back(std::exp(random.normal()) - 1);
    const Interval found = sign_flip_interval(row);
    const double step = 1e-6;
    EXPECT_LT(p_at(row, found.low - step), 0.05);
    EXPECT_GE(p_at(row, found.low + step), 0.05);
    EXPECT_GE(p_at(row, found.high - step), 0.05);
    EXPECT_LT(p_at(row, found.high + step), 0.05);
  }
}

TEST(SignFlipInterval, NeverContradictsTheP) {
  Generator random(Key{}.fold("no contradiction"));
  for (int trial = 0; trial < 300; ++trial) {
    Row row;
    const std::int64_t seeds = 6 + random.below(6);
    const double shift = 0.5 * random.normal();
    for (std::int64_t i = 0; i < seeds; ++i)
      row.push_back(shift + std::exp(1.5 * random.normal()) - 1);
    const Paired found = paired(row);
    const bool holds_zero = found.difference.low <= 0 && found.difference.high >= 0;
    EXPECT_EQ(p_of(row) >= 0.05, holds_zero) << "seeds: " << seeds << ", p " << p_of(row);
  }
}

TEST(SignFlipInterval, IsTheRangeBelowSixSeeds) {
  const Interval five = sign_flip_interval(Row{3, 1, 2, 9, 4});
  EXPECT_EQ(five.low, 1);
  EXPECT_EQ(five.high, 9);
  const Interval six = sign_flip_interval(Row{3, 1, 2, 9, 4, 5});
  EXPECT_EQ(six.low, 1) << "2 of 64 ways are below .05";
  EXPECT_EQ(six.high, 9);
  EXPECT_TRUE(std::isnan(sign_flip_interval(Row{2}).low));
  EXPECT_TRUE(std::isnan(sign_flip_interval(Row(8, 2)).low)) << "no interval of width 0";
}

// Differences that are symmetric around the truth, heavy on both sides.
TEST(Calibration, IntervalsHoldTheTrueValue) {
  Generator random(Key{}.fold("coverage of flips"));
  int held = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    Row row;
    for (int seed = 0; seed < 10; ++seed) row.push_back(1 + std::pow(random.normal(), 3));
    const Interval found = sign_flip_interval(row);
    held += found.low <= 1 && 1 <= found.high;
  }
  EXPECT_GE(held, 930);
}

TEST(SeedsPlan, SaysWhatSoManySeedsCanShow) {
  EXPECT_EQ(seeds_for(1), 6u);
  EXPECT_EQ(seeds_for(5), 8u);
  EXPECT_EQ(seeds_plan(5, 1),
            "with 5 seeds no difference can reach p < 0.05 in 1 comparison; it takes 6");
  EXPECT_EQ(seeds_plan(6, 5),
            "with 6 seeds no difference can reach p < 0.05 in 5 comparisons; it takes 8, and 6 for "
            "two arms");
  EXPECT_EQ(seeds_plan(10, 5).find("10 seeds: p can reach 0.00976"), 0u) << seeds_plan(10, 5);
}

TEST(Paired, HasTheIntervalThatInvertsItsTestAndCountsWins) {
  const Paired found = paired(Row{-1, -2, -3, 2});
  EXPECT_EQ(found.wins, 3);
  EXPECT_EQ(found.seeds, 4);
  EXPECT_EQ(found.difference.mean, -1);
  EXPECT_NEAR(found.effect, -1 / std::sqrt(14.0 / 3), 1e-12);
  headlab::Test a{.p = 0.02}, b{.p = 0.03};
  headlab::Test* both[] = {&a, &b};
  correct(both);
  EXPECT_DOUBLE_EQ(a.corrected, 0.04);
  EXPECT_TRUE(a.is_significant() && b.is_significant());
}

TEST(Picked, HasThePOfThePairIfThereIsNoOther) {
  const Row arms[] = {{2, 3, 5, 2, 4, 3, 2, 2}, {1, 2, 2, 3, 1, 1, 1, 1}};
  EXPECT_EQ(p_of_picked(arms, 0, 1), p_of(log_ratios(arms[0], arms[1]))) << "two-sided";
  EXPECT_EQ(p_of_picked(arms, 1, 0), p_of_picked(arms, 0, 1));
}

TEST(Picked, HasAtLeastThePOfThePairAlone) {
  Generator random(Key{}.fold("picked"));
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<Row> arms(4);
    for (Row& arm : arms)
      for (int seed = 0; seed < 8; ++seed) arm.push_back(std::exp(random.normal()));
    EXPECT_GE(p_of_picked(arms, 0, 2), p_of(log_ratios(arms[0], arms[2])));
  }
}

/// A loss whose logarithm is skewed and heavy on one side.
double skewed_loss(Generator& random) {
  const double z = random.normal();
  return 0.001 * std::exp(std::exp(z) + 0.3 * random.normal());
}

TEST(Calibration, SinglePairRejectsAtItsLevel) {
  Generator random(Key{}.fold("one pair"));
  int told = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    Row a, b;
    for (int seed = 0; seed < 8; ++seed)
      a.push_back(skewed_loss(random)), b.push_back(skewed_loss(random));
    told += p_of(log_ratios(a, b)) < 0.05;
  }
  EXPECT_LE(told, 50 + 2 * 7) << "5% of 1,000, and two standard errors";
  EXPECT_GE(told, 15) << "the test is not idle";
}

TEST(Calibration, HoldsForTheWorstAgainstTheBestOfSeveral) {
  Generator random(Key{}.fold("best of several"));
  int told = 0, naive = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    std::vector<Row> arms(5);
    for (int seed = 0; seed < 8; ++seed) {
      const double hard = std::exp(random.normal());  // the seed's own, in all arms
      for (Row& arm : arms) arm.push_back(hard * skewed_loss(random));
    }
    const auto level = [](const Row& arm) { return geometric_interval(arm).mean; };
    const auto [best, worst] = std::ranges::minmax_element(arms, {}, level);
    const auto at = [&](const auto& arm) { return static_cast<std::size_t>(arm - arms.begin()); };
    told += p_of_picked(arms, at(worst), at(best)) * 4 < 0.05;  // Holm over the four others
    naive += p_of(log_ratios(*worst, *best)) < 0.05;
  }
  EXPECT_LE(told, 50);
  EXPECT_GT(naive, 100) << "looking for the best first misleads who does not correct for it";
}

/// Six seeds, the fewest that can be significant, have a power of 0.66 at an effect of 1.5.
TEST(SeedsToTell, TellInEightOfTenCases) {
  for (const double effect : {0.9, 1.2, 1.5, 2.0}) {
    const std::int64_t seeds = seeds_to_tell(effect);
    Generator random(Key{}.fold("power").fold(seeds));
    int told = 0;
    for (int trial = 0; trial < 400; ++trial) {
      Row row;
      for (std::int64_t seed = 0; seed < seeds; ++seed) row.push_back(effect + random.normal());
      told += p_of(row) < 0.05;
    }
    EXPECT_GE(told / 400.0, 0.75) << seeds << " seeds";
    EXPECT_LE(told / 400.0, 0.97) << seeds << " seeds";
  }
  EXPECT_EQ(seeds_to_tell(100), 6) << "five reach .0625";
  EXPECT_EQ(seeds_to_tell(0), 0);
}

}  // namespace
}  // namespace headlab
