// Paired change of a loss and its confidence. The same examples are evaluated before and after, so
// the difficulty of each example cancels, and effects far below the spread between examples become
// visible. Examples are the independent unit, not targets. Read next: ablation.h.
#pragma once

#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "headlab/core/kernels/scalar.h"
#include "headlab/core/model/transformer.h"
#include "headlab/core/tasks/task.h"
#include "headlab/lab/results/fields.h"
#include "headlab/lab/results/statistics.h"

namespace headlab {

/// Number of examples on which changes are evaluated, if the task has as many. The change is often
/// carried by few examples, and then intervals on 512 contain the true value in only two cases of
/// three.
inline constexpr Index kPairedExamples = 2048;

/// Maximum number of examples, used while too few of them carry a change.
inline constexpr Index kMostPaired = 8192;

/// Largest |a| of a change with an interval; a is the skew of the examples' residuals divided by
/// sqrt(n). Samples that happen to lack the rare large changes look the least skewed and have the
/// shortest intervals. Simulated intervals up to this limit contain the true value in 95 of 100
/// cases if their half-widths are multiplied by 1 + |a|; beyond it, no such factor helps.
inline constexpr double kMostSkew = 0.2;

/// Heaviest tail of a change with an interval, by PairedChange::tail. Where sizes above x are as
/// frequent as x^-alpha, the correction for skew needs alpha > 3. In trained models, heads with an
/// estimate of 1/alpha below 0.37 have intervals that hold the true value in 95 of 100 cases. Those
/// of heads above 0.49 hold it in as few as 76, if only the skew is limited
/// (coverage_train_test.cc).
inline constexpr double kHeaviestTail = 0.4;
/// Number of examples from which the tail is judged. The largest of fewer say little about it.
inline constexpr Index kFewestTailed = 512;

/// Largest change of a loss that rounding in float can cause, in nats per target. A smaller change
/// in every example counts as none. Logits above 8 have coarser rounding (loss_resolution).
inline constexpr double kLossResolution = 64.0 * std::numeric_limits<Scalar>::epsilon();
/// Returns the same limit for logits of at most this size: 8 units in the last place of the
/// largest.
constexpr double loss_resolution(double largest_logit) {
  const double last_places = 8.0 * std::numeric_limits<Scalar>::epsilon() * largest_logit;
  return last_places > kLossResolution ? last_places : kLossResolution;
}

/// A change of the mean loss, in nats per target. Over no example nothing is measured: the change,
/// its interval and p are NaN.
struct PairedChange {
  static constexpr double kUnmeasured = std::numeric_limits<double>::quiet_NaN();
  double change = kUnmeasured;                   // after - before
  double low = kUnmeasured, high = kUnmeasured;  // 95% interval; NaN unless enough(), or if nothing
                                                 // changes
  double p = kUnmeasured;  // two-sided p-value of no change; at least kLeastP, NaN unless enough()
  Index examples = 0;      // number of examples with a target
  /// Effective number of examples that carry the change: (sum |d|)^2 / sum d^2. It is n if all n
  /// change equally, 1 if a single one does.
  double carried = kFewestPaired;
  double skew = 0;  // SkewedMean::skew: the skew of the examples' residuals / sqrt(n)
  /// Hill's estimate of 1/alpha over the k largest residuals: the mean of log(|e_i| / |e_k+1|),
  /// with k the smaller of sqrt(n) and a quarter of `carried`; 0 below kFewestTailed examples. Hill
  /// 1975, "A Simple General Approach to Inference About the Tail of a Distribution".
  double tail = 0;

  /// Returns whether there are enough examples for a conclusion.
  bool enough() const {
    return examples >= kFewestPaired && carried >= kFewestPaired && std::abs(skew) <= kMostSkew &&
           tail <= kHeaviestTail;
  }
  /// Returns the reason why there are not enough: "too few (12)", "carried by 3 examples", "too
  /// skewed (0.31)", "too heavy a tail (0.62)"; "" if there are enough.
  std::string lacking() const;
  /// Returns whether the whole interval is above 0, with enough examples.
  bool is_rise() const { return enough() && low > 0; }
};
/// Columns of a change that are shown in text; JSON and CSV have all of them.
struct ChangeShown {
  bool change = true;
  bool p = false;
};
/// Returns the columns of a change: the change with its interval, p, `examples` and `carried`.
/// Their values are at `prefix` in JSON ("truth.", or "" for the row itself).
Fields<PairedChange> change_fields(const std::string& prefix, const std::string& title,
                                   const std::string& meaning, const ChangeShown& shown = {});

/// Returns the paired change. With d = after - before of each example: R = sum of d / sum of
/// targets; its variance is n / (n - 1) sum (d - R targets)^2 / (sum of targets)^2. The interval is
/// Hall's (SkewedMean) with the standard error times 1 + |a| (see kMostSkew), which p uses too.
/// after, before [n]: losses of the examples, each summed over its targets; targets [n]: their
/// numbers of targets. No target at all gives an unmeasured change. Error unless all have the same
/// n
/// >= 2. Source: Cochran 1977, "Sampling Techniques", chapter 6: the ratio of two means. groups
/// [n], if given: the residuals of one group are not independent, so they are summed within groups
/// before they are squared if that widens the interval (chapter 9: clusters). If |d| <=
/// `resolution` per target in every example, rounding explains all of it: the change is exactly 0
/// and p is 1.
PairedChange paired_change(std::span<const double> after, std::span<const double> before,
                           std::span<const double> targets,
                           std::span<const std::size_t> groups = {},
                           double resolution = kLossResolution);

/// Returns whether the task has twice as many examples, at most kMostPaired, and fewer than
/// kFewestPaired of `examples` carry a measured change.
bool more_may_carry(const Task& task, Index examples, std::span<const PairedChange> changes);
/// Returns the report of `judge` on this many held-out examples. If that is kPairedExamples,
/// doubles the number while more examples may carry one of the report's `changes()`.
template <class Judge>
auto judge_until_carried(const Task& task, Index examples, const Judge& judge) {
  auto report = judge(examples);
  if (examples != kPairedExamples) {
    return report;
  }
  while (more_may_carry(task, examples, report.changes())) {
    examples *= 2;
    report = judge(examples);
  }
  return report;
}

/// Returns the number of targets of each example.
std::vector<double> targets_by_example(const Batch& examples);
/// Adds `share` times the losses of a part of the examples, computed from its logits, to
/// sums[first], sums[first + 1] ...: each summed over the example's targets, in double.
void add_losses(const Tensor& logits, const Batch& part, Index first, double share,
                std::vector<double>& sums);

}  // namespace headlab
