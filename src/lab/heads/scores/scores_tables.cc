// Tables of heads, of relations and of shared relations. An undefined cell is null: a score on a
// relation of another kind of attention, a distance that was not measured. Read next:
// src/app/report/result_text.cc, which shows tables.
#include "lab/heads/scores/scores_tables.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "headlab/core/base/text.h"

namespace headlab {
namespace {

/// Column with a function that returns its cell for an index: of a head, a relation or a division.
struct FilledColumn {
  Column column;
  std::function<Json(std::size_t)> cell;
};

/// Returns the table with these columns and a row for each of `count` items.
Table filled(Table table, const std::vector<FilledColumn>& columns, std::size_t count) {
  for (const FilledColumn& one : columns) {
    table.columns.push_back(one.column);
  }
  for (std::size_t item = 0; item < count; ++item) {
    Json::Array& row = table.rows.emplace_back();
    for (const FilledColumn& one : columns) {
      row.push_back(one.cell(item));
    }
  }
  return table;
}

/// Collects the columns of the table of heads.
class HeadColumns {
 public:
  HeadColumns(const HeadsReport& report, const HeadsShown& shown)
      : report_(report), shown_(shown) {}

  /// Adds a column, hidden unless it is `wanted` or all columns are.
  void add(const Column& column, bool wanted, std::function<Json(const HeadScores&)> cell) {
    columns_.push_back({column.hidden_unless(wanted || shown_.all),
                        [this, cell](std::size_t h) { return cell(report_.heads[h]); }});
  }

  /// Adds the scores that need no ground truth: those that are always computed, or the others.
  void add_scores(bool always) {
    for (std::size_t row = 0; row < score_table().size(); ++row) {
      const ScoreEntry& score = score_table()[row];
      const bool is_pattern = score.from.weight != nullptr;
      const bool is_value = score.from.value != nullptr;
      if (!(is_pattern || is_value) || score.from.always != always) {
        continue;
      }
      if (score.from.optional && !is_defined(score)) {
        continue;
      }
      Column column =
          Column(text(is_pattern ? "patterns." : "", score.name), score.name, score.meaning)
              .fixed(score.decimals)
              .mean_over(is_pattern ? text("pattern_queries.", score.name) : "rows")
              .hidden_unless(!score.from.hidden);
      column.in_legend = !is_pattern;
      add(column, always || shown_.scores, [row](const HeadScores& head) {
        return row < head.values.size() ? Json(head.values[row]) : Json();
      });
    }
  }

  /// Adds the number of queries over which the scores without ground truth are means.
  void add_rows() {
    columns_.push_back({Column("rows", "rows", "number of queries of entropy and focus").hidden(),
                        [this](std::size_t h) { return Json(report_.heads[h].rows); }});
  }

  /// Adds the number of queries that ask for the keys of each known pattern.
  void add_pattern_queries() {
    for (std::size_t row = 0; row < score_table().size(); ++row) {
      const ScoreEntry& score = score_table()[row];
      if (score.from.weight == nullptr) {
        continue;
      }
      const Column column(text("pattern_queries.", score.name), text(score.name, " queries"),
                          "number of queries that ask for the keys of the pattern");
      columns_.push_back({column.hidden().no_legend(), [this, row](std::size_t h) {
                            const std::vector<Index>& all = report_.heads[h].pattern_queries;
                            return row < all.size() ? Json(all[row]) : Json();
                          }});
    }
  }

  /// Adds the scores on relation r.
  void add_relation(std::size_t r, bool wanted) {
    const std::string& relation = report_.relations[r].relation.name;
    const std::string prefix = text("scores.", relation, ".");
    for (const ScoreEntry& score : score_table()) {
      if (score.from.relation == nullptr) {
        continue;
      }
      const Column column =
          Column(prefix + score.name, text(relation, " ", score.name), score.meaning)
              .fixed(score.decimals)
              .mean_over(prefix + "queries")
              .hidden_unless(!score.from.hidden)
              .no_legend();
      const auto value = [r, score](const HeadScores& head) {
        return Json(score.from.relation(head.relations[r]));
      };
      if (std::string_view(score.name) != "lift") {
        add(column, wanted, value);
        continue;
      }
      add(column.of(CellKind::marked, {prefix + "lift", prefix + "owns"}), wanted,
          [r, value](const HeadScores& head) {
            return Json(Json::Array{value(head), head.relations[r].owns()});
          });
    }
    const Column queries(prefix + "queries", text(relation, " queries"), "number of its queries");
    columns_.push_back({queries.hidden().no_legend(), [this, r](std::size_t h) {
                          return Json(report_.heads[h].relations[r].queries);
                        }});
  }

  /// Adds the properties of a head that need no ground truth and are not scores.
  void add_habits() {
    using Offset = HeadScores::Offset;
    const auto of_first_offset = [](auto part) {
      return [part](const HeadScores& head) {
        return head.offsets.empty() ? Json() : Json(part(head.offsets[0]));
      };
    };
    add(element_column("offsets.0", 0, "argmax offset",
                       "most common offset (key - query) of the largest weights"),
        shown_.scores, of_first_offset([](const Offset& offset) { return offset.offset; }));
    add(element_column("offsets.0", 1, "offset share", "share of the queries with that offset")
            .mean_over("rows"),
        shown_.scores, of_first_offset([](const Offset& offset) { return offset.share; }));
    add({"like", "most like", "known pattern with more than 0.5 of the head's attention"},
        shown_.scores, [](const HeadScores& head) { return Json(head.like); });
    add({"labels", "labels", "what most of the largest weights have in common, such as an offset"},
        shown_.scores, [](const HeadScores& head) { return Json(head.labels); });
  }

  /// Adds the head with the most similar patterns and its distance.
  void add_nearest() {
    const auto add_part = [&](const Column& column, auto part) {
      const auto cell = [this, part](std::size_t h) {
        const std::optional<HeadsReport::Nearest> nearest = report_.nearest_to(h);
        return nearest ? Json(part(*nearest)) : Json();
      };
      columns_.push_back({column.hidden_unless(shown_.map || shown_.all), cell});
    };
    add_part(
        Column("nearest", "nearest", "the head with the most similar pattern").of(CellKind::head),
        [this](const HeadsReport::Nearest& nearest) {
          return HeadId(report_.heads[nearest.head]);
        });
    add_part(Column("nearest_distance", "apart",
                    "distance to that head: 0 for equal patterns, 0.83 for disjoint ones")
                 .fixed(3),
             [](const HeadsReport::Nearest& nearest) { return nearest.distance; });
  }

  const std::vector<FilledColumn>& all() const { return columns_; }

 private:
  bool is_defined(const ScoreEntry& score) const {
    return std::ranges::any_of(report_.heads, [&](const HeadScores& head) {
      return !std::isnan(head.value(score.name));
    });
  }

  const HeadsReport& report_;
  const HeadsShown& shown_;
  std::vector<FilledColumn> columns_;
};

/// Collects the columns of the table of relations.
class RelationColumns {
 public:
  explicit RelationColumns(const HeadsReport& report) : report_(report) {}

  void add(const Column& column, std::function<Json(const RelationWinner&)> cell) {
    columns_.push_back(
        {column, [this, cell](std::size_t r) { return cell(report_.relations[r]); }});
  }

  /// Adds a column on the best head, null if no head is of the relation's kind of attention.
  void add_best(const Column& column, std::function<Json(std::size_t r)> cell) {
    columns_.push_back({column, [this, cell](std::size_t r) {
                          const bool has_best = report_.relations[r].candidates > 0;
                          return has_best ? cell(r) : Json();
                        }});
  }

  /// Adds a number of the best head's score on the relation.
  template <class Number>
  void add_score(const Column& column, Number RelationScore::*number) {
    add_best(column, [this, number](std::size_t r) { return Json(report_.best_score(r).*number); });
  }

  void push_back(FilledColumn column) { columns_.push_back(std::move(column)); }
  const std::vector<FilledColumn>& all() const { return columns_; }

 private:
  const HeadsReport& report_;
  std::vector<FilledColumn> columns_;
};

/// Adds the columns of the baselines without a model, shown if a task names candidates.
void add_baselines(RelationColumns& columns, bool shown) {
  const char* where_wrong =
      "top1 of the best head at queries that this baseline gets wrong; low if the head does the "
      "same as the baseline";
  const auto nearest = [](double Baseline::*number) {
    return [number](const RelationWinner& winner) {
      return std::isfinite(winner.nearest.top1) ? Json(winner.nearest.*number) : Json();
    };
  };
  columns.add(Column("baselines.offset.top1", "best offset",
                     "top1 of a baseline that always attends at the best fixed offset")
                  .fixed(3)
                  .hidden_unless(shown),
              [](const RelationWinner& winner) { return Json(winner.offset.top1); });
  columns.add(Column("baselines.offset.best_top1_where_wrong", "head there", where_wrong)
                  .fixed(3)
                  .hidden_unless(shown),
              [](const RelationWinner& winner) {
                return Json(winner.offset.head_top1_where_wrong);
              });
  columns.add(Column("baselines.nearest.top1", "nearest",
                     "top1 of a baseline that attends to the nearest candidate")
                  .fixed(3)
                  .hidden_unless(shown),
              nearest(&Baseline::top1));
  columns.add(Column("baselines.nearest.best_top1_where_wrong", "head there", where_wrong)
                  .fixed(3)
                  .hidden_unless(shown)
                  .no_legend(),
              nearest(&Baseline::head_top1_where_wrong));
}

/// Adds the columns of the best head and its scores.
void add_best_head(RelationColumns& columns, const HeadsReport& report) {
  columns.add_best(
      Column("best", "best head",
             "head with the most mass on one half of the examples, scored on the other half")
          .of(CellKind::head, {"best.layer", "best.head"}),
      [&report](std::size_t r) { return Json(HeadId(report.heads[report.relations[r].best])); });
  columns.add_score(Column("best.mass", "mass", "mean attention on the relation's keys")
                        .fixed(3)
                        .mean_over("best.queries")
                        .no_legend(),
                    &RelationScore::mass);
  columns.add_score(Column("best.top1", "top1",
                           "share of queries whose largest weight is on such a key")
                        .fixed(3)
                        .mean_over("best.queries")
                        .no_legend(),
                    &RelationScore::top1);
  columns.add_score(Column("best.lift", "lift",
                           "attention mass above the baseline: 0 is chance, 1 is perfect")
                        .fixed(3)
                        .mean_over("best.queries"),
                    &RelationScore::lift);
  columns.add_score(Column("best.baseline", "baseline",
                           "attention mass reached without looking at content")
                        .fixed(3)
                        .mean_over("best.queries")
                        .no_legend(),
                    &RelationScore::baseline);
  columns.add_score(
      Column("best.p_holm", "p",
             "probability that shuffled ground truth gives some head as much mass, or "
             "that of a lift of at most 0.1 if it is larger; Holm-corrected for all "
             "relations")
          .shown_as(Form::p_value)
          .mean_over("best.queries"),
      &RelationScore::p_holm);
}

/// Adds the owner, which is hidden: the verdict shows it.
void add_owner(RelationColumns& columns, const HeadsReport& report) {
  columns.add(Column("owner", "owner", "the best head if it owns the relation")
                  .of(CellKind::head)
                  .hidden()
                  .no_legend(),
              [&report](const RelationWinner& winner) {
                return winner.owned ? Json(HeadId(report.heads[winner.best])) : Json();
              });
}

}  // namespace

std::optional<HeadsReport::Nearest> HeadsReport::nearest_to(std::size_t h) const {
  if (distances.empty()) {
    return std::nullopt;
  }
  std::optional<Nearest> nearest;
  for (std::size_t other = 0; other < heads.size(); ++other) {
    const double distance = distances[h * heads.size() + other];
    if (other == h || !std::isfinite(distance)) {
      continue;
    }
    if (!nearest || distance < nearest->distance) {
      nearest = Nearest{other, distance};
    }
  }
  return nearest;
}

Table heads_table(const HeadsReport& report, const HeadsShown& shown, bool relations_fit) {
  HeadColumns columns(report, shown);
  columns.add(kHeadColumn, true, [](const HeadScores& head) { return Json(HeadId(head)); });
  columns.add_scores(true);
  columns.add_rows();
  for (std::size_t r = 0; r < report.relations.size(); ++r) {
    columns.add_relation(r, relations_fit);
  }
  if (!report.distances.empty()) {
    columns.add_scores(false);
    columns.add_pattern_queries();
    columns.add_habits();
    columns.add_nearest();
  }
  return filled({.name = "heads"}, columns.all(), report.heads.size());
}

Table relations_table(const HeadsReport& report, const std::vector<std::string>& conclusions,
                      const HeadsShown& shown) {
  const bool has_nearest = std::ranges::any_of(report.relations, [](const RelationWinner& winner) {
    return std::isfinite(winner.nearest.top1);
  });
  const char* rests = "number used to score the best head";
  RelationColumns columns(report);
  columns.add(Column("name", "relation", "the keys to attend to, known from the task").no_legend(),
              [](const RelationWinner& winner) { return Json(winner.relation.name); });
  add_best_head(columns, report);
  add_owner(columns, report);
  columns.push_back(
      {Column("verdict", "verdict",
              "a head owns a relation (*) if its lift is at least 0.3 and p is below 0.01")
           .of(CellKind::marked, {"verdict", "owned"}),
       [&](std::size_t r) {
         return Json(Json::Array{conclusions[r], report.relations[r].owned});
       }});
  columns.add_best(Column("best.mass_untrained", "untrained",
                          "mass of the best head before training")
                       .fixed(3)
                       .mean_over("best.queries"),
                   [&](std::size_t r) { return Json(report.relations[r].mass_untrained); });
  const auto count = [&](const char* key, const char* title) {
    return Column(key, title, rests).shown_as(Form::grouped).hidden_unless(shown.all).no_legend();
  };
  columns.add_score(count("best.queries", "queries"), &RelationScore::queries);
  columns.add_score(count("best.examples", "examples"), &RelationScore::examples);
  add_baselines(columns, has_nearest);
  return filled({.name = "relations"}, columns.all(), report.relations.size());
}

}  // namespace headlab
