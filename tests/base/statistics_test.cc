// Statistics against published tables and sums done by hand.
#include "headlab/lab/results/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "headlab/core/base/error.h"

namespace headlab { namespace {

TEST(Statistics, KnowsTheTableOfStudentsT) {
  EXPECT_NEAR(t_quantile(0.975, 1), 12.7062, 1e-4);  // any table of Student's t, two-sided 5%
  EXPECT_NEAR(t_quantile(0.975, 2), 4.30265, 1e-5);
  EXPECT_NEAR(t_quantile(0.975, 4), 2.77645, 1e-5);
  EXPECT_NEAR(t_quantile(0.975, 9), 2.26216, 1e-5);
  EXPECT_NEAR(t_quantile(0.975, 30), 2.04227, 1e-5);
  EXPECT_NEAR(t_quantile(0.995, 4), 4.60409, 1e-5);
  EXPECT_NEAR(t_quantile(0.975, 1e6), 1.95997, 1e-5);
  EXPECT_NEAR(t_quantile(0.025, 4), -2.77645, 1e-5);
  EXPECT_NEAR(t_quantile(0.5, 7), 0, 1e-12);
  EXPECT_THROW(t_quantile(1, 4), Error);
  EXPECT_THROW(t_quantile(0.5, 0), Error);
}

TEST(Statistics, MakesAnIntervalOfAFewValues) {
  const std::vector<double> values = {2, 4, 4, 4, 5, 5, 7, 9};
  EXPECT_EQ(mean(values), 5);
  EXPECT_NEAR(standard_deviation(values), std::sqrt(32.0 / 7), 1e-12);
  const Interval interval = t_interval(values);
  EXPECT_EQ(interval.mean, 5);
  EXPECT_NEAR(interval.high - 5, 2.364624 * std::sqrt(32.0 / 7 / 8), 1e-5);
  EXPECT_NEAR(interval.low + interval.high, 10, 1e-12);
}

TEST(Statistics, CutsIntervalsToThePossible) {
  const Interval cut = within({.9, .6, 1.2}, 0, 1);
  EXPECT_EQ(cut.mean, .9);
  EXPECT_EQ(cut.low, .6);
  EXPECT_EQ(cut.high, 1);
  EXPECT_EQ(within({.1, -.3, .5}, 0, 1).low, 0);
  EXPECT_TRUE(std::isnan(within({.5}, 0, 1).high)) << "nothing is known of its spread";
}

TEST(Statistics, SaysNaNWhereThereIsTooLittle) {
  EXPECT_TRUE(std::isnan(mean({})));
  const std::vector<double> one = {3};
  EXPECT_EQ(t_interval(one).mean, 3);
  EXPECT_TRUE(std::isnan(t_interval(one).low));
}

TEST(Statistics, SharesRanksAmongEquals) {
  const std::vector<double> values = {10, 20, 20, 5};
  EXPECT_EQ(ranks(values), (std::vector<double>{2, 3.5, 3.5, 1}));
}

TEST(Statistics, RanksNaNLast) {
  const double nan = std::nan("");
  const std::vector<double> values = {nan, 2, nan, 1};
  EXPECT_EQ(ranks(values), (std::vector<double>{3.5, 2, 3.5, 1}));
}

TEST(Statistics, CorrelatesRanksAndNotDistances) {
  const std::vector<double> a = {1, 2, 3, 4}, b = {1, 10, 100, 1000}, c = {4, 3, 2, 1};
  EXPECT_NEAR(spearman(a, b), 1, 1e-12);
  EXPECT_NEAR(spearman(a, c), -1, 1e-12);
  EXPECT_LT(pearson(a, b), 0.9);
  EXPECT_NEAR(pearson(std::vector<double>{0, 1e-3}, std::vector<double>{0, 1}), 1, 1e-12);
  const std::vector<double> d = {3, 1, 4, 2};
  EXPECT_NEAR(spearman(a, d), 0, 1e-12);  // 1 - 6 sum d^2 / (n (n^2 - 1)), sum d^2 = 10
  const std::vector<double> constant = {7, 7, 7, 7};
  EXPECT_EQ(spearman(a, constant), 0);
  EXPECT_THROW(pearson(a, std::span(b).first(3)), Error);
}

TEST(GeometricInterval, EqualsTheIntervalOfLogarithms) {
  // Logs 0, 1, 2: mean 1, standard deviation 1, t(.975, 2) = 4.30265.
  const std::vector<double> values = {1, std::exp(1.0), std::exp(2.0)};
  const Interval interval = geometric_interval(values);
  EXPECT_NEAR(interval.mean, std::exp(1.0), 1e-12);
  EXPECT_NEAR(std::log(interval.low), 1 - 4.30265 / std::sqrt(3.0), 1e-5);
  EXPECT_NEAR(std::log(interval.high), 1 + 4.30265 / std::sqrt(3.0), 1e-5);
  const std::vector<double> one = {0.3}, same = {0.3, 0.3, 0.3}, zero = {0, 1};
  EXPECT_EQ(geometric_interval(one).mean, 0.3);
  EXPECT_EQ(geometric_interval(same).mean, 0.3);
  EXPECT_TRUE(std::isnan(geometric_interval(same).high)) << "no interval of width 0";
  EXPECT_NEAR(geometric_interval(zero).mean, 1e-6, 1e-12);
}

TEST(ShareInterval, EqualsWilsonsFormula) {
  const std::vector<double> all(5, 1), none(5, 0), half = {1, 0, 1, 0};
  EXPECT_NEAR(share_interval(all).low, 0.5655, 1e-4);  // 5 / (5 + 1.96^2)
  EXPECT_EQ(share_interval(all).high, 1);
  EXPECT_NEAR(share_interval(none).high, 1 - 0.5655, 1e-4);
  EXPECT_EQ(share_interval(none).low, 0);
  EXPECT_NEAR(share_interval(half).low, 0.15, 1e-3);  // Wilson of 2 in 4
}

// No rounding may leave a lower end of 1e-17 where no trial succeeded.
TEST(ShareInterval, EndsExactlyAtZeroAndOneForAnyNumberOfTrials) {
  for (std::size_t trials = 2; trials < 200; ++trials) {
    for (const double confidence : {0.8, 0.9, 0.95, 0.99}) {
      const std::vector<double> none(trials, 0);
      const std::vector<double> all(trials, 1);
      EXPECT_EQ(share_interval(none, confidence).low, 0) << trials << " trials at " << confidence;
      EXPECT_EQ(share_interval(all, confidence).high, 1) << trials << " trials at " << confidence;
    }
  }
}

// A run whose 2,000 targets are all right says more than one coin that falls on heads.
TEST(ShareInterval, OrdersAsSharesDoIfAllTargetsCount) {
  const std::vector<double> all(10, 1);
  const std::vector<double> less = {1, 1, .9985, 1, .9995, 1, 1, .9990, 1, 1};
  const Interval right = share_interval(all, 0.95, 2000);
  const Interval worse = share_interval(less, 0.95, 2000);
  EXPECT_NEAR(right.low, 20000 / (20000 + 1.96 * 1.96), 1e-6);
  EXPECT_GT(right.low, worse.low);
  EXPECT_GE(right.high, worse.high);
  EXPECT_LT(share_interval(all).low, worse.low) << "one trial a seed: the order is lost";
  EXPECT_TRUE(std::isnan(share_interval(all, 0.95, 0).low)) << "the number of targets is unknown";
  EXPECT_FALSE(std::isnan(share_interval(less, 0.95, 0).low));
  EXPECT_THROW(share_interval(all, 0.95, -1), Error);
}

TEST(ShareInterval, IsNarrowWhereSharesAreAlikeAndHasAWidthWhereTheyAreTheSame) {
  const std::vector<double> alike = {0.90, 0.91, 0.92, 0.91, 0.90}, same(3, 0.8);
  const Interval narrow = share_interval(alike), t = t_interval(alike);
  EXPECT_NEAR(narrow.low, t.low, 1e-3);
  EXPECT_NEAR(narrow.high, t.high, 1e-3);
  EXPECT_LT(share_interval(same).low, 0.5);
  EXPECT_EQ(share_interval(same).mean, mean(same));
}

TEST(SkewedMean, WithoutSkewIsNormal) {
  const SkewedMean mean{3, 2, 0};
  EXPECT_NEAR(mean.interval().low, 3 - 2 * 1.959964, 1e-5);
  EXPECT_NEAR(mean.p(), std::erfc(1.5 / std::sqrt(2.0)), 1e-15);
}

// A mean at the end of its interval is just significant; the interval of values skewed to the
// right reaches further to the right.
TEST(SkewedMean, EndsWherePIsFivePercent) {
  for (const double skew : {-0.4, 0.1, 0.5}) {
    const auto [middle, low, high] = SkewedMean{0, 1, skew}.interval();
    EXPECT_EQ(middle, 0);
    for (const double end : {low, high})
      EXPECT_NEAR((SkewedMean{-end, 1, skew}.p()), 0.05, 1e-9) << skew;
    EXPECT_EQ(high > -low, skew > 0);
  }
  EXPECT_EQ((SkewedMean{1, 0, 0}.p()), kLeastP);
  EXPECT_EQ((SkewedMean{100, 1, 0}.p()), kLeastP);
}

}  // namespace
}  // namespace headlab
