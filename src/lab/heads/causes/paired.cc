// The interval of a ratio: examples differ in their number of targets, so the mean loss per target
// is a ratio of two sums, and both of them vary.
// Read next: ablation.cc, which computes the differences.
#include "headlab/lab/heads/causes/paired.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"
#include "headlab/core/train/evaluate.h"
#include "headlab/lab/results/statistics.h"

namespace headlab {

/// Returns a function of a change that returns the cell of `get`, null if nothing was measured.
template <class Get>
static auto if_measured(Get get) {
  return [get](const PairedChange& change) {
    return change.examples > 0 ? cell_of(std::invoke(get, change)) : Json();
  };
}

static Interval interval_of(const PairedChange& change) {
  return {change.change, change.low, change.high};
}

/// Adds the columns that say how the change is spread over examples; they decide whether it has an
/// interval.
static void add_spread(Fields<PairedChange>& fields, const std::string& prefix) {
  const auto add = [&](const char* name, const std::string& meaning, double PairedChange::*value) {
    fields.add(Column(prefix + name, name, meaning).mean_over(prefix + "examples").hidden(),
               if_measured(value));
  };
  add("carried", "effective number of examples that carry the change", &PairedChange::carried);
  add("skew",
      text("skewness of the examples' changes, divided by the root of their number; no interval "
           "above ",
           kMostSkew),
      &PairedChange::skew);
  add("tail",
      text("how heavy the tail of the examples' changes is, 1/alpha; no interval above ",
           kHeaviestTail),
      &PairedChange::tail);
}

Fields<PairedChange> change_fields(const std::string& prefix, const std::string& title,
                                   const std::string& meaning, const ChangeShown& shown) {
  const std::string change = prefix + "change";
  const std::string examples = prefix + "examples";
  // "truth." names the object that holds the change: its interval is called "truth".
  const std::string key = prefix.empty() ? change : prefix.substr(0, prefix.size() - 1);
  Fields<PairedChange> fields;
  fields.add(Column(key, title, meaning + ", with its 95% interval")
                 .of(CellKind::interval, {change, prefix + "low", prefix + "high"})
                 .shown_as(Form::signed_number)
                 .mean_over(examples)
                 .hidden_unless(shown.change),
             if_measured(interval_of));
  fields.add(Column(prefix + "p", "p",
                    "probability of such a change by chance; not shown below 1e-6")
                 .shown_as(Form::p_value)
                 .mean_over(examples)
                 .hidden_unless(shown.p),
             if_measured(&PairedChange::p));
  fields.add(Column(examples, "examples",
                    "number of examples with a target, from which the change is computed")
                 .hidden(),
             &PairedChange::examples);
  add_spread(fields, prefix);
  return fields;
}

std::string PairedChange::lacking() const {
  if (examples < kFewestPaired) return text("too few (", examples, ")");
  if (carried < kFewestPaired) {
    return text("carried by ", std::lround(std::floor(carried)), " examples");
  }
  if (std::abs(skew) > kMostSkew) return text("too skewed (", fixed(std::abs(skew), 2), ")");
  return enough() ? "" : text("too heavy a tail (", fixed(tail, 2), ")");
}

/// Returns whether no example changes by more than rounding.
static bool is_rounding(std::span<const double> after, std::span<const double> before,
                        std::span<const double> targets, double resolution) {
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (std::abs(after[i] - before[i]) > resolution * targets[i]) return false;
  }
  return true;
}

/// Returns the result if rounding explains every change: exactly 0.
static PairedChange unchanged(std::span<const double> targets) {
  PairedChange result;
  result.examples = std::ranges::count_if(targets, [](double own) { return own > 0; });
  result.change = 0;
  result.carried = static_cast<double>(result.examples);
  result.skew = 0;
  if (result.enough()) result.p = 1;
  return result;
}

/// Returns the mean change, the number of examples and how many carry it; no interval.
static PairedChange mean_change(std::span<const double> after, std::span<const double> before,
                                std::span<const double> targets, double count) {
  PairedChange result{.change = 0};
  double sizes = 0;
  double squares = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const double change = after[i] - before[i];
    result.change += change / count;
    result.examples += targets[i] > 0;
    sizes += std::abs(change);
    squares += change * change;
  }
  result.carried = static_cast<double>(result.examples);
  if (squares > 0) {
    result.carried = sizes * sizes / squares;
  }
  return result;
}

/// Returns PairedChange::tail of these sizes. Those below `resolution` are rounding, all alike.
static double tail_of(std::vector<double> sizes, double carried, double resolution) {
  if (std::ssize(sizes) < kFewestTailed) return 0;
  const double most = std::min(std::sqrt(static_cast<double>(sizes.size())), carried / 4);
  const auto largest = static_cast<std::ptrdiff_t>(std::max(1.0, most));
  std::ranges::nth_element(sizes, sizes.begin() + largest, std::greater());
  const double next = std::max(sizes[static_cast<std::size_t>(largest)], resolution);
  double sum = 0;
  for (const double size : std::span(sizes).first(static_cast<std::size_t>(largest))) {
    sum += std::log(std::max(size, resolution) / next);
  }
  return sum / static_cast<double>(largest);
}

PairedChange paired_change(std::span<const double> after, std::span<const double> before,
                           std::span<const double> targets, std::span<const std::size_t> groups,
                           double resolution) {
  const std::size_t n = targets.size();
  require(after.size() == n && before.size() == n && n >= 2, "cannot test a change over ",
          after.size(), ", ", before.size(), " and ", n,
          " examples: it needs two or more, the same number each time");
  const double count = std::accumulate(targets.begin(), targets.end(), 0.0);
  if (count <= 0) return {};
  if (is_rounding(after, before, targets, resolution)) return unchanged(targets);
  PairedChange result = mean_change(after, before, targets, count);
  double squares = 0;
  double cubes = 0;
  std::map<std::size_t, double> sums;  // of residuals, by group
  std::vector<double> sizes;           // of residuals
  for (std::size_t i = 0; i < n; ++i) {
    const double residual = after[i] - before[i] - result.change * targets[i];
    sizes.push_back(std::abs(residual));
    squares += residual * residual;
    cubes += residual * residual * residual;
    if (!groups.empty()) sums[groups[i]] += residual;
  }
  double grouped = 0;
  for (const auto& [group, sum] : sums) grouped += sum * sum;
  const auto examples = static_cast<double>(n);
  const double error = std::sqrt(std::max(squares, grouped) * examples / (examples - 1)) / count;
  result.skew = squares > 0 ? cubes / std::pow(squares, 1.5) : 0;
  result.tail = tail_of(std::move(sizes), result.carried, resolution);
  const SkewedMean mean{result.change, error * (1 + std::abs(result.skew)), result.skew};
  const bool known = result.enough();
  const bool moved = error > 0 || result.change != 0;
  const Interval interval = known && moved ? mean.interval() : Interval{};
  result.low = interval.low;
  result.high = interval.high;
  result.p = known ? mean.p() : std::nan("");
  return result;
}

bool more_may_carry(const Task& task, Index examples, std::span<const PairedChange> changes) {
  const bool has_more =
      2 * examples <= kMostPaired && at_most_different(task, 2 * examples) == 2 * examples;
  return has_more && std::ranges::any_of(changes, [](const PairedChange& change) {
           return change.examples > 0 && change.carried < kFewestPaired;
         });
}

std::vector<double> targets_by_example(const Batch& examples) {
  std::vector<double> targets;
  for (Index b = 0; b < examples.size; ++b) {
    targets.push_back(static_cast<double>(examples.rows(b, b + 1).target_count()));
  }
  return targets;
}

void add_losses(const Tensor& logits, const Batch& part, Index first, double share,
                std::vector<double>& sums) {
  const Tensor losses = target_losses(logits, part);  // [B, T, K], 0 where there is no target
  const Index each = losses.shape().count(1, 3);
  const Scalar* loss = losses.data();
  for (Index b = 0; b < part.size; ++b) {
    double& sum = sums[first + b];
    for (Index i = 0; i < each; ++i) sum += share * static_cast<double>(*loss++);
  }
}

}  // namespace headlab
