// Tables of relations that several heads share: a row for each relation, and one for each head and
// class of queries. Means name the column with the number of their queries.
// Read next: division.cc, which finds what the heads share.
#include "headlab/core/base/text.h"
#include "lab/heads/scores/scores_tables.h"

namespace headlab {

static std::vector<Column> division_columns() {
  const auto mean = [](const char* name, const char* title, const char* meaning) {
    return Column(name, title, meaning).mean_over("queries");
  };
  return {Column("relation", "relation", "relation that no head implements alone"),
          Column("heads", "heads", "the heads that share the relation").of(CellKind::heads),
          Column("by", "split by", "classes that decide which head attends"),
          mean("explained", "explained",
               "share of the variance of the heads' shares explained by these classes")
              .fixed(2),
          mean("p", "p", "how often shuffled classes explain as much").fixed(3),
          mean("spread", "spread", "spread of the shares: below 0.1 the relation is not split")
              .fixed(2),
          mean("together", "together", "share of queries that one of these heads finds").fixed(2),
          Column("queries", "queries", "number of scored queries").hidden()};
}

Table divisions_table(const HeadsReport& report, bool shown) {
  Table table{.name = "divisions"};
  for (const Column& column : division_columns()) {
    table.columns.push_back(column.hidden_unless(shown));
  }
  const auto head_at = [&](std::size_t h) -> HeadId { return report.heads[h]; };
  for (const Division& one : report.divisions) {
    const Division::Kind& best = one.kinds[one.best];
    table.rows.push_back({report.relations[one.relation].relation.name, mapped(one.heads, head_at),
                          one.by(), best.explained, best.p, one.spread, one.together, one.queries});
  }
  return table;
}

Table classes_table(const HeadsReport& report) {
  Table table{.name = "classes",
              .columns = {{"relation", "relation", "relation that no head implements alone"},
                          {"by", "by", "property that the classes group"},
                          {"class", "class", "class of queries"},
                          {"queries", "queries", "number of queries in this class"},
                          kHeadColumn,
                          Column("mass", "mass", "mean attention on the relation's keys")
                              .mean_over("queries"),
                          Column("rise", "rise",
                                 "rise of the loss there when the head is ablated, nats")
                              .mean_over("queries")},
              .shown = false};
  for (const Division& division : report.divisions) {
    for (const Division::Class& one : division.classes) {
      for (std::size_t h = 0; h < division.heads.size(); ++h) {
        table.rows.push_back({report.relations[division.relation].relation.name,
                              division.kinds[division.best].name, one.name, one.queries,
                              HeadId(report.heads[division.heads[h]]), one.mass[h],
                              one.rise.empty() ? Json() : Json(one.rise[h])});
      }
    }
  }
  return table;
}

}  // namespace headlab
