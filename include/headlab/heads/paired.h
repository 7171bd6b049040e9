// How much a loss changed, and how sure that is. The same examples are judged before and after, so
// that the difficulty of each example cancels, and effects far below the spread between examples
// can be seen. Examples are the independent unit, not targets. Read next: ablation.h.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "headlab/base/table.h"
#include "headlab/kernels/scalar.h"
#include "headlab/model/transformer.h"
#include "headlab/tasks/task.h"

namespace headlab {

/// No interval rests on fewer examples than these, nor on a change that fewer of them carry: the
/// next such example might be the one that matters.
inline constexpr Index kFewestPaired = 30;
/// How many examples changes are judged on, where the task has as many. Few of them often carry the
/// change, and then intervals on 512 hold the truth in two cases of three.
inline constexpr Index kPairedExamples = 2048;

/// To so many they are raised while too few of them carry a change.
inline constexpr Index kMostPaired = 8192;

/// The most |a| of a change with an interval, where a is the skew of the examples' residuals
/// divided by sqrt(n). Samples that happen to lack the rare large changes look the least skewed and
/// have the shortest intervals. Simulated intervals up to this limit hold the truth in 95 of 100
/// cases if their half-widths are multiplied by 1 + |a|; beyond it, no such factor helps.
inline constexpr double kMostSkew = 0.2;

/// What rounding alone does to a loss in float, in nats per target: no example tells a smaller
/// change from none. Logits above 8 are coarser (loss_resolution).
inline constexpr double kLossResolution = 64.0 * std::numeric_limits<Scalar>::epsilon();
/// The same for logits of at most this size: 8 units in the last place of the largest.
constexpr double loss_resolution(double largest_logit) {
  const double last_places = 8.0 * std::numeric_limits<Scalar>::epsilon() * largest_logit;
  return last_places > kLossResolution ? last_places : kLossResolution;
}

/// A change of the mean loss, in nats per target.
struct PairedChange {
  double change = 0;         // after - before
  double low = 0, high = 0;  // its 95% interval; NaN unless enough(), or where nothing changes
  double p = 1;              // of no change, two-sided; kLeastP at the least, NaN unless enough()
  Index examples = 0;        // with a target: what it rests on
  /// How many examples carry the change: (sum |d|)^2 / sum d^2, as many as there are if all change
  /// alike, 1 if a single one does.
  double carried = kFewestPaired;
  double skew = 0;  // SkewedMean::skew: the skew of the examples' residuals / sqrt(n)

  /// Whether these are enough for a verdict.
  bool enough() const {
    return examples >= kFewestPaired && carried >= kFewestPaired && std::abs(skew) <= kMostSkew;
  }
  /// Why they are not: "too few (12)", "carried by 3 examples", "too skewed (0.31)"; "" if they
  /// are.
  std::string lacking() const;
  /// Whether it lies above 0 with enough examples and its whole interval.
  bool is_rise() const { return enough() && low > 0; }
};
/// The columns of a change that text shows; JSON and CSV have all of them.
struct ChangeShown {
  bool change = true;
  bool p = false;
};
/// The columns of a change: the change with its interval, p, `examples` and `carried`. Their values
/// are at `prefix` in JSON ("gold.", or "" for the row itself).
std::vector<Column> change_columns(const std::string& prefix, const std::string& title,
                                   const std::string& meaning, const ChangeShown& shown = {});
/// The cells of these columns.
Json::Array cells_of(const PairedChange& change);
/// A row: one cell after the other, those of an array that is given as such in its place.
Json::Array row_with(Json::Array first, const Json::Array& then, const Json::Array& last = {});

/// With d = after - before of each example: R = sum of d / sum of targets; its variance n / (n - 1)
/// sum (d - R targets)^2 / (sum of targets)^2, and Hall's interval (SkewedMean) with the standard
/// error times 1 + |a| (see kMostSkew), which its p has as well. after, before [n]: losses of the
/// examples, each summed over its targets; targets [n]: how many these are. No target at all gives
/// no change and p = 1. Error unless all have the same n >= 2. Source: Cochran 1977, "Sampling
/// Techniques", chapter 6: the ratio of two means. groups [n], if given: the residuals of one group
/// are not independent; they are summed within groups before they are squared, if that makes the
/// interval wider (chapter 9: clusters). If |d| <= `resolution` per target in every example,
/// rounding explains all of it: the change is exactly 0 and p is 1.
PairedChange paired_change(std::span<const double> after, std::span<const double> before,
                           std::span<const double> targets,
                           std::span<const std::size_t> groups = {},
                           double resolution = kLossResolution);

/// What `judge` finds on so many held-out examples. Of kPairedExamples of a task that has more,
/// they are doubled up to kMostPaired while fewer than kFewestPaired carry a change that was
/// measured.
Finding judge_until_carried(const Task& task, Index examples,
                            const std::function<Finding(Index)>& judge);

/// The number of targets of each example.
std::vector<double> targets_by_example(const Batch& examples);
/// Adds `share` times the losses of a part of the examples, of which these are the logits, to
/// sums[first], sums[first + 1] ...: each summed over the example's targets, in double.
void add_losses(const Tensor& logits, const Batch& part, Index first, double share,
                std::vector<double>& sums);

}  // namespace headlab
