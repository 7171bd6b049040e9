// Circuits as tables: heads, compositions and skip-trigrams.
// Read next: circuits.cc, which computes them.
// Names of tokens are those of the task, if the report has them; otherwise their numbers.
#include <algorithm>

#include "headlab/core/base/text.h"
#include "headlab/lab/heads/weights/circuits.h"
#include "headlab/lab/results/fields.h"
#include "headlab/lab/results/stored_json.h"

namespace headlab {

static Json name_in(const std::vector<std::string>& names, std::int32_t number) {
  return names.empty() ? Json(number) : Json(names[static_cast<std::size_t>(number)]);
}

static Table trigrams_table(const CircuitsReport& report) {
  using Row = SkipTrigram;
  Fields<Row> fields;
  fields.add(kHeadColumn, &Row::head);
  fields.add(Column("target", "target", "index of the target").no_legend(), &Row::target);
  fields.add({"source", "source", "token that is attended to"},
             [&](const Row& row) { return name_in(report.tokens, row.source); });
  fields.add({"destination", "destination", "token that attends to it most"},
             [&](const Row& row) { return name_in(report.tokens, row.destination); });
  fields.add({"out", "out", "output whose logit rises most"},
             [&](const Row& row) { return name_in(report.answers, row.out); });
  fields.add(Column("qk", "qk", "score of the source above the mean of all sources").fixed(2),
             &Row::qk);
  fields.add(Column("ov", "ov", "logit added to `out` above the mean of all outputs").fixed(2),
             &Row::ov);
  fields.add(Column("product", "qk x ov", "product of the two, which orders the rows").fixed(2),
             [](const Row& row) { return row.qk * row.ov; });
  return fields.table({.name = "trigrams",
                       .title = "strongest skip-trigrams: [source] ... [destination] -> [out]",
                       .most = 10,
                       .by = "product"},
                      report.trigrams);
}

static Table circuits_table(const CircuitsReport& report) {
  using Row = CircuitSummary;
  Fields<Row> fields;
  fields.add(kHeadColumn, &Row::head);
  fields.add(Column("matches", "matches",
                    "share of tokens whose best-matching key is the same token (1,024 tokens are "
                    "tested if there are more than 4,096)")
                 .fixed(2),
             &Row::matches);
  fields.add(Column("matching", "matching",
                    "sum of the eigenvalues of the QK matrix over tokens / sum of their absolute "
                    "values: 1 if tokens attend to equal tokens")
                 .fixed(2),
             &Row::matching);
  fields.add(Column("copying", "copying",
                    "the same ratio for the OV matrix, by target: 1 if the head copies tokens")
                 .fixed(2),
             &Row::copying);
  fields.add(Column("copies", "copies",
                    "share of tokens whose own logit the head raises most when it attends to "
                    "them, by target")
                 .fixed(2),
             &Row::copies);
  return fields.table({.name = "heads"}, report.heads);
}

/// Returns the corrected p of the compositions that no random one reaches.
static std::vector<double> floors_of(const CircuitsReport& report) {
  std::vector<double> floors;
  for (const Composition& one : report.compositions) {
    const bool is_least = one.p * static_cast<double>(1 + report.options.draws) < 1.5;
    if (is_least && std::ranges::count(floors, one.p_holm) == 0) floors.push_back(one.p_holm);
  }
  return floors;
}

static Table compositions_table(const CircuitsReport& report) {
  using Row = Composition;
  Fields<Row> fields;
  fields.add(Column("from", "from", "the head that writes").of(CellKind::head).no_legend(),
             &Row::from);
  fields.add(Column("to", "to", "the head that reads").of(CellKind::head).no_legend(), &Row::to);
  fields.add({"kind", "reads by", "queries (Q), keys (K) or values (V)"},
             [](const Row& row) { return std::string(1, row.kind); });
  fields.add(Column("strength", "strength",
                    "norm of the product of both weights / product of the norms")
                 .fixed(3),
             &Row::strength);
  fields.add(Column("random", "random", "the strength of random matrices of these shapes").fixed(3),
             &Row::random);
  fields.add(Column("percentile", "percentile", "percentage of random compositions that are weaker")
                 .fixed(1),
             &Row::percentile);
  fields.add(Column("z", "z",
                    "difference from the mean of the random compositions, in standard deviations")
                 .fixed(1),
             &Row::z);
  fields.add(Column("p_holm", "p",
                    text("share of random compositions as strong, with this one among them, "
                         "Holm-corrected over all pairs; at least ",
                         significant(1.0 / static_cast<double>(1 + report.options.draws)),
                         " before the correction"))
                 .shown_as(Form::p_value),
             &Row::p_holm);
  Table table = fields.table({.name = "compositions",
                              .title = "strongest compositions of two heads",
                              .most = 10,
                              .by = "strength"},
                             report.compositions);
  table.column("p_holm").floors = floors_of(report);
  return table;
}

Result result_of(const CircuitsReport& report) {
  return {.about = stamped({{"attention", report.attention},
                            {"distance", report.options.distance},
                            {"draws", report.options.draws},
                            {"seed", report.options.seed}}),
          .tables = {circuits_table(report), compositions_table(report), trigrams_table(report)}};
}

}  // namespace headlab
