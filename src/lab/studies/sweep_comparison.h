// Comparison of the groups of a sweep that differ only in their number of heads, and the sentences
// about it. Private to this folder.
// Read next: sweep_comparison.cc, sweep_words.cc.
#pragma once

#include <string>
#include <vector>

#include "headlab/lab/studies/sweep.h"

namespace headlab {

/// Fills report.comparisons from its groups: one comparison for each family with two numbers of
/// heads or more.
void compare_groups(SweepReport& report);

/// Fills report.settings from its groups: one comparison for each setting other than the heads, and
/// each family of groups that differ only in it.
void compare_settings(SweepReport& report);

/// Facts on which the sentences of one comparison depend.
struct SweepFacts {
  Index one = 0, best = 0, most = 0;  // numbers of heads: the fewest, the best, the largest tried
  std::optional<Index> enough{};
  bool several_win = false, is_at_guessing = false, equal_parameters = true;
  Compared loss{};                        // the fewest heads compared with the best
  Index higher = 0;                       // seeds in which the loss with the fewest heads is higher
  Index one_failed = 0, best_failed = 0;  // failing seeds
  std::optional<double> where_both_succeed{};  // ratio of the losses in the other seeds
  std::size_t tests = 1;                       // comparisons that are corrected together
  Index relations_at_once = 0;
  std::optional<Index> keys_read{};
  bool one_is_equal = false, refused_equal = false;
};
/// Returns " (95% interval 50 to 376)", the ends of the ratio; " (single seeds: ...)" if the seeds
/// are too few for an interval.
std::string ends_text(const SweepFacts& facts);
/// Returns whether no difference between these seeds can be significant.
bool has_too_few_seeds(const SweepFacts& facts);
/// Returns "; p cannot fall below 0.25 in 1 comparison".
std::string least_p_text(const SweepFacts& facts);
/// Returns the number of seeds that would decide: that of the test, or of the observed effect.
Index seeds_needed(const SweepFacts& facts);
std::string seed_count_text(Index seeds);
/// Returns " p = 0.03 after correction for 4 comparisons.".
std::string corrected_text(const SweepFacts& facts);

/// Fills the conclusion, the reason and the guard of a comparison.
void say(SweepComparison& comparison, const SweepFacts& facts);

}  // namespace headlab
