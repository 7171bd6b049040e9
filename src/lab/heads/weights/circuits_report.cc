// Circuits as tables: heads, compositions and skip-trigrams.
// Read next: circuits.cc, which computes them.
// Names of tokens are those of the task, if the report has them; otherwise their numbers.
#include "headlab/lab/heads/weights/circuits.h"
#include "headlab/lab/results/stored_json.h"

namespace headlab {

static Json name_in(const std::vector<std::string>& names, std::int32_t number) {
  return names.empty() ? Json(number) : Json(names[static_cast<std::size_t>(number)]);
}

static Table trigrams_table(const CircuitsReport& report) {
  Table table{
      .name = "trigrams",
      .columns =
          {kHeadColumn,
           Column("target", "target", "index of the target").no_legend(),
           {"source", "source", "token that is attended to"},
           {"destination", "destination", "token that attends to it most"},
           {"out", "out", "output whose logit rises most"},
           Column("qk", "qk", "score of the source above the mean of all sources").fixed(2),
           Column("ov", "ov", "logit added to `out` above the mean of all outputs").fixed(2),
           Column("product", "qk x ov", "product of the two, which orders the rows").fixed(2)},
      .title = "strongest skip-trigrams: [source] ... [destination] -> [out]",
      .most = 10,
      .by = "product"};
  for (const SkipTrigram& one : report.trigrams) {
    table.rows.push_back({one.head, one.target, name_in(report.tokens, one.source),
                          name_in(report.tokens, one.destination), name_in(report.answers, one.out),
                          one.qk, one.ov, one.qk * one.ov});
  }
  return table;
}

static Table circuits_table(const CircuitsReport& report) {
  Table table{"heads",
              {kHeadColumn,
               Column("matches", "matches",
                      "share of tokens whose best-matching key is the same token (1,024 tokens are "
                      "tested if there are more than 4,096)")
                   .fixed(2),
               Column("matching", "matching",
                      "sum of the eigenvalues of the QK matrix over tokens / sum of their absolute "
                      "values: 1 if tokens attend to equal tokens")
                   .fixed(2),
               Column("copying", "copying",
                      "the same ratio for the OV matrix, by target: 1 if the head copies tokens")
                   .fixed(2),
               Column("copies", "copies",
                      "share of tokens whose own logit the head raises most when it attends to "
                      "them, by target")
                   .fixed(2)}};
  for (const CircuitSummary& one : report.heads) {
    table.rows.push_back({one.head, one.matches, one.matching, one.copying, one.copies});
  }
  return table;
}

static Table compositions_table(const CircuitsReport& report) {
  Table table{
      .name = "compositions",
      .columns =
          {Column("from", "from", "the head that writes").of(CellKind::head).no_legend(),
           Column("to", "to", "the head that reads").of(CellKind::head).no_legend(),
           {"kind", "reads by", "queries (Q), keys (K) or values (V)"},
           Column("strength", "strength",
                  "norm of the product of both weights / product of the norms")
               .fixed(3),
           Column("random", "random", "the strength of random matrices of these shapes").fixed(3),
           Column("percentile", "percentile", "percentage of random compositions that are weaker")
               .fixed(1),
           Column("z", "z",
                  "difference from the mean of the random compositions, in standard deviations")
               .fixed(1),
           Column("p_holm", "p",
                  "probability of such a strength at random, Holm-corrected over all pairs")
               .shown_as(Form::p_value)},
      .title = "strongest compositions of two heads",
      .most = 10,
      .by = "strength"};
  for (const Composition& one : report.compositions) {
    table.rows.push_back({one.from, one.to, std::string(1, one.kind), one.strength, one.random,
                          one.percentile, one.z, one.p_holm});
  }
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
