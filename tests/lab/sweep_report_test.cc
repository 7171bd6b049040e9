// What a sweep reports of cells whose results are known: means, intervals, comparisons, and what is
// missing. The cells are runs that were never trained, with a cell.json written by hand.
#include "headlab/lab/sweep.h"

#include "headlab/base/files.h"
#include "support/runs.h"

namespace headlab { namespace {

/// What a cell is said to have reached.
struct Reached {
  double loss = 0, accuracy = 0;
  Index head = 0;  // of the one relation; -1: none
};

class Sweep : public testing::Test {
 protected:
  /// Cells of heads x seeds 0 ... N - 1 with the results of each.
  SweepReport collect(const std::vector<std::pair<std::string, std::vector<Reached>>>& results) {
    std::vector<SweepAxis> grid = {{"task", {"relations:length=8,vocab=6,relations=1+3"}},
                                   {"d_model", {"12"}},
                                   {"heads", {}},
                                   {"seed", {}}};
    for (const auto& [heads, reached] : results) grid[2].values.push_back(heads);
    for (std::size_t seed = 0; seed < results[0].second.size(); ++seed)
      grid[3].values.push_back(std::to_string(seed));
    cells_ = sweep_cells(grid);
    std::size_t next = 0;
    for (const auto& [heads, reached] : results)
      for (const Reached& one : reached) write(cells_[next++], one);
    return collect_sweep(folder_.path(), cells_);
  }

  void write(const SweepCell& cell, const Reached& reached) const {
    create_run(folder_ / cell.name, cell.config, Existing::replace);
    const std::string head = reached.head < 0 ? "null" : text("[0,", reached.head, "]");
    write_file(folder_ / cell.name / "cell.json",
               text(R"({"loss":)", reached.loss, R"(,"accuracy":)", reached.accuracy,
                    R"(,"parameters":)", 100 + cell.config.model.heads[0] / 4,
                    R"(,"keys":2,"roles":[{"relation":"a","head":)", head, R"(,"lift":)",
                    reached.head < 0 ? "null" : "0.5", R"(,"owned":)",
                    reached.head < 0 ? "false" : "true",
                    R"(},{"relation":"b","head":null,"lift":null,"owned":false}]})"));
  }

  TemporaryFolder folder_;
  std::vector<SweepCell> cells_;
};

TEST_F(Sweep, ReportsMeansWithTheIntervalOfStudentsT) {
  const SweepReport report = collect({{"2", {{1, 0.5}, {2, 0.5}, {3, 0.8}}}});
  ASSERT_EQ(report.groups.size(), 1u);
  const SweepGroup& group = report.groups[0];
  EXPECT_EQ(group.name, "heads=2");
  EXPECT_EQ(group.seeds, (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_DOUBLE_EQ(group.loss.mean, 2);
  EXPECT_NEAR(group.loss.half_width, 4.30265 / std::sqrt(3.0), 1e-4);  // t(.975) for 2 degrees
  EXPECT_DOUBLE_EQ(group.accuracy.mean, 0.6);
  EXPECT_EQ(report.comparisons.size(), 0u);
}

TEST_F(Sweep, AlignsHeadsByWhatTheyDo) {
  const SweepReport report = collect({{"2", {{1, 1, 1}, {1, 1, 0}, {1, 1, -1}}}});
  const SweepRoles& roles = report.groups[0].roles.at(0);
  EXPECT_EQ(roles.relation, "a");
  EXPECT_EQ(roles.heads,
            (std::vector<std::optional<HeadId>>{HeadId{0, 1}, HeadId{0, 0}, std::nullopt}));
  EXPECT_EQ(roles.owned, 2);
  EXPECT_DOUBLE_EQ(roles.lift.mean, 0.5);
  EXPECT_NEAR(report.groups[0].specialization.mean, 1.0 / 3, 1e-12);  // 1/2, 1/2, 0 of relations
}

TEST_F(Sweep, SaysThatSeveralHeadsWinWhereTheyDo) {
  const SweepReport report = collect({{"1", {{0.9, 0.7}, {0.95, 0.7}, {0.92, 0.7}}},
                                      {"2", {{0.01, 1}, {0.011, 1}, {0.012, 1}}},
                                      {"4", {{0.009, 1}, {0.013, 1}, {0.01, 1}}}});
  ASSERT_EQ(report.comparisons.size(), 1u);
  const SweepComparison& comparison = report.comparisons[0];
  EXPECT_TRUE(comparison.several_win);
  EXPECT_EQ(report.groups[comparison.one].name, "heads=1");
  EXPECT_EQ(report.groups[comparison.best].name, "heads=4");
  EXPECT_EQ(report.groups[comparison.enough].name, "heads=2");
  EXPECT_NEAR(comparison.accuracy_gain, 0.3, 1e-12);
  EXPECT_NEAR(comparison.loss_gain.mean, 0.92333 - 0.010667, 1e-4);
  EXPECT_FALSE(comparison.equal_parameters);
}

TEST_F(Sweep, UsesTheIntervalOfWelch) {
  // Differences of means 2, standard errors 1/sqrt(3) and 0, so 2 degrees of freedom remain.
  const SweepReport report =
      collect({{"1", {{2, 0.5}, {3, 0.5}, {4, 0.5}}}, {"2", {{1, 0.9}, {1, 0.9}, {1, 0.9}}}});
  const Interval& gain = report.comparisons.at(0).loss_gain;
  EXPECT_DOUBLE_EQ(gain.mean, 2);
  EXPECT_NEAR(gain.half_width, 4.30265 / std::sqrt(3.0), 1e-4);
  EXPECT_FALSE(report.comparisons[0].several_win) << "2 +- 2.5 holds 0";
}

TEST_F(Sweep, SaysThatSeveralHeadsGainNothingWhereAccuracyIsTheSame) {
  const SweepReport report = collect({{"1", {{0.008, 1}, {0.0081, 1}, {0.0082, 1}}},
                                      {"2", {{0.004, 1}, {0.0041, 1}, {0.0042, 1}}}});
  EXPECT_FALSE(report.comparisons.at(0).several_win);
  EXPECT_TRUE(report.comparisons[0].equal_parameters);
}

TEST_F(Sweep, ComparesNothingButOneHeadWithMore) {
  EXPECT_TRUE(collect({{"1", {{1, 1}, {2, 1}}}}).comparisons.empty());
  EXPECT_TRUE(collect({{"2", {{1, 1}, {2, 1}}}, {"4", {{0.1, 1}, {0.2, 1}}}}).comparisons.empty());
}

TEST_F(Sweep, SaysWhatIsMissing) {
  collect({{"1", {{1, 1}, {1, 1}}}, {"2", {{1, 1}, {1, 1}}}});
  fs::remove(folder_ / "heads=1,seed=1" / "cell.json");
  fs::remove_all(folder_ / "heads=2,seed=0");
  fs::remove_all(folder_ / "heads=2,seed=1");
  const SweepReport report = collect_sweep(folder_.path(), cells_);
  EXPECT_EQ(report.missing,
            (std::vector<std::string>{"heads=1,seed=1", "heads=2,seed=0", "heads=2,seed=1"}));
  ASSERT_EQ(report.groups.size(), 1u);
  EXPECT_TRUE(std::isnan(report.groups[0].loss.half_width)) << "one seed has no interval";
  EXPECT_EQ(report.cells, 4u);
}

TEST_F(Sweep, IsWholeAsJson) {
  const SweepReport report = collect({{"1", {{1, 1}, {1, 1, -1}}}, {"2", {{1, 1}, {1, 1}}}});
  const Json json = Json::parse(to_json(report).dump());
  const Json& group = json.at("groups").items().at(0);
  EXPECT_EQ(group.at("model").at("heads").integer(), 1);
  EXPECT_EQ(group.at("relations").items().at(0).at("heads").dump(), "[[0,0],null]");
  EXPECT_EQ(group.at("losses").dump(), "[1,1]");
  EXPECT_EQ(json.at("comparisons").items().at(0).at("keys_at_once").integer(), 2);
  EXPECT_EQ(json.at("missing").items().size(), 0u);
}

TEST_F(Sweep, HasTheDiversityOfHeadsOverSeeds) {
  collect({{"2", {{1, 1}, {1, 1}, {1, 1}}}});
  const double values[] = {.2, .3, .7};
  for (std::size_t i = 0; i < 3; ++i) {
    const fs::path file = folder_ / cells_[i].name / "cell.json";
    Json cell = read_json(file);
    cell["diversity"] = values[i];
    write_json(file, cell);
  }
  const SweepReport whole = collect_sweep(folder_.path(), cells_);
  const SweepGroup& group = whole.groups.at(0);
  EXPECT_EQ(group.diversities, (std::vector<double>{.2, .3, .7}));
  EXPECT_DOUBLE_EQ(group.diversity.mean, .4);
  // standard deviation sqrt(.07), t(.975) for 2 degrees
  EXPECT_NEAR(group.diversity.half_width, 4.30265 * std::sqrt(.07 / 3), 1e-4);
  EXPECT_EQ(to_json(group).at("diversities").dump(), "[0.2,0.3,0.7]");
}

TEST_F(Sweep, ReadsCellsThatDoNotSayHowDiverseTheyAre) {
  const SweepReport report = collect({{"2", {{1, 1}, {1, 1}}}});
  EXPECT_TRUE(std::isnan(report.groups.at(0).diversity.mean));
  EXPECT_TRUE(to_json(report.groups[0]).at("diversities").items()[0].is_null());
}

}  // namespace
}  // namespace headlab
