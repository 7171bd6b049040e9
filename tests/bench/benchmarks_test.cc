// The training step of `bench` and the benchmarks of tests/tools/yardstick at small sizes: what
// they return is complete and finite, whatever it took.
#include "headlab/lab/bench/bench.h"
#include "headlab/lab/runs/run_config.h"

#include <cmath>
#include <set>

#include "headlab/core/base/threads.h"
#include "support/tensors.h"
#include "tools/yardstick/benchmarks.h"

namespace headlab { namespace {

BenchOptions quick_options() {
  BenchOptions options = bench_options("toy");
  options.batch = 2;
  options.steps = 1;
  options.model.d_model = 16;
  options.model.d_ff = 32;
  options.model.length = 8;
  return options;
}

class Benchmarks : public testing::TestWithParam<Benchmark> {};

TEST_P(Benchmarks, FillEveryColumnOfEveryRow) {
  const int before = thread_count();
  const Result found = GetParam().run(quick_options());
  const Table& table = found.tables.at(0);
  ASSERT_FALSE(table.rows.empty());
  for (const Json::Array& row : table.rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      EXPECT_TRUE(!row[i].is_number() || std::isfinite(row[i].number())) << table.columns[i].key;
  const Json json = found;
  EXPECT_EQ(Json(result_of(json)), json);
  for (const char* key : {"headlab", "build", "config", "threads", "load_average"})
    EXPECT_NE(json.find(key), nullptr) << key;
  BenchOptions none = quick_options();
  none.steps = 0;
  EXPECT_TRUE(GetParam().run(none).tables.at(0).rows.empty()) << "columns alone";
  EXPECT_EQ(thread_count(), before);
}

TEST_P(Benchmarks, TakeEveryKindOfInput) {
  for (const char* settings :
       {"features=3", "block=llama window=2+0", "architecture=encoder_decoder source_length=4"}) {
    BenchOptions options = quick_options();
    settings_of(options).set_all_text(settings);
    EXPECT_FALSE(GetParam().run(options).tables.at(0).rows.empty()) << settings;
  }
}

INSTANTIATE_TEST_SUITE_P(Table, Benchmarks,
                         testing::ValuesIn(benchmarks().begin(), benchmarks().end()),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(BenchOptions, TakeTheRecommendedSizesOfATask) {
  const BenchOptions options = bench_options("relations:length=12");
  RunConfig config = recommended_config("relations:length=12");
  fit_to_task(config);
  EXPECT_EQ(options.config, "relations:length=12");
  EXPECT_EQ(options.batch, config.train.batch);
  EXPECT_EQ(options.model, config.model);
  EXPECT_EQ(options.model.length, 12);
  BenchOptions few = bench_options("sort");
  few.steps = 2;
  few.batch = 4;
  EXPECT_FALSE(benchmarks()[0].run(few).tables.at(0).rows.empty());
  EXPECT_THROW(bench_options("relation"), Error);
}

TEST(BenchStep, IsAShareOfThePeak) {
  BenchOptions options = bench_options("toy");
  settings_of(options).set_all_text("layers=1 d_model=256 d_ff=1024 length=64 batch=4 steps=3");
  const Table table = benchmarks()[0].run(options).tables[0];
  const auto number = [&](const char* key) { return table.rows[0][table.index_of(key)].number(); };
  EXPECT_NEAR(number("fraction_of_peak"), number("gflops") / number("peak_gflops"), 1e-9);
  EXPECT_LT(number("fraction_of_peak"), 1.7)
      << "1, but the clock may change between the two measurements";
}

TEST(BenchStep, HasARowForEachNumberOfThreads) {
  BenchOptions options = quick_options();
  options.threads = {1, 2, 16};
  const Result found = bench_step(options);
  const Table& table = found.tables[0];
  EXPECT_EQ(table.name, "rows");
  ASSERT_EQ(table.rows.size(), 3u);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const Json::Array& row = table.rows[i];
    const auto number = [&](const char* key) { return row[table.index_of(key)].number(); };
    EXPECT_EQ(number("threads"), options.threads[i]);
    EXPECT_NEAR(number("speedup"), table.rows[0][2].number() / number("median_ms"), 1e-9);
  }
  EXPECT_EQ(table.note.find("processors") != table.note.npos, processor_count() < 16);
  options.threads = {};
  EXPECT_EQ(bench_step(options).tables[0].name, "");
}

TEST(BenchOps, ComparesOpsWithTheirProductsAlone) {
  const Table table = benchmarks()[2].run(quick_options()).tables[0];
  const std::size_t alone = table.index_of("alone_ms"), share = table.index_of("of_alone");
  std::set<std::string> compared;
  for (const Json::Array& row : table.rows) {
    if (row[alone].is_null()) continue;
    compared.insert(row[0].string() + " " + row[1].string());
    EXPECT_NEAR(row[share].number(), row[alone].number() / row[3].number(), 1e-9);
  }
  EXPECT_EQ(compared,
            (std::set<std::string>{"linear forward", "linear backward", "feed_forward forward",
                                   "feed_forward backward", "linear_cross_entropy forward"}));
}

TEST(BenchGeneration, TimeOfATokenIsTheSumOfAttentionAndTheRest) {
  const Table table = benchmarks()[3].run(quick_options()).tables[0];
  for (const Json::Array& row : table.rows)
    EXPECT_NEAR(row[1].number(), row[2].number() + row[3].number(), 1e-9);
}

TEST(BenchOps, SharesAddUpToTheStep) {
  const Table table = benchmarks()[2].run(quick_options()).tables[0];
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

}  // namespace
}  // namespace headlab
