// Nothing wrong in silence: one writer at a time, files that belong together, damage that is
// noticed, numbers that are none. Read next: run_test.cc.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "core/base/digest.h"
#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/runs/file_lock.h"
#include "support/runs.h"

namespace headlab { namespace {

// ---- one writer

/// A lock that another process holds, as this one sees it.
fs::path lock_file(const TemporaryFolder& folder) { return folder / ".run.lock"; }

using LockOfARun = InAFolder;

TEST_F(LockOfARun, KeepsOthersFromMakingAndFromChangingARun) {
  TrainedRun run = create_run(folder / "run", tiny_config());
  run.lock.reset();
  const std::string state = read_file(state_file(run));
  {
    const FileLock other(lock_file(folder));
    const std::vector<std::string> words = {"is being written by process " + text(getpid()),
                                            "since 20"};
    RunConfig seeded = tiny_config("seed=1");
    expect_error([&] { create_run(run.path, seeded, Existing::replace); }, words);
    expect_error([&] { open_run(run.path, Access::write); }, words);
    expect_error([&] { train_run(run); }, words);
    EXPECT_NO_THROW(open_run(run.path));
    EXPECT_EQ(read_file(state_file(run)), state);
  }
  EXPECT_NO_THROW(train_run(run));
}

TEST_F(LockOfARun, IsSharedWithinAProcessAndLeavesNoFile) {
  {
    TrainedRun made = create_run(folder / "run", tiny_config());
    EXPECT_TRUE(fs::exists(lock_file(folder)));
    TrainedRun again = open_run(made.path, Access::write);
    EXPECT_EQ(again.lock, made.lock);
  }
  EXPECT_FALSE(fs::exists(lock_file(folder)));
}

TEST_F(LockOfARun, MeansTheFolderHoweverItIsNamed) {
  const TrainedRun run = create_run(folder / "run", tiny_config());
  fs::create_directory_symlink("run", folder / "link");
  EXPECT_EQ(lock_run(folder / "link"), run.lock);
  EXPECT_EQ(lock_run(folder / "run" / ""), run.lock);
  EXPECT_EQ(lock_run(folder / "." / "run"), run.lock);
}

TEST_F(LockOfARun, DiesWithItsProcess) {
  create_run(folder / "run", tiny_config());
  int ready[2] = {};
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const RunLock lock = lock_run(folder / "run");
    if (::write(ready[1], "x", 1) != 1) _exit(1);
    pause();
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  expect_error([&] { lock_run(folder / "run"); }, {"process " + text(child)});
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_NE(lock_run(folder / "run"), nullptr);
  ::close(ready[0]);
  ::close(ready[1]);
}

// ---- files that belong together

TEST(Identity, IgnoresOnlySettingsThatMayChange) {
  RunConfig config = tiny_config();
  const std::string mine = identity_of(config);
  config.train.steps = 9999, config.train.save_every = 1;
  config.track_heads = 5;
  // a continued run is killed before or after its config is written
  config.extended = {{.from = 6, .to = 9999, .is_planned = true}};
  EXPECT_EQ(identity_of(config), mine);
  config.train.seed = 1;
  EXPECT_NE(identity_of(config), mine);
}

TEST(Extensions, AreReadAsTheyWereWritten) {
  RunConfig config;
  config.extended = {{.from = 600, .to = 800, .is_planned = true}, {.from = 700, .to = 900}};
  const Json written = settings_of(config).to_json();
  EXPECT_EQ(written.at("extended").dump(), R"([{"from":600,"to":800,"is_planned":true},)"
                                           R"({"from":700,"to":900,"is_planned":false}])");
  RunConfig read;
  read_settings(read, written, "config.json");
  EXPECT_EQ(read.extended, config.extended);
}

TEST(Extensions, AreRefusedIfTheyCannotBe) {
  for (const char* wrong : {R"("600")", R"([600])", R"([{"from": 600, "to": 800}])",
                            R"([{"from": 800, "to": 600, "is_planned": true}])",
                            R"([{"from": -1, "to": 600, "is_planned": true}])",
                            R"([{"from": 600, "to": 800, "is_planned": 1}])",
                            R"([{"from": 600, "to": 800, "is_planned": true, "by": "hand"}])"}) {
    RunConfig config;
    const std::string file = text(R"({"extended": )", wrong, "}");
    const std::string said =
        error_of([&] { read_settings(config, Json::parse(file), "config.json"); });
    const std::string begin = "cannot read config.json: extended must be a list of {from, to, ";
    EXPECT_TRUE(said.starts_with(begin)) << wrong << said;
  }
}

TEST(Identity, IsTheSettingsThatDifferFromTheDefaults) {
  RunConfig config;
  read_settings(config,
                Json::parse(
                    R"({"activation": "relu", "norm_place": "post", "positions": "sinusoidal"})"),
                "config.json");
  EXPECT_EQ(config.model.norm_place, NormPlace::post);
  EXPECT_EQ(config.model.norm, NormType::layer);
  EXPECT_EQ(identity_of(config),
            fingerprint(R"({"activation":"relu","norm":"post","positions":"sinusoidal"})"));
  read_settings(config = RunConfig(), Json::object(), "next");  // nothing of the one before
  EXPECT_EQ(identity_of(config), fingerprint("{}"));
}

// Files of stored runs hold these values: FNV-1a of the settings that differ from the defaults, in
// the order of the settings, as computed by Python.
TEST(Identity, StaysThatOfStoredRuns) {
  const std::pair<const char*, const char*> known[] = {
      {"{}", "08F44B07B5901A25"},
      {R"({"norm_place": "post"})", "2808BD7B299B63BF"},
      {R"({"norm_place": "parallel"})", "3B838594E3AB5C8E"},
      {R"({"norm": "rms", "norm_place": "post"})", "45D7DAD889AAE525"},
      {R"({"attention_function": "sigmoid", "seed": 7})", "8AD2A7AA98B2A252"},
  };
  for (const auto& [settings, expected] : known) {
    RunConfig config;
    read_settings(config, Json::parse(settings), "config.json");
    EXPECT_EQ(identity_of(config), expected) << settings;
  }
}

TEST(ReadSettings, LeaveTheConfigAsItWasOnAnError) {
  RunConfig config = tiny_config();
  const std::string before = identity_of(config);
  const Json settings = Json::parse(R"({"seed": 99, "steps": "many"})");
  EXPECT_THROW(read_settings(config, settings, "config.json"), Error);
  EXPECT_EQ(identity_of(config), before);
}

using StateFile = InAFolder;

TEST_F(StateFile, RefusesAnotherRun) {
  const TrainedRun run = create_run(folder / "run", tiny_config());
  const TrainedRun other = create_run(folder / "other", tiny_config("seed=1"));
  fs::copy_file(state_file(other), state_file(run), fs::copy_options::overwrite_existing);
  expect_error([&] { open_run(run.path); }, {"state.safetensors", "does not belong"});
  fs::remove(state_file(run));
  fs::copy_file(model_file(other), model_file(run), fs::copy_options::overwrite_existing);
  expect_error([&] { open_run(run.path); }, {"model.safetensors", "does not belong"});
}

/// One bit of each of many bytes: the file is refused, or what it holds is unharmed.
TEST_F(StateFile, WithABitFlippedIsNoticed) {
  const TrainedRun run = create_run(folder / "run", tiny_config());
  const std::vector<double> whole = parameters_in(run.model);
  for (const bool of_state : {true, false}) {
    const fs::path file = of_state ? state_file(run) : model_file(run);
    const std::string bytes = read_file(file);
    std::size_t unnoticed = 0;
    testing::internal::CaptureStderr();  // notes
    for (std::size_t at = 0; at < bytes.size(); at += 1 + bytes.size() / 400) {
      std::string flipped = bytes;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at % 8)));
      std::ofstream(file, std::ios::binary) << flipped;
      try {
        unnoticed += parameters_in(open_run(run.path).model) != whole;
      } catch (const Error&) {
      }
    }
    testing::internal::GetCapturedStderr();
    EXPECT_EQ(unnoticed, 0u) << file;
    std::ofstream(file, std::ios::binary) << bytes;
    if (of_state) fs::remove(state_file(run));  // so that the model's file is read
  }
}

TEST_F(StateFile, ReadsAnOlderVersionWithANote) {
  const TrainedRun run = create_run(folder / "run", tiny_config());
  TensorFile file = read_safetensors(state_file(run));
  EXPECT_TRUE(file.checked);
  file.metadata.erase("config");
  write_safetensors(state_file(run), file);
  testing::internal::CaptureStderr();
  EXPECT_EQ(parameters_in(open_run(run.path).model), parameters_in(run.model));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("an earlier version"), std::string::npos);
}

using ConfigFile = InAFolder;

TEST_F(ConfigFile, ResumingARunOfAnotherBuildPrintsANote) {
  const fs::path path = create_run(folder / "run", tiny_config()).path;
  Json config = Json::parse(read_file(path / "config.json"));
  config["build"] = "g++ 3.3, for a toaster";
  write_file(path / "config.json", config.dump(2) + "\n");
  const auto said = [&](Access access) {
    testing::internal::CaptureStderr();
    open_run(path, access);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(said(Access::read), "");
  EXPECT_NE(said(Access::write).find("another build (g++ 3.3, for a toaster)"), std::string::npos);
}

TEST_F(ConfigFile, RefusesAFileOfALaterVersion) {
  const TrainedRun run = create_run(folder / "run", tiny_config());
  std::string config = read_file(config_file(run));
  const std::size_t stamp = config.find("\"headlab\": \"") + 12;
  config.replace(stamp, config.find('"', stamp) - stamp, "99.0");
  write_file(config_file(run), config);
  expect_error([&] { open_run(run.path); }, {"headlab 99.0"});
}

using LogFile = InAFolder;

TEST_F(LogFile, EndsWhereItsLastWholeLineEnds) {
  write_file(folder / "log.jsonl", "{\"step\":1}\n{\"step\":2}\n{\"step\":3}");
  testing::internal::CaptureStderr();
  EXPECT_EQ(read_log(folder / "log.jsonl").size(), 2u);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("half a line"), said.npos);
  EXPECT_NE(said.find("no checksum"), said.npos);
}

/// A bit of any byte of a log: it is an error that names the line, or there is a note.
TEST_F(LogFile, WithABitFlippedIsNoticed) {
  const fs::path file = folder / "log.jsonl";
  for (int step = 1; step <= 3; ++step) append_json(file, stamped({{"step", step}, {"loss", .25}}));
  const std::string log = read_file(file);
  const std::size_t length = log.size() / 3;
  for (std::size_t at = 0; at < 8 * log.size(); ++at) {
    std::string flipped = log;
    flipped[at / 8] = static_cast<char>(flipped[at / 8] ^ (1 << (at % 8)));
    std::ofstream(file, std::ios::binary) << flipped;
    testing::internal::CaptureStderr();
    std::string said;
    try {
      read_log(file);
    } catch (const Error& error) {
      said = error.what();
      EXPECT_NE(said.find(text(": line ", at / 8 / length + 1)), said.npos) << said;
    }
    said += testing::internal::GetCapturedStderr();
    EXPECT_NE(said, "") << flipped;
  }
}

TEST_F(LogFile, DamagedLogStopsResumingAndIsKept) {
  TrainedRun run = create_run(folder / "run", tiny_config());
  train_run(run);
  for (int line = 1; line <= 3; ++line)
    append_json(run.path / "heads.jsonl", stamped({{"step", line}}));
  const std::string metrics = read_file(metrics_file(run));
  std::string heads = read_file(run.path / "heads.jsonl");
  heads[heads.find('\n') + 3] = '#';
  write_file(run.path / "heads.jsonl", heads);
  run.config.train.steps *= 2;
  expect_error([&] { train_run(run); }, {"heads.jsonl: line 2"});
  EXPECT_EQ(read_file(metrics_file(run)), metrics);
  EXPECT_EQ(read_file(run.path / "heads.jsonl"), heads);
}

TEST_F(LogFile, RefusesAnotherRunAndReadsAnEarlierVersion) {
  TrainedRun run = create_run(folder / "run", tiny_config()),
             other = create_run(folder / "other", tiny_config("seed=1"));
  train_run(run), train_run(other);
  const std::string mine = identity_of(run.config);
  EXPECT_EQ(read_log(metrics_file(run), mine).size(), 9u);
  fs::copy_file(metrics_file(other), metrics_file(run), fs::copy_options::overwrite_existing);
  expect_error([&] { read_log(metrics_file(run), mine); },
               {"metrics.jsonl: line 1", "another run"});
  const std::string config = read_file(config_file(run));
  run.config.train.steps *= 2;
  expect_error([&] { save_config(run); }, {"another run"});
  EXPECT_EQ(read_file(config_file(run)), config);
  expect_error([&] { train_run(run); }, {"another run"});
  EXPECT_EQ(read_file(metrics_file(run)), read_file(metrics_file(other)));
  fs::remove(metrics_file(run));
  append_json(metrics_file(run), stamped({{"step", 60}, {"loss", 1}}));
  testing::internal::CaptureStderr();
  train_run(run);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("does not say of which run"),
            std::string::npos);
  EXPECT_EQ(read_log(metrics_file(run), mine).size(), 11u);
}

// ---- numbers that are none

class NotFinite : public testing::Test {
 protected:
  NotFinite() : run_(create_run(folder_ / "run", tiny_config())) {}
  void expect_evaluation_error(const std::vector<std::string>& parts) {
    expect_error([&] { evaluate(run_.model, *run_.task); }, parts);
  }
  TemporaryFolder folder_;
  TrainedRun run_;
};

TEST_F(NotFinite, LossNamesTheParameterThatHoldsIt) {
  run_.model.attention(0).O.W.data()[3] = std::numeric_limits<Scalar>::quiet_NaN();
  expect_evaluation_error({"not finite", "blocks.0.attn.W_O"});
}

TEST_F(NotFinite, LossNamesTheResidualStreamThatOverflows) {
  std::ranges::fill(run_.model.attention(0).O.W.values(), Scalar(3e38));
  expect_evaluation_error({"not finite", "residual stream number 1 of 2"});
}

TEST_F(NotFinite, LossNamesTheLogits) {
  run_.model.visit([](const std::string& name, const Tensor& parameter) {
    if (name.find("W_U") != name.npos) std::ranges::fill(parameter.values(), Scalar(3e38));
  });
  expect_evaluation_error({"not finite", "the logits"});
}

}  // namespace
}  // namespace headlab
