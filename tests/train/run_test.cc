// The folder of a run: what may be replaced, and what is written. Read next: damaged_run_test.cc.
#include "headlab/lab/runs/run.h"

#include <fstream>

#include "headlab/lab/results/stored_json.h"
#include "support/runs.h"
#include "support/tasks.h"

namespace headlab { namespace {

const std::vector<std::string> kNewRun = {"config.json", "model.safetensors", "state.safetensors"};

void write(const fs::path& path, const std::string& content) { std::ofstream(path) << content; }

using RunFolder = InAFolder;

TEST_F(RunFolder, HoldsAWholeRunFromTheStart) {
  const TrainedRun made = create_run(folder / "a" / "b", tiny_config());
  EXPECT_EQ(names_in(made.path), kNewRun);
  const TrainedRun read = open_run(folder / "a" / "b");
  EXPECT_EQ(parameters_in(read.model), parameters_in(made.model));
  EXPECT_EQ(read.task->spec(), made.task->spec());
}

TEST_F(RunFolder, MayBeEmptyOrHoldWhatKilledWritersLeft) {
  fs::create_directory(folder / "run");
  EXPECT_NO_THROW(check_run_folder(folder / "run", Existing::refuse));
  write(folder / "run" / "config.json.tmp-12-3", "{");
  EXPECT_NO_THROW(create_run(folder / "run", tiny_config()));
  EXPECT_EQ(names_in(folder / "run"), kNewRun);
}

TEST_F(RunFolder, IsFreeIfAProcessDiedWhileItMadeIt) {
  create_run(folder / "run", tiny_config());
  fs::remove(folder / "run" / "config.json");  // it is written last
  expect_error([&] { open_run(folder / "run"); }, {"no run found"});
  create_run(folder / "run", tiny_config());
  EXPECT_EQ(names_in(folder / "run"), kNewRun);
}

TEST_F(RunFolder, IsNotFreeIfItsConfigWasLostAfterTraining) {
  TrainedRun run = create_run(folder / "run", tiny_config());
  const TrainResult result = train_run(run);
  EXPECT_NEAR(result.tokens_per_s * result.seconds, 60 * 4 * 8, 1e-6);
  fs::remove(folder / "run" / "config.json");
  expect_error([&] { create_run(folder / "run", tiny_config()); }, {"already exists"});
  create_run(folder / "run", tiny_config(), Existing::replace);
  EXPECT_EQ(names_in(folder / "run"), kNewRun);
}

/// The files that are left where the file system cannot exchange folders and the process dies in
/// between.
TEST_F(RunFolder, ComesBackIfItWasSetAsideAndNothingTookItsPlace) {
  const TrainedRun old = create_run(folder / "run", tiny_config());
  fs::rename(folder / "run", folder / "run.being-aside");
  RunConfig other = tiny_config("seed=1");
  create_run(folder / "run.being-replaced", other);
  EXPECT_EQ(parameters_in(open_run(folder / "run").model), parameters_in(old.model));
  create_run(folder / "run", other, Existing::replace);
  EXPECT_EQ(open_run(folder / "run").config.train.seed, 1);
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"run"});
}

TEST_F(RunFolder, IsClearedOfWhatWasSetAsideWhenTheNewRunIsInPlace) {
  RunConfig other = tiny_config("seed=1");
  create_run(folder / "run", other);
  create_run(folder / "run.being-aside", tiny_config());
  create_run(folder / "run", other, Existing::replace);
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"run"});
}

TEST_F(RunFolder, IsNotReplacedUnlessAsked) {
  TrainedRun run = create_run(folder / "run", tiny_config());
  const std::string state = read_file(state_file(run));
  RunConfig other = tiny_config("seed=1");
  expect_error([&] { create_run(run.path, other); }, {"already exists", "replace it"});
  EXPECT_EQ(read_file(state_file(run)), state);
  create_run(run.path, other, Existing::replace);
  EXPECT_NE(read_file(state_file(run)), state);
}

TEST_F(RunFolder, MustBeAFolder) {
  write(folder / "run", "a file");
  for (Existing existing : {Existing::refuse, Existing::replace})
    expect_error([&] { create_run(folder / "run", tiny_config(), existing); }, {"is not a folder"});
  EXPECT_EQ(read_file(folder / "run"), "a file");
}

TEST_F(RunFolder, IsNotReplacedByForceIfItHoldsNoRun) {
  fs::create_directory(folder / "thesis");
  write(folder / "thesis" / "chapter1.tex", "years of work");
  expect_error([&] { create_run(folder / "thesis", tiny_config(), Existing::replace); },
               {"holds no run"});
  EXPECT_EQ(names_in(folder / "thesis"), std::vector<std::string>{"chapter1.tex"});
}

TEST_F(RunFolder, LosesOnlyTheFilesOfARunByForce) {
  const TrainedRun run = create_run(folder / "run", tiny_config());
  fs::create_directory(run.path / "plots");
  for (const char* name : {"metrics.jsonl", "state.safetensors.tmp-5-5", "a.json.tmp-12-0"})
    write(run.path / name, "x");
  for (const char* name : {"heads.json", "what_a_later_version_writes.json"})
    write(run.path / name, stamped({{"loss", 1}}).dump(2));
  write(run.path / "heads.jsonl", stamped({{"step", 1}}).dump() + "\n");
  for (const char* name : {"notes.txt", "report.html", "heads.json.backup", "patterns.safetensors",
                           "measured.json", "log.jsonl", "empty.json", "notes.txt.tmp-1-1"})
    write(run.path / name, name == std::string("empty.json") ? "" : "{\"mine\": 1}");
  create_run(run.path, tiny_config(), Existing::replace);
  EXPECT_EQ(names_in(run.path),
            (std::vector<std::string>{"config.json", "empty.json", "heads.json.backup", "log.jsonl",
                                      "measured.json", "model.safetensors", "notes.txt",
                                      "notes.txt.tmp-1-1", "patterns.safetensors", "plots",
                                      "report.html", "state.safetensors"}));
  EXPECT_EQ(read_file(run.path / "report.html"), "{\"mine\": 1}");
}

TEST_F(RunFolder, IsNotReplacedByForceIfItHoldsAModelOfAnotherProgram) {
  fs::create_directory(folder / "gpt2");
  write(folder / "gpt2" / "config.json", "{\"architectures\": [\"GPT2LMHeadModel\"]}");
  write(folder / "gpt2" / "model.safetensors", "gigabytes");
  expect_error([&] { create_run(folder / "gpt2", tiny_config(), Existing::replace); },
               {"holds no run", "name another folder"});
  fs::remove(folder / "gpt2" / "config.json");
  expect_error([&] { create_run(folder / "gpt2", tiny_config(), Existing::replace); },
               {"holds no run"});
  EXPECT_EQ(read_file(folder / "gpt2" / "model.safetensors"), "gigabytes");
}

TEST_F(RunFolder, IsReplacedWhileItIsTheCurrentOne) {
  const TrainedRun run = create_run(folder / "run", tiny_config());
  write(run.path / "heads.json", stamped().dump());
  write(run.path / "notes.txt", "mine");
  const fs::path before = fs::current_path();
  fs::current_path(run.path);
  create_run(".", tiny_config(), Existing::replace);
  EXPECT_TRUE(fs::exists("config.json"));  // a process in this folder sees the new run
  fs::current_path(before);
  EXPECT_EQ(names_in(run.path), (std::vector<std::string>{"config.json", "model.safetensors",
                                                          "notes.txt", "state.safetensors"}));
}

TEST_F(RunFolder, StaysWhenTheNewConfigIsImpossible) {
  const TrainedRun run = create_run(folder / "run", tiny_config());
  const std::string state = read_file(state_file(run));
  RunConfig wrong = tiny_config("accumulate=3");
  expect_error([&] { create_run(run.path, wrong, Existing::replace); }, {"does not divide"});
  wrong = tiny_config();
  wrong.model.heads = {3};
  expect_error([&] { create_run(run.path, wrong, Existing::replace); },
               {"not divisible by heads 3"});
  wrong = tiny_config();
  wrong.task = "relation";
  expect_error([&] { create_run(run.path, wrong, Existing::replace); },
               {"'relation'", "'relations'"});
  wrong = tiny_config();
  wrong.parent = "\xff";
  EXPECT_THROW(create_run(run.path, wrong, Existing::replace), Error);
  EXPECT_EQ(read_file(state_file(run)), state);
  EXPECT_EQ(names_in(run.path), kNewRun);
}

TEST_F(RunFolder, CannotBeMadeBelowAFile) {
  write(folder / "file", "x");
  EXPECT_THROW(create_run(folder / "file" / "run", tiny_config()), Error);
}

TEST_F(RunFolder, HoldsNoHalfRunWhenTheDiskIsFull) {
  {
    const FileSizeLimit limit(2000);  // the config fits, the state does not
    expect_error([&] { create_run(folder / "run", tiny_config()); }, {"File too large"});
  }
  EXPECT_EQ(names_in(folder / "run"), std::vector<std::string>{});
  EXPECT_NO_THROW(create_run(folder / "run", tiny_config()));
}

TEST_F(RunFolder, KeepsTheOldRunWhenTheDiskIsFull) {
  const TrainedRun run = create_run(folder / "run", tiny_config());
  write(run.path / "notes.txt", "mine");
  const std::string state = read_file(state_file(run));
  {
    const FileSizeLimit limit(2000);  // the config fits, the state does not
    expect_error([&] { create_run(folder / "run", tiny_config(), Existing::replace); },
                 {"File too large"});
  }
  EXPECT_EQ(read_file(state_file(run)), state);
  EXPECT_EQ(read_file(run.path / "notes.txt"), "mine");
  EXPECT_NO_THROW(open_run(folder / "run"));
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"run"});
}

TEST_F(RunFolder, FinishesAReplacementThatWasKilled) {
  // Killed after the exchange: the folder next to the run is the old one, with a file of the
  // user's.
  create_run(folder / "run", tiny_config());
  const TrainedRun old = create_run(folder / "run.being-replaced", tiny_config());
  write(old.path / "notes.txt", "mine");
  create_run(folder / "run", tiny_config(), Existing::replace);
  EXPECT_EQ(read_file(folder / "run" / "notes.txt"), "mine");
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"run"});
}

TEST_F(RunFolder, IsReplacedWhereALinkLeads) {
  create_run(folder / "run", tiny_config());
  fs::create_directory_symlink(folder / "run", folder / "link");
  create_run(folder / "link", tiny_config("seed=1"), Existing::replace);
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(open_run(folder / "run").config.train.seed, 1);
}

using ConfigOfARun = InAFolder;

TEST_F(ConfigOfARun, MakesTheSameRunAgain) {
  RunConfig config = tiny_config("seed=12345678901");
  config.train.lr = 0.1 + 0.2;
  config.model.norm_place = NormPlace::post;
  config.model.layers = 2;
  config.model.heads = {2, 0};
  const TrainedRun first = create_run(folder / "first", config);
  const TrainedRun again = create_run(folder / "again", open_run(folder / "first").config);
  EXPECT_EQ(read_file(config_file(again)), read_file(config_file(first)));
  EXPECT_EQ(read_file(state_file(again)), read_file(state_file(first)));
  EXPECT_EQ(read_file(model_file(again)), read_file(model_file(first)));
}

TEST_F(ConfigOfARun, HoldsEverySettingAndTheVersion) {
  const TrainedRun run = create_run(folder / "run", tiny_config());
  const Json json = Json::parse(read_file(config_file(run)));
  EXPECT_TRUE(json.at("headlab").is_string());
  RunConfig config;
  for (const std::string& name : settings_of(config).names()) {
    // A block implies other settings; the rest is written only if it differs from the usual.
    const std::set<std::string> unwritten = {"block", "features", "norm_eps", "attention_function",
                                             "answers"};
    const bool left_out = unwritten.contains(name);
    EXPECT_EQ(json.find(name) == nullptr, left_out) << name;
  }
  const TrainedRun vectors = create_run(folder / "vectors", recommended_config("patches"));
  EXPECT_EQ(Json::parse(read_file(config_file(vectors))).at("features").integer(), 27);
}

TEST_F(ConfigOfARun, KeepsSettingsThatTheTaskDoesNotDecide) {
  RunConfig config;
  const std::vector<std::string> names = user_settings_of(config).names();
  for (const char* decided :
       {"architecture", "vocab", "length", "targets", "attention", "parent", "data_hash"})
    EXPECT_EQ(std::count(names.begin(), names.end(), decided), 0) << decided;
  EXPECT_EQ(std::count(names.begin(), names.end(), "d_model"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "lr"), 1);
}

TEST_F(ConfigOfARun, FitsTheModelToEveryTask) {
  fs::current_path(HEADLAB_SOURCE_DIR);  // where default data files are
  for (const TaskEntry& entry : complete_tasks()) {
    RunConfig config = recommended_config(entry.name);
    const TaskShape shape = fit_to_task(config)->shape();
    EXPECT_EQ(config.model.vocab, shape.vocab) << entry.name;
    EXPECT_EQ(config.model.length, shape.length) << entry.name;
    EXPECT_EQ(config.model.targets, shape.targets) << entry.name;
    EXPECT_NO_THROW(config.model.validate()) << entry.name;
    EXPECT_NO_THROW(config.train.validate()) << entry.name;
  }
}

TEST(Run, TakesACopyOfAModel) {
  const TemporaryFolder folder;
  RunConfig config = tiny_config();
  fit_to_task(config);
  Transformer model(config.model);
  const std::vector<double> before = parameters_in(model);
  TrainedRun run = create_run(folder / "run", config, model);
  train_run(run);
  EXPECT_EQ(parameters_in(model), before);
  EXPECT_NE(parameters_in(run.model), before);
}

TEST(Run, IsMissingWhereNoFileCanHaveThatName) {
  const TemporaryFolder folder;
  const fs::path path = folder / std::string(300, 'x');
  EXPECT_THROW(open_run(path, Access::read), MissingRun);
  EXPECT_THROW(open_run(path, Access::write), MissingRun);
}

TEST(Run, RefusesAModelOfAnotherShape) {
  const TemporaryFolder folder;
  RunConfig config = tiny_config();
  fit_to_task(config);
  ++config.model.vocab;
  const Transformer model(config.model);
  expect_error([&] { create_run(folder / "run", config, model); }, {"with the task relations"});
  EXPECT_FALSE(fs::exists(folder / "run"));
}

}  // namespace
}  // namespace headlab
