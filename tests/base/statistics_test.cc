// Statistics against published tables and sums done by hand.
#include "headlab/base/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "headlab/base/error.h"

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
  EXPECT_NEAR(interval.half_width, 2.364624 * std::sqrt(32.0 / 7 / 8), 1e-5);
}

TEST(Statistics, SaysNaNWhereThereIsTooLittle) {
  EXPECT_TRUE(std::isnan(mean({})));
  const std::vector<double> one = {3};
  EXPECT_EQ(t_interval(one).mean, 3);
  EXPECT_TRUE(std::isnan(t_interval(one).half_width));
}

TEST(Statistics, SharesRanksAmongEquals) {
  const std::vector<double> values = {10, 20, 20, 5};
  EXPECT_EQ(ranks(values), (std::vector<double>{2, 3.5, 3.5, 1}));
}

TEST(Statistics, RanksWhatIsNoNumberLast) {
  const double nan = std::nan("");
  const std::vector<double> values = {nan, 2, nan, 1};
  EXPECT_EQ(ranks(values), (std::vector<double>{3.5, 2, 3.5, 1}));
}

TEST(Statistics, CorrelatesRanksAndNotDistances) {
  const std::vector<double> a = {1, 2, 3, 4}, b = {1, 10, 100, 1000}, c = {4, 3, 2, 1};
  EXPECT_NEAR(spearman(a, b), 1, 1e-12);
  EXPECT_NEAR(spearman(a, c), -1, 1e-12);
  EXPECT_LT(pearson(a, b), 0.9);
  const std::vector<double> d = {3, 1, 4, 2};
  EXPECT_NEAR(spearman(a, d), 0, 1e-12);  // 1 - 6 sum d^2 / (n (n^2 - 1)), sum d^2 = 10
  const std::vector<double> constant = {7, 7, 7, 7};
  EXPECT_EQ(spearman(a, constant), 0);
  EXPECT_THROW(pearson(a, std::span(b).first(3)), Error);
}

TEST(WelchInterval, HasTheDegreesOfFreedomOfWelch) {
  // Equal sizes and variances give 2 (n - 1) = 4 degrees: t(.975) = 2.776; s^2 = 1/3 + 1/3.
  const std::vector<double> a = {2, 3, 4}, b = {1, 2, 3}, constant = {1, 1, 1};
  EXPECT_DOUBLE_EQ(welch_interval(a, b).mean, 1);
  EXPECT_NEAR(welch_interval(a, b).half_width, 2.776445 * std::sqrt(2.0 / 3), 1e-5);
  // No spread on one side leaves the n - 1 = 2 of the other: t(.975) = 4.303.
  EXPECT_NEAR(welch_interval(a, constant).half_width, 4.302653 / std::sqrt(3.0), 1e-5);
}

TEST(WelchInterval, OfOneValueHasNoWidth) {
  const std::vector<double> one = {2}, two = {1, 3};
  EXPECT_DOUBLE_EQ(welch_interval(one, two).mean, 0);
  EXPECT_TRUE(std::isnan(welch_interval(one, two).half_width));
}

}  // namespace
}  // namespace headlab
