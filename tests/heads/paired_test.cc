// Intervals of paired changes: closed forms, and how often they hold what they must.
#include "headlab/lab/heads/causes/paired.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "headlab/core/base/error.h"
#include "headlab/core/base/random.h"
#include "headlab/core/tasks/table.h"
#include "headlab/lab/results/statistics.h"

namespace headlab { namespace {

using Numbers = std::vector<double>;

Numbers repeated(const Numbers& values, std::size_t times) {
  Numbers all;
  for (std::size_t i = 0; i < times; ++i) all.insert(all.end(), values.begin(), values.end());
  return all;
}

TEST(PairedChange, WithoutSkewIsTheMeanDifferenceWithItsStandardError) {
  const PairedChange result = paired_change(repeated({3, 5, 4, 4}, 20), Numbers(80, 2),
                                            Numbers(80, 1));  // differences 1 3 2 2, mean 2
  const double error = std::sqrt(40 / 79.0 / 80);
  EXPECT_NEAR(result.change, 2, 1e-12);
  EXPECT_NEAR(result.low, 2 - 1.959964 * error, 1e-6);
  EXPECT_NEAR(result.high, 2 + 1.959964 * error, 1e-6);
  EXPECT_NEAR(result.carried, 160 * 160 / 360.0, 1e-9);
  EXPECT_EQ(result.p, kLeastP);
}

TEST(PairedChange, IsCertainWhereEveryTargetChangesAlike) {
  const PairedChange result =
      paired_change(repeated({3, 6, 0}, 30), repeated({2, 4, 0}, 30), repeated({1, 2, 0}, 30));
  EXPECT_DOUBLE_EQ(result.change, 1);
  EXPECT_NEAR(result.low, 1, 1e-12);
  EXPECT_NEAR(result.high, 1, 1e-12);
  EXPECT_EQ(result.p, kLeastP);  // what is rarer is not known
}

TEST(PairedChange, NoChangeHasNoSignificance) {
  const Numbers same(40, 2);
  const PairedChange none = paired_change(same, same, Numbers(40, 3));
  EXPECT_EQ(none.p, 1);
  EXPECT_TRUE(std::isnan(none.low) && std::isnan(none.high)) << "no interval of width 0";
  const PairedChange unmeasured = paired_change(Numbers{0, 0}, Numbers{0, 0}, Numbers{0, 0});
  EXPECT_TRUE(std::isnan(unmeasured.change) && std::isnan(unmeasured.p)) << "no target at all";
}

/// Rounding errors of float losses have a sign too, and on 2,048 examples a small p.
TEST(PairedChange, RoundingAloneIsNoChange) {
  Numbers after(2048, 2.0), before(2048, 2.0), targets(2048, 8.0);
  for (std::size_t i = 0; i < after.size(); ++i) after[i] += i % 3 == 0 ? 3e-6 : 1e-6;
  const PairedChange noise = paired_change(after, before, targets);
  EXPECT_EQ(noise.change, 0);
  EXPECT_EQ(noise.p, 1);
  EXPECT_TRUE(std::isnan(noise.low) && std::isnan(noise.high));
  EXPECT_FALSE(noise.is_rise());
  EXPECT_EQ(noise.examples, 2048);
  EXPECT_TRUE(noise.lacking().empty());
  after[5] += 1e-3;  // a single example that rounding does not explain
  EXPECT_NE(paired_change(after, before, targets).change, 0);
  after[5] -= 1e-3;
  const PairedChange finer = paired_change(after, before, targets, {}, 0);
  EXPECT_LT(finer.p, 1e-5) << "without a floor it would be a result";
  EXPECT_TRUE(std::isnan(paired_change(Numbers(20, 1e-7), Numbers(20), Numbers(20, 1.0)).p))
      << "too few examples";
  EXPECT_EQ(loss_resolution(1), kLossResolution);
  EXPECT_NEAR(loss_resolution(100), 800 * std::numeric_limits<Scalar>::epsilon(), 1e-12);
}

TEST(PairedChange, HasNoIntervalWhereFewExamplesCarryIt) {
  Numbers after(2048), before(2048), targets(2048, 1.0);
  for (std::size_t i = 0; i < 12; ++i) after[i] = 2;
  const PairedChange few = paired_change(after, before, targets);
  EXPECT_NEAR(few.carried, 12, 1e-9);
  EXPECT_TRUE(std::isnan(few.low) && std::isnan(few.high) && std::isnan(few.p));
  EXPECT_FALSE(few.is_rise());
  EXPECT_EQ(few.lacking(), "carried by 12 examples");
  for (std::size_t i = 0; i < 40; ++i) after[i] = 2;
  EXPECT_TRUE(paired_change(after, before, targets).is_rise());
}

// 60 examples carry the change, but a few of them are far larger than the others.
TEST(PairedChange, HasNoIntervalWhereItIsTooSkewed) {
  Numbers after(2048), before(2048), targets(2048, 1.0);
  for (std::size_t i = 0; i < 400; ++i) after[i] = 0.2;
  EXPECT_TRUE(paired_change(after, before, targets).is_rise());
  for (std::size_t i = 0; i < 5; ++i) after[i] = 4;
  const PairedChange skewed = paired_change(after, before, targets);
  EXPECT_GE(skewed.carried, kFewestPaired);
  EXPECT_GT(skewed.skew, kMostSkew);
  EXPECT_TRUE(std::isnan(skewed.low) && std::isnan(skewed.high) && std::isnan(skewed.p));
  EXPECT_FALSE(skewed.is_rise());
  EXPECT_TRUE(skewed.lacking().starts_with("too skewed (0.")) << skewed.lacking();
  for (double& x : after) x = -x;
  EXPECT_LT(paired_change(after, before, targets).skew, -kMostSkew) << "to the other side";
  EXPECT_FALSE(paired_change(after, before, targets).enough());
}

/// 2048 changes of which n / i are as large as the quantile of i / n, or larger.
PairedChange change_with_quantiles(double (*quantile)(double share)) {
  Numbers after;
  for (int i = 1; i <= 2048; ++i) after.push_back(quantile(i / 2048.0));
  return paired_change(after, Numbers(after.size()), Numbers(after.size(), 1.0));
}

TEST(PairedChange, HasNoIntervalWhereItsTailIsHeavy) {
  const PairedChange exponential =
      change_with_quantiles([](double share) { return -std::log(share); });
  EXPECT_NEAR(exponential.tail, 0.28, 0.01);
  EXPECT_TRUE(exponential.is_rise());
  // A power of -2.5: the skew of all such changes is infinite, that of most samples is not.
  const PairedChange power =
      change_with_quantiles([](double share) { return std::pow(share, -1 / 2.5); });
  EXPECT_LT(power.skew, kMostSkew);
  EXPECT_NEAR(power.tail, 0.52772108, 1e-6) << "as computed by hand in Python";
  EXPECT_TRUE(std::isnan(power.low) && std::isnan(power.p)) << "what is missing is large";
  EXPECT_TRUE(power.lacking().starts_with("too heavy a tail (0.")) << power.lacking();
}

TEST(PairedChange, HasAPThatAgreesWithItsInterval) {
  Generator random(Key{}.fold("p and interval"));
  int below = 0;
  for (int round = 0; round < 300; ++round) {
    Numbers after(200);
    for (double& x : after) x = std::exp(random.normal()) - 1.3;
    const PairedChange found = paired_change(after, Numbers(200), Numbers(200, 1.0));
    if (!found.enough()) continue;
    EXPECT_EQ(found.p<0.05, found.low> 0 || found.high < 0) << found.p;
    below += found.p < 0.05;
  }
  EXPECT_GT(below, 10);
}

/// The share of 95% intervals, of those that are given, that hold `truth`.
template <class Draw>
double coverage(double truth, Draw&& draw) {
  constexpr int kRounds = 1000;
  Generator random(Key{11});
  int held = 0, given = 0;
  for (int round = 0; round < kRounds; ++round) {
    Numbers after(kPairedExamples);
    for (double& x : after) x = draw(random);
    const PairedChange result =
        paired_change(after, Numbers(after.size()), Numbers(after.size(), 1.0));
    given += result.enough();
    held += result.enough() && result.low <= truth && truth <= result.high;
  }
  return given < kRounds / 20 ? 1 : held / static_cast<double>(given);
}

// A share of the examples carries the change, and of those some much more than others, as ablated
// heads do it. Symmetric intervals hold the truth in .85 of the last two.
TEST(PairedChange, IntervalsOfSkewedChangesHoldTheTruth) {
  const auto tail = [](Generator& random, double share, double width) {
    return random.uniform() < share ? std::exp(width * random.normal()) : 0;
  };
  for (const auto& [share, width] : {std::pair(1.0, 1.0), {0.3, 1.0}, {0.1, 0.7}, {0.05, 0.5}})
    EXPECT_GE(coverage(share * std::exp(width * width / 2),
                       [&, probability = share, sigma = width](Generator& random) {
                         return tail(random, probability, sigma);
                       }),
              0.93)
        << share << " " << width;
}

TEST(PairedChange, IntervalsHoldTheTruthNineteenTimesInTwenty) {
  constexpr int kRounds = 2000, kExamples = 120;
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
  EXPECT_GT(significant, kRounds * 9 / 10);
}

/// A report of two changes, of which the second is over no example.
struct Judged {
  std::vector<PairedChange> all;
  std::vector<PairedChange> changes() const { return all; }
};

/// Examples are doubled only where they are the default, the task has more, and too few carry.
TEST(JudgeUntilCarried, TakesMoreExamplesWhereFewCarryAChange) {
  const auto endless = make_task("relations:length=10,vocab=6,classes=3");
  const auto finite = make_task("text");
  ASSERT_GT(finite->different(Split::validation), 0);
  const auto asked = [](const Task& task, Index examples, double enough_from) {
    std::vector<Index> all;
    judge_until_carried(task, examples, [&](Index n) {
      all.push_back(n);
      PairedChange change{.examples = n, .carried = static_cast<double>(n) / enough_from * 30};
      return Judged{{change, PairedChange()}};
    });
    return all;
  };
  EXPECT_EQ(asked(*endless, kPairedExamples, 2000), (std::vector<Index>{2048}));
  EXPECT_EQ(asked(*endless, kPairedExamples, 4000), (std::vector<Index>{2048, 4096}));
  EXPECT_EQ(asked(*endless, kPairedExamples, 1e9), (std::vector<Index>{2048, 4096, 8192}));
  EXPECT_EQ(asked(*endless, 100, 1e9), (std::vector<Index>{100})) << "as it was asked for";
  EXPECT_EQ(asked(*finite, kPairedExamples, 1e9), (std::vector<Index>{2048}))
      << "there are no more";
}

TEST(PairedChange, UnmeasuredChangeHasNoNumbers) {
  const std::vector<PairedChange> changes = {PairedChange()};
  const Table table = change_fields("", "change", "").table({.name = "heads"}, changes);
  EXPECT_EQ(Json(table.rows[0]).dump(), "[null,null,0,null,null,null]");
}

TEST(PairedChange, NeedsPairs) {
  EXPECT_THROW(paired_change(Numbers{1}, Numbers{1}, Numbers{1}), Error);
  EXPECT_THROW(paired_change(Numbers{1, 2}, Numbers{1}, Numbers{1, 1}), Error);
}

// Examples in groups of two: residuals 1, 1, -1, -1 add up to 2 and -2 within groups.
TEST(PairedChange, IsLessSureWhereExamplesShareWhatWasDrawn) {
  const Numbers after = repeated({1, 1, -1, -1}, 10), before(40), targets(40, 1.0);
  const PairedChange alone = paired_change(after, before, targets);
  std::vector<std::size_t> pairs, mixed, own;
  for (std::size_t i = 0; i < 40; ++i)
    pairs.push_back(i / 2), mixed.push_back(i / 4 * 2 + i % 2), own.push_back(i);
  EXPECT_NEAR(paired_change(after, before, targets, pairs).high, std::sqrt(2) * alone.high, 1e-12);
  EXPECT_EQ(paired_change(after, before, targets, own).high, alone.high);
  EXPECT_EQ(paired_change(after, before, targets, mixed).high, alone.high);  // never narrower
}

TEST(PairedChange, SaysOnHowManyExamplesItRestsAndIsNoConclusionBelowThirty) {
  std::vector<double> after(40), before(40), targets(40);
  after[3] = 2, targets[3] = 1;  // a single target: an interval of no width
  const PairedChange one = paired_change(after, before, targets);
  EXPECT_EQ(one.examples, 1);
  EXPECT_EQ(one.lacking(), "too few (1)");
  EXPECT_FALSE(one.is_rise());
  for (std::size_t i = 0; i < 40; ++i) after[i] = 2, targets[i] = 1;
  EXPECT_TRUE(paired_change(after, before, targets).is_rise());
}

}  // namespace
}  // namespace headlab
