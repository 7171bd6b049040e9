// Statistics. Quantiles of Student's t are computed from its density by integration and bisection:
// slow compared with published approximations, but precise and short. Each is computed once.
// Read next: include/headlab/lab/results/statistics.h.
#include "headlab/lab/results/statistics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>

#include "headlab/core/base/error.h"

namespace headlab {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Returns P(0 <= T <= x): with x = sqrt(n) tan(a), the density becomes cos(a)^(n-1), which is
/// smooth and bounded, and Simpson's rule suffices.
double t_area(double x, double degrees) {
  constexpr int kIntervals = 2000;
  const double end = std::atan(x / std::sqrt(degrees));
  const double h = end / kIntervals;
  double sum = 0;
  for (int i = 0; i <= kIntervals; ++i) {
    const bool is_end = i == 0 || i == kIntervals;
    const double inner_weight = i % 2 == 1 ? 4 : 2;
    const double weight = is_end ? 1 : inner_weight;
    sum += weight * std::pow(std::cos(i * h), degrees - 1);
  }
  const double log_scale = std::lgamma((degrees + 1) / 2) - std::lgamma(degrees / 2);
  return sum * h / 3 * std::exp(log_scale) / std::sqrt(std::numbers::pi);
}

/// Returns whether all values are the same except for rounding.
bool all_the_same(std::span<const double> values) {
  const auto [low, high] = std::ranges::minmax(values);
  return high - low <= 1e-12 * std::abs(high);
}

}  // namespace

double mean(std::span<const double> values) {
  if (values.empty()) return kNaN;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double standard_deviation(std::span<const double> values) {
  if (values.size() < 2) return kNaN;
  const double center = mean(values);
  double squares = 0;
  for (const double x : values) squares += (x - center) * (x - center);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double t_quantile(double p, double degrees) {
  require(p > 0 && p < 1,
          "cannot compute a quantile: the probability must be between 0 and 1, got ", p);
  require(degrees >= 1, "cannot compute Student's t: it needs at least one degree of freedom, got ",
          degrees);
  thread_local std::map<std::pair<double, double>, double> known;  // a report asks for few of them
  double& quantile = known[{p, degrees}];
  if (quantile != 0) return quantile;
  const double area = std::abs(p - 0.5);
  double low = 0, high = 1;
  while (t_area(high, degrees) < area && high < 1e12) high *= 2;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (t_area(middle, degrees) < area ? low : high) = middle;
  }
  return quantile = p < 0.5 ? -low : low;
}

Interval t_interval(std::span<const double> values, double confidence) {
  if (values.size() < 2 || all_the_same(values)) return {mean(values)};
  const auto n = static_cast<double>(values.size());
  const double t = t_quantile(0.5 + confidence / 2, n - 1);
  const double center = mean(values), half = t * standard_deviation(values) / std::sqrt(n);
  return {center, center - half, center + half};
}

Interval within(Interval interval, double least, double most) {
  interval.low = std::clamp(interval.low, least, most);
  interval.high = std::clamp(interval.high, least, most);
  return interval;
}

double log_of(double value) { return std::log(value < 1e-12 ? 1e-12 : value); }

Interval exp_of(const Interval& logs) {
  return {std::exp(logs.mean), std::exp(logs.low), std::exp(logs.high)};
}

Interval geometric_interval(std::span<const double> values, double confidence) {
  if (!values.empty() && all_the_same(values)) return {values[0]};
  return exp_of(t_interval(mapped(values, log_of), confidence));
}

Interval share_interval(std::span<const double> values, double confidence, double each) {
  require(each >= 0, "cannot compute a share: it needs 0 trials or more, got ", each);
  const bool same = !values.empty() && all_the_same(values);
  if (values.size() < 2 || (same && each == 0)) return {mean(values)};
  const double n = static_cast<double>(values.size()), share = mean(values);
  const double z = t_quantile(0.5 + confidence / 2, 1e6);
  double trials = n * each;
  if (!same) {
    const double shrink = z / t_quantile(0.5 + confidence / 2, n - 1);
    const double variance = std::pow(standard_deviation(values), 2) / n;
    const double worth = std::max(n, share * (1 - share) / variance * shrink * shrink);
    trials = each > 1 ? std::min(trials, worth) : worth;
  }
  const double scale = 1 / (1 + z * z / trials), center = (share + z * z / (2 * trials)) * scale;
  const double half =
      z * scale * std::sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials));
  // At a share of 0, center and half are the same number, but may be rounded differently; the same
  // holds for 1 - center at a share of 1.
  const double low = share == 0 ? 0.0 : std::max(0.0, center - half);
  const double high = share == 1 ? 1.0 : std::min(1.0, center + half);
  return {share, low, high};
}

constexpr double kNormal95 = 1.959963984540054;  // the 97.5% point of the normal distribution

Interval SkewedMean::interval() const {
  const auto inverse = [&](double x) {
    return std::abs(skew) < 1e-6 ? x : 3 / skew * (std::cbrt(1 + skew * (x - skew / 6)) - 1);
  };
  return {mean, mean - inverse(kNormal95) * error, mean - inverse(-kNormal95) * error};
}

double SkewedMean::p() const {
  if (error == 0) return mean == 0 ? 1 : kLeastP;
  const double t = mean / error, at = skew * t;
  const double normal = t * (1 + at / 3 + at * at / 27) + skew / 6;
  return std::max(kLeastP, std::erfc(std::abs(normal) / std::sqrt(2.0)));
}

std::vector<double> ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto below = [&](std::size_t a, std::size_t b) {
    return values[a] < values[b] || (std::isnan(values[b]) && !std::isnan(values[a]));
  };
  std::sort(order.begin(), order.end(), below);
  std::vector<double> rank(values.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    while (end < order.size() && !below(order[i], order[end])) ++end;
    for (std::size_t k = i; k < end; ++k) rank[order[k]] = static_cast<double>(i + end + 1) / 2;
    i = end;
  }
  return rank;
}

double pearson(std::span<const double> a, std::span<const double> b) {
  require(a.size() == b.size(),
          "cannot compute a correlation: both sides need the same number of values, got ", a.size(),
          " and ", b.size());
  const double mean_a = mean(a), mean_b = mean(b);
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

double spearman(std::span<const double> a, std::span<const double> b) {
  return pearson(ranks(a), ranks(b));
}

Json to_json(const Interval& interval) {
  return Json::object({{"mean", interval.mean}, {"low", interval.low}, {"high", interval.high}});
}

}  // namespace headlab
