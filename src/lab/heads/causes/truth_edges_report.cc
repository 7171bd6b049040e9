// Tables of attention knockout: a row for each test of a relation and, for lines of a file that
// name answers `against`, the same for their logit differences. Single targets are a table of their
// own, because they are many. Read next: truth_edges.cc.
#include "headlab/core/base/error.h"
#include "headlab/lab/heads/causes/truth_edges.h"
#include "headlab/lab/results/fields.h"
#include "headlab/lab/results/stored_json.h"

namespace headlab {
namespace {

/// A row of the table: a test, and facts of its relation.
struct TestRow : EdgeTest {
  std::string relation;
  bool has_cost;  // whether masking the edges in all heads costs anything
};

/// The logit differences of a test.
struct AgainstTest {
  std::string relation;
  HeadSet heads;
  EdgeAgainst against;
};

/// A single target of a test, with its logit difference if edges are masked.
struct AgainstMasked {
  std::string relation;
  HeadSet heads;
  AgainstRow target;
  double masked, random;
};

/// Adds the relation and the heads whose edges are masked.
template <class Row>
void add_masked(Fields<Row>& fields) {
  fields.add(Column("name", "relation", "relation whose ground-truth edges are masked").no_legend(),
             &Row::relation);
  fields.add(Column("heads", "head", "heads in which these edges are masked")
                 .of(CellKind::heads)
                 .hidden()
                 .no_legend(),
             &Row::heads);
  fields.add(Column("of", "head", "head in which the edges are masked, or all heads").no_legend(),
             [](const Row& row) {
               return row.heads.size() == 1 ? head_text(row.heads[0]) : "all";
             });
}

/// Adds the masked edges, and the cost of masking them.
void add_truth(Fields<TestRow>& fields) {
  using Row = TestRow;
  add_masked(fields);
  fields.add(Column("lift", "lift", "attention mass above the baseline: 0 is chance, 1 is perfect")
                 .fixed(2),
             &Row::lift);
  fields.add(
      Column("mass", "mass", "attention mass of the masked edges").fixed(2).mean_over("queries"),
      &Row::mass);
  fields.add_part(change_fields("truth.", "cost",
                                "rise of the loss on the relation's own targets, nats"),
                  &Row::truth);
  fields.add(Column("share", "share", "share of the cost in all heads together")
                 .percent(1)
                 .mean_over("truth.examples"),
             [](const Row& row) { return row.has_cost ? Json(row.share) : Json(); });
}

/// Adds the cost of masking random edges, and how it compares.
void add_random(Fields<TestRow>& fields) {
  using Row = TestRow;
  fields.add_part(change_fields("random.", "random",
                                "the cost of masking random edges with the weight in the next "
                                "column"),
                  &Row::random);
  fields.add(Column("random_mass", "its mass", "attention mass of the masked random edges")
                 .mean_over("queries")
                 .hidden(),
             &Row::random_mass);
  fields.add(Column("random_ratio", "weight",
                    "attention mass of the random edges relative to the ground-truth edges")
                 .fixed(2)
                 .mean_over("queries"),
             &Row::random_ratio);
  fields.add(Column("queries", "queries", "number of queries whose edges are masked").hidden(),
             &Row::queries);
  fields.add(Column("targets", "targets", "number of scored targets").shown_as(Form::grouped),
             &Row::targets);
  fields.add_part(change_fields("difference.", "difference", "cost - random", {.change = false}),
                  &Row::difference);
  fields.add(Column("cause", "cause", "whether these edges are a cause").hidden(), &Row::is_cause);
  fields.add(Column("verdict", "verdict", "conclusion").no_legend(), [](const Row& row) {
    const bool has_few = row.truth.examples < kFewestPaired;
    return Toned(row.conclusion(), has_few ? Tone::open : Tone::none);
  });
  fields.add(Column("guard", "guard", "the guard that refused a conclusion").hidden(), &Row::guard);
}

}  // namespace

/// Calls use(relation, test, its logit differences) for each test that has some.
template <class Use>
static void for_against(const EdgeReport& report, const Use& use) {
  for (const EdgeReport::Row& row : report.relations) {
    for (const EdgeTest& test : row.tests) {
      if (test.against) use(row.relation.name, test, *test.against);
    }
  }
}

Table edges_against_table(const EdgeReport& report) {
  using Row = AgainstTest;
  Fields<Row> fields;
  add_masked(fields);
  const auto measured = [](auto member) {
    return [member](const Row& row) { return std::invoke(member, row.against); };
  };
  fields.add_part(
      change_fields("difference.", "difference",
                    "logit of the target less that of `against`, mean over targets in nats"),
      measured(&EdgeAgainst::whole));
  fields.add_part(change_fields("masked.", "change", "its change if these edges are masked"),
                  measured(&EdgeAgainst::truth));
  fields.add_part(change_fields("random.", "random", "its change if random edges are masked"),
                  measured(&EdgeAgainst::random));
  std::vector<Row> rows;
  for_against(report,
              [&](const std::string& relation, const EdgeTest& test, const EdgeAgainst& against) {
                rows.push_back({relation, test.heads, against});
              });
  return fields.table({.name = "against", .title = "targets with an answer `against`"}, rows);
}

Table single_edges_against(const EdgeReport& report) {
  using Row = AgainstMasked;
  Fields<Row> fields;
  add_masked(fields);
  fields.add_part(single_against_fields(), [](const Row& row) { return row.target; });
  fields.add(Column("masked", "masked", "the difference if these edges are masked").no_legend(),
             &Row::masked);
  fields.add(Column("random", "random", "the difference if random edges are masked").no_legend(),
             &Row::random);
  std::vector<Row> rows;
  for_against(report,
              [&](const std::string& relation, const EdgeTest& test, const EdgeAgainst& against) {
                for (std::size_t i = 0; i < against.rows.size(); ++i) {
                  rows.push_back({relation, test.heads, against.rows[i], against.masked[i],
                                  against.random_masked[i]});
                }
              });
  return fields.table({.name = kSingleAgainst}, rows);
}

Result result_of(const EdgeReport& report) {
  Fields<TestRow> fields;
  add_truth(fields);
  add_random(fields);
  std::vector<TestRow> rows;
  for (const EdgeReport::Row& row : report.relations) {
    const bool has_cost = row.tests.back().truth.is_rise();
    for (const EdgeTest& test : row.tests) rows.push_back({test, row.relation.name, has_cost});
  }
  const Table table{.name = "relations",
                    .title =
                        "cost of masking only a relation's ground-truth edges (attention knockout)",
                    .inner = "tests"};
  Result found{.about = stamped({{"attention", report.attention},
                                 {"examples", report.options.examples},
                                 {"draws", report.options.draws},
                                 {"seed", report.options.seed}}),
               .tables = {fields.table(table, rows)}};
  Table against = edges_against_table(report);
  if (!against.rows.empty()) found.tables.push_back(std::move(against));
  return found;
}

}  // namespace headlab
