// The sums that patching compares. They are kept in double, because an effect is a quotient of two
// small differences of logits.
// Read next: patching.cc.
#include "lab/heads/causes/contrasts.h"

#include <cmath>
#include <numeric>

#include "headlab/core/base/error.h"
#include "headlab/lab/heads/causes/paired.h"

namespace headlab {

std::vector<Contrast> contrasts_of(const Batch& clean, const Batch& corrupted) {
  const bool alike = clean.shape() == corrupted.shape() &&
                     clean.targets.size() == corrupted.targets.size() &&
                     clean.source_length == corrupted.source_length;
  require(alike, "cannot patch: the clean and corrupted inputs must have the same shape, got ",
          clean.shape(), " and ", corrupted.shape());
  std::vector<Contrast> contrasts;
  for (std::size_t i = 0; i < clean.targets.size(); ++i) {
    const Index a = clean.targets[i];
    const Index b = corrupted.targets[i];
    if (a >= 0 && b >= 0 && a != b) contrasts.push_back({static_cast<Index>(i), a, b});
  }
  require(!contrasts.empty(),
          "cannot patch: the clean and the corrupted inputs ask for the same answers: there is "
          "nothing to "
          "restore");
  return contrasts;
}

static double difference_at(const Tensor& logits, Index outputs, const Contrast& one) {
  const Scalar* row = logits.data() + one.row * outputs;
  return static_cast<double>(row[one.clean]) - static_cast<double>(row[one.corrupted]);
}

double mean_difference(const Tensor& logits, Index outputs,
                       const std::vector<Contrast>& contrasts) {
  double sum = 0;
  for (const Contrast& one : contrasts) sum += difference_at(logits, outputs, one);
  return sum / static_cast<double>(contrasts.size());
}

std::vector<double> differences_by_pair(const Tensor& logits, Index outputs, Index rows,
                                        const std::vector<Contrast>& contrasts) {
  std::vector<double> sums(static_cast<std::size_t>(logits.size(0)));
  for (const Contrast& one : contrasts) {
    sums[static_cast<std::size_t>(one.row / rows)] += difference_at(logits, outputs, one);
  }
  return sums;
}

Interval ratio_interval(const std::vector<double>& part, const std::vector<double>& whole) {
  const double all = std::accumulate(whole.begin(), whole.end(), 0.0);
  Interval ratio{.mean = std::accumulate(part.begin(), part.end(), 0.0) / all};
  if (std::ssize(part) < kFewestPaired) return ratio;
  double squares = 0;
  for (std::size_t i = 0; i < part.size(); ++i) {
    squares += std::pow(part[i] - ratio.mean * whole[i], 2);
  }
  const double n = static_cast<double>(part.size());
  const double error = std::sqrt(n / (n - 1) * squares) / std::abs(all);
  const double half = t_quantile(0.975, n - 1) * error;
  ratio.low = ratio.mean - half;
  ratio.high = ratio.mean + half;
  return ratio;
}

}  // namespace headlab
