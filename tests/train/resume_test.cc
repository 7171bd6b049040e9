// A run that is stopped, or killed at any moment, ends as one that never was: the same bits in
// state.safetensors, the same lines in metrics.jsonl, times apart. Killing is done for good: in a
// child process, by SIGKILL at random moments, and by the system in the middle of a write.
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "support/runs.h"

namespace headlab { namespace {

/// Trains the run in `folder` on from where it is, until `stop` steps are done.
bool train_until(const fs::path& folder, Index stop, const RunCallbacks& extra = {}) {
  TrainedRun run = open_run(folder);
  RunCallbacks callbacks = extra;
  Index done = -1;
  callbacks.on_step = [&](const StepRecord& record) { done = record.step; };
  callbacks.should_stop = [&] { return done == stop; };
  return train_run(run, callbacks).finished;
}

/// Calls `body` in a child process with one thread and returns its process id.
template <class Body>
pid_t in_child(Body&& body) {
  const pid_t child = fork();
  require(child >= 0, "cannot fork");
  if (child == 0) {
    int status = 1;
    try {
      set_thread_count(1);
      body();
      status = 0;
    } catch (...) {
    }
    _exit(status);
  }
  return child;
}

/// Returns how a child process ended: its exit status, or minus the signal that killed it.
int ending_of(pid_t child) {
  int status = 0;
  require(waitpid(child, &status, 0) == child, "cannot wait");
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

class Resumed : public testing::Test {
 protected:
  explicit Resumed(Index save_every = 10, Index eval_every = 7) : config_(tiny_config()) {
    config_.train.save_every = save_every;
    config_.train.eval_every = eval_every;
    TrainedRun straight = create_run(folder_ / "straight", config_);
    train_run(straight);
    create_run(folder_ / "run", config_);
  }
  void expect_same_end() {
    const TrainedRun straight = open_run(folder_ / "straight"), run = open_run(folder_ / "run");
    EXPECT_EQ(timeless_state(run), timeless_state(straight));
    EXPECT_EQ(timeless_metrics(run), timeless_metrics(straight));
    EXPECT_EQ(read_file(model_file(run)), read_file(model_file(straight)));
    EXPECT_EQ(names_in(run.path),
              (std::vector<std::string>{"config.json", "metrics.jsonl", "model.safetensors",
                                        "state.safetensors"}));
  }

  TemporaryFolder folder_;
  RunConfig config_;
};

TEST_F(Resumed, EndsAsIfItHadNeverStopped) {
  for (Index stop : {1, 7, 10, 13, 35, 59, 60}) {
    fs::remove_all(folder_ / "run");
    create_run(folder_ / "run", config_);
    EXPECT_EQ(train_until(folder_ / "run", stop), stop == 60) << stop;
    train_until(folder_ / "run", 60);
    expect_same_end();
  }
}

TEST_F(Resumed, EndsTheSameAfterManyStops) {
  for (Index stop : {2, 3, 14, 20, 21, 44, 60}) train_until(folder_ / "run", stop);
  expect_same_end();
}

/// 10 steps after 50 take less than these. Other work on the machine can stretch them, so the
/// shortest of five attempts counts.
TEST_F(Resumed, TakesTheTimeOfItsOwnStepsAlone) {
  double shortest = 1e9;
  double before = 0;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    create_run(folder_ / name, config_);
    train_until(folder_ / name, 50);
    TrainedRun run = open_run(folder_ / name);
    Trainer trainer(run.model, *run.task, run.config.train);
    load_state(run, trainer);
    before = std::max(before, trainer.seconds());
    shortest = std::min(shortest, train_run(run).seconds);
  }
  EXPECT_LT(shortest, before);
}

TEST_F(Resumed, ChangesNothingWhenItIsDone) {
  train_until(folder_ / "run", -1);
  for (int again = 0; again < 2; ++again) {
    TrainedRun run = open_run(folder_ / "run");
    const TrainResult result = train_run(run);
    EXPECT_TRUE(result.finished);
    EXPECT_EQ(result.steps, 60);
    EXPECT_GT(result.held_out.count, 0);
  }
  expect_same_end();
}

TEST_F(Resumed, CutsMetricsBackToItsState) {
  // Stopped at 23 by an exception: the state is that of step 20, metrics tell of step 21.
  RunCallbacks die;
  die.after_step = [](Index step) { require(step < 23, "the process dies"); };
  EXPECT_THROW(train_until(folder_ / "run", 60, die), Error);
  EXPECT_NE(read_file(folder_ / "run" / "metrics.jsonl").find("\"step\":21,"), std::string::npos);
  train_until(folder_ / "run", 60);
  expect_same_end();
}

TEST_F(Resumed, LosesAHalfWrittenLineOfMetrics) {
  train_until(folder_ / "run", 30);
  const fs::path metrics = folder_ / "run" / "metrics.jsonl";
  for (const char* half : {"{\"headlab\": \"0.1", "{", "{}"}) {
    std::ofstream(metrics, std::ios::app) << half;
    train_until(folder_ / "run", 31);
  }
  train_until(folder_ / "run", 60);
  expect_same_end();
}

TEST_F(Resumed, ClearsWhatKilledWritersLeft) {
  train_until(folder_ / "run", 30);
  for (const char* name : {"state.safetensors.tmp-1-0", "metrics.jsonl.tmp-99-7",
                           "config.json.tmp-1-1", "model.safetensors.tmp-123456-2"})
    std::ofstream(folder_ / "run" / name) << "half a fi";
  train_until(folder_ / "run", 60);
  expect_same_end();
}

TEST_F(Resumed, KeepsParametersOfAnExperiment) {
  const auto run_to = [&](const std::string& name, Index stop) {
    Tensor gates = Tensor::full({2}, 1).set_requires_grad();
    RunCallbacks extra;
    extra.prepare = [&](Trainer& trainer) {
      trainer.optimizer().add("gates", gates, {.lr_scale = 3, .decay = false});
    };
    extra.interventions = [&](Index) { return std::vector<HeadInterventions>{{.gate = gates}}; };
    extra.store_extra = [&](TensorFile& file) {
      const std::vector<float> values(gates.values().begin(), gates.values().end());
      file.tensors.push_back(StoredTensor::of("gates", {2}, std::span<const float>(values)));
    };
    extra.load_extra = [&](const TensorFile& file) {
      if (const StoredTensor* stored = file.find("gates"))
        std::ranges::copy(stored->numbers<float>(), gates.data());
    };
    train_until(folder_ / name, stop, extra);
  };
  fs::remove_all(folder_ / "straight");
  create_run(folder_ / "straight", config_);
  run_to("straight", 60);
  run_to("run", 17);
  run_to("run", 60);
  expect_same_end();
  const TensorFile state = read_safetensors(folder_ / "run" / "state.safetensors");
  EXPECT_NE(state.at("gates").numbers<float>(), std::vector<float>(2, 1));
}

/// Saves at each step, evaluations at every third: most of the time is spent in writing.
class Killed : public Resumed {
 protected:
  Killed() : Resumed(1, 3) {}
};

TEST_F(Killed, AtRandomMomentsEndsAsIfItHadNeverBeen) {
  Generator random(Key{11});
  int kills = 0;
  for (int status = -SIGKILL; status != 0;) {
    const pid_t child = in_child([&] { train_until(folder_ / "run", 60); });
    usleep(static_cast<useconds_t>(random.between(500, 3000 + 3000 * kills)));
    kill(child, SIGKILL);
    status = ending_of(child);
    ASSERT_TRUE(status == 0 || status == -SIGKILL) << status;
    kills += status != 0;
    ASSERT_NO_THROW(open_run(folder_ / "run"));
  }
  RecordProperty("kills", kills);
  EXPECT_GE(kills, 2);
  train_until(folder_ / "run", 60);  // clears what a kill after the last save left
  expect_same_end();
}

TEST_F(Killed, DuringASaveResumesToTheSameResult) {
  const fs::path state = folder_ / "run" / "state.safetensors";
  const auto half = static_cast<rlim_t>(fs::file_size(state) / 2);
  for (int saves : {1, 2, 8}) {
    int left = saves;
    RunCallbacks callbacks;
    callbacks.save = [&] {
      if (--left == 0) {  // the next save goes beyond this limit, and the system kills the process
        const rlimit limit = {half, half};
        setrlimit(RLIMIT_FSIZE, &limit);
      }
    };
    const pid_t child = in_child([&] { train_until(folder_ / "run", 60, callbacks); });
    ASSERT_EQ(ending_of(child), -SIGXFSZ);
    const std::vector<std::string> names = names_in(folder_ / "run");
    EXPECT_TRUE(std::any_of(names.begin(), names.end(), [](const std::string& name) {
      return name.rfind("state.safetensors.tmp-", 0) == 0;
    })) << "the kill did not come in the middle of a save";
  }
  train_until(folder_ / "run", 60);
  expect_same_end();
}

TEST_F(Killed, FullDiskKeepsTheOldState) {
  train_until(folder_ / "run", 20);
  const std::string before = read_file(folder_ / "run" / "state.safetensors");
  {
    const FileSizeLimit limit(before.size() / 2);
    expect_error([&] { train_until(folder_ / "run", 60); },
                 {"cannot write", "state.safetensors", "File too large"});
  }
  EXPECT_EQ(read_file(folder_ / "run" / "state.safetensors"), before);
  train_until(folder_ / "run", 60);
  expect_same_end();
}

TEST_F(Killed, NonFiniteLossKeepsTheLastGoodState) {
  train_until(folder_ / "run", 20);
  RunCallbacks poison;
  poison.loss_terms = [](Index step) {
    return Tensor::full({1}, step == 24 ? Scalar(NAN) : Scalar(0));
  };
  expect_error([&] { train_until(folder_ / "run", 60, poison); },
               {"loss is not finite at step 25"});
  const TensorFile state = read_safetensors(folder_ / "run" / "state.safetensors");
  EXPECT_EQ(state.at("trainer.steps").numbers<std::int64_t>()[0], 24);
  train_until(folder_ / "run", 60);
  expect_same_end();
}

}  // namespace
}  // namespace headlab
