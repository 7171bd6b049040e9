// `headlab sweep` as a user runs it: a grid at once, by two processes, stopped and begun again, and
// collected.
#include "cli/program.h"
#include "headlab/train/run.h"

namespace headlab::cli { namespace {

/// A grid of cells that take a moment.
Words grid(Words more) {
  Words words = tiny(with_preset(std::move(more), {"--heads", "1,4", "--seeds", "2"}));
  words[0] = "sweep";
  return words;
}

using SweepCommand = Program;

TEST_F(SweepCommand, MakesTheGridOnceAndSaysWhatCameOut) {
  const Outcome first = done(grid({"--out", "s", "--json"}));
  const Json json = first.json();
  EXPECT_EQ(json.at("groups").items().size(), 2u);
  EXPECT_EQ(json.at("missing").items().size(), 0u);
  EXPECT_EQ(kept("s/sweep.json"), json);
  EXPECT_TRUE(holds(first.err, "cell 4 of 4, heads=4,seed=1: loss ")) << first.err;
  const auto before = contents(folder.path() / "s");
  const Outcome again = done(grid({"--out", "s", "--json"}));
  EXPECT_EQ(again.json(), json);
  EXPECT_FALSE(holds(again.err, "cell ")) << again.err;
  EXPECT_EQ(contents(folder.path() / "s"), before);
  done({"heads", "s/heads=4,seed=0"});  // a cell is a run
}

TEST_F(SweepCommand, TrainsOnWhatAProgramPrints) {
  if (std::system("python3 -c ''") != 0) GTEST_SKIP() << "there is no python3";
  const std::string task = "command:python3 " HEADLAB_SOURCE_DIR "/examples/tasks/modular.py";
  const Words words = grid({"--task", task, "--seeds", "1", "--out", "s", "--json"});
  EXPECT_EQ(done(words).json().at("groups").items().size(), 2u);
  EXPECT_FALSE(holds(done(words).err, "cell ")) << "what is there is made again";
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
  for (const char* cell : {"heads=1,seed=0", "heads=4,seed=0", "heads=4,seed=1"})
    fs::remove_all(folder.path() / "s" / cell);
  const Json json = done({"sweep", "--collect", "--out", "s", "--json"}).json();
  EXPECT_EQ(json.at("missing").dump(), R"(["heads=1,seed=0","heads=4,seed=0","heads=4,seed=1"])");
  EXPECT_TRUE(holds(done({"sweep", "--collect", "--out", "s"}).out, "missing: 3 of 4 cells"));
}

TEST_F(SweepCommand, SavesTheCellThatItIsAtWhenItIsInterrupted) {
  const Words words = grid({"--steps", "30,20000", "--heads", "1", "--seeds", "1", "--out", "s"});
  Process process(words, {.folder = folder.path()});
  ASSERT_TRUE(process.wait_for("cell 1 of 2"));
  const fs::path second = folder.path() / "s" / "heads=1,steps=20000,seed=0";
  for (int waited = 0; waited < 20'000 && !fs::exists(second / "metrics.jsonl"); ++waited)
    usleep(1000);
  process.signal(SIGINT);
  const Outcome outcome = process.finish();
  EXPECT_EQ(outcome.status, 130);
  expect_parts(outcome.err, {"heads=1,steps=20000,seed=0: interrupted, and saved",
                             "hint: to go on, give the same command again: headlab sweep"});
  EXPECT_TRUE(holds(done({"sweep", "--collect", "--out", "s"}).out, "missing: 1 of 2 cells"));
}

TEST_F(SweepCommand, RefusesACellWithOtherSettings) {
  done(grid({"--out", "s"}));
  const auto before = contents(folder.path() / "s");
  for (const Words& more : {Words{}, Words{"--collect"}}) {
    Words words = grid({"--out", "s", "--lr", "0.5"});
    words.insert(words.end(), more.begin(), more.end());
    expect_refused(run(words), 1,
                   {"heads=1,seed=0 holds a run with other settings", "lr is 0.01",
                    "another folder"});
    EXPECT_EQ(contents(folder.path() / "s"), before);
  }
}

TEST_F(SweepCommand, GoesOnWithTheOtherCellsWhenOneFails) {
  const Outcome outcome =
      run(grid(typed("--out s --optimizer sgd --clip 0 --heads 1 --seeds 1 --lr 1000,0.01")));
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(holds(outcome.err, "lr=1000,seed=0: ")) << outcome.err;
  expect_parts(outcome.out,
               {"missing: 1 of 2 cells", "failed: 1 of these, 1 because they diverged"});
  // Those who collect learn of it, until the cell is made.
  const Json json = done({"sweep", "--collect", "--out", "s", "--json"}).json();
  ASSERT_EQ(json.at("failed").items().size(), 1u);
  EXPECT_TRUE(json.at("failed").items()[0].at("diverged").boolean());
  EXPECT_TRUE(holds(json.at("failed").items()[0].at("error").string(), "not finite"));
}

TEST_F(SweepCommand, CountsPruningsThatFail) {
  const Outcome outcome =
      run(grid(typed("--heads 4 --seeds 1 --prune magnitude --keep 2,9 --out s")));
  EXPECT_EQ(outcome.status, 1);
  expect_parts(outcome.out, {"failed: 1 of these, 0 because they diverged", "9 heads cannot stay"});
}

TEST_F(SweepCommand, HasOneMeaningForHeadsAndForSwitches) {
  // A comma is another cell, + another layer; 3 heads of 16 are 5 wide, as in train.
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
    Words words = typed(
        "sweep --task text:length=8 --layers 1 --d-model 8 --d-ff 0 --heads 1 --steps 1 --warmup 0 "
        "--eval-examples 4");
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  };
  EXPECT_EQ(small({"--tied", "--out", "t"}).status, 0);
  EXPECT_TRUE(Json::parse(file("t/heads=1,seed=0/config.json")).at("tied").boolean());
  EXPECT_EQ(small({"--no-tied", "--out", "n"}).status, 0);
  EXPECT_FALSE(Json::parse(file("n/heads=1,seed=0/config.json")).at("tied").boolean());
  EXPECT_EQ(small({"--tied", "true,false", "--out", "l"}).status, 0);
  EXPECT_TRUE(fs::exists(folder.path() / "l" / "heads=1,tied=false,seed=0"));
  EXPECT_TRUE(fs::exists(folder.path() / "l" / "heads=1,tied=true,seed=0"));
  EXPECT_EQ(small({"--tied=maybe", "--out", "m"}).status, 2);
}

TEST_F(SweepCommand, SaysWhatIsWrongWithItsCommandLine) {
  const auto refused = [&](const Words& words, const Words& parts) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.status, 2) << outcome.err;
    expect_sentence(outcome.err, parts);
    EXPECT_TRUE(fs::is_empty(folder.path()));
  };
  refused(grid({"--out", "s", "--heads", "1,x"}), {"heads=x", "whole number"});
  refused(grid({"--out", "s", "--seed", "3"}), {"--seeds does not go with --seed"});
  refused(grid({"--out", "s", "--task", "relation,sort"}), {"'relation'"});
}

TEST_F(SweepCommand, PrunesItsCells) {
  const Words flags =
      typed("--heads 4 --prune random,magnitude --keep 2 --finetune 3 --from-scratch --out s");
  done(grid(flags));
  const Json json = done({"sweep", "--collect", "--out", "s", "--json"}).json();
  const Json& pruned = json.at("prunings").items().at(0);
  EXPECT_EQ(pruned.at("missing").items().size(), 0u);
  ASSERT_EQ(pruned.at("groups").items().size(), 1u);
  const Json& group = pruned.at("groups").items()[0];
  EXPECT_EQ(group.at("seeds").dump(), "[0,1]");
  const Json::Array& methods = group.at("methods").items();
  ASSERT_EQ(methods.size(), 2u);
  for (const char* key : {"finetuned", "from_scratch", "against_scratch"})
    EXPECT_NE(methods[1].at("points").items()[0].find(key), nullptr) << key;
  const auto before = contents(folder.path() / "s");
  EXPECT_FALSE(holds(done(grid(flags)).err, "cell ")) << "nothing is made twice";
  auto after = contents(folder.path() / "s"), kept = before;
  after.erase("sweep.json"), kept.erase("sweep.json");
  EXPECT_EQ(after, kept);
  // What `curve` finds of the same runs is the same, and made already.
  const Outcome curves =
      done(typed("curve s/heads=4,seed=0 s/heads=4,seed=1 --methods random,magnitude --sizes 2 "
                 "--finetune 3 --from-scratch --json"));
  EXPECT_FALSE(holds(curves.err, "cell ")) << curves.err;
  EXPECT_EQ(curves.json().at("methods"), group.at("methods"));
}

TEST_F(SweepCommand, CountsNoPruningThatIsNotFinishedAndNoneOfOtherSettings) {
  const Words flags = typed("--heads 4 --prune magnitude --keep 2 --finetune 3 --out s");
  done(grid(flags));
  const auto collected = [&] {
    return done({"sweep", "--collect", "--out", "s", "--json"}).json().at("prunings").items();
  };
  EXPECT_EQ(collected()[0].at("missing").items().size(), 0u);
  for (const auto& entry : fs::directory_iterator(folder.path() / "s/heads=4,seed=1/cells"))
    if (holds(entry.path().filename().string(), "curve-magnitude")) fs::remove(entry.path());
  const Json half = collected()[0];
  EXPECT_EQ(half.at("missing").items().size(), 1u);
  EXPECT_EQ(half.at("groups").items()[0].at("seeds").dump(), "[0]");
  Words more = grid(flags);
  *std::ranges::find(more, "3") = "4";
  done(more);
  const Json::Array both = collected();
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0], half) << "what took 4 steps is no part of what takes 3";
  EXPECT_EQ(both[1].at("groups").items()[0].at("seeds").dump(), "[0,1]");
}

TEST_F(SweepCommand, SideBySideMakesTheSame) {
  const auto made = [&](const char* out, const char* jobs) {
    done(grid({"--heads", "4", "--prune", "greedy", "--keep", "2", "--out", out, "--jobs", jobs}));
    auto files = contents(folder.path() / out);
    std::erase_if(files, [](const auto& one) {  // they hold times, or the command
      return holds(one.first, "metrics") || holds(one.first, "state") ||
             one.first == "sweep.json" || holds(one.first, "curve-greedy");
    });
    return files;
  };
  EXPECT_EQ(made("one", "1"), made("two", "2"));
}

TEST_F(SweepCommand, WaitsForWhatAnotherProcessIsMaking) {
  fs::create_directories(folder.path() / "s");
  auto lock = std::make_unique<FileLock>(folder.path() / "s" / ".heads=4,seed=1.lock");
  Process process(grid({"--out", "s", "--threads", "1"}), {.folder = folder.path()});
  ASSERT_TRUE(process.wait_for("waiting for cells that other processes make: 1"));
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
    for (const auto& [cell, step] : steps)
      while (!fs::exists(folder.path() / "s" / cell / "config.json")) usleep(1000);
    usleep(100'000);
    process.signal(signal);
    EXPECT_EQ(process.finish().status, signal == SIGINT ? 130 : -SIGKILL);
    for (auto& [cell, step] : steps) {
      while (!FileLock(folder.path() / "s" / ("." + cell + ".lock")).held()) usleep(1000);
      const Index now = open_run(folder.path() / "s" / cell).step;
      EXPECT_GT(now, step) << cell << " went on and was saved";
      step = now;
    }
  }
}

TEST_F(SweepCommand, TrainsFromScratchForAsManySteps) {
  for (const std::string method : {"magnitude", "l0"}) {
    Words words = {"--heads",    "4", "--seeds",        "1",     "--prune", method,  "--keep", "2",
                   "--finetune", "3", "--from-scratch", "--out", method,    "--json"};
    if (method == "l0") words.insert(words.end(), {"--gate-steps", "5"});
    const Json json = done(grid(words)).json();
    const std::string steps = method == "l0" ? "38" : "33";  // 30, of gates 5, of fine-tuning 3
    const Json& group = json.at("prunings").items()[0].at("groups").items()[0];
    EXPECT_EQ(group.at("methods").items()[0].at("steps").dump(), steps);
    const Json& points = group.at("curves").items()[0].at("methods").items()[0].at("points");
    // Two heads from the start are a training like any other.
    Words longer = tiny({"--heads", "2", "--d-head", "4", "--out", method + "-alone", "--json"});
    *std::ranges::find(longer, "30") = steps;
    EXPECT_EQ(points.items()[0].at("from_scratch").at("loss"), done(longer).json().at("loss"));
  }
}

TEST_F(SweepCommand, TakesAConfigForAllCells) {
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
  done({"curve", "s/heads=4,seed=0", "s/heads=4,seed=1", "--methods", "greedy,random", "--sizes",
        "2", "--examples", "16"});
  const std::string csv =
      done({"compare", "s/heads=4:greedy@2", "s/heads=4:random@2", "--csv", "--table", "seeds"})
          .out;
  EXPECT_TRUE(csv.starts_with("arm,seed,loss\ns/heads=4:greedy@2,0,")) << csv;
  EXPECT_EQ(run({"compare", "s/heads=4"}).status, 1);
  EXPECT_EQ(run({"compare", "s", "--measure", "los"}).status, 2);
}

/// What README.md says of two things is printed by the command beside it.
TEST_F(SweepCommand, IsComparedByTheCommandsOfTheReadme) {
  done(grid({"--heads", "1,4,8", "--out", "sweeps/knee"}));
  Words curve = {"curve", "--methods", "greedy,ablation,exhaustive", "--examples", "16", "--sizes"};
  curve.insert(curve.end(), {"4", "--finetune", "3", "--from-scratch"});
  for (const char* seed : {"0", "1"})
    curve.push_back(std::string("sweeps/knee/heads=8,seed=") + seed);
  done(curve);
  fs::copy(folder.path() / "sweeps/knee", folder.path() / "sweeps/many",
           fs::copy_options::recursive);
  const std::string readme = read_file(fs::path(HEADLAB_SOURCE_DIR) / "README.md");
  Index commands = 0;
  for (std::size_t at = readme.find("`compare "); at != readme.npos; ++commands) {
    const std::size_t end = readme.find('`', at + 1);
    std::string command = readme.substr(at + 1, end - at - 1);
    std::ranges::replace(command, '\n', ' ');
    if (holds(command, "sweeps/a")) command = "compare sweeps/knee/heads=1 sweeps/knee/heads=4";
    EXPECT_TRUE(holds(done(typed(command)).out, "the seeds say")) << command;
    at = readme.find("`compare ", end);
  }
  EXPECT_GE(commands, 4) << "a claim has lost its command";
}

TEST_F(SweepCommand, KeepsTheGridsThatWereThere) {
  done(grid({"--out", "s", "--heads", "1"}));
  done(grid({"--out", "s", "--heads", "4"}));
  const Json json = done({"sweep", "--collect", "--out", "s", "--json"}).json();
  EXPECT_EQ(json.at("groups").items().size(), 2u);
}

}  // namespace
}  // namespace headlab::cli
