// The sums that patching compares. They are kept in double, because an effect is a quotient of two
// small differences of logits.
// Read next: patching.cc.
#include "lab/heads/causes/contrasts.h"

#include <cmath>
#include <numeric>

#include "headlab/core/base/error.h"
#include "headlab/lab/heads/causes/paired.h"

namespace headlab {

static void require_same_shape(const Batch& clean, const Batch& corrupted) {
  const bool alike = clean.shape() == corrupted.shape() &&
                     clean.targets.size() == corrupted.targets.size() &&
                     clean.source_length == corrupted.source_length;
  require(alike, "cannot patch: the clean and corrupted inputs must have the same shape, got ",
          clean.shape(), " and ", corrupted.shape());
}

std::vector<Contrast> contrasts_of(const Batch& clean, const Batch& corrupted) {
  require_same_shape(clean, corrupted);
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

std::vector<Contrast> contrasts_of(const PatchPairs& pairs) {
  if (pairs.contrasts.empty()) return contrasts_of(pairs.clean, pairs.corrupted);
  require_same_shape(pairs.clean, pairs.corrupted);
  return pairs.contrasts;
}

const char* PatchPairs::quantity() const {
  const bool is_difference = contrasts.empty() || contrasts[0].corrupted >= 0;
  return is_difference ? "logit difference" : "log-probability";
}

double mean_difference(const Tensor& logits, Index outputs,
                       const std::vector<Contrast>& contrasts) {
  double sum = 0;
  for (const Contrast& one : contrasts) sum += value_at(logits, outputs, one);
  return sum / static_cast<double>(contrasts.size());
}

/// Adds the gradient of one quantity, times `share`, to its row: 1 at the answer, and -1 at the
/// other, or minus the probabilities p of all answers: d log p_a / dx_v = [a = v] - p_v.
static void add_gradient(const Tensor& logits, Index outputs, const Contrast& one, double share,
                         const Tensor& gradient) {
  Scalar* row = gradient.data() + one.row * outputs;
  row[one.clean] += static_cast<Scalar>(share);
  if (one.corrupted >= 0) {
    row[one.corrupted] -= static_cast<Scalar>(share);
    return;
  }
  for (Index v = 0; v < outputs; ++v) {
    const double p = std::exp(value_at(logits, outputs, {one.row, v, -1}));
    row[v] -= static_cast<Scalar>(share * p);
  }
}

Tensor gradient_of_mean(const Tensor& logits, Index outputs,
                        const std::vector<Contrast>& contrasts) {
  const Tensor gradient = Tensor::zeros(logits.shape());
  const double share = 1 / static_cast<double>(contrasts.size());
  for (const Contrast& one : contrasts) add_gradient(logits, outputs, one, share, gradient);
  return gradient;
}

std::vector<double> differences_by_pair(const Tensor& logits, Index outputs, Index rows,
                                        const std::vector<Contrast>& contrasts) {
  std::vector<double> sums(static_cast<std::size_t>(logits.size(0)));
  for (const Contrast& one : contrasts) {
    sums[static_cast<std::size_t>(one.row / rows)] += value_at(logits, outputs, one);
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
