// Intervals of paired changes: closed forms, and how often they hold what they must.
#include "headlab/heads/paired.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "headlab/base/error.h"
#include "headlab/base/random.h"

namespace headlab { namespace {

using Numbers = std::vector<double>;

TEST(PairedChange, WithOneTargetEachIsTheMeanDifferenceWithItsStandardError) {
  const PairedChange result =
      paired_change(Numbers{3, 5, 4, 8}, Numbers{2, 2, 2, 2}, Numbers{1, 1, 1, 1});
  const double error = std::sqrt((4 + 0 + 1 + 9) / 3.0 / 4);  // differences 1 3 2 6, mean 3
  EXPECT_DOUBLE_EQ(result.change, 3);
  EXPECT_NEAR(result.low, 3 - 1.959964 * error, 1e-6);
  EXPECT_NEAR(result.high, 3 + 1.959964 * error, 1e-6);
  EXPECT_NEAR(result.p, std::erfc(3 / error / std::sqrt(2.0)), 1e-15);
}

TEST(PairedChange, IsCertainWhereEveryTargetChangesAlike) {
  const PairedChange result = paired_change(Numbers{3, 6, 0}, Numbers{2, 4, 0}, Numbers{1, 2, 0});
  EXPECT_DOUBLE_EQ(result.change, 1);
  EXPECT_DOUBLE_EQ(result.low, 1);
  EXPECT_DOUBLE_EQ(result.high, 1);
  EXPECT_EQ(result.p, 0);
}

TEST(PairedChange, OfNothingHasNoSignificance) {
  const Numbers same = {1, 2};
  EXPECT_EQ(paired_change(same, same, Numbers{1, 3}).p, 1);
  EXPECT_EQ(paired_change(Numbers{0, 0}, Numbers{0, 0}, Numbers{0, 0}).p, 1);
}

TEST(PairedChange, IntervalsHoldTheTruthNineteenTimesInTwenty) {
  constexpr int kRounds = 2000, kExamples = 60;
  Generator random(Key{5});
  int held = 0, significant = 0;
  for (int round = 0; round < kRounds; ++round) {
    Numbers after, before, targets;
    for (int i = 0; i < kExamples; ++i) {
      const double n = static_cast<double>(random.between(1, 6));
      before.push_back(10 * random.normal());  // differences of examples cancel
      after.push_back(before.back() + n * (0.5 + random.normal()));
      targets.push_back(n);
    }
    const PairedChange result = paired_change(after, before, targets);
    held += result.low <= 0.5 && 0.5 <= result.high;
    significant += result.p < 0.05;
  }
  // Binomial(2000, .95) has standard deviation .005; the normal distribution costs about .01.
  EXPECT_NEAR(held / static_cast<double>(kRounds), 0.945, 0.02);
  EXPECT_GT(significant, kRounds * 8 / 10);
}

TEST(PairedChange, NeedsPairs) {
  EXPECT_THROW(paired_change(Numbers{1}, Numbers{1}, Numbers{1}), Error);
  EXPECT_THROW(paired_change(Numbers{1, 2}, Numbers{1}, Numbers{1, 1}), Error);
}

// Four examples in two groups: residuals 1, 1, -1, -1 add up to 2 and -2 within groups.
TEST(PairedChange, IsLessSureWhereExamplesShareWhatWasDrawn) {
  const std::vector<double> after = {1, 1, -1, -1}, before(4), targets(4, 1.0);
  const PairedChange alone = paired_change(after, before, targets);
  const std::vector<std::size_t> pairs = {0, 0, 1, 1}, mixed = {0, 1, 0, 1}, own = {0, 1, 2, 3};
  EXPECT_NEAR(paired_change(after, before, targets, pairs).high, std::sqrt(2) * alone.high, 1e-12);
  EXPECT_EQ(paired_change(after, before, targets, own).high, alone.high);
  EXPECT_EQ(paired_change(after, before, targets, mixed).high, alone.high);  // never narrower
}

TEST(PairedChange, SaysOnHowManyExamplesItRestsAndIsNoVerdictBelowThirty) {
  std::vector<double> after(40), before(40), targets(40);
  after[3] = 2, targets[3] = 1;  // a single target: an interval of no width
  const PairedChange one = paired_change(after, before, targets);
  EXPECT_EQ(one.examples, 1);
  EXPECT_GT(one.low, 0);
  EXPECT_FALSE(one.is_rise());
  for (std::size_t i = 0; i < 40; ++i) after[i] = 2, targets[i] = 1;
  EXPECT_TRUE(paired_change(after, before, targets).is_rise());
}

}  // namespace
}  // namespace headlab
