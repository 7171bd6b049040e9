// The order of two emergences: a role that never emerges comes after every step up to the last
// scored one, and a role that is present at the first scored step may have emerged at any step up
// to it. A seed in which the order is uncertain counts as no difference, which keeps the test
// exact.
#include "lab/studies/side_by_side.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"

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
    const bool arm_fails = holds(arm.failed, seed);
    const bool reference_fails = holds(reference.failed, seed);
    both.arm_failed += arm_fails ? 1 : 0;
    both.reference_failed += reference_fails ? 1 : 0;
    if (!arm_fails && !reference_fails) {
      both.where_both_succeed.push_back(both.differences.back());
    }
    for (const InSeed& one : {here, there}) {
      both.censored = both.censored || one.is_never() || one.is_at_first();
    }
  }
  const auto is_mostly_at_guessing = [](const Arm& one) {
    return !one.at_guessing.empty() && 2 * one.at_guessing.size() >= one.seeds.size();
  };
  both.at_guessing = is_mostly_at_guessing(arm) || is_mostly_at_guessing(reference);
  return both;
}

/// Returns the settings that an arm's name holds: "heads", "lr" for "sweeps/a/heads=4,lr=0.01".
std::set<std::string> named_settings(const Arm& arm) {
  std::set<std::string> names;
  const std::string last = arm.name.substr(arm.name.find_last_of('/') + 1);
  for (const std::string_view part : split(last, ',')) {
    names.emplace(part.substr(0, std::min(part.find('='), part.size())));
  }
  if (names.contains("heads")) names.insert({"d_head", "kv_heads"});
  return names;
}

/// Returns the value of a condition of an arm; "" if it has none.
std::string condition_of(const Arm& arm, const std::string& name) {
  const auto found = std::ranges::find(arm.conditions, name, &ArmCondition::name);
  return found == arm.conditions.end() ? "" : found->value;
}

/// Fills in whether the arms can be compared, and the conditions that differ.
void compare_conditions(const Arm& arm, const Arm& reference, SideBySide& sides) {
  std::set<std::string> named = named_settings(arm);
  named.merge(named_settings(reference));
  const bool one_sweep = !arm.sweep.empty() && arm.sweep == reference.sweep;
  std::vector<ArmCondition> all = arm.conditions;
  for (const ArmCondition& one : reference.conditions) {
    if (std::ranges::count(all, one.name, &ArmCondition::name) == 0) all.push_back(one);
  }
  std::vector<std::string> others, refused;
  for (const ArmCondition& one : all) {
    const std::string here = condition_of(arm, one.name);
    const std::string there = condition_of(reference, one.name);
    if (here == there) continue;
    if (one.must_match) {
      refused.push_back(one.name);
    } else if (!named.contains(one.name) && !(one_sweep && one.is_setting)) {
      others.push_back(
          text(one.name, ": ", here.empty() ? "none" : here, ", ", there.empty() ? "none" : there));
    }
  }
  if (!refused.empty()) sides.refusal = "other " + join(refused, ", other ");
  sides.also = join(others, "; ");
}

Comparison compared_arms(const Arm& arm, const Arm& reference, const Measure& measure,
                         double margin) {
  const bool ratios = measure.by == Measure::By::ratio;
  Comparison one{&arm, side_by_side(arm, reference, ratios)};
  compare_conditions(arm, reference, one.sides);
  const std::vector<double>& differences = one.sides.differences;
  if (differences.empty() || !one.sides.refusal.empty()) return one;
  one.found = compared(differences);
  if (one.sides.has_failures()) one.found.test.p = sign_test_p(differences);
  one.found.equal.p = 1;
  if (!one.sides.censored) {
    one.found.equal.p = equal_p(differences, ratios ? std::log(margin) : margin);
  }
  return one;
}

/// Corrects both tests of all compared arms together. A pair has two null hypotheses, of which at
/// most one is true, so no p is multiplied by more than the number of pairs.
void correct_all(std::vector<Comparison>& all) {
  std::vector<Test*> tests;
  for (Comparison& one : all) {
    if (one.found.seeds() > 0) tests.push_back(&one.found.test);
  }
  const std::size_t pairs = tests.size();
  for (Comparison& one : all) {
    if (one.found.seeds() > 0) tests.push_back(&one.found.equal);
  }
  correct(tests, pairs);
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
    all.push_back(compared_arms(arm, *other, measure, margin));
  }
  correct_all(all);
  return all;
}

}  // namespace headlab
