// The statistics that reports are made with: means with confidence intervals, and how far two
// rankings agree. Plain functions over plain numbers, in double.
// Read next: src/base/statistics.cc.
#pragma once

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

/// A mean and half the width of its interval.
struct Interval {
  double mean = 0;
  double half_width = 0;  // NaN for fewer than two values
};
Json to_json(const Interval& interval);
/// mean +- t s / sqrt(n), t the quantile of Student's t for two-sided `confidence`.
Interval t_interval(std::span<const double> values, double confidence = 0.95);

/// mean(a) - mean(b) +- t s, with s^2 = s_a^2 / n_a + s_b^2 / n_b and the degrees of freedom
/// s^4 / (s_a^4 / (n_a^2 (n_a - 1)) + s_b^4 / (n_b^2 (n_b - 1))): variances may differ. Welch 1947.
Interval welch_interval(std::span<const double> a, std::span<const double> b,
                        double confidence = 0.95);

/// Ranks from 1; equals share the mean of their ranks; NaN ranks above all numbers.
std::vector<double> ranks(std::span<const double> values);
/// Pearson's correlation; 0 where either side is constant. Error unless both have as many values.
double pearson(std::span<const double> a, std::span<const double> b);
/// Spearman's rank correlation: Pearson's of the ranks.
double spearman(std::span<const double> a, std::span<const double> b);

}  // namespace headlab
