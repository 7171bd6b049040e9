// `headlab sweep` as a user runs it: a grid at once, by two processes, stopped and begun again, and
// collected.
#include "cli/program.h"
#include "headlab/lab/runs/file_lock.h"
#include "headlab/lab/runs/run.h"

namespace headlab::cli { namespace {

/// A grid of trials that take a moment.
Words grid(Words more) {
  Words words = tiny(with_preset(std::move(more), {"--heads", "1,4", "--seeds", "2"}));
  words[0] = "sweep";
  return words;
}

using SweepCommand = Program;

TEST_F(SweepCommand, TrainsTheGridOnceAndPrintsTheResult) {
  const Outcome first = done(grid({"--out", "s", "--json"}));
  const Json json = first.json();
  EXPECT_EQ(json.at("groups").items().size(), 2u);
  EXPECT_EQ(json.at("missing").items().size(), 0u);
  EXPECT_EQ(kept("s/sweep.json"), json);
  EXPECT_TRUE(holds(first.err, "trial heads=4,seed=1 finished (")) << first.err;
  const auto before = contents(folder.path() / "s");
  const Outcome again = done(grid({"--out", "s", "--json"}));
  EXPECT_EQ(again.json(), json);
  EXPECT_FALSE(holds(again.err, " finished (")) << again.err;
  EXPECT_EQ(contents(folder.path() / "s"), before);
  done({"heads", "s/heads=4,seed=0"});  // a trial is a run
}

TEST_F(SweepCommand, TrainsOnWhatAProgramPrints) {
  if (const std::string reason = reason_without(kPython); !reason.empty()) GTEST_SKIP() << reason;
  const std::string task = "command:python3 " HEADLAB_SOURCE_DIR "/examples/tasks/modular.py";
  const Words words = grid({"--task", task, "--seeds", "1", "--out", "s"});
  EXPECT_TRUE(holds(done(words).err, " finished (2 of 2): loss "));
  EXPECT_FALSE(holds(done(words).err, " finished (")) << "what is there is made again";
}

TEST_F(SweepCommand, GivenTwiceAtOnceMakesTheSame) {
  const Json whole = done(grid({"--out", "whole", "--json"})).json();
  const Words words = grid({"--out", "s"});
  Process first(words, {.folder = folder.path()}), second(words, {.folder = folder.path()});
  first.finish(), second.finish();
  const Json collected = done({"sweep", "--collect", "--out", "s", "--json"}).json();
  EXPECT_EQ(collected.at("groups"), whole.at("groups"));
}

TEST_F(SweepCommand, CollectsWhatIsThereAndNamesTheRest) {
  done(grid({"--out", "s"}));
  for (const char* trial : {"heads=1,seed=0", "heads=4,seed=0", "heads=4,seed=1"})
    fs::remove_all(folder.path() / "s" / trial);
  const Json json = done({"sweep", "--collect", "--out", "s", "--json"}).json();
  EXPECT_EQ(json.at("missing").dump(), R"(["heads=1,seed=0","heads=4,seed=0","heads=4,seed=1"])");
  EXPECT_TRUE(holds(done({"sweep", "--collect", "--out", "s"}).out, "missing: 3 of 4 trials"));
}

TEST_F(SweepCommand, SavesTheCellThatItIsAtWhenItIsInterrupted) {
  const Words words = grid({"--steps", "30,20000", "--heads", "1", "--seeds", "1", "--out", "s"});
  Process process(words, {.folder = folder.path()});
  ASSERT_TRUE(process.wait_for(" finished (1 of 2)"));
  const fs::path second = folder.path() / "s" / "heads=1,steps=20000,seed=0";
  for (int waited = 0; waited < 20'000 && !fs::exists(second / "metrics.jsonl"); ++waited)
    usleep(1000);
  process.signal(SIGINT);
  const Outcome outcome = process.finish();
  EXPECT_EQ(outcome.status, 130);
  expect_parts(outcome.err, {"heads=1,steps=20000,seed=0 (2 of 2): interrupted, and saved",
                             "hint: give the same command again to continue: headlab sweep"});
  EXPECT_TRUE(holds(done({"sweep", "--collect", "--out", "s"}).out, "missing: 1 of 2 trials"));
}

TEST_F(SweepCommand, RefusesACellWithOtherSettings) {
  done(grid({"--out", "s"}));
  const auto before = contents(folder.path() / "s");
  for (const Words& more : {Words{}, Words{"--collect"}}) {
    expect_refused(run(with(grid({"--out", "s", "--lr", "0.5"}), more)), 1,
                   {"heads=1,seed=0: it holds a run with other settings", "lr is 0.01",
                    "another folder"});
    EXPECT_EQ(contents(folder.path() / "s"), before);
  }
  done(tiny({"--out", "s/heads=1,seed=0", "--force", "--lr", "0.5"}));
  expect_refused(run(grid({"--out", "s"})), 1,
                 {"heads=1,seed=0: it holds a run with other settings"});
  EXPECT_FALSE(fs::exists(folder.path() / "s/failed")) << "found before anything is made";
}

TEST_F(SweepCommand, GoesOnWithTheOtherTrialsWhenOneFails) {
  const Outcome outcome =
      run(grid(typed("--out s --optimizer sgd --clip 0 --heads 1 --seeds 1 --lr 1000,0.01")));
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(holds(outcome.err, "lr=1000,seed=0 (")) << outcome.err;
  expect_parts(outcome.out,
               {"missing: 1 of 2 trials", "failed: 1 of these, 1 because they diverged"});
  // `--collect` reports it until the trial is made.
  const Json json = done({"sweep", "--collect", "--out", "s", "--json"}).json();
  ASSERT_EQ(json.at("failed").items().size(), 1u);
  EXPECT_TRUE(json.at("failed").items()[0].at("diverged").boolean());
  EXPECT_TRUE(holds(json.at("failed").items()[0].at("error").string(), "not finite"));
}

TEST_F(SweepCommand, CountsATrialThatDivergedWhoeverNoticesIt) {
  const Words base = typed(
      "sweep --task copy --heads 1,2 --d-model 8 --batch 2 --eval-examples 2 --warmup 0 --clip 0 "
      "--norm none --steps 60 --jobs 1 --out s");
  for (const char* more : {"--lr 1000 --eval-every 0", "--optimizer sgd --lr 1000 --eval-every 2",
                           "--optimizer sgd --lr 1000 --eval-every 2 --track-heads 1"}) {
    fs::remove_all(folder.path() / "s");
    const Outcome outcome = run(with(base, typed(more)));
    EXPECT_EQ(outcome.status, 1);
    expect_parts(outcome.out, {"failed: 2 of these, 2 because they diverged", "step "});
  }
}

TEST_F(SweepCommand, CountsTrialsOfAllItsProcessesTogether) {
  const Outcome outcome = run(grid({"--out", "s", "--seeds", "3", "--jobs", "2"}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (int done = 1; done <= 6; ++done) {
    const std::string count = text("(", done, " of 6)");
    const std::size_t at = outcome.err.find(count);
    ASSERT_NE(at, std::string::npos) << count << "\n" << outcome.err;
    EXPECT_EQ(outcome.err.find(count, at + 1), std::string::npos) << count;
  }
}

TEST_F(SweepCommand, SaysWhichColumnsHeadsLeaveOut) {
  const Outcome outcome =
      run(grid({"--out", "s", "--heads", "7", "--seeds", "1", "--d-model", "64"}));
  EXPECT_TRUE(holds(outcome.err, "64 is not divisible by 7 heads: each is 9 wide, 63 columns"))
      << outcome.err;
  EXPECT_TRUE(holds(outcome.err, "widths that divide are 63 and 70"));
}

TEST_F(SweepCommand, HasOneMeaningForHeadsAndForSwitches) {
  // A comma is another trial, + another layer; 3 heads of 16 are 5 wide, as in train.
  done(grid({"--heads", "3,4+2", "--layers", "2", "--seeds", "1", "--out", "s"}));
  const Json layers = Json::parse(file("s/heads=4+2,seed=0/config.json"));
  EXPECT_EQ(layers.at("heads").dump(), "[4,2]");
  done(tiny({"--heads", "4+2", "--layers", "2", "--out", "a"}));
  EXPECT_EQ(Json::parse(file("a/config.json")).at("heads"), layers.at("heads"));
  done(tiny({"--heads", "3", "--layers", "2", "--out", "b"}));
  const Json three = Json::parse(file("s/heads=3,seed=0/config.json"));
  EXPECT_EQ(three.at("d_head").integer(), 5);
  EXPECT_EQ(Json::parse(file("b/config.json")).at("d_head"), three.at("d_head"));
  // Switches are given as in train, or as a list.
  const auto small = [&](const Words& more) {
    return run(with(grid({"--task", "text:length=8", "--heads", "1", "--seeds", "1"}), more));
  };
  for (const std::string name : {"tied", "no-tied"}) {
    EXPECT_EQ(small({"--" + name, "--out", name}).status, 0);
    const Json config = Json::parse(file(name + "/heads=1,seed=0/config.json"));
    EXPECT_EQ(config.at("tied"), Json(name == "tied"));
  }
  EXPECT_EQ(small({"--tied", "true,false", "--out", "l"}).status, 0);
  for (const std::string tied : {"false", "true"})
    EXPECT_TRUE(fs::exists(folder.path() / "l" / ("heads=1,tied=" + tied + ",seed=0")));
  EXPECT_EQ(small({"--tied=maybe", "--out", "m"}).status, 2);
}

TEST_F(SweepCommand, RefusesWrongCommandLines) {
  const auto refused = [&](const Words& words, const Words& parts) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.status, 2) << outcome.err;
    expect_sentence(outcome.err, parts);
    EXPECT_TRUE(fs::is_empty(folder.path()));
  };
  refused(grid({"--out", "s", "--heads", "1,x"}), {"heads=x", "whole number"});
  refused(grid({"--out", "s", "--seed", "3"}), {"--seeds cannot be combined with --seed"});
  refused(grid({"--out", "s", "--task", "relation,sort"}), {"'relation'"});
}

TEST_F(SweepCommand, IsPrunedGroupByGroup) {
  done(grid({"--out", "s"}));
  const Words flags = typed(
      "--methods random,magnitude --sizes 2 --finetune 3 --from-scratch --examples 16 --json");
  const auto curves = [&](const Words& words) { return run(with(words, flags)); };
  const Outcome group = curves({"curve", "s/heads=4"});
  EXPECT_EQ(group.json().at("runs").integer(), 2);
  EXPECT_TRUE(holds(group.err, " finished (")) << group.err;
  EXPECT_TRUE(holds(group.json().at("command").string(), "headlab curve s/heads=4 --methods"));
  // Its runs by name are the same, and made already.
  const Outcome named = curves({"curve", "s/heads=4,seed=0", "s/heads=4,seed=1"});
  EXPECT_FALSE(holds(named.err, " finished (")) << named.err;
  EXPECT_EQ(named.json().at("methods"), group.json().at("methods"));
  fs::remove(folder.path() / "s/heads=4,seed=1/cell.json");
  EXPECT_EQ(curves({"curve", "s/heads=4"}).json().at("runs").integer(), 1) << "what is finished";
  expect_refused(curves({"curve", "s/heads=3"}), 1, {"no run found in 's/heads=3'", "SWEEP/GROUP"});
}

TEST_F(SweepCommand, SideBySideMakesTheSame) {
  const auto made = [&](const std::string& out, const char* jobs) {
    done(grid({"--heads", "4", "--out", out, "--jobs", jobs}));
    done({"curve", out + "/heads=4", "--methods", "greedy", "--sizes", "2", "--jobs", jobs});
    auto files = contents(folder.path() / out);
    std::erase_if(files, [](const auto& one) {  // they hold times, or the command
      return holds(one.first, "metrics") || holds(one.first, "state") ||
             one.first == "sweep.json" || holds(one.first, "curve") ||
             holds(one.first, "heads.json");
    });
    return files;
  };
  EXPECT_EQ(made("one", "1"), made("two", "2"));
}

TEST_F(SweepCommand, WaitsForWhatAnotherProcessIsMaking) {
  fs::create_directories(folder.path() / "s");
  auto lock = std::make_unique<FileLock>(folder.path() / "s" / ".heads=4,seed=1.lock");
  Process process(grid({"--out", "s", "--threads", "1"}), {.folder = folder.path()});
  ASSERT_TRUE(process.wait_for("waiting for jobs of other processes: 1"));
  lock.reset();
  const Outcome outcome = process.finish();
  EXPECT_EQ(outcome.status, 0);
  EXPECT_FALSE(holds(outcome.out, "missing")) << outcome.out;
}

TEST_F(SweepCommand, SavesAllThatAreMadeSideBySide) {
  const Words words = grid({"--steps", "200000", "--heads", "1", "--jobs", "2", "--out", "s"});
  std::map<std::string, Index> steps = {{"heads=1,seed=0", 0}, {"heads=1,seed=1", 0}};
  for (const int signal : {SIGINT, SIGKILL}) {  // of the parent alone
    Process process(words, {.folder = folder.path()});
    for (const auto& [trial, step] : steps)
      while (!fs::exists(folder.path() / "s" / trial / "config.json")) usleep(1000);
    usleep(100'000);
    process.signal(signal);
    EXPECT_EQ(process.finish().status, signal == SIGINT ? 130 : -SIGKILL);
    for (auto& [trial, step] : steps) {
      while (!FileLock(folder.path() / "s" / ("." + trial + ".lock")).held()) usleep(1000);
      const Index now = open_run(folder.path() / "s" / trial).step;
      EXPECT_GT(now, step) << trial << " went on and was saved";
      step = now;
    }
  }
}

TEST_F(SweepCommand, TakesAConfigForAllTrials) {
  done(tiny({"--out", "a", "--lr", "2e-3"}));
  done(typed("sweep --config a/config.json --heads 1,2 --seeds 1 --steps 2 --warmup 0 --out s"));
  const Json config = Json::parse(file("s/heads=2,seed=0/config.json"));
  EXPECT_EQ(config.at("lr").number(), 2e-3);
  EXPECT_EQ(config.at("d_model").integer(), 16);
  EXPECT_EQ(config.at("steps").integer(), 2);
}

TEST_F(SweepCommand, IsComparedGroupByGroupAndMethodByMethod) {
  done(grid({"--out", "s"}));
  const Json json = done({"compare", "s", "--json"}).json();
  EXPECT_EQ(json.at("reference").string(), "s/heads=1");
  const Json& row = json.at("comparisons").items().at(0);
  EXPECT_EQ(row.at("arm").string(), "s/heads=4");
  EXPECT_EQ(row.at("seeds").integer(), 2);
  const std::string shown = done({"compare", "s", "--reference", "s/heads=4"}).out;
  EXPECT_TRUE(holds(shown, "2 seeds reach p 0.5 at best")) << shown;
  done(typed("curve s/heads=4 --methods greedy,random --sizes 2 --examples 16"));
  const std::string csv =
      done({"compare", "s/heads=4:greedy@2", "s/heads=4:random@2", "--csv", "--table", "seeds"})
          .out;
  EXPECT_TRUE(csv.starts_with("arm,role,seed,loss\ns/heads=4:greedy@2,,0,")) << csv;
  EXPECT_EQ(run({"compare", "s/heads=4"}).status, 2);
  EXPECT_EQ(run({"compare", "s", "--measure", "los"}).status, 2);
}

/// The commands of README.md print the results that it states.
TEST_F(SweepCommand, IsComparedByTheCommandsOfTheReadme) {
  done(grid({"--heads", "1,4,8", "--out", "sweeps/knee"}));
  done(typed(
      "curve sweeps/knee/heads=8 --methods greedy,ablation,exhaustive --examples 16 --sizes 4 "
      "--finetune 3 --from-scratch"));
  fs::copy(folder.path() / "sweeps/knee", folder.path() / "sweeps/many",
           fs::copy_options::recursive);
  const std::string readme = read_file(fs::path(HEADLAB_SOURCE_DIR) / "README.md");
  Index commands = 0;
  for (std::size_t at = readme.find("`compare "); at != readme.npos; ++commands) {
    const std::size_t end = readme.find('`', at + 1);
    std::string command = readme.substr(at + 1, end - at - 1);
    std::ranges::replace(command, '\n', ' ');
    if (holds(command, "sweeps/a")) command = "compare sweeps/knee/heads=1 sweeps/knee/heads=4";
    EXPECT_TRUE(holds(done(typed(command)).out, "conclusion")) << command;
    at = readme.find("`compare ", end);
  }
  EXPECT_GT(commands, 0) << "README.md shows no `compare` command";
}

TEST_F(SweepCommand, KeepsTheGridsThatWereThere) {
  done(grid({"--out", "s", "--heads", "1"}));
  done(grid({"--out", "s", "--heads", "4"}));
  const Json json = done({"sweep", "--collect", "--out", "s", "--json"}).json();
  EXPECT_EQ(json.at("groups").items().size(), 2u);
}

}  // namespace
}  // namespace headlab::cli
