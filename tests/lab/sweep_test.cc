// The grid of a sweep and its cells: every combination once, each cell a run that is made once,
// goes on where it was stopped, and is never taken for another. Read next: sweep_report_test.cc.
#include "headlab/lab/sweep.h"

#include "headlab/base/files.h"
#include "support/runs.h"

namespace headlab::inline HEADLAB_SCALAR {
namespace {

using Names = std::vector<std::string>;

/// A training that takes a moment; more axes come on top.
std::vector<SweepAxis> tiny_grid(std::vector<SweepAxis> more) {
  std::vector<SweepAxis> grid = {
      {"task", {"relations:length=8,vocab=6,classes=3,relations=1+same"}},
      {"d_model", {"8"}},
      {"steps", {"20"}},
      {"batch", {"4"}},
      {"eval_examples", {"8"}}};
  grid.insert(grid.end(), more.begin(), more.end());
  return grid;
}

Names names_of(const std::vector<SweepCell>& cells) {
  Names names;
  for (const SweepCell& cell : cells) names.push_back(cell.name);
  return names;
}

TEST(SweepValues, AreCutAtCommas) {
  EXPECT_EQ(sweep_values("1,2,4"), (Names{"1", "2", "4"}));
  EXPECT_EQ(sweep_values("1e-3"), Names{"1e-3"});
}

TEST(SweepValues, KeepTheParametersOfATask) {
  EXPECT_EQ(sweep_values("sort,relations:length=8,vocab=6,induction"),
            (Names{"sort", "relations:length=8,vocab=6", "induction"}));
}

TEST(SweepCells, AreEveryCombinationWithTheSeedsSideBySide) {
  const auto cells = sweep_cells(tiny_grid({{"seed", {"0", "7"}}, {"heads", {"1", "2"}}}));
  EXPECT_EQ(names_of(cells),
            (Names{"heads=1,seed=0", "heads=1,seed=7", "heads=2,seed=0", "heads=2,seed=7"}));
  EXPECT_EQ(cells[3].group, "heads=2");
  EXPECT_EQ(cells[3].family, "all");
  EXPECT_EQ(cells[3].config.model.heads, std::vector<Index>{2});
  EXPECT_EQ(cells[3].config.train.seed, 7);
}

TEST(SweepCells, AreNamedByWhatChanges) {
  const auto cells = sweep_cells(tiny_grid({{"norm", {"pre", "post"}}, {"lr", {"0.01"}}}));
  EXPECT_EQ(names_of(cells), (Names{"norm=pre,seed=0", "norm=post,seed=0"}));
}

TEST(SweepCells, TakeWhatEachTaskRecommends) {
  const auto cells = sweep_cells({{"task", {"relations", "induction:vocab=20"}}, {"batch", {"8"}}});
  ASSERT_EQ(names_of(cells), (Names{"task=relations,seed=0", "task=induction:vocab=20,seed=0"}));
  for (const SweepCell& cell : cells) {
    const RunConfig recommended = recommended_config(cell.config.task);
    EXPECT_EQ(cell.config.model.layers, recommended.model.layers);
    EXPECT_EQ(cell.config.train.lr, recommended.train.lr);
    EXPECT_EQ(cell.config.train.batch, 8);
  }
}

TEST(SweepCells, FloorTheWidthOfHeadsThatDoNotDivideTheModel) {
  const auto cells = sweep_cells({{"d_model", {"64"}}, {"heads", {"3", "4"}}});
  EXPECT_EQ(cells[0].config.model.d_head, 21);
  EXPECT_EQ(cells[1].config.model.d_head_of(0), 16);
}

TEST(SweepCells, AreCheckedBeforeAnythingIsMade) {
  expect_error([] { sweep_cells({{"head", {"1"}}}); }, {"'head'", "'heads'"});
  expect_error([] { sweep_cells({{"heads", {"1", "many"}}}); }, {"heads=many", "whole number"});
  expect_error([] { sweep_cells({{"heads", {"4", "4"}}}); }, {"heads=4,seed=0 twice"});
  expect_error(
      [] {
        sweep_cells({{"batch", {"4", "5"}}, {"accumulate", {"4"}}});
      },
      {"batch=5,seed=0", "does not divide"});
}

TEST(SweepGrid, IsReadAsItWasWritten) {
  const TemporaryFolder folder;
  const auto grid = tiny_grid({{"heads", {"1", "2"}}, {"seed", {"0", "1"}}});
  write_grid(folder / "sweep", grid);
  EXPECT_EQ(names_of(sweep_cells(read_grid(folder / "sweep"))), names_of(sweep_cells(grid)));
  expect_error([&] { read_grid(folder / "elsewhere"); }, {"no sweep at", "grid.json"});
}

class Cell : public testing::Test {
 protected:
  CellEnd train(const std::string& sweep, Index stop = -1) {
    Index done = -1;
    RunCallbacks callbacks;
    callbacks.on_step = [&](const StepRecord& record) {
      done = record.step;
      ++steps_;
    };
    callbacks.should_stop = [&] { return done == stop; };
    return run_cell(folder_ / sweep, cell_, callbacks);
  }

  TemporaryFolder folder_;
  SweepCell cell_ = sweep_cells(tiny_grid({{"heads", {"2"}}}))[0];
  Index steps_ = 0;
};

TEST_F(Cell, IsARunWithItsResult) {
  EXPECT_EQ(cell_state(folder_ / "a", cell_), CellState::missing);
  EXPECT_EQ(train("a"), CellEnd::finished);
  EXPECT_EQ(cell_state(folder_ / "a", cell_), CellState::finished);
  TrainedRun run = open_run(folder_ / "a" / cell_.name);
  const Evaluation held_out = evaluate(run.model, *run.task, {.examples = 8});
  const CellResult result = read_cell(folder_ / "a", cell_);
  EXPECT_EQ(result.loss, held_out.loss);
  EXPECT_EQ(result.accuracy, held_out.accuracy);
  EXPECT_EQ(result.parameters, run.model.parameter_count());
  EXPECT_EQ(result.keys, 2);
  ASSERT_EQ(result.roles.size(), 2u);
  EXPECT_EQ(result.roles[1].relation, "same");
  EXPECT_NE(result.roles[0].head, result.roles[1].head);
}

TEST_F(Cell, IsNotMadeTwice) {
  train("a");
  const std::string state = read_file(folder_ / "a" / cell_.name / "state.safetensors");
  EXPECT_EQ(train("a"), CellEnd::finished);
  EXPECT_EQ(steps_, 20);
  EXPECT_EQ(read_file(folder_ / "a" / cell_.name / "state.safetensors"), state);
}

TEST_F(Cell, GoesOnWhereItWasStopped) {
  EXPECT_EQ(train("a", 7), CellEnd::stopped);
  EXPECT_EQ(cell_state(folder_ / "a", cell_), CellState::started);
  EXPECT_EQ(train("a"), CellEnd::finished);
  EXPECT_EQ(steps_, 20);
  train("b");
  const fs::path a = folder_ / "a" / cell_.name, b = folder_ / "b" / cell_.name;
  EXPECT_EQ(timeless_state(open_run(a)), timeless_state(open_run(b)));
  EXPECT_EQ(read_file(a / "cell.json"), read_file(b / "cell.json"));
}

TEST_F(Cell, IsFinishedOnlyWithItsResult) {
  train("a");
  const std::string result = read_file(folder_ / "a" / cell_.name / "cell.json");
  fs::remove(folder_ / "a" / cell_.name / "cell.json");  // killed between the last save and this
  EXPECT_EQ(cell_state(folder_ / "a", cell_), CellState::started);
  EXPECT_EQ(train("a"), CellEnd::finished);
  EXPECT_EQ(steps_, 20);
  EXPECT_EQ(read_file(folder_ / "a" / cell_.name / "cell.json"), result);
}

TEST_F(Cell, IsMadeAnewIfItWasAbandonedWhileItWasMade) {
  train("a");
  fs::remove(folder_ / "a" / cell_.name / "config.json");  // it is written last
  EXPECT_EQ(train("a"), CellEnd::finished);
  EXPECT_EQ(steps_, 40);
}

TEST_F(Cell, WithOtherSettingsIsRefused) {
  train("a");
  cell_.config.train.lr = 0.5;
  for (const auto& action : {std::function<void()>([&] { cell_state(folder_ / "a", cell_); }),
                             std::function<void()>([&] { train("a"); })}) {
    expect_error(action, {"heads=2,seed=0", "lr is 0.01 there and 0.5 here", "another --out"});
  }
  EXPECT_EQ(steps_, 20);
}

TEST_F(Cell, IsLeftToWhoeverIsAtIt) {
  fs::create_directories(folder_ / "a" / "locks");
  {
    const FileLock lock(folder_ / "a" / "locks" / cell_.name);
    EXPECT_EQ(train("a"), CellEnd::busy);
    EXPECT_EQ(cell_state(folder_ / "a", cell_), CellState::missing);
  }
  EXPECT_EQ(train("a"), CellEnd::finished);
}

/// A report with these lifts [head][relation], alike on both splits.
HeadsReport report_of(const std::vector<std::vector<double>>& lifts) {
  HeadsReport report;
  for (std::size_t h = 0; h < lifts.size(); ++h) {
    HeadScores head{.layer = 0, .head = static_cast<std::int32_t>(h)};
    for (const double lift : lifts[h]) {
      RelationScore score;
      score.lift = lift;
      score.p = 0.001;
      head.chosen_on.push_back(score);
      head.relations.push_back(score);
    }
    report.heads.push_back(head);
  }
  for (std::size_t r = 0; r < lifts[0].size(); ++r) {
    report.relations.push_back({.relation = {std::to_string(r), ""}});
  }
  return report;
}

TEST(SweepRoles, GiveEachRelationAHeadOfItsOwn) {
  const auto roles = roles_of(report_of({{0.9, 0.95}, {0.5, 0.2}}));
  EXPECT_EQ(roles[1].head.head, 0);
  EXPECT_EQ(roles[0].head.head, 1);
  EXPECT_TRUE(roles[0].owned && roles[1].owned);
}

TEST(SweepRoles, LeaveRelationsWithoutAHeadWhereHeadsAreFew) {
  const auto roles = roles_of(report_of({{0.8, 0.9, 0.7}}));
  EXPECT_EQ(roles[1].head, (HeadId{0, 0}));
  for (const std::size_t r : {0u, 2u}) {
    EXPECT_EQ(roles[r].head.layer, -1);
    EXPECT_FALSE(roles[r].owned);
    EXPECT_TRUE(std::isnan(roles[r].lift));
  }
}

TEST(SweepRoles, AreOwnedFromTheLiftOnThatHeadsAskFor) {
  EXPECT_TRUE(roles_of(report_of({{0.3}}))[0].owned);
  EXPECT_FALSE(roles_of(report_of({{0.29}}))[0].owned);
}

}  // namespace
}  // namespace headlab::inline HEADLAB_SCALAR
