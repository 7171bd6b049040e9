// Tables of relations that several heads share: a row for each relation, and one for each head and
// class of queries. Means name the column with the number of their queries.
// Read next: division.cc, which finds what the heads share.
#include "headlab/lab/results/fields.h"
#include "lab/heads/scores/scores_tables.h"

namespace headlab {

static HeadId head_at(const HeadsReport& report, std::size_t h) { return report.heads[h]; }

Table divisions_table(const HeadsReport& report, bool shown) {
  Fields<Division> fields;
  const auto add = [&](const Column& column, auto get) {
    fields.add(column.hidden_unless(shown), get);
  };
  const auto mean = [](const char* name, const char* title, const char* meaning) {
    return Column(name, title, meaning).mean_over("queries");
  };
  add(Column("relation", "relation", "relation that no head implements alone"),
      [&](const Division& one) { return report.relations[one.relation].relation.name; });
  add(Column("heads", "heads", "the heads that share the relation").of(CellKind::heads),
      [&](const Division& one) {
        return mapped(one.heads, [&](std::size_t h) { return head_at(report, h); });
      });
  add(Column("by", "split by", "classes that decide which head attends"), &Division::by);
  add(mean("explained", "explained",
           "share of the variance of the heads' shares explained by these classes")
          .fixed(2),
      [](const Division& one) { return one.kinds[one.best].explained; });
  add(mean("p", "p", "how often shuffled classes explain as much").fixed(3),
      [](const Division& one) { return one.kinds[one.best].p; });
  add(mean("spread", "spread", "spread of the shares: below 0.1 the relation is not split")
          .fixed(2),
      &Division::spread);
  add(mean("together", "together", "share of queries that one of these heads finds").fixed(2),
      &Division::together);
  add(Column("queries", "queries", "number of scored queries").hidden(), &Division::queries);
  return fields.table({.name = "divisions", .rows_in_about = true}, report.divisions);
}

namespace {

/// One head at one class of queries of a shared relation.
struct HeadAtClass {
  const Division& division;
  const Division::Class& queries;
  std::size_t h;  // index in division.heads
};

}  // namespace

Table classes_table(const HeadsReport& report) {
  using Row = HeadAtClass;
  Fields<Row> fields;
  fields.add({"relation", "relation", "relation that no head implements alone"},
             [&](const Row& row) { return report.relations[row.division.relation].relation.name; });
  fields.add({"by", "by", "property that the classes group"},
             [](const Row& row) { return row.division.kinds[row.division.best].name; });
  fields.add({"class", "class", "class of queries"},
             [](const Row& row) { return row.queries.name; });
  fields.add({"queries", "queries", "number of queries in this class"},
             [](const Row& row) { return row.queries.queries; });
  fields.add(kHeadColumn,
             [&](const Row& row) { return head_at(report, row.division.heads[row.h]); });
  fields.add(Column("mass", "mass", "mean attention on the relation's keys").mean_over("queries"),
             [](const Row& row) { return row.queries.mass[row.h]; });
  fields.add(Column("rise", "rise", "rise of the loss there when the head is ablated, nats")
                 .mean_over("queries"),
             [](const Row& row) {
               return row.queries.rise.empty() ? Json() : Json(row.queries.rise[row.h]);
             });
  std::vector<Row> rows;
  for (const Division& division : report.divisions) {
    for (const Division::Class& one : division.classes) {
      for (const std::size_t h : indices(division.heads.size())) {
        rows.push_back({division, one, h});
      }
    }
  }
  return fields.table({.name = "classes", .shown = false}, rows);
}

}  // namespace headlab
