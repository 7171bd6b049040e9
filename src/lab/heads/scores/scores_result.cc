// A report of heads as a result: the tables of scores_tables.cc with a conclusion for each relation
// and notes on the limits of the scores. heads.json is the same result, with all columns. Read
// next: scores_tables.cc, scores_json.cc.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <tuple>

#include "headlab/core/base/mean.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/heads/scores/scores.h"
#include "headlab/lab/results/fields.h"
#include "headlab/lab/results/words.h"
#include "lab/heads/scores/scores_tables.h"

namespace headlab {
namespace {

constexpr const char* kFixedKeysNote =
    "the position of the query decides the keys, so set \"positional\": true for the relation in "
    "the header of the task";
constexpr const char* kAllAnswersNote =
    "judged on all answers of the model, because no target is the relation's own";
constexpr std::size_t kManyRelations = 16;  // more do not fit a screen

/// Returns the number of heads above chance on relation r with at least this lift.
Index heads_in_part(const HeadsReport& report, std::size_t r, double least) {
  return std::ranges::count_if(report.heads, [&](const HeadScores& head) {
    const RelationScore& score = head.relations[r];
    return score.p_holm < kOwnerP && score.lift > 0 && score.lift >= least;
  });
}

/// Returns the guard that refuses a conclusion about relation r; "" if none does.
std::string guard_of(const HeadsReport& report, std::size_t r) {
  const RelationWinner& winner = report.relations[r];
  const RelationScore& score = report.best_score(r);
  if (winner.candidates == 0 || report.is_untested(r)) return "";
  if (!score.enough()) return kExamplesGuard;
  const bool is_found = heads_in_part(report, r, kPartLift) > 0;
  if (is_found) return score.at_guessing ? kGuessingGuard : "";
  return heads_in_part(report, r, 0) > 0 ? kSizeGuard : "";
}

/// Returns the head responsible for a relation, or the reason why there is none.
RelationConclusion conclusion(const HeadsReport& report, std::size_t r) {
  const RelationWinner& winner = report.relations[r];
  const RelationScore& score = report.best_score(r);
  if (report.is_untested(r)) return {"not tested: every sequence has the same keys", Tone::open};
  if (report.division_of(r) != nullptr) return {"several heads", Tone::good};
  if (winner.owned) return {"owner", Tone::good};
  if (winner.candidates == 0) return {"no attention of its kind", Tone::open};
  if (!score.enough()) return {text("too few (", score.examples, ")"), Tone::open};
  if (guard_of(report, r) == kGuessingGuard) return {kAtGuessing, Tone::none};
  if (score.lift >= kOwnerLift) {
    return {"could be chance: p is 0.01 or more after correction", Tone::open};
  }
  if (score.lift < 0) return {"worse than chance", Tone::bad};
  const Index in_part = heads_in_part(report, r, kPartLift);
  if (in_part == 0) {
    return {"no head", Tone::bad};
  }
  if (in_part == 1) {
    return {"one head, in part", Tone::open};
  }
  return {text(in_part, " heads, each in part"), Tone::none};
}

/// Returns "+0.69 nats where it attends most, +0.27 elsewhere", or one number for a head that
/// attends most in no class, or in all of them.
std::string rises_text(const Mean& most, const Mean& others) {
  const auto nats = [](const Mean& rise) { return signed_text(rise.or_nan()) + " nats"; };
  if (most.count() == 0) return nats(others);
  if (others.count() == 0) return nats(most);
  return text(nats(most), " where it attends most, ", nats(others), " elsewhere");
}

/// Returns a line for each head: the cost of ablating it on its own classes and on others. Returns
/// "" if it was not computed.
std::string rises_of(const HeadsReport& report, const Division& division) {
  std::string said;
  for (std::size_t h = 0; h < division.heads.size() && !division.by().empty(); ++h) {
    std::array<Mean, 2> rises{};
    for (const Division::Class& one : division.classes) {
      if (one.rise.empty()) return "";
      const bool most = one.mass[h] == std::ranges::max(one.mass);
      rises[most].add(Mean(one.rise[h] * static_cast<double>(one.queries), one.queries));
    }
    const std::string name = head_text(report.heads[division.heads[h]]);
    said += text("without ", name, ": loss ", rises_text(rises[true], rises[false]), "\n");
  }
  return said;
}

/// Returns a sentence for each relation that several heads share, with the costs of these heads.
std::string divisions_text(const HeadsReport& report) {
  std::string shared;
  for (const Division& division : report.divisions) {
    shared += report.sentence(division) + "\n" + rises_of(report, division);
  }
  return shared;
}

/// Returns a note on these relations, by their names if they `fit`; "" if there are none.
std::string note_on(const std::string& what, const std::vector<std::string>& names, bool fit) {
  if (names.empty()) {
    return "";
  }
  const std::string listed = fit ? join(names, ", ") : text(names.size(), " relations");
  return text("note: ", what, ": ", listed, "\n");
}

/// Returns whether no permutation gave a head as much mass as the best head of relation r, so that
/// p is the smallest that their number allows. Relations that may have an owner get more of them.
bool is_at_floor(const HeadsReport& report, std::size_t r, Index judged) {
  const double p = report.best_score(r).p_permuted;
  const auto floor_of = [](Index permutations) {
    return 1 / static_cast<double>(1 + permutations);
  };
  const Index for_owners = std::llround(1 / kOwnerP) * judged;
  const bool is_floor = p == floor_of(report.permutations) || p == floor_of(for_owners);
  return is_floor && report.best_score(r).p == p;
}

/// Returns the relations whose p is the smallest that the permutations allow.
std::vector<std::size_t> relations_at_floor(const HeadsReport& report) {
  Index judged = 0;
  for (const std::size_t r : indices(report.relations.size())) {
    judged += report.best_score(r).enough() ? 1 : 0;
  }
  std::vector<std::size_t> found;
  for (const std::size_t r : indices(report.relations.size())) {
    if (is_at_floor(report, r, judged)) found.push_back(r);
  }
  return found;
}

/// Marks the p-values that are the smallest that the permutations allow, and states these.
void mark_floors(const HeadsReport& report, Column& p) {
  for (const std::size_t r : relations_at_floor(report)) {
    const double floor = report.best_score(r).p_holm;
    if (std::ranges::count(p.floors, floor) == 0) p.floors.push_back(floor);
  }
  std::ranges::sort(p.floors);
  if (p.floors.empty()) return;
  const auto shown = [](double floor) { return significant(floor); };
  p.meaning += text("; the number of permutations allows ", join(texts_of(p.floors, shown), " or "),
                    " at least");
}

/// Returns the relations with a head that have no targets of their own.
std::vector<std::string> judged_on_all_answers(const HeadsReport& report) {
  std::vector<std::string> names;
  for (std::size_t r = 0; r < report.relations.size(); ++r) {
    const RelationWinner& winner = report.relations[r];
    const bool is_found = winner.owned || heads_in_part(report, r, kPartLift) > 0;
    if (is_found && winner.guessing && !winner.guessing->own) names.push_back(winner.relation.name);
  }
  return names;
}

/// Returns notes about the relations: ground truth with few exchanges, relations that heads share,
/// those with too few examples; if there are many, only their number.
std::string notes_on(const HeadsReport& report, bool all) {
  std::vector<std::string> few_exchanges, too_few, fixed_keys;
  Index own = 0, judged = 0, shared_own = 0;
  for (std::size_t r = 0; r < report.relations.size(); ++r) {
    const RelationWinner& winner = report.relations[r];
    const RelationScore& best = report.best_score(r);
    own += winner.assigned_owns;
    shared_own += winner.assigned_owns && report.division_of(r) != nullptr;
    judged += report.is_judged(r);
    if (!best.enough()) {
      too_few.push_back(text(winner.relation.name, " (", best.examples, ")"));
      continue;
    }
    if (report.is_untested(r)) {
      fixed_keys.push_back(winner.relation.name);
      continue;
    }
    if (winner.exchanges < report.permutations) {
      few_exchanges.push_back(text(winner.relation.name, " (", winner.exchanges, ")"));
    }
  }
  const auto note = [&](const std::string& what, const std::vector<std::string>& names) {
    return note_on(what, names, all || names.size() <= kManyRelations);
  };
  return note(kFixedKeysNote, fixed_keys) + note(kAllAnswersNote, judged_on_all_answers(report)) +
         note(text("p cannot become small if only few of ", report.permutations,
                   " permutations of the ground truth differ"),
              few_exchanges) +
         divisions_text(report) +
         note(text("fewer than ", kFewestExamples, " examples have a query of"), too_few) +
         text("specialization ", fixed(report.specialization, 2), ": ", own, " of ", judged,
              " relations", judged < std::ssize(report.relations) ? " that can be judged" : "",
              " have an owner",
              shared_own == 0 ? " of their own"
                              : text(", ", shared_own, " of them distributed over several heads"));
}

/// Selects the rows to show: if there are many relations, those with an owner and the largest lift.
void show_best(Table& table, const HeadsReport& report) {
  std::vector<std::size_t> order(report.relations.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t r) {
    const RelationScore& best = report.best_score(r);
    return std::tuple(best.enough(), report.relations[r].owned, best.lift > 0 ? best.lift : 0);
  });
  table.rows = mapped(order, [&](std::size_t r) { return table.rows[r]; });
  table.most = kManyRelations;
  table.title = text(kManyRelations, " of ", order.size(),
                     " relations, those with an owner and the largest lift");
}

}  // namespace

Result result_of(const HeadsReport& report, const HeadsShown& shown) {
  Result found{.about = about_of(report)};
  std::vector<RelationConclusion> conclusions;
  for (std::size_t r = 0; r < report.relations.size(); ++r) {
    conclusions.push_back(conclusion(report, r));
    conclusions.back().guard = guard_of(report, r);
  }
  const bool relations_fit = report.relations.size() <= kManyRelations;
  found.tables = {heads_table(report, shown, relations_fit)};
  found.tables[0].shown = shown.scores || shown.map || shown.all || report.relations.empty();
  Table& relations = found.tables.emplace_back(relations_table(report, conclusions, shown));
  mark_floors(report, relations.column("best.p_holm"));
  relations.shown = !report.relations.empty() || report.heads.empty();
  if (!relations_fit && !shown.all) {
    show_best(relations, report);
  }
  if (!report.relations.empty()) {
    relations.note = notes_on(report, shown.all);
  }
  found.tables.push_back(divisions_table(report, shown.all && relations.shown));
  found.tables.push_back(classes_table(report));
  return found;
}

Json to_json(const HeadsReport& report) { return result_of(report, {.all = true}); }

}  // namespace headlab
