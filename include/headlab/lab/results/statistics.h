// Statistics for reports: means with confidence intervals, and rank correlations. Plain functions
// on plain numbers, in double and without state. comparison.h adds paired tests over seeds. Read
// next: src/lab/results/statistics.cc.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "headlab/core/base/json.h"

namespace headlab {

/// Minimum number of examples for the interval of a change, and minimum number that carry it: with
/// fewer, a single further example could reverse the result.
inline constexpr std::int64_t kFewestPaired = 30;

/// Returns the arithmetic mean; NaN if there are no values.
double mean(std::span<const double> values);
/// Returns sqrt(sum (x - mean)^2 / (n - 1)), the sample standard deviation; NaN for fewer than two
/// values.
double standard_deviation(std::span<const double> values);

/// Returns the x with P(T <= x) = p for Student's t with `degrees` degrees of freedom. Error unless
/// 0 < p < 1 and degrees >= 1.
double t_quantile(double p, double degrees);

/// A mean and its interval. The ends are NaN if the spread is not known: for one value, and if all
/// values are equal. The mean is NaN if there is no value.
struct Interval {
  double mean = std::numeric_limits<double>::quiet_NaN();
  double low = std::numeric_limits<double>::quiet_NaN(), high = low;
};
Json to_json(const Interval& interval);
/// Returns mean +- t s / sqrt(n), where t is the quantile of Student's t for two-sided
/// `confidence`.
Interval t_interval(std::span<const double> values, double confidence = 0.95);
/// Returns the interval with its ends clamped to [least, most], the range of possible values: no
/// share exceeds 1.
Interval within(Interval interval, double least, double most);
/// Returns the logarithm of a loss; a loss below 1e-12 counts as 1e-12.
double log_of(double loss);
/// Returns the interval of exp(x), such as a ratio from a difference of logarithms.
Interval exp_of(const Interval& logs);
/// Returns t_interval of the logarithms: the geometric mean of values that vary by factors, such as
/// losses, with an interval that stays above 0.
Interval geometric_interval(std::span<const double> values, double confidence = 0.95);
/// Returns the Wilson interval (1927) of a share, given one share per cluster, such as a seed. The
/// number of trials is the effective number implied by the spread between clusters (Korn and
/// Graubard 1998), at least one per cluster. `each`: trials in a cluster, such as its targets. If
/// it is above 1, there are at most n * each trials, and that many if all shares are the same: 5
/// seeds of 2,000 targets that are all right have a share of 1 (0.9996 to 1). If it is 1, equal
/// shares count as one trial each: 5 ones are 1 (0.57 to 1). If it is 0, the number of trials is
/// not known, and equal shares have no interval.
Interval share_interval(std::span<const double> values, double confidence = 0.95, double each = 1);

/// The smallest p that is reported. The tails of a distribution come from approximations, which are
/// not valid for rarer events.
inline constexpr double kLeastP = 1e-6;

/// The mean of n skewed values, with Hall's transformation of T = (mean - truth) / error, which
/// removes the skew: g(T) = T + a T^2 / 3 + a^2 T^3 / 27 + a / 6 with a = skew / sqrt(n) is close
/// to normal, whereas T itself misses the truth far more often on one side. Hall 1992, "On the
/// Removal of Skewness by Transformation".
struct SkewedMean {
  double mean = 0, error = 0;  // its standard error
  double skew = 0;             // a: sum e^3 / (sum e^2)^1.5 over the deviations e from the mean

  Interval interval() const;  // of 95%
  /// Returns the two-sided p that the truth is 0; at least kLeastP.
  double p() const;
};

/// Returns ranks from 1; equal values share the mean of their ranks; NaN ranks above all numbers.
std::vector<double> ranks(std::span<const double> values);
/// Returns Pearson's correlation; 0 if either side is constant. Error unless both have the same
/// number of values.
double pearson(std::span<const double> a, std::span<const double> b);
/// Returns Spearman's rank correlation, Pearson's correlation of the ranks.
double spearman(std::span<const double> a, std::span<const double> b);

}  // namespace headlab
