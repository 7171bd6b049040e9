// The order of two emergences: a role that never emerges comes after every step up to the last
// scored one, and a role that is present at the first scored step may have emerged at any step up
// to it. A seed in which the order is uncertain counts as no difference, which keeps the test
// exact.
#include "lab/studies/side_by_side.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "headlab/core/base/error.h"

namespace headlab {

std::vector<std::int64_t> seeds_of(const Arm& arm) {
  std::vector<std::int64_t> all = arm.seeds;
  all.insert(all.end(), arm.without.begin(), arm.without.end());
  std::ranges::sort(all);
  return all;
}

std::optional<double> number_of(const Arm& arm, std::int64_t seed) {
  const auto at = std::ranges::find(arm.seeds, seed) - arm.seeds.begin();
  return at == std::ssize(arm.seeds) ? std::nullopt : std::optional(arm.values[at]);
}

namespace {

bool holds(const std::vector<std::int64_t>& seeds, std::int64_t seed) {
  return std::ranges::count(seeds, seed) > 0;
}

/// Returns the number of an arm in a seed.
struct InSeed {
  const Arm& arm;
  std::int64_t seed;
  double number;

  bool is_never() const { return holds(arm.never, seed); }
  bool is_at_first() const { return holds(arm.at_first, seed); }
};

/// Returns whether it is certain that the role emerged first in the first arm.
bool is_surely_first(const InSeed& first, const InSeed& second) {
  if (first.is_never() || second.is_at_first()) return false;
  return second.is_never() ? first.number <= second.number : first.number < second.number;
}

/// Returns how much higher the first is; for two emergences 0 unless it is certain which came
/// first.
double difference_between(const InSeed& one, const InSeed& other, bool ratios) {
  if (!one.arm.role.empty()) {
    const bool certain = is_surely_first(one, other) || is_surely_first(other, one);
    return certain ? log_of(one.number) - log_of(other.number) : 0;
  }
  return ratios ? log_of(one.number) - log_of(other.number) : one.number - other.number;
}

SideBySide side_by_side(const Arm& arm, const Arm& reference, bool ratios) {
  SideBySide both;
  const std::vector<std::int64_t> a = seeds_of(arm), b = seeds_of(reference);
  std::ranges::set_intersection(a, b, std::back_inserter(both.shared));
  std::ranges::set_union(a, b, std::back_inserter(both.either));
  require(!both.shared.empty(), "cannot compare ", arm.name, " with ", reference.name,
          ": they have no seed in common");
  for (const std::int64_t seed : both.shared) {
    const std::optional<double> x = number_of(arm, seed);
    const std::optional<double> y = number_of(reference, seed);
    both.arm_without += x ? 0 : 1;
    both.reference_without += y ? 0 : 1;
    if (!x || !y) continue;
    both.arm.push_back(*x);
    both.reference.push_back(*y);
    const InSeed here{arm, seed, *x};
    const InSeed there{reference, seed, *y};
    both.differences.push_back(difference_between(here, there, ratios));
    for (const InSeed& one : {here, there}) {
      both.censored = both.censored || one.is_never() || one.is_at_first();
    }
  }
  return both;
}

Comparison compared(const Arm& arm, const Arm& reference, const Measure& measure, double margin) {
  const bool ratios = measure.by == Measure::By::ratio;
  Comparison one{&arm, side_by_side(arm, reference, ratios)};
  const std::vector<double>& differences = one.sides.differences;
  if (differences.empty()) return one;
  if (!one.sides.censored) one.equal = equal_p(differences, ratios ? std::log(margin) : margin);
  one.equal_corrected = one.equal;
  one.found = paired(differences);
  return one;
}

/// Corrects both tests of all compared arms together.
void correct_all(std::vector<Comparison>& all) {
  std::vector<Paired*> tested;
  std::vector<double> equal;
  for (Comparison& one : all) {
    if (one.found.seeds == 0) continue;
    tested.push_back(&one.found);
    equal.push_back(one.equal);
  }
  const std::vector<double> corrected = correct(tested, equal);
  std::size_t next = 0;
  for (Comparison& one : all) {
    if (one.found.seeds > 0) one.equal_corrected = corrected[next++];
  }
}

/// Returns the arm of the reference's name and this role; null if it has no such role.
const Arm* reference_for(std::span<const Arm> arms, const std::string& name,
                         const std::string& role) {
  const auto is_it = [&](const Arm& arm) { return arm.name == name && arm.role == role; };
  const auto found = std::ranges::find_if(arms, is_it);
  return found == arms.end() ? nullptr : &*found;
}

}  // namespace

std::vector<Comparison> all_compared(std::span<const Arm> arms, const std::string& reference,
                                     const Measure& measure, double margin) {
  std::vector<Comparison> all;
  for (const Arm& arm : arms) {
    const Arm* other = reference_for(arms, reference, arm.role);
    if (arm.name == reference || other == nullptr || seeds_of(arm).empty()) continue;
    all.push_back(compared(arm, *other, measure, margin));
  }
  correct_all(all);
  return all;
}

}  // namespace headlab
