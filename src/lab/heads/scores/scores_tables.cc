// The table of heads. An undefined cell is null: a score on a relation of another kind of
// attention, a distance that was not measured.
// Read next: relations_table.cc; src/app/report/result_text.cc, which shows tables.
#include "lab/heads/scores/scores_tables.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "headlab/core/base/text.h"
#include "headlab/lab/results/fields.h"

namespace headlab {
namespace {

/// A row of the table of heads.
struct HeadRow : HeadScores {
  std::optional<HeadsReport::Nearest> nearest;
  std::vector<std::string> roles;  // by relation: see HeadsReport::role
};

/// Collects the columns of the table of heads.
class HeadFields {
 public:
  HeadFields(const HeadsReport& report, const HeadsShown& shown) : report_(report), shown_(shown) {}

  /// Adds a column, hidden unless it is `wanted` or all columns are.
  template <class Get>
  void add(const Column& column, bool wanted, Get get) {
    fields_.add(column.hidden_unless(wanted || shown_.all), get);
  }

  /// Adds a column that text never shows.
  template <class Get>
  void add_hidden(const Column& column, Get get) {
    fields_.add(column.hidden().no_legend(), get);
  }

  /// Adds the scores that need no ground truth: those that are always computed, or the others.
  void add_scores(bool always) {
    for (const std::size_t row : indices(score_table().size())) {
      const ScoreEntry& score = score_table()[row];
      const bool is_pattern = score.from.weight != nullptr;
      const bool is_value = score.from.value != nullptr;
      if (!(is_pattern || is_value) || score.from.always != always) {
        continue;
      }
      if (score.from.optional && !is_defined(row)) {
        continue;
      }
      Column column =
          Column(text(is_pattern ? "patterns." : "", score.name), score.name, score.meaning)
              .fixed(score.decimals)
              .mean_over(is_pattern ? text("pattern_queries.", score.name) : "rows")
              .hidden_unless(!score.from.hidden);
      column.in_legend = !is_pattern;
      add(column, always || shown_.scores, [row](const HeadRow& head) {
        return row < head.values.size() ? Json(head.values[row]) : Json();
      });
    }
  }

  /// Adds the number of queries over which the scores without ground truth are means.
  void add_rows() {
    fields_.add(Column("rows", "rows", "number of queries of entropy and focus").hidden(),
                &HeadRow::rows);
  }

  /// Adds the number of queries that ask for the keys of each known pattern.
  void add_pattern_queries() {
    for (const std::size_t row : indices(score_table().size())) {
      const ScoreEntry& score = score_table()[row];
      if (score.from.weight == nullptr) {
        continue;
      }
      add_hidden(Column(text("pattern_queries.", score.name), text(score.name, " queries"),
                        "number of queries that ask for the keys of the pattern"),
                 [row](const HeadRow& head) {
                   const std::vector<Index>& all = head.pattern_queries;
                   return row < all.size() ? Json(all[row]) : Json();
                 });
    }
  }

  /// Adds the scores on relation r.
  void add_relation(std::size_t r, bool wanted) {
    const std::string& relation = report_.relations[r].relation.name;
    const std::string prefix = text("scores.", relation, ".");
    const auto of_score = [r](auto get) {
      return [r, get](const HeadRow& head) { return std::invoke(get, head.relations[r]); };
    };
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
      if (std::string_view(score.name) != "lift") {
        add(column, wanted, of_score(score.from.relation));
        continue;
      }
      add(column.of(CellKind::marked, {prefix + "lift", prefix + "role"}), wanted,
          [r](const HeadRow& head) {
            return Json::Array{head.relations[r].lift, head.roles[r]};
          });
    }
    add_relation_facts(r);
  }

  /// Adds the columns of relation r that text never shows.
  void add_relation_facts(std::size_t r) {
    const std::string& relation = report_.relations[r].relation.name;
    const std::string prefix = text("scores.", relation, ".");
    const auto of_score = [r](auto get) {
      return [r, get](const HeadRow& head) { return std::invoke(get, head.relations[r]); };
    };
    add_hidden(Column(prefix + "owns", text(relation, " owns"),
                      "whether the score makes the head an owner"),
               of_score(&RelationScore::owns));
    add_hidden(Column(prefix + "mass_all", text(relation, " mass_all"),
                      "attention mass over all queries of the relation")
                   .mean_over(prefix + "queries"),
               of_score(&RelationScore::mass_all));
    add_hidden(Column(prefix + "baseline", text(relation, " baseline"),
                      "attention mass reached without looking at content")
                   .mean_over(prefix + "queries"),
               of_score(&RelationScore::baseline));
    add_hidden(Column(prefix + "p_lift", text(relation, " p of the lift"),
                      "probability of the lift if it were at most 0.1")
                   .mean_over(prefix + "queries"),
               of_score(&RelationScore::p_lift));
    add_hidden(Column(prefix + "queries", text(relation, " queries"), "number of its queries"),
               of_score(&RelationScore::queries));
    add_hidden(Column(prefix + "examples", text(relation, " examples"),
                      "number of examples with such a query"),
               of_score(&RelationScore::examples));
  }

  /// Adds the properties of a head that need no ground truth and are not scores.
  void add_habits() {
    using Offset = HeadScores::Offset;
    const auto of_first_offset = [](auto part) {
      return [part](const HeadRow& head) {
        return head.offsets.empty() ? Json() : Json(std::invoke(part, head.offsets[0]));
      };
    };
    add(element_column("offsets.0", 0, "argmax offset",
                       "most common offset (key - query) of the largest weights"),
        shown_.scores, of_first_offset(&Offset::offset));
    add(element_column("offsets.0", 1, "offset share", "share of the queries with that offset")
            .mean_over("rows"),
        shown_.scores, of_first_offset(&Offset::share));
    add_hidden(Column("offsets", "offsets", "every such offset with its share, most common first"),
               [](const HeadRow& head) {
                 return mapped(head.offsets, [](const Offset& one) {
                   return Json(Json::Array{one.offset, one.share});
                 });
               });
    add({"like", "most like", "known pattern with more than 0.5 of the head's attention"},
        shown_.scores, &HeadRow::like);
    add({"labels", "labels", "what most of the largest weights have in common, such as an offset"},
        shown_.scores, &HeadRow::labels);
  }

  /// Adds the head with the most similar patterns and its distance.
  void add_nearest() {
    add(Column("nearest", "nearest", "the head with the most similar pattern").of(CellKind::head),
        shown_.map, [this](const HeadRow& head) -> std::optional<HeadId> {
          if (!head.nearest) return std::nullopt;
          return report_.heads[head.nearest->head];
        });
    add(Column("nearest_distance", "apart",
               "distance to that head: 0 for equal patterns, 0.83 for disjoint ones")
            .fixed(3),
        shown_.map,
        [](const HeadRow& head) { return head.nearest ? Json(head.nearest->distance) : Json(); });
  }

  const Fields<HeadRow>& all() const { return fields_; }

 private:
  /// Returns whether some head has the score in this row of score_table().
  bool is_defined(std::size_t row) const {
    return std::ranges::any_of(report_.heads, [row](const HeadScores& head) {
      return row < head.values.size() && !std::isnan(head.values[row]);
    });
  }

  const HeadsReport& report_;
  const HeadsShown& shown_;
  Fields<HeadRow> fields_;
};

}  // namespace

Table heads_table(const HeadsReport& report, const HeadsShown& shown, bool relations_fit) {
  HeadFields fields(report, shown);
  fields.add(kHeadColumn, true, [](const HeadRow& head) { return HeadId(head); });
  fields.add_scores(true);
  fields.add_rows();
  for (const std::size_t r : indices(report.relations.size())) {
    fields.add_relation(r, relations_fit);
  }
  if (!report.distances.empty()) {
    fields.add_scores(false);
    fields.add_pattern_queries();
    fields.add_habits();
    fields.add_nearest();
  }
  std::vector<HeadRow> rows;
  for (const std::size_t h : indices(report.heads.size())) {
    HeadRow& row = rows.emplace_back(HeadRow{report.heads[h], report.nearest_to(h), {}});
    for (const std::size_t r : indices(report.relations.size())) {
      row.roles.emplace_back(report.role(h, r));
    }
  }
  return fields.all().table({.name = "heads"}, rows);
}

}  // namespace headlab
