// Conclusion about one arm of a comparison. Failing seeds are counted first, and other
// conditions that differ between the arms are named. A guard that refuses a conclusion is reported
// by name. Read next: compare.cc.
#include "lab/studies/compare_words.h"

#include <algorithm>
#include <cmath>

#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/runs/guards.h"

namespace headlab {
namespace {

/// Returns "lower in 9 of 10 seeds", for an arm that differs from the reference.
std::string direction_of(const Comparison& one) {
  const Paired& found = one.found.difference;
  const Index above = std::ranges::count_if(one.sides.differences, [](double x) { return x > 0; });
  const bool fails = one.sides.has_failures();  // the test then counts seeds
  const bool lower = fails ? found.wins > above : found.difference.mean < 0;
  const bool is_step = !one.arm->role.empty();
  const char* const low = is_step ? "earlier" : "lower";
  const char* const high = is_step ? "later" : "higher";
  const Index seeds_that_way = lower ? found.wins : above;
  const Index seeds_against = lower ? above : found.wins;
  const std::string counted = text(" in ", std::max(seeds_that_way, seeds_against), " of ",
                                   found.seeds, found.seeds == 1 ? " seed" : " seeds");
  if (seeds_that_way >= seeds_against) return text(lower ? low : high, counted);
  return text("different: ", lower ? high : low, counted, ", ", lower ? low : high, " on average");
}

/// Returns "1.19 times" or "0.02 higher".
std::string size_text(double difference, const Measure& measure) {
  if (measure.by == Measure::By::ratio) return text(significant(std::exp(difference)), " times");
  return text(significant(std::abs(difference)), difference < 0 ? " lower" : " higher");
}

/// Returns the count of failing seeds, which comes first, and the difference where neither fails.
/// That difference has no p, because the choice of seeds is made after the outcome.
std::string with_failures(const Comparison& one, const std::string& said, const Measure& measure) {
  const SideBySide& sides = one.sides;
  const std::string other = sides.reference_failed == 0 ? "none" : text(sides.reference_failed);
  std::string all =
      text("fails in ", sides.arm_failed, " of ", one.found.seeds(),
           one.found.seeds() == 1 ? " seed" : " seeds", ", the other arm in ", other, "; ", said);
  if (!sides.where_both_succeed.empty()) {
    all += "; where both succeed, " + size_text(mean(sides.where_both_succeed), measure);
  }
  return all;
}

/// Returns whether no difference can be significant with these seeds. `pairs`: compared arms.
bool has_too_few_seeds(const Comparison& one, std::size_t pairs) {
  const double least = least_p(static_cast<std::size_t>(one.found.seeds()));
  return least * static_cast<double>(pairs) >= 0.05;
}

/// Returns "inconclusive", with the effect and the number of seeds if these are too few to decide.
std::string inconclusive_text(const Comparison& one, const Measure& measure, std::size_t pairs) {
  if (!has_too_few_seeds(one, pairs)) return "inconclusive";
  const Paired& found = one.found.difference;
  const Index above = std::ranges::count_if(one.sides.differences, [](double x) { return x > 0; });
  return text("inconclusive: ", size_text(found.difference.mean, measure), ", in ",
              std::max(found.wins, above), " of ", found.seeds,
              found.seeds == 1 ? " seed" : " seeds", "; the test needs ", seeds_for(pairs));
}

/// Returns what the tests show, without counts of failing seeds.
std::string tested_conclusion(const Comparison& one, const Measure& measure, double margin,
                              std::size_t pairs) {
  if (one.found.test.is_significant()) return direction_of(one);
  const std::string guard = guard_of(one, pairs);
  if (guard == kGuessingGuard) return "train longer: an arm is at guessing";
  if (guard == kFailuresGuard) return "inconclusive";
  if (one.found.equal.is_significant()) {
    return text("equal within ", margin, " for the median seed");
  }
  return inconclusive_text(one, measure, pairs);
}

/// Returns the conclusion for seeds that both arms have, by the same value or the lack of it.
std::string conclusion_on_seeds(const Comparison& one, const Measure& measure, double margin,
                                std::size_t pairs) {
  const SideBySide& sides = one.sides;
  if (!sides.fail_alike()) {
    const std::string fails = text("fails in ", sides.arm_without, " of ", sides.shared.size(),
                                   " seeds against ", sides.reference_without);
    const bool is_told = one.found.seeds() > 0 && one.found.test.is_significant();
    return is_told ? text(fails, "; ", direction_of(one), " where both have one") : fails;
  }
  if (one.found.seeds() == 0) return "no seed has a number in both";
  const std::string said = tested_conclusion(one, measure, margin, pairs);
  return sides.has_failures() ? with_failures(one, said, measure) : said;
}

}  // namespace

std::string guard_of(const Comparison& one, std::size_t pairs) {
  const SideBySide& sides = one.sides;
  if (!sides.refusal.empty()) return kArmsGuard;
  if (one.found.seeds() == 0 || one.found.test.is_significant()) return "";
  if (one.found.equal.is_significant() && sides.at_guessing) return kGuessingGuard;
  if (one.found.equal.is_significant() && sides.has_failures()) return kFailuresGuard;
  return has_too_few_seeds(one, pairs) ? kSeedsGuard : "";
}

std::string conclusion_of(const Comparison& one, const Measure& measure, double margin,
                          std::size_t pairs) {
  if (!one.sides.refusal.empty()) return "not compared: " + one.sides.refusal;
  const std::string said = conclusion_on_seeds(one, measure, margin, pairs);
  if (one.sides.also.empty()) return said;
  return text(said, "; the arms also differ in ", one.sides.also);
}

}  // namespace headlab
