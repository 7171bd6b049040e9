// Benchmarks at their smallest: what they return is complete and finite, whatever it took.
#include "headlab/bench/bench.h"

#include <cmath>
#include <set>

#include "headlab/base/threads.h"
#include "headlab/tensor/watch.h"
#include "support/tensors.h"

namespace headlab { namespace {

BenchOptions quick_options() {
  BenchOptions options = bench_options("toy");
  options.batch = 2;
  options.steps = 1;
  options.quick = true;
  options.model.d_model = 16;
  options.model.d_ff = 32;
  options.model.length = 8;
  return options;
}

class Benchmarks : public testing::TestWithParam<Benchmark> {};

TEST_P(Benchmarks, FillEveryColumnOfEveryRow) {
  const int before = thread_count();
  const Finding found = GetParam().run(quick_options());
  const Table& table = found.tables.at(0);
  ASSERT_FALSE(table.rows.empty());
  for (const Json::Array& row : table.rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      EXPECT_TRUE(!row[i].is_number() || std::isfinite(row[i].number())) << table.columns[i].key;
  const Json json = found;
  EXPECT_EQ(Json(finding_of(json)), json);
  for (const char* key : {"headlab", "build", "config", "threads", "load_average"})
    EXPECT_NE(json.find(key), nullptr) << key;
  BenchOptions none = quick_options();
  none.steps = 0;
  EXPECT_TRUE(GetParam().run(none).tables.at(0).rows.empty()) << "columns alone";
  EXPECT_EQ(thread_count(), before);
}

INSTANTIATE_TEST_SUITE_P(Table, Benchmarks,
                         testing::ValuesIn(benchmarks().begin(), benchmarks().end()),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(BenchOps, SharesAddUpToTheStep) {
  const Table table = bench_ops(quick_options()).tables[0];
  double share = 0;
  std::set<std::string> names;
  for (const Json::Array& row : table.rows) {
    names.insert(row[0].string() + " " + row[1].string());
    share += row[4].number();
  }
  EXPECT_NEAR(share, 1, 1e-9);
  for (const char* name : {"attention forward", "attention backward", "optimizer "})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST(BenchAttention, CountsTheColumnsOfItsHeads) {
  BenchOptions options = quick_options();
  options.model.d_head = 12;  // 4 heads: 48 columns at d_model 16
  const Table table = bench_attention(options).tables[0];
  const double batch = 1, length = table.rows[0][0].number();  // 2 sequences of 8, or 1 of 16
  const double visible = batch * 48 * length * (length + 1) / 2, ms = table.rows[0][2].number();
  EXPECT_NEAR(table.rows[0][7].number() * ms * 1e6, 2 * 7 * visible, 1e-6 * visible);
}

TEST(BenchScaling, HasHeadsThatDoNotDivideAndKeepsTheRatioOfTheFeedForward) {
  BenchOptions options = quick_options();
  options.model.heads = {6};
  options.model.d_head = 0;
  options.model.d_model = 24;
  options.model.d_ff = 12;
  double feed_forwards = 0, steps = 0;
  const WorkWatch watch([&](const WorkEvent& event) {
    feed_forwards +=
        event.kind == WorkEvent::Kind::forward && event.name == std::string("feed_forward");
    steps += event.name == std::string("optimizer");
  });
  EXPECT_EQ(bench_scaling(options).tables[0].rows.size(), 6u);
  EXPECT_EQ(feed_forwards / steps, (5 * 2 + 1) / 6.0) << "two layers, but one where that changes";
}

}  // namespace
}  // namespace headlab
