// How much a loss changed, and how sure that is. The same examples are judged before and after, so
// that what is hard about an example cancels: an effect of a hundredth of the spread between
// examples can be seen. Examples are the independent unit, not targets. Read next: ablation.h.
#pragma once

#include <span>

#include "headlab/base/json.h"
#include "headlab/kernels/scalar.h"

namespace headlab {

/// A change of the mean loss, in nats per target.
struct PairedChange {
  double change = 0;         // after - before
  double low = 0, high = 0;  // its 95% interval
  double p = 1;              // of no change, two-sided
};
/// {"change", "low", "high", "p"}.
Json to_json(const PairedChange& change);

/// With d = after - before of each example: R = sum of d / sum of targets; its variance n / (n - 1)
/// sum (d - R targets)^2 / (sum of targets)^2, and the normal distribution, which wants some thirty
/// examples. after, before [n]: losses of the examples, each summed over its targets; targets [n]:
/// how many these are. No target at all gives no change and p = 1. Error unless all have the same
/// n >= 2. Cochran 1977, "Sampling Techniques", chapter 6: the ratio of two means.
PairedChange paired_change(std::span<const double> after, std::span<const double> before,
                           std::span<const double> targets);

}  // namespace headlab
