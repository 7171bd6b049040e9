// The grid of a sweep and its trials: every combination once, each trial a run that is made once,
// goes on where it was stopped, and is never taken for another. Read next: sweep_report_test.cc.
#include "headlab/lab/studies/sweep.h"

#include <chrono>
#include <memory>
#include <thread>

#include "headlab/core/base/files.h"
#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/runs/file_lock.h"
#include "support/runs.h"

namespace headlab { namespace {

using Names = std::vector<std::string>;

/// A training that takes a moment; more axes come on top.
std::vector<SweepAxis> tiny_grid(std::vector<SweepAxis> more) {
  std::vector<SweepAxis> grid = {{"task",
                                  {"relations:length=8,vocab=6,classes=3,relations=1+same"}},
                                 {"d_model", {"8"}},
                                 {"steps", {"20"}},
                                 {"batch", {"4"}},
                                 {"eval_examples", {"8"}}};
  grid.insert(grid.end(), more.begin(), more.end());
  return grid;
}

Names names_of(const std::vector<SweepTrial>& trials) {
  Names names;
  for (const SweepTrial& trial : trials) names.push_back(trial.name);
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

TEST(SweepTrials, AreEveryCombinationWithTheSeedsSideBySide) {
  const auto trials = sweep_trials(tiny_grid({{"seed", {"0", "7"}}, {"heads", {"1", "2"}}}));
  EXPECT_EQ(names_of(trials),
            (Names{"heads=1,seed=0", "heads=1,seed=7", "heads=2,seed=0", "heads=2,seed=7"}));
  EXPECT_EQ(trials[3].group, "heads=2");
  EXPECT_EQ(trials[3].family, "all");
  EXPECT_EQ(trials[3].config.model.heads, std::vector<Index>{2});
  EXPECT_EQ(trials[3].config.train.seed, 7);
}

TEST(SweepTrials, AreNamedByVaryingSettings) {
  const auto trials = sweep_trials(tiny_grid({{"norm_place", {"pre", "post"}}, {"lr", {"0.01"}}}));
  EXPECT_EQ(names_of(trials), (Names{"norm_place=pre,seed=0", "norm_place=post,seed=0"}));
}

TEST(SweepTrials, KeepWhatAnAxisSaysOfASettingOfTheirBlock) {
  const SweepAxis positions{"positions", {"learned", "rotary"}}, block{"block", {"llama"}};
  for (const SweepGrid& grid : {SweepGrid{positions, block}, SweepGrid{block, positions}}) {
    const auto trials = sweep_trials(tiny_grid(grid));
    EXPECT_EQ(trials[0].config.model.positions, Positions::learned);
    EXPECT_EQ(trials[1].config.model.positions, Positions::rotary);
    EXPECT_EQ(trials[0].config.model.norm, NormType::rms);
  }
}

TEST(SweepTrials, TakeSettingsRecommendedByTheTask) {
  const auto trials =
      sweep_trials({{"task", {"relations", "induction:vocab=20"}}, {"batch", {"8"}}});
  ASSERT_EQ(names_of(trials), (Names{"task=relations,seed=0", "task=induction:vocab=20,seed=0"}));
  for (const SweepTrial& trial : trials) {
    const RunConfig recommended = recommended_config(trial.config.task);
    EXPECT_EQ(trial.config.model.layers, recommended.model.layers);
    EXPECT_EQ(trial.config.train.lr, recommended.train.lr);
    EXPECT_EQ(trial.config.train.batch, 8);
  }
}

TEST(SweepTrials, FloorTheWidthOfHeadsThatDoNotDivideTheModel) {
  const auto trials = sweep_trials({{"d_model", {"64"}}, {"heads", {"3", "4"}}});
  EXPECT_EQ(trials[0].config.model.d_head, 21);
  EXPECT_EQ(trials[1].config.model.d_head_of(0), 16);
}

TEST(SweepTrials, AreCheckedBeforeAnythingIsMade) {
  expect_error([] { sweep_trials({{"head", {"1"}}}); }, {"'head'", "'heads'"});
  expect_error([] { sweep_trials({{"heads", {"1", "many"}}}); }, {"heads=many", "whole number"});
  expect_error([] { sweep_trials({{"heads", {"4", "4"}}}); }, {"heads=4,seed=0 twice"});
  expect_error(
      [] {
        sweep_trials({{"batch", {"4", "5"}}, {"accumulate", {"4"}}});
      },
      {"batch=5,seed=0", "does not divide"});
}

/// However a value is spelt, it is one setting.
TEST(SweepTrials, OneSettingInTwoSpellingsIsRefused) {
  const auto refused = [](const std::vector<SweepAxis>& axes) {
    expect_error([&] { sweep_trials(tiny_grid(axes)); }, {"one trial twice", "same settings"});
  };
  refused({{"lr", {"0.01", "1e-2"}}});
  refused({{"dropout", {"0", "0.0"}}});
  refused({{"layers", {"2"}}, {"heads", {"2", "2+2"}}});
  refused({{"heads", {"2"}}, {"d_head", {"0", "4"}}});
  refused({{"layers", {"2"}}, {"window", {"3", "3+3"}}});
  expect_error(
      [] {
        sweep_trials({{"task", {"memoryless", "memoryless:length=16"}}, {"d_model", {"8"}}});
      },
      {"one trial twice"});
  EXPECT_EQ(sweep_trials(tiny_grid({{"layers", {"2"}}, {"heads", {"2", "2+1"}}})).size(), 2u);
}

TEST(SweepGrid, RefusesAnotherSpellingOfAnExistingTrial) {
  const TemporaryFolder folder;
  add_grid(folder / "sweep", tiny_grid({{"lr", {"0.01", "0.02"}}}));
  expect_error(
      [&] {
        add_grid(folder / "sweep", tiny_grid({{"lr", {"1e-2", "0.03"}}}));
      },
      {"one trial twice", "lr=0.01", "lr=1e-2"});
  add_grid(folder / "sweep", tiny_grid({{"lr", {"0.01", "0.03"}}}));
  EXPECT_EQ(kept_trials(folder / "sweep").size(), 3u);
}

TEST(SweepGrid, IsReadAsItWasWritten) {
  const TemporaryFolder folder;
  const auto grid = tiny_grid({{"heads", {"1", "2"}}, {"seed", {"0", "1"}}});
  add_grid(folder / "sweep", grid);
  add_grid(folder / "sweep", grid);
  EXPECT_EQ(names_of(kept_trials(folder / "sweep")), names_of(sweep_trials(grid)));
  expect_error([&] { kept_trials(folder / "elsewhere"); }, {"no sweep found", "grid.json"});
}

TEST(SweepGrid, IsAddedToThoseThatAreThere) {
  const TemporaryFolder folder;
  const auto first = tiny_grid({{"heads", {"1", "2"}}});
  const auto second = tiny_grid({{"heads", {"2"}}, {"lr", {"1e-3", "2e-3"}}});
  add_grid(folder / "sweep", first);
  add_grid(folder / "sweep", second);
  std::vector<std::string> names = names_of(sweep_trials(first));
  for (const std::string& name : names_of(sweep_trials(second))) names.push_back(name);
  EXPECT_EQ(names_of(kept_trials(folder / "sweep")), names);
}

TEST(SweepGrid, IsAnErrorWhereNoFolderCanHaveThatName) {
  const TemporaryFolder folder;
  EXPECT_THROW(add_grid(folder / std::string(300, 'x'), tiny_grid({{"heads", {"1"}}})), Error);
}

TEST(SweepGrid, WaitsForTheProcessThatHoldsIt) {
  const TemporaryFolder folder;
  const auto grid = tiny_grid({{"heads", {"1"}}});
  auto held = std::make_unique<FileLock>(folder / ".sweep.lock");
  ASSERT_TRUE(held->held());
  std::jthread other([&] { add_grid(folder / "sweep", grid); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_FALSE(fs::exists(folder / "sweep" / "grid.json"));
  held.reset();
  other.join();
  EXPECT_EQ(kept_trials(folder / "sweep").size(), 1u);
}

class Training : public testing::Test {
 protected:
  JobsDone train(const std::string& sweep, Index stop = -1) {
    Index done = -1;
    RunCallbacks callbacks;
    callbacks.on_step = [&](const StepRecord& record) {
      done = record.step;
      ++steps_;
    };
    callbacks.should_stop = [&] { return done == stop; };
    const Job trial =
        training_job(folder_ / sweep, trial_, [&](const SweepTrial&) { return callbacks; });
    return run_jobs({trial});
  }
  bool finishes(const std::string& sweep) { return train(sweep).finished == 1; }

  TemporaryFolder folder_;
  SweepTrial trial_ = sweep_trials(tiny_grid({{"heads", {"2"}}}))[0];
  Index steps_ = 0;
};

TEST_F(Training, IsARunWithItsResult) {
  EXPECT_EQ(trial_state(folder_ / "a", trial_), TrialState::missing);
  EXPECT_TRUE(finishes("a"));
  EXPECT_EQ(trial_state(folder_ / "a", trial_), TrialState::finished);
  TrainedRun run = open_run(folder_ / "a" / trial_.name);
  const Evaluation held_out = evaluate(run.model, *run.task, {.examples = 8});
  const TrialResult result = read_trial(folder_ / "a" / trial_.name);
  EXPECT_EQ(result.loss, held_out.loss);
  EXPECT_EQ(result.accuracy, held_out.accuracy);
  EXPECT_EQ(result.parameters, run.model.parameter_count());
  EXPECT_EQ(result.keys, 2);
}

TEST_F(Training, GivesEachRelationTheHeadThatIsAssignedToIt) {
  for (const std::string heads : {"2", "1"}) {  // with one head, one relation has none
    trial_ = sweep_trials(tiny_grid({{"heads", {heads}}}))[0];
    train(heads);
    TrainedRun run = open_run(folder_ / heads / trial_.name);
    const HeadsReport report = score_heads(run.model, *run.task, {.examples = 512});
    const TrialResult result = read_trial(folder_ / heads / trial_.name);
    const auto of_pair = heads == "2" ? std::optional(report.distances[1]) : std::nullopt;
    EXPECT_EQ(result.diversity, of_pair) << "one pair, or none";
    ASSERT_EQ(result.roles.size(), 2u);
    for (std::size_t r = 0; r < 2; ++r) {
      const RelationWinner& winner = report.relations[r];
      const SweepRole& role = result.roles[r];
      EXPECT_EQ(role.relation, winner.relation.name);
      EXPECT_EQ(role.owned, winner.assigned_owns);
      ASSERT_EQ(role.head.has_value(), winner.assigned.has_value());
      if (winner.assigned) {
        EXPECT_EQ(role.head, (HeadId{0, report.heads[*winner.assigned].head}));
        EXPECT_EQ(role.lift, report.heads[*winner.assigned].relations[r].lift);
      } else {
        EXPECT_TRUE(std::isnan(role.lift));
      }
    }
    EXPECT_EQ(!result.roles[0].head || !result.roles[1].head, heads == "1");
    EXPECT_NE(result.roles[0].head, result.roles[1].head);
  }
}

TEST_F(Training, KeepsTheScoresOfItsHeads) {
  train("a");
  const TrainedRun run = open_run(folder_ / "a" / trial_.name);
  const Json kept = read_json(run.path / "heads.json");
  const Json scored = to_json(score_heads(run.model, *run.task, {.examples = 512}));
  for (const char* part : {"heads", "distances"}) {
    EXPECT_EQ(kept.at(part).dump(), scored.at(part).dump()) << part;
  }
  EXPECT_EQ(kept.at("weights").string(), weights_hash(run.model));
  EXPECT_EQ(kept.at("run").string(), identity_of(run.config));
  EXPECT_EQ(kept.at("step").integer(), run.step);
}

TEST_F(Training, IsNotMadeTwice) {
  train("a");
  const fs::path trial = folder_ / "a" / trial_.name;
  const std::string state = read_file(trial / "state.safetensors");
  Json result = read_json(trial / "cell.json");
  result["loss"] = 42;  // would be written again with the trial
  write_json(trial / "cell.json", result);
  EXPECT_TRUE(finishes("a"));
  EXPECT_EQ(steps_, 20);
  EXPECT_EQ(read_file(trial / "state.safetensors"), state);
  EXPECT_EQ(read_trial(folder_ / "a" / trial_.name).loss, 42);
}

TEST_F(Training, GoesOnWhereItWasStopped) {
  EXPECT_TRUE(train("a", 7).stopped);
  EXPECT_EQ(trial_state(folder_ / "a", trial_), TrialState::started);
  EXPECT_TRUE(finishes("a"));
  EXPECT_EQ(steps_, 20);
  train("b");
  const fs::path a = folder_ / "a" / trial_.name, b = folder_ / "b" / trial_.name;
  EXPECT_EQ(timeless_state(open_run(a)), timeless_state(open_run(b)));
  EXPECT_EQ(read_file(a / "cell.json"), read_file(b / "cell.json"));
}

TEST_F(Training, IsFinishedOnlyWithItsResult) {
  train("a");
  const std::string result = read_file(folder_ / "a" / trial_.name / "cell.json");
  fs::remove(folder_ / "a" / trial_.name / "cell.json");  // killed between the last save and this
  EXPECT_EQ(trial_state(folder_ / "a", trial_), TrialState::started);
  EXPECT_TRUE(finishes("a"));
  EXPECT_EQ(steps_, 20);
  EXPECT_EQ(read_file(folder_ / "a" / trial_.name / "cell.json"), result);
}

TEST_F(Training, RestartsIfAbandonedDuringCreation) {
  train("a");
  fs::remove(folder_ / "a" / trial_.name / "config.json");  // it is written last
  EXPECT_TRUE(finishes("a"));
  EXPECT_EQ(steps_, 40);
}

TEST_F(Training, WithOtherSettingsIsRefused) {
  train("a");
  fs::remove(folder_ / "a" / trial_.name / "cell.json");
  trial_.config.train.lr = 0.5;
  expect_error([&] { trial_state(folder_ / "a", trial_); },
               {"heads=2,seed=0", "lr is 0.01 there and 0.5 here", "another folder"});
  const JobsDone made = train("a");
  ASSERT_EQ(made.failed.size(), 1u);
  EXPECT_NE(made.failed[0].error.find("lr is 0.01 there"), std::string::npos);
  EXPECT_EQ(steps_, 20);
}

TEST_F(Training, IsReadAsItWasMadeThoughItsTaskRecommendsOtherSettingsByNow) {
  add_grid(folder_ / "a", tiny_grid({{"heads", {"2", "3"}}, {"seed", {"0", "1", "2"}}}));
  const auto now = kept_trials(folder_ / "a");
  trial_ = now[1];
  trial_.config.train.beta2 = 0.5;
  train("a");
  const auto trials = kept_trials(folder_ / "a");
  EXPECT_EQ(trials[1].config, trial_.config);
  EXPECT_EQ(trials[2].config.train.beta2, 0.5) << "of its group";
  EXPECT_EQ(trials[3].config, now[3].config) << "of another";
  trial_ = now[2];
  train("a");
  expect_error([&] { collect_sweep(folder_ / "a", trials); }, {"heads=2,seed=2", "beta2"});
}

TEST_F(Training, IsLeftToTheProcessThatHoldsIt) {
  fs::create_directories(folder_ / "a");
  {
    const FileLock lock(folder_ / "a" / ("." + trial_.name + ".lock"));
    int asked = 0;
    const Job trial = training_job(folder_ / "a", trial_, {});
    EXPECT_TRUE(run_jobs({trial}, {.should_stop = [&] { return ++asked > 2; }}).stopped);
    EXPECT_EQ(trial_state(folder_ / "a", trial_), TrialState::missing);
  }
  EXPECT_TRUE(finishes("a"));
}

}  // namespace
}  // namespace headlab
