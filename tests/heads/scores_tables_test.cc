// Tables of heads, relations and shared relations: their cells are the values that the JSON of the
// same report has, although they are filled from the report itself.
// Read next: src/lab/heads/scores/scores_tables.cc.
#include <cmath>
#include <set>
#include "headlab/core/tasks/table.h"
#include "headlab/core/train/streams.h"
#include "headlab/lab/heads/causes/ablation.h"
#include "headlab/lab/heads/causes/analyses.h"
#include "headlab/lab/heads/causes/pairs.h"
#include "headlab/lab/heads/causes/truth_edges.h"
#include "headlab/lab/heads/scores/activations.h"
#include "headlab/lab/heads/scores/scores.h"
#include "headlab/lab/heads/scores/tracking.h"
#include "headlab/lab/heads/weights/circuits.h"
#include "headlab/lab/heads/weights/matrix.h"
#include "support/columns_text.h"
#include "support/golden_text.h"
#include "support/hand_built.h"
#include "support/models.h"
#include "support/scripted.h"

namespace headlab { namespace scores_tables_tests {

constexpr const char* kTask = "relations:length=10,vocab=6,classes=3,relations=1+3+same";

/// A report with two heads that share a relation and one relation that no head can have.
HeadsReport report_of_two_heads() {
  const auto task = make_task(kTask);
  const HeadsReport scored = score_heads(hand_built(task->shape(), 3, {kUniform}), *task,
                                         {.examples = 20, .patterns_only = true});
  HeadsReport report = scored;
  report.heads = {scored.heads[0], scored.heads[0]};
  report.heads[1].head = 1;
  report.heads[1].offsets.clear();
  report.distances = {0, 0.25, 0.25, 0};
  report.relations[0].owned = true;
  report.relations[1].candidates = 0;
  report.divisions = {{.relation = 1, .heads = {0, 1}, .kinds = {{"token", 0.5, 0.25}}}};
  return report;
}

TEST(HeadScores, FillTablesWithTheValuesOfTheirJson) {
  const Result found = result_of(report_of_two_heads(), {true, true, true});
  const Json json = found;
  for (const char* name : {"heads", "relations", "divisions"}) {
    const Table& table = found.table(name);
    const Table read = table_of(json, table);
    ASSERT_EQ(table.rows.size(), read.rows.size()) << name;
    ASSERT_FALSE(table.rows.empty()) << name;
    for (std::size_t r = 0; r < read.rows.size(); ++r) {
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const Json& cell = table.rows[r][c];
        const bool are_blank = is_blank(cell) && is_blank(read.rows[r][c]);
        EXPECT_TRUE(are_blank || cell.dump() == read.rows[r][c].dump())
            << name << ", " << table.columns[c].key << ": " << cell.dump() << " and "
            << read.rows[r][c].dump();
      }
    }
  }
}

}  // namespace scores_tables_tests
}  // namespace headlab
