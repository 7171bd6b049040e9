// The order of two emergences: a role that never emerges comes after every step up to the last
// scored one, and a role that is there at the first scored step may have come at any step up to it.
// A seed in which the order is not certain counts as no difference, which keeps the test exact.
#include "studies/side_by_side.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "headlab/base/error.h"

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

/// Whether it is certain that the role emerged first in the first arm, by the values of a seed.
bool is_surely_first(const Arm& first, double step, const Arm& second, double other,
                     std::int64_t seed) {
  if (holds(first.never, seed)) return false;
  if (holds(second.at_first, seed)) return false;
  return holds(second.never, seed) ? step <= other : step < other;
}

/// log(a / b) of two steps; 0 unless it is certain which came first.
double log_of_steps(const Arm& a, double step, const Arm& b, double other, std::int64_t seed) {
  const bool certain =
      is_surely_first(a, step, b, other, seed) || is_surely_first(b, other, a, step, seed);
  return certain ? log_of(step) - log_of(other) : 0;
}

double difference_in(const Arm& arm, double x, const Arm& reference, double y, std::int64_t seed,
                     bool ratios) {
  if (!arm.role.empty()) return log_of_steps(arm, x, reference, y, seed);
  return ratios ? log_of(x) - log_of(y) : x - y;
}

SideBySide side_by_side(const Arm& arm, const Arm& reference, bool ratios) {
  SideBySide both;
  const std::vector<std::int64_t> a = seeds_of(arm), b = seeds_of(reference);
  std::ranges::set_intersection(a, b, std::back_inserter(both.shared));
  std::ranges::set_union(a, b, std::back_inserter(both.either));
  require(!both.shared.empty(), arm.name, " and ", reference.name, " have no seed in common");
  for (const std::int64_t seed : both.shared) {
    const std::optional<double> x = number_of(arm, seed), y = number_of(reference, seed);
    both.arm_without += x ? 0 : 1;
    both.reference_without += y ? 0 : 1;
    if (!x || !y) continue;
    both.arm.push_back(*x);
    both.reference.push_back(*y);
    both.differences.push_back(difference_in(arm, *x, reference, *y, seed, ratios));
    for (const Arm* one : {&arm, &reference}) {
      both.censored = both.censored || holds(one->never, seed) || holds(one->at_first, seed);
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
  one.equal_holm = one.equal;
  one.found = paired(differences);
  return one;
}

/// Corrects both tests for all arms that are compared.
void correct_all(std::vector<Comparison>& all) {
  std::vector<Paired*> asked;
  std::vector<double> equal;
  for (Comparison& one : all) {
    if (one.found.seeds == 0) continue;
    asked.push_back(&one.found);
    equal.push_back(one.equal);
  }
  correct(asked);
  const std::vector<double> corrected = holm(equal);
  std::size_t next = 0;
  for (Comparison& one : all) {
    if (one.found.seeds > 0) one.equal_holm = corrected[next++];
  }
}

/// The arm of the reference's name and this role; null if it has no such role.
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
