// The sentences about one comparison of a sweep, as rows: the first row that applies is said.
// Terminal, JSON and page show the same sentences. To add a sentence, add a row.
// Read next: sweep_comparison.h.
#include <algorithm>

#include "headlab/core/base/text.h"
#include "headlab/lab/runs/guards.h"
#include "lab/studies/sweep_comparison.h"

namespace headlab {

std::string seed_count_text(Index seeds) { return seeds == 1 ? "1 seed" : text(seeds, " seeds"); }

bool has_too_few_seeds(const SweepFacts& f) {
  const double least = least_p(static_cast<std::size_t>(f.loss.seeds()));
  return least * static_cast<double>(f.tests) >= 0.05;
}

std::string least_p_text(const SweepFacts& f) {
  const double least =
      least_p(static_cast<std::size_t>(f.loss.seeds())) * static_cast<double>(f.tests);
  return text("; p cannot fall below ", significant(std::min(1.0, least)), " in ", f.tests,
              f.tests == 1 ? " comparison." : " comparisons.");
}

std::string corrected_text(const SweepFacts& f) {
  return text(" p = ", significant(f.loss.test.corrected), " after correction for ", f.tests,
              f.tests == 1 ? " comparison." : " comparisons.");
}

std::string ends_text(const SweepFacts& f) {
  const Interval ratio = exp_of(f.loss.difference.difference);
  if (std::isnan(ratio.low)) return "";
  const std::string ends = text(significant(ratio.low), " to ", significant(ratio.high));
  return f.loss.seeds() < 6 ? text(" (single seeds: ", ends, ")")
                            : text(" (95% interval ", ends, ")");
}

Index seeds_needed(const SweepFacts& f) {
  if (has_too_few_seeds(f)) return static_cast<Index>(seeds_for(f.tests));
  return seeds_to_tell(f.loss.difference.effect, 0.05 / static_cast<double>(f.tests));
}

namespace {

std::string heads_text(Index heads) { return heads == 1 ? "1 head" : text(heads, " heads"); }

bool has_failures(const SweepFacts& f) { return f.one_failed + f.best_failed > 0; }

/// Returns the size of the difference and the number of seeds that show it.
std::string effect_text(const SweepFacts& f) {
  const double ratio = exp_of(f.loss.difference.difference).mean;
  return text("with ", heads_text(f.one), " the loss is ", significant(ratio), " times that with ",
              heads_text(f.best), ends_text(f), ", higher in ", f.higher, " of ",
              seed_count_text(f.loss.seeds()));
}

/// Returns the counts of failing seeds; where neither fails, the ratio follows without a test,
/// because that choice is made after the outcome.
std::string failures_text(const SweepFacts& f) {
  const Index seeds = f.loss.seeds();
  std::string said = text("with ", heads_text(f.one), " ", f.one_failed, " of ",
                          seed_count_text(seeds), " fail, with ", heads_text(f.best), " ",
                          f.best_failed, "; the loss is higher in ", f.higher, " of ", seeds);
  if (f.where_both_succeed) {
    said += text("; where both succeed, ", significant(*f.where_both_succeed), " times");
  }
  return said;
}

std::string capitalised(std::string said) {
  if (!said.empty() && said[0] >= 'a' && said[0] <= 'z') {
    said[0] = static_cast<char>(said[0] - 'a' + 'A');
  }
  return said;
}

std::string undecided_text(const SweepFacts& f) {
  const Index needed = seeds_needed(f);
  std::string said =
      text("How many heads are enough is not decided by ", seed_count_text(f.loss.seeds()));
  if (needed > f.loss.seeds()) said += text("; the test needs ", needed);
  return said + ".";
}

struct SweepSentence {
  bool (*applies)(const SweepFacts& facts);
  std::string (*text)(const SweepFacts& facts);
};

const SweepSentence kConclusions[] = {
    {[](const SweepFacts& f) { return f.is_at_guessing; },
     [](const SweepFacts&) {
       return std::string("Train longer: no number of heads beats guessing.");
     }},
    {[](const SweepFacts& f) { return f.best == f.one; },
     [](const SweepFacts& f) {
       return f.one == 1 ? std::string("One head has the lowest loss.")
                         : text(heads_text(f.one), ", the fewest tried, have the lowest loss.");
     }},
    {[](const SweepFacts& f) { return f.enough == f.one; },
     [](const SweepFacts& f) {
       return f.one == 1 ? std::string("One head is enough.")
                         : text(heads_text(f.one), ", the fewest tried, are enough.");
     }},
    {[](const SweepFacts& f) { return f.enough && f.enough != f.best; },
     [](const SweepFacts& f) { return text(heads_text(*f.enough), " are enough."); }},
    {[](const SweepFacts& f) { return f.enough && f.best == f.most; },
     [](const SweepFacts& f) {
       return text("Loss falls up to ", heads_text(f.best), ", the most that were tried.");
     }},
    {[](const SweepFacts& f) { return f.enough.has_value(); },
     [](const SweepFacts& f) {
       return text("Loss falls until ", heads_text(f.best), " and no further.");
     }},
    {[](const SweepFacts& f) { return f.several_win; },
     [](const SweepFacts& f) {
       const std::string win =
           f.one == 1 ? "Several heads beat one" : text(heads_text(f.best), " beat ", f.one);
       return win + "; how many are enough is not decided.";
     }},
    {[](const SweepFacts&) { return true; }, undecided_text}};

/// Returns the reason from the task's ground truth, only if it applies: one head cannot read
/// several relations at one query, but it can read a single key.
std::string task_text(const SweepFacts& f) {
  if (!f.keys_read || f.one != 1) return "";
  const std::string keys = text(*f.keys_read, *f.keys_read == 1 ? " key" : " keys", " at once");
  if (f.several_win && f.relations_at_once > 1) {
    return text(" A query of this task must attend to up to ", keys, ", for ", f.relations_at_once,
                " relations.");
  }
  if (!f.several_win && f.one_is_equal && *f.keys_read == 1) {
    return text(" A query of this task must attend to at most ", keys, ".");
  }
  return "";
}

const SweepSentence kReasons[] = {
    {[](const SweepFacts& f) { return f.best == f.one; },
     [](const SweepFacts& f) {
       return text("No group with more heads has a lower mean loss over ",
                   seed_count_text(f.loss.seeds()), ".");
     }},
    {has_failures, [](const SweepFacts& f) { return capitalised(failures_text(f)) + "."; }},
    {[](const SweepFacts& f) { return f.enough && f.enough != f.best; },
     [](const SweepFacts& f) {
       return text("Their accuracy is within ", kGain, " of that of ", heads_text(f.best),
                   ", which have the lowest loss: ", effect_text(f), ".");
     }},
    {[](const SweepFacts& f) { return has_too_few_seeds(f); },
     [](const SweepFacts& f) { return capitalised(effect_text(f)) + least_p_text(f); }},
    {[](const SweepFacts&) { return true; },
     [](const SweepFacts& f) { return capitalised(effect_text(f)) + "."; }}};

template <std::size_t N>
std::string first_of(const SweepSentence (&rows)[N], const SweepFacts& facts) {
  const auto row = std::ranges::find_if(rows, [&](const auto& one) { return one.applies(facts); });
  return row->text(facts);
}

/// Returns the p of the difference, unless one head is the best or no seeds could decide.
std::string p_text(const SweepFacts& f) {
  if (f.best == f.one || has_too_few_seeds(f)) return "";
  return corrected_text(f);
}

}  // namespace

void say(SweepComparison& comparison, const SweepFacts& facts) {
  comparison.conclusion = capitalised(first_of(kConclusions, facts));
  comparison.reason = first_of(kReasons, facts) + p_text(facts) + task_text(facts);
  if (!facts.equal_parameters) comparison.reason += " The numbers of parameters differ.";
  if (facts.is_at_guessing) {
    comparison.guard = kGuessingGuard;
    return;
  }
  if (facts.best == facts.one || facts.enough) return;
  if (facts.refused_equal) comparison.guard = kFailuresGuard;
  if (has_too_few_seeds(facts)) comparison.guard = kSeedsGuard;
}

}  // namespace headlab
