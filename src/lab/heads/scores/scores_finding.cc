// A report of heads as tables: who does what, in numbers and in words, and every score of every
// head. The JSON has nested keys that others read, so it is written by hand (scores_json.cc), and
// the tables take their cells from it. Read next: src/app/report/finding_text.cc, which shows them.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <tuple>

#include "headlab/base/text.h"
#include "headlab/heads/scores.h"

namespace headlab {
namespace {

constexpr const char* kFixedKeysNote =
    "the position of the query decides the keys, so set \"positional\": true for the relation in "
    "the header of the task";
constexpr std::size_t kManyRelations = 16;  // more do not fit a screen

/// Who does it, or why nobody does.
std::string verdict(const HeadsReport& report, std::size_t r) {
  const RelationWinner& winner = report.relations[r];
  const RelationScore& score = report.best_score(r);
  if (winner.fixed_keys && score.enough()) return "not judged: every sequence has the same keys";
  if (report.division_of(r) != nullptr) return winner.owned ? "shares it" : "heads share it";
  if (winner.owned) return "does it";
  if (winner.candidates == 0) return "no head of its kind of attention";
  if (!score.enough()) return text("too few (", score.examples, ")");
  if (score.lift >= kOwnerLift) return "could be chance: p is not below .01 after correction";
  if (score.lift < 0) return "worse than chance";
  const auto in_part = std::ranges::count_if(report.heads, [r](const HeadScores& head) {
    return head.relations[r].p_holm < kOwnerP && head.relations[r].lift > 0;
  });
  return in_part == 0   ? "nobody does it"
         : in_part == 1 ? "one head, in part"
                        : text(in_part, " heads, each in part");
}

/// What it costs to silence each head where it gives most and elsewhere, if that was asked.
std::string rises_of(const HeadsReport& report, const Division& division) {
  std::string said;
  for (std::size_t h = 0; h < division.heads.size() && !division.by().empty(); ++h) {
    std::array<double, 2> sum{};
    std::array<Index, 2> queries{};
    for (const Division::Class& one : division.classes) {
      if (one.rise.empty()) return "";
      const bool most = one.mass[h] == std::ranges::max(one.mass);
      sum[most] += one.rise[h] * static_cast<double>(one.queries), queries[most] += one.queries;
    }
    const auto mean = [&](bool most) {
      return queries[most] > 0 ? fixed(sum[most] / static_cast<double>(queries[most]), 2) : "-";
    };
    said += text("; silencing ", head_text(report.heads[division.heads[h]]), " costs ", mean(true),
                 " nats where it does most, ", mean(false), " elsewhere");
  }
  return said;
}

/// A sentence for each relation that several heads share.
std::string divisions_text(const HeadsReport& report) {
  std::string shared;
  for (const Division& division : report.divisions) {
    shared += report.sentence(division) + rises_of(report, division) + "\n";
  }
  return shared;
}

/// What must be said about the relations: gold that can hardly be exchanged, relations that heads
/// share, those that too few examples ask for; of many relations only how many these are.
std::string notes_on(const HeadsReport& report, bool all) {
  std::vector<std::string> few_exchanges, too_few, fixed_keys;
  Index own = 0, judged = 0, shared_own = 0;
  for (std::size_t r = 0; r < report.relations.size(); ++r) {
    const RelationWinner& winner = report.relations[r];
    const RelationScore& best = report.best_score(r);
    own += winner.assigned_owns;
    shared_own += winner.assigned_owns && report.division_of(r) != nullptr;
    judged += best.enough();
    if (!best.enough()) {
      too_few.push_back(text(winner.relation.name, " (", best.examples, ")"));
      continue;
    }
    if (winner.fixed_keys) {
      fixed_keys.push_back(winner.relation.name);
      continue;
    }
    if (winner.exchanges < report.permutations)
      few_exchanges.push_back(text(winner.relation.name, " (", winner.exchanges, ")"));
  }
  const auto note = [&](const std::string& what, const std::vector<std::string>& names) {
    const bool list = all || names.size() <= kManyRelations;
    return names.empty() ? std::string()
                         : text("note: ", what, ": ",
                                list ? join(names, ", ") : text(names.size(), " relations"), "\n");
  };
  return note(kFixedKeysNote, fixed_keys) +
         note(text("p cannot become small where few of ", report.permutations,
                   " permutations of the gold differ"),
              few_exchanges) +
         divisions_text(report) +
         note(text("fewer than ", kFewestExamples, " examples ask for"), too_few) +
         text("specialization ", fixed(report.specialization, 2), ": ", own, " of ", judged,
              " relations", judged < std::ssize(report.relations) ? " that can be judged" : "",
              " have an owner",
              shared_own == 0 ? " of their own"
                              : text(", but ", shared_own, " of them with others that share it"));
}

Table relations_table(const HeadsReport& report, const HeadsShown& shown) {
  const bool nearest = std::ranges::any_of(report.relations, [](const RelationWinner& winner) {
    return std::isfinite(winner.nearest.top1);
  });
  const int readers = nearest ? 3 : kHidden;
  const char* rests = "that the scores of the best head rest on";
  const int counts = shown.all ? kGrouped : kHidden;
  return {
      "relations",
      {untold("name", "relation", "which keys a head must read: known, as the task made them"),
       {"best.layer,head", "best head",
        "most mass on half of the examples; shown is what it does on the others"},
       untold("best.mass", "mass", "mean attention on the relation's keys", 3),
       untold("best.top1", "top1", "share of queries whose largest weight is on such a key", 3),
       {"best.lift", "lift", "how far the mass lies above the null, 1 is perfect", 3},
       untold("best.null", "null", "the mass of the best answer that ignores content", 3),
       {"best.p_holm", "p", "how often chance does as well, corrected by Holm for all", kChance},
       {"owner", "owner", "the best head where it does the relation", kHidden, "head", false},
       {"verdict,owned", "verdict", "a head does a relation (*) from lift .3 with p below .01"},
       {"best.mass_untrained", "untrained", "mass of the best head before training", 3},
       untold("best.queries", "queries", rests, counts),
       untold("best.examples", "examples", rests, counts),
       {"baselines.offset.top1", "best offset", "top1 of a reader that looks as far away each time",
        readers},
       {"baselines.offset.best_top1_where_wrong", "head there",
        "top1 of the best head where that reader is wrong: low if it does the same", readers},
       {"baselines.nearest.top1", "nearest", "top1 of a reader of the nearest candidate", readers},
       untold("baselines.nearest.best_top1_where_wrong", "head there",
              "top1 of the best head where that reader is wrong: low if it does the same",
              readers)}};
}

/// Of many relations a screen shows those with an owner and the largest lift.
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

Table heads_table(const HeadsReport& report, const HeadsShown& shown) {
  Table table{"heads", {kHeadColumn}};
  const auto add = [&](Column column, bool wanted) {
    if (!wanted && !shown.all) column.digits = kHidden;
    table.columns.push_back(std::move(column));
  };
  const auto is_defined = [&](const ScoreEntry& score) {
    return std::ranges::any_of(report.heads, [&](const HeadScores& head) {
      return !std::isnan(head.value(score.name));
    });
  };
  const auto add_scores = [&](bool always) {
    for (const ScoreEntry& score : score_table()) {
      if (score.from.optional && !is_defined(score)) continue;
      const bool pattern = score.from.weight != nullptr;
      if ((pattern || score.from.value != nullptr) && score.from.always == always)
        add({text(pattern ? "patterns." : "", score.name), score.name, score.meaning,
             score.decimals, "", !pattern},
            always || shown.scores);
    }
  };
  add_scores(true);
  for (const RelationWinner& winner : report.relations)
    for (const ScoreEntry& score : score_table())
      if (score.from.relation != nullptr)
        add({text("scores.", winner.relation.name, ".", score.name,
                  std::string_view(score.name) == "lift" ? ",owns" : ""),
             text(winner.relation.name, " ", score.name), score.meaning, score.decimals, "", false},
            report.relations.size() <= kManyRelations);
  if (report.distances.empty()) return table;
  add_scores(false);
  add({"offsets.0.0", "argmax offset", "the commonest key - query of the largest weights"},
      shown.scores);
  add({"offsets.0.1", "offset share", "of the queries with that offset"}, shown.scores);
  add({"like", "most like", "the known pattern that has most of its attention, above .5"},
      shown.scores);
  add({"labels", "labels", "what most of the largest weights have in common"}, shown.scores);
  add({"nearest", "nearest", "the head whose pattern is most alike", kPlain, "head"}, shown.map);
  add({"nearest_distance", "apart", "distance to it: 0 the same, .83 nothing in common", 3},
      shown.map);
  return table;
}

Table divisions_table(bool shown) {
  const int few = shown ? 2 : kHidden, digits = shown ? kPlain : kHidden;
  return {"divisions",
          {{"relation", "relation", "that no head does alone", digits},
           {"heads", "heads", "that share it", digits, "heads"},
           {"by", "divided by", "classes that tell which head does it", digits},
           {"explained", "explained", "of the variance of the heads' shares, by these classes",
            few},
           {"p", "p", "how often shuffled classes explain as much", shown ? 3 : kHidden},
           {"spread", "spread", "of the shares: below .1 they are all alike", few},
           {"together", "together", "share of queries that one of these heads finds", few}}};
}

/// What each head gives and costs, by the classes that tell most of who does it.
Table classes_table(const HeadsReport& report) {
  Table table{.name = "classes",
              .columns = {{"relation", "relation", "that no head does alone"},
                          {"by", "by", "what the classes are of"},
                          {"class", "class", "of queries"},
                          {"queries", "queries", "of this class"},
                          kHeadColumn,
                          {"mass", "mass", "mean attention on the relation's keys"},
                          {"rise", "rise", "of the loss there when the head is silenced, nats"}},
              .shown = false};
  for (const Division& division : report.divisions)
    for (const Division::Class& one : division.classes)
      for (std::size_t h = 0; h < division.heads.size(); ++h)
        table.rows.push_back({report.relations[division.relation].relation.name,
                              division.kinds[division.best].name, one.name, one.queries,
                              HeadId(report.heads[division.heads[h]]), one.mass[h],
                              one.rise.empty() ? Json() : Json(one.rise[h])});
  return table;
}

}  // namespace

Finding finding_of(const HeadsReport& report, const HeadsShown& shown) {
  Finding found{.about = report};
  for (std::size_t r = 0; r < report.relations.size(); ++r)
    found.about["relations"].items()[r]["verdict"] = verdict(report, r);
  found.tables = {table_of(found.about, heads_table(report, shown))};
  if (report.relations.empty() && !report.heads.empty()) return found;
  Table& relations =
      found.tables.emplace_back(table_of(found.about, relations_table(report, shown)));
  if (report.relations.size() > kManyRelations && !shown.all) show_best(relations, report);
  if (!report.relations.empty()) relations.note = notes_on(report, shown.all);
  found.tables.push_back(table_of(found.about, divisions_table(shown.all)));
  found.tables.push_back(classes_table(report));
  return found;
}

}  // namespace headlab
