// Weights over training: which steps are kept, that a run which is interrupted keeps the same ones,
// and what a longer run drops. Read next: headlab/train/snapshots.h.
#include "lab/runs/snapshots.h"

#include <gtest/gtest.h>

#include "headlab/core/model/checkpoint.h"
#include "support/runs.h"

namespace headlab { namespace {

using Steps = std::vector<Index>;

TEST(SnapshotSteps, LieFurtherApartTheLaterTheyAre) {
  EXPECT_EQ(snapshot_steps(0, 100), Steps{});
  EXPECT_EQ(snapshot_steps(1, 100), Steps{100});
  EXPECT_EQ(snapshot_steps(2, 100), (Steps{0, 100}));
  EXPECT_EQ(snapshot_steps(4, 100), (Steps{0, 1, 10, 100}));
  EXPECT_EQ(snapshot_steps(5, 1000), (Steps{0, 1, 10, 100, 1000}));
  EXPECT_EQ(snapshot_steps(50, 4), (Steps{0, 1, 2, 3, 4}));
  EXPECT_EQ(snapshot_steps(5, 0), Steps{0});
}

TEST(SnapshotSteps, AreNeverMoreThanAskedFor) {
  for (Index count = 1; count < 60; ++count) {
    for (const Index steps : {1, 7, 100, 1234}) {
      const Steps kept = snapshot_steps(count, steps);
      EXPECT_LE(std::ssize(kept), count);
      EXPECT_EQ(kept.back(), steps);
      EXPECT_TRUE(std::ranges::is_sorted(kept));
    }
  }
}

class KeptWeights : public testing::Test {
 protected:
  RunConfig config() const {
    RunConfig config = tiny_config();
    config.keep_weights = 6;
    return config;
  }
  TemporaryFolder folder_;
};

TEST_F(KeptWeights, EqualTheWeightsOfTheModel) {
  TrainedRun run = create_run(folder_.path() / "a", config());
  std::vector<double> at_one;
  RunCallbacks callbacks;
  callbacks.after_step = [&](Index step) {
    if (step == 1) at_one = parameters_in(run.model);
  };
  train_run(run, callbacks);
  const Snapshots kept = read_snapshots(run);
  EXPECT_EQ(kept.steps, snapshot_steps(6, run.config.train.steps));
  EXPECT_EQ(parameters_in(kept.model(run, 0)), parameters_in(initial_model(run.config)));
  EXPECT_EQ(parameters_in(kept.model(run, 1)), at_one);
  EXPECT_EQ(parameters_in(kept.model(run, kept.steps.size() - 1)), parameters_in(run.model));
}

TEST_F(KeptWeights, AreTheSameWhereverTheRunWasStopped) {
  TrainedRun whole = create_run(folder_.path() / "a", config());
  train_run(whole);
  const std::string bytes = read_file(snapshots_file(whole));
  for (const Index stop : {1, 4, 11, 37}) {
    TrainedRun part = create_run(folder_.path() / "b", config(), Existing::replace);
    Index done = 0;
    RunCallbacks callbacks;
    callbacks.after_step = [&](Index step) { done = step; };
    callbacks.should_stop = [&] { return done >= stop; };
    train_run(part, callbacks);
    TrainedRun rest = open_run(part.path);
    train_run(rest);
    EXPECT_EQ(read_file(snapshots_file(rest)), bytes) << stop;
  }
}

TEST_F(KeptWeights, UnsavedStatesAreComputedAgain) {
  TrainedRun run = create_run(folder_.path() / "a", config());
  train_run(run);
  const std::string whole = read_file(snapshots_file(run));
  TrainedRun again = create_run(folder_.path() / "b", config());
  RunCallbacks callbacks;
  Index done = 0;
  callbacks.after_step = [&](Index step) { done = step; };
  callbacks.should_stop = [&] { return done >= 10; };
  train_run(again, callbacks);
  write_file(snapshots_file(again), whole);  // as if killed between this file and the state
  TrainedRun resumed = open_run(again.path);
  train_run(resumed);
  EXPECT_EQ(read_file(snapshots_file(resumed)), whole);
}

TEST_F(KeptWeights, MakeRoomWhenARunGoesOnLonger) {
  TrainedRun run = create_run(folder_.path() / "a", config());
  train_run(run);
  run.config.train.steps = 200;
  train_run(run);
  const Snapshots kept = read_snapshots(run);
  EXPECT_LE(std::ssize(kept.steps), 6);
  EXPECT_EQ(kept.steps.front(), 0);
  EXPECT_EQ(kept.steps.back(), 200);
}

TEST_F(KeptWeights, BelongToTheRun) {
  TrainedRun run = create_run(folder_.path() / "a", config());
  train_run(run);
  create_run(run.path, tiny_config(), Existing::replace);
  EXPECT_FALSE(fs::exists(snapshots_file(run)));
}

TEST_F(KeptWeights, RefuseAFileOfAnotherRun) {
  TrainedRun run = create_run(folder_.path() / "a", config());
  train_run(run);
  RunConfig other = config();
  other.train.seed += 1;
  TrainedRun foreign = create_run(folder_.path() / "b", other);
  train_run(foreign);
  write_file(snapshots_file(run), read_file(snapshots_file(foreign)));
  expect_error([&] { read_snapshots(run); }, {"the weights of another run", "delete the file"});
}

TEST_F(KeptWeights, NameADamagedFile) {
  TrainedRun run = create_run(folder_.path() / "a", config());
  train_run(run);
  for (const char* bytes : {"", "no tensors"}) {
    write_file(snapshots_file(run), bytes);
    EXPECT_THROW(read_snapshots(run), Error);
  }
  TensorFile other;
  other.tensors.push_back(stored("7.blocks", Tensor::zeros({2})));
  write_safetensors(snapshots_file(run), other);
  EXPECT_THROW(read_snapshots(run), Error);
  for (const char* name : {"embed.W_E", "-1.embed.W_E", "1e3x.embed.W_E"}) {
    other.tensors[0].name = name;
    write_safetensors(snapshots_file(run), other);
    const std::string said = "does not begin with the step that it was kept after";
    expect_error([&] { read_snapshots(run); }, {std::string(name), said});
  }
}

}  // namespace
}  // namespace headlab
