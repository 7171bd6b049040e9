// Tables of pairs of heads: a row for each pair, and a row for each pair and relation that one of
// its heads owns. Redundant pairs come first, then those in which one head compensates.
// Read next: pairs.cc.
#include "headlab/lab/heads/causes/pairs.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "headlab/core/base/text.h"
#include "headlab/lab/results/fields.h"

namespace headlab {

std::vector<PairedChange> PairsReport::changes() const {
  std::vector<PairedChange> all;
  for (const HeadPairReport& pair : pairs) {
    all.insert(all.end(), {pair.interaction, pair.of_first.share, pair.of_first.rise,
                           pair.of_second.share, pair.of_second.rise, pair.beyond});
  }
  return all;
}

namespace {

/// Adds the pair and the cost of both heads together.
void add_joint(Fields<HeadPairReport>& fields) {
  using Row = HeadPairReport;
  fields.add(Column("first", "first", "first head of the pair").of(CellKind::head).no_legend(),
             &Row::first);
  fields.add(Column("second", "second", "second head of the pair").of(CellKind::head).no_legend(),
             &Row::second);
  fields.add(Column("joint", "both", "rise of the loss when both are ablated, nats")
                 .shown_as(Form::signed_number),
             &Row::joint);
  fields.add(Column("sum", "sum", "sum of the rises with each ablated alone")
                 .shown_as(Form::signed_number),
             &Row::sum);
  fields.add(Column("independent", "independent",
                    "rise of the loss if the two effects on the logits simply added up, with the "
                    "layer norms' scales of both ablated")
                 .shown_as(Form::signed_number),
             &Row::independent);
  fields.add_part(change_fields("interaction.", "difference", "both - independent"),
                  &Row::interaction);
}

/// Returns the changes of one head of the pair; its values are at `key`, and text calls it `name`.
Fields<PairSide> side_fields(const std::string& key, const std::string& name) {
  Fields<PairSide> fields;
  fields.add_part(
      change_fields(key + ".share.", name + "'s direct logit",
                    text("what the ", name,
                         " head adds to the right logit by itself, above the mean of all logits, "
                         "in logits per target on the relation's targets (not a share)"),
                    {.change = false}),
      &PairSide::share);
  fields.add_part(
      change_fields(key + ".rise.", name + "'s rise",
                    text("growth of the ", name,
                         " head's direct logit when the other head, which owns the relation, is "
                         "ablated, in logits per target"),
                    {.change = false}),
      &PairSide::rise);
  return fields;
}

/// A pair with all relations that one of its heads owns.
struct WholePair {
  HeadPairReport costs;  // one of its rows: their costs are the same
  std::string relations = {}, conclusion = {};
  bool redundant = false;

  void add(const HeadPairReport& row, bool is_one_of_many) {
    redundant = redundant || row.redundant();
    if (!row.relation.empty()) relations += (relations.empty() ? "" : ", ") + row.relation;
    if (row.conclusion().empty()) return;
    conclusion += (conclusion.empty() ? "" : ", ") + row.conclusion();
    if (is_one_of_many) conclusion += " (" + row.relation + ")";
  }
};

Fields<WholePair> pair_fields() {
  Fields<HeadPairReport> joint;
  add_joint(joint);
  Fields<WholePair> fields;
  fields.add_part(joint, &WholePair::costs);
  fields.add({"relations", "relations", "relations owned by one or both of the heads"},
             [](const WholePair& row) {
               return row.relations.empty() ? Json() : Json(row.relations);
             });
  fields.add(Column("redundant", "redundant", "whether the two heads are redundant").hidden(),
             &WholePair::redundant);
  fields.add(Column("verdict", "verdict", "conclusion").no_legend(), [](const WholePair& row) {
    return Toned(row.conclusion, row.redundant ? Tone::good : Tone::none);
  });
  return fields;
}

/// Returns the columns of what a pair adds to one relation.
Fields<HeadPairReport> relation_fields() {
  using Row = HeadPairReport;
  Fields<Row> fields;
  fields.add(Column("first", "first", "first head of the pair").of(CellKind::head).no_legend(),
             &Row::first);
  fields.add(Column("second", "second", "second head of the pair").of(CellKind::head).no_legend(),
             &Row::second);
  fields.add({"relation", "relation", "a relation owned by one or both of the heads"},
             &Row::relation);
  fields.add_part(side_fields("of_first", "first"), &Row::of_first);
  fields.add_part(side_fields("of_second", "second"), &Row::of_second);
  fields.add_part(change_fields("beyond.", "beyond",
                                "the cost of both beyond the sum, on the relation's targets",
                                {.change = false}),
                  &Row::beyond);
  fields.add(Column("beyond_share", "of both", "`beyond` as a share of the cost of ablating both")
                 .mean_over("beyond.examples")
                 .hidden(),
             &Row::beyond_share);
  fields.add(Column("redundant", "redundant", "whether the two heads are redundant").hidden(),
             &Row::redundant);
  fields.add(Column("verdict", "verdict", "conclusion").no_legend(), [](const Row& row) {
    return Toned(row.conclusion(), row.redundant() ? Tone::good : Tone::none);
  });
  return fields;
}

/// Returns the rank of rows: 0 for redundant pairs, 1 if a head compensates, 2 for all others.
int place_of(const HeadPairReport& pair) {
  if (pair.redundant()) return 0;
  return pair.first_takes_over() || pair.second_takes_over() ? 1 : 2;
}

std::vector<HeadPairReport> sorted(std::vector<HeadPairReport> pairs) {
  const auto is_before = [](const HeadPairReport& a, const HeadPairReport& b) {
    if (place_of(a) != place_of(b)) return place_of(a) < place_of(b);
    return std::abs(a.joint) > std::abs(b.joint);
  };
  std::ranges::stable_sort(pairs, is_before);
  return pairs;
}

/// Returns a row for each pair, in the order of its first row.
std::vector<WholePair> whole_pairs(const std::vector<HeadPairReport>& rows) {
  const auto is_same = [](const HeadPairReport& one, const HeadPairReport& other) {
    return one.first == other.first && one.second == other.second;
  };
  std::vector<WholePair> pairs;
  for (const HeadPairReport& row : rows) {
    const auto found = std::ranges::find_if(pairs, [&](const WholePair& pair) {
      return is_same(pair.costs, row);
    });
    WholePair& pair = found == pairs.end() ? pairs.emplace_back(WholePair{.costs = row}) : *found;
    const auto count = std::ranges::count_if(rows, [&](const HeadPairReport& other) {
      return is_same(other, row);
    });
    pair.add(row, count > 1);
  }
  return pairs;
}

/// Hides the difference if the heads of all pairs cannot depend on each other.
void hide_no_difference(Table& table, const std::vector<HeadPairReport>& rows) {
  const bool differ = std::ranges::any_of(rows, [](const HeadPairReport& row) {
    return row.interaction.examples == 0 || row.interaction.change != 0;
  });
  if (differ || rows.empty()) return;
  table.column("interaction") = table.column("interaction").hidden();
  table.note += "; both - independent is 0 in all pairs: no head reads what another one writes";
}

}  // namespace

Result result_of(const PairsReport& report) {
  const std::vector<HeadPairReport> rows = sorted(report.pairs);
  const std::vector<WholePair> pairs = whole_pairs(rows);
  Table table = pair_fields().table(
      {.name = "pairs",
       .title = "pairs of heads: redundant ones first, then those in which one compensates, "
                "then those that cost most",
       .note = report.note(),
       .most = 12},
      pairs);
  const auto told =
      std::ranges::count_if(pairs, [](const WholePair& pair) { return !pair.conclusion.empty(); });
  table.most = std::max(table.most, static_cast<std::size_t>(told));
  if (pairs.size() > table.most) {
    table.note += text("; ", table.most, " of ", pairs.size(), " rows are shown");
  }
  hide_no_difference(table, rows);
  if (!report.unasked.empty()) table.note += "\n" + report.unasked;
  std::vector<HeadPairReport> asked;
  std::ranges::copy_if(rows, std::back_inserter(asked),
                       [](const HeadPairReport& row) { return !row.relation.empty(); });
  Table relations = relation_fields().table(
      {.name = "relations",
       .title = "pairs of heads on the targets of each relation that one of them owns"},
      asked);
  relations.shown = false;
  return {report.about(), {table, relations}};
}

}  // namespace headlab
