// The table of relations, with the best head of each. Cells of the best head are null if no head is
// of the relation's kind of attention.
// Read next: scores_tables.cc.
#include <algorithm>
#include <cmath>
#include <optional>

#include "headlab/core/base/text.h"
#include "headlab/lab/results/fields.h"
#include "lab/heads/scores/scores_tables.h"

namespace headlab {
namespace {

/// A row of the table of relations, with the best head and its score if there is one.
struct RelationRow : RelationWinner {
  RelationConclusion conclusion;
  bool untested;
  std::string role{};  // of the best head
  std::optional<RelationScore> score{};
  std::optional<HeadId> best_head{}, owner{}, assigned_head{};

  std::optional<double> best_untrained() const {
    return score ? std::optional(mass_untrained) : std::nullopt;
  }
  std::optional<double> best_lift_untrained() const {
    return score ? std::optional(lift_untrained) : std::nullopt;
  }
  /// Returns the baseline of the nearest candidate, if the task names candidates.
  std::optional<Baseline> nearest_candidate() const {
    return std::isfinite(nearest.top1) ? std::optional(nearest) : std::nullopt;
  }
};

/// Returns the columns of a baseline without a model, at `prefix`. explained: whether the legend
/// has the last one, which is the same for every baseline.
Fields<Baseline> baseline_fields(const std::string& prefix, const std::string& title,
                                 const std::string& meaning, bool shown, bool explained) {
  Fields<Baseline> fields;
  fields.add(Column(prefix + "top1", title, meaning).fixed(3).hidden_unless(shown),
             &Baseline::top1);
  fields.add(Column(prefix + "wrong", title + " wrong", "queries that this baseline does not find")
                 .hidden()
                 .no_legend(),
             &Baseline::wrong);
  Column there(prefix + "best_top1_where_wrong", "head there",
               "top1 of the best head at queries that this baseline gets wrong; low if the head "
               "does the same as the baseline");
  there.in_legend = explained;
  fields.add(there.fixed(3).hidden_unless(shown), &Baseline::head_top1_where_wrong);
  return fields;
}

/// Adds the columns of the baselines without a model, shown if a task names candidates.
void add_baselines(Fields<RelationRow>& fields, bool shown) {
  fields.add(Column("baselines.best_offset", "offset of the baseline", "the best fixed offset")
                 .hidden()
                 .no_legend(),
             &RelationRow::best_offset);
  fields.add_part(baseline_fields("baselines.offset.", "best offset",
                                  "top1 of a baseline that always attends at the best fixed offset",
                                  shown, true),
                  &RelationRow::offset);
  fields.add_part(baseline_fields("baselines.nearest.", "nearest",
                                  "top1 of a baseline that attends to the nearest candidate", shown,
                                  false),
                  &RelationRow::nearest_candidate);
}

/// Adds the p of the best head: of its lift, uncorrected, and corrected.
void add_p(Fields<RelationScore>& fields) {
  const auto p = [](const char* key, const char* title, const char* meaning) {
    return Column(key, title, meaning).mean_over("best.queries");
  };
  fields.add(p("best.p", "uncorrected p", "p before the correction").hidden().no_legend(),
             &RelationScore::p);
  fields.add(p("best.p_lift", "p of the lift", "probability of the lift if it were at most 0.1")
                 .hidden()
                 .no_legend(),
             &RelationScore::p_lift);
  fields.add(p("best.p_holm", "p",
               "probability that shuffled ground truth gives some head as much mass, or that of a "
               "lift of at most 0.1 if it is larger; Holm-corrected for all relations")
                 .shown_as(Form::p_value),
             &RelationScore::p_holm);
}

/// Returns the scores of the best head that text shows.
Fields<RelationScore> best_fields() {
  const auto mean = [](const char* key, const char* title, const char* meaning) {
    return Column(key, title, meaning).mean_over("best.queries");
  };
  Fields<RelationScore> fields;
  fields.add(
      mean("best.mass", "mass", "mean attention on the relation's keys").fixed(3).no_legend(),
      &RelationScore::mass);
  fields.add(mean("best.top1", "top1", "share of queries whose largest weight is on such a key")
                 .fixed(3)
                 .no_legend(),
             &RelationScore::top1);
  fields.add(mean("best.lift", "lift",
                  "attention mass above the baseline: 0 is chance, 1 is perfect")
                 .fixed(3),
             &RelationScore::lift);
  fields.add(mean("best.baseline", "baseline", "attention mass reached without looking at content")
                 .fixed(3)
                 .no_legend(),
             &RelationScore::baseline);
  add_p(fields);
  fields.add(mean("best.mass_all", "mass_all", "attention mass over all queries of the relation")
                 .hidden()
                 .no_legend(),
             &RelationScore::mass_all);
  fields.add(
      Column("best.owns", "owns", "whether the score makes the head an owner").hidden().no_legend(),
      &RelationScore::owns);
  return fields;
}

/// Returns the numbers from which the best head was scored.
Fields<RelationScore> count_fields(bool shown) {
  const auto count = [shown](const char* key, const char* title) {
    return Column(key, title, "number used to score the best head")
        .shown_as(Form::grouped)
        .hidden_unless(shown)
        .no_legend();
  };
  Fields<RelationScore> fields;
  fields.add(count("best.queries", "queries"), &RelationScore::queries);
  fields.add(count("best.examples", "examples"), &RelationScore::examples);
  return fields;
}

/// Adds facts of a relation that text does not show: the conclusion has them.
void add_hidden_facts(Fields<RelationRow>& fields) {
  const auto add = [&](const Column& column, auto get) {
    fields.add(column.hidden().no_legend(), get);
  };
  add({"positional", "positional", "whether the position of the query decides the keys"},
      [](const RelationRow& row) { return row.relation.positional; });
  add(Column("owner", "owner", "the best head if it owns the relation").of(CellKind::head),
      &RelationRow::owner);
  add(Column("assigned", "assigned", "head of the relation if each head gets at most one")
          .of(CellKind::head),
      &RelationRow::assigned_head);
  add({"owned", "owned", "whether the best head meets the limits of an owner"},
      &RelationRow::owned);
  add({"assigned_owns", "assigned owns", "whether that head owns the relation"},
      &RelationRow::assigned_owns);
  add(Column("mass_any_head", "mass of any head",
             "mean over queries of the largest mass of any head")
          .mean_over("best.queries"),
      &RelationRow::mass_any);
  add({"untested", "untested", "whether nothing can be tested: every sequence has the same keys"},
      &RelationRow::untested);
  add({"exchanges", "exchanges", "permutations of the ground truth that differ"},
      &RelationRow::exchanges);
}

std::vector<RelationRow> rows_of(const HeadsReport& report,
                                 const std::vector<RelationConclusion>& conclusions) {
  const auto head_at = [&](std::size_t h) -> HeadId { return report.heads[h]; };
  std::vector<RelationRow> rows;
  for (const std::size_t r : indices(report.relations.size())) {
    RelationRow row{report.relations[r], conclusions[r], report.is_untested(r)};
    row.role = report.role(row.best, r);
    if (row.candidates > 0) {
      row.score = report.best_score(r);
      row.best_head = head_at(row.best);
    }
    if (row.owned) row.owner = head_at(row.best);
    if (row.assigned) row.assigned_head = head_at(*row.assigned);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

Table relations_table(const HeadsReport& report, const std::vector<RelationConclusion>& conclusions,
                      const HeadsShown& shown) {
  const std::vector<RelationRow> rows = rows_of(report, conclusions);
  const bool has_nearest = std::ranges::any_of(rows, [](const RelationRow& row) {
    return row.nearest_candidate().has_value();
  });
  Fields<RelationRow> fields;
  fields.add(Column("name", "relation", "the keys to attend to, known from the task").no_legend(),
             [](const RelationRow& row) { return row.relation.name; });
  fields.add(Column("best", "best head",
                    "head with the most mass on one half of the examples, scored on the other half")
                 .of(CellKind::head, {"best.layer", "best.head"}),
             &RelationRow::best_head);
  fields.add_part(best_fields(), &RelationRow::score);
  add_hidden_facts(fields);
  fields.add(Column("verdict", "verdict",
                    "the best head is the owner (*) if its lift is at least 0.3 and p is below "
                    "0.01; ° attends there too")
                 .of(CellKind::marked, {"verdict", "role"}),
             [](const RelationRow& row) {
               return Toned(Json::Array{row.conclusion.text, row.role}, row.conclusion.tone);
             });
  fields.add(Column("guard", "guard", "the guard that refused a conclusion").hidden().no_legend(),
             [](const RelationRow& row) { return row.conclusion.guard; });
  fields.add(Column("best.mass_untrained", "untrained", "mass of the best head before training")
                 .fixed(3)
                 .mean_over("best.queries"),
             &RelationRow::best_untrained);
  fields.add(Column("best.lift_untrained", "lift over untrained",
                    "attention mass above that before training, as a share of the rest")
                 .mean_over("best.queries")
                 .hidden()
                 .no_legend(),
             &RelationRow::best_lift_untrained);
  fields.add_part(count_fields(shown.all), &RelationRow::score);
  add_baselines(fields, has_nearest);
  return fields.table({.name = "relations", .optional_parts = {"best", "baselines.nearest"}}, rows);
}

}  // namespace headlab
