// The statistics that reports are made with: means with confidence intervals, and how far two
// rankings agree. Plain functions over plain numbers, in double.
// Read next: src/lab/results/statistics.cc.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "headlab/base/json.h"

namespace headlab {

/// The arithmetic mean; NaN of nothing.
double mean(std::span<const double> values);
/// sqrt(sum (x - mean)^2 / (n - 1)), the sample's standard deviation; NaN for fewer than two
/// values.
double standard_deviation(std::span<const double> values);

/// The x with P(T <= x) = p for Student's t with `degrees` degrees of freedom. Error unless 0 < p <
/// 1 and degrees >= 1.
double t_quantile(double p, double degrees);

/// A mean and its interval. The ends are NaN where nothing is known of the spread: of one value,
/// and of values that are all the same.
struct Interval {
  double mean = 0;
  double low = std::numeric_limits<double>::quiet_NaN(), high = low;
};
Json to_json(const Interval& interval);
/// mean +- t s / sqrt(n), t the quantile of Student's t for two-sided `confidence`.
Interval t_interval(std::span<const double> values, double confidence = 0.95);
/// The interval with its ends moved to least and most where they lie beyond what is possible: no
/// share is above 1, whatever Student's t says of three seeds.
Interval within(Interval interval, double least, double most);
/// The logarithm of a loss; one below 1e-12 counts as 1e-12.
double log_of(double loss);
/// The interval of exp(x): a ratio, of the difference of logarithms.
Interval exp_of(const Interval& logs);
/// t_interval of the logarithms: the geometric mean of values whose spread is in factors, as that
/// of losses is, and an interval that stays above 0.
Interval geometric_interval(std::span<const double> values, double confidence = 0.95);
/// The Wilson interval (1927) of a share, from one share for each cluster, such as a seed. The
/// interval is that of as many trials as the spread between clusters is worth (Korn and Graubard
/// 1998), at least one for each cluster. `each`: trials in a cluster, such as its targets. If it is
/// above 1, there are at most n * each trials, and that many if all shares are the same: 5 seeds of
/// 2,000 targets that are all right have a share of 1 (0.9996 to 1). If it is 1, equal shares count
/// as one trial each: 5 ones are 1 (0.57 to 1). If it is 0, the number of trials is not known, and
/// equal shares have no interval.
Interval share_interval(std::span<const double> values, double confidence = 0.95, double each = 1);

/// The smallest p that is told. The tails of a distribution are known from approximations, which
/// say nothing of what is rarer.
inline constexpr double kLeastP = 1e-6;

/// A mean of n skewed values, by Hall's transformation of T = (mean - truth) / error, which takes
/// the skew out of it: g(T) = T + a T^2 / 3 + a^2 T^3 / 27 + a / 6 with a = skew / sqrt(n) is close
/// to normal, where T itself misses the truth far more often on one side. Hall 1992, "On the
/// Removal of Skewness by Transformation".
struct SkewedMean {
  double mean = 0, error = 0;  // its standard error
  double skew = 0;             // a: sum e^3 / (sum e^2)^1.5 over the deviations e from the mean

  Interval interval() const;  // of 95%
  /// Two-sided, that the truth is 0; kLeastP at the least.
  double p() const;
};

/// Ranks from 1; equals share the mean of their ranks; NaN ranks above all numbers.
std::vector<double> ranks(std::span<const double> values);
/// Pearson's correlation; 0 where either side is constant. Error unless both have as many values.
double pearson(std::span<const double> a, std::span<const double> b);
/// Spearman's rank correlation: Pearson's of the ranks.
double spearman(std::span<const double> a, std::span<const double> b);

}  // namespace headlab
