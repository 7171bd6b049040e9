// `headlab sweep` as a user runs it: a grid at once, in slices beside each other, stopped and begun
// again, and collected.
#include "cli/program.h"

namespace headlab::cli { namespace {

/// A grid of cells that take a moment.
Words grid(Words more) {
  Words words = tiny({"--heads", "1,4", "--seeds", "2"});
  words[0] = "sweep";
  words.insert(words.end(), more.begin(), more.end());
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

TEST_F(SweepCommand, InSlicesBesideEachOtherMakesTheSame) {
  const Json whole = done(grid({"--out", "whole", "--json"})).json();
  Process first(grid({"--out", "s", "--shard", "0/2"}), {.folder = folder.path()});
  Process second(grid({"--out", "s", "--shard", "1/2", "--json"}), {.folder = folder.path()});
  const Outcome half = first.finish(), other = second.finish();
  EXPECT_EQ(half.status, 0) << half.err;
  EXPECT_EQ(other.status, 0) << other.err;
  EXPECT_TRUE(holds(half.out, "slice 0/2: 2 cells finished")) << half.out;
  EXPECT_EQ(other.json().at("finished").integer(), 2);
  EXPECT_EQ(other.json().at("busy").integer(), 0) << "slices share no cell";
  EXPECT_FALSE(fs::exists(folder.path() / "s" / "sweep.json"));
  const Json collected = done({"sweep", "--collect", "--out", "s", "--json"}).json();
  EXPECT_EQ(collected.at("groups"), whole.at("groups"));
}

TEST_F(SweepCommand, CollectsWhatIsThereAndNamesTheRest) {
  done(grid({"--out", "s", "--shard", "1/4"}));
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
  EXPECT_TRUE(holds(outcome.err, "heads=1,steps=20000,seed=0: interrupted, and saved"))
      << outcome.err;
  EXPECT_TRUE(holds(outcome.err, "hint: to go on, give the same command again: headlab sweep"));
  EXPECT_TRUE(holds(done({"sweep", "--collect", "--out", "s"}).out, "missing: 1 of 2 cells"));
}

TEST_F(SweepCommand, RefusesACellWithOtherSettings) {
  done(grid({"--out", "s"}));
  const auto before = contents(folder.path() / "s");
  for (const Words& more : {Words{}, Words{"--collect"}}) {
    Words words = grid({"--out", "s", "--lr", "0.5"});
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.status, 1);
    expect_sentence(outcome.err, {"heads=1,seed=0 holds a run with other settings", "lr is 0.01",
                                  "another folder"});
    EXPECT_EQ(contents(folder.path() / "s"), before);
  }
}

TEST_F(SweepCommand, GoesOnWithTheOtherCellsWhenOneFails) {
  const Outcome outcome = run(grid({"--out", "s", "--optimizer", "sgd", "--clip", "0", "--heads",
                                    "1", "--seeds", "1", "--lr", "1000,0.01"}));
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(holds(outcome.err, "lr=1000,seed=0: ")) << outcome.err;
  EXPECT_TRUE(holds(outcome.out, "missing: 1 of 2 cells")) << outcome.out;
  EXPECT_TRUE(holds(outcome.out, "failed: 1 of these, 1 because they diverged")) << outcome.out;
  // Those who collect learn of it, until the cell is made.
  const Json json = done({"sweep", "--collect", "--out", "s", "--json"}).json();
  ASSERT_EQ(json.at("failed").items().size(), 1u);
  EXPECT_TRUE(json.at("failed").items()[0].at("diverged").boolean());
  EXPECT_TRUE(holds(json.at("failed").items()[0].at("error").string(), "not finite"));
}

TEST_F(SweepCommand, CountsPruningsThatFail) {
  const Outcome outcome = run(grid(
      {"--heads", "4", "--seeds", "1", "--prune", "magnitude", "--keep", "2,9", "--out", "s"}));
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(holds(outcome.out, "failed: 1 of these, 0 because they diverged")) << outcome.out;
  EXPECT_TRUE(holds(outcome.out, "keep=9: 9 heads cannot stay")) << outcome.out;
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
    Words words = {"sweep",
                   "--task",
                   "text:length=8",
                   "--layers",
                   "1",
                   "--d-model",
                   "8",
                   "--d-ff",
                   "0",
                   "--heads",
                   "1",
                   "--steps",
                   "1",
                   "--warmup",
                   "0",
                   "--eval-examples",
                   "4"};
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
  refused(grid({}), {"missing --out"});
  refused(grid({"--out", "s", "--heads", "1,x"}), {"heads=x", "whole number"});
  refused(grid({"--out", "s", "--shard", "4/4"}), {"--shard 4/4", "from 0 to N - 1"});
  refused(grid({"--out", "s", "--seed", "3"}), {"--seed and --seeds"});
  refused(grid({"--out", "s", "--task", "relation,sort"}), {"'relation'"});
}

TEST_F(SweepCommand, PrunesItsCellsInSlicesAndComparesMethods) {
  const Words flags = {"--heads",        "4",     "--prune",    "random,magnitude",
                       "--keep",         "2",     "--finetune", "3",
                       "--from-scratch", "--out", "s"};
  for (const char* shard : {"0/2", "1/2"}) {
    Words words = grid(flags);
    words.insert(words.end(), {"--shard", shard});
    EXPECT_TRUE(holds(done(words).out, " --from-scratch --out s --collect\n")) << "all of it";
  }
  EXPECT_TRUE(
      fs::exists(folder.path() / "s" / "heads=4,seed=1,prune=random,keep=2" / "prune.json"));
  Words collect = grid(flags);
  collect.insert(collect.end(), {"--collect", "--json"});
  const Json json = done(collect).json();
  EXPECT_EQ(json.at("missing").items().size(), 0u);
  ASSERT_EQ(json.at("groups").items().size(), 3u);  // two methods, and from scratch
  EXPECT_TRUE(json.at("groups").items()[0].at("against_first").is_null());
  EXPECT_TRUE(json.at("groups").items()[1].at("against_first").at("half_width").is_number());
  EXPECT_EQ(json.at("groups").items()[2].at("method").string(), "from_scratch");
  const auto before = contents(folder.path() / "s");
  done(grid(flags));
  auto after = contents(folder.path() / "s");
  after.erase("prunings.json");
  auto kept = before;
  kept.erase("prunings.json");
  EXPECT_EQ(after, kept);  // nothing is made twice
}

TEST_F(SweepCommand, TrainsFromScratchForAsManySteps) {
  for (const std::string method : {"magnitude", "l0"}) {
    const Json json =
        done(grid({"--heads", "4", "--seeds", "1", "--prune", method, "--keep", "2", "--finetune",
                   "3", "--gate-steps", "5", "--from-scratch", "--out", method, "--json"}))
            .json();
    const std::string steps = method == "l0" ? "38" : "33";  // 30, of gates 5, of fine-tuning 3
    for (const Json& group : json.at("groups").items())
      EXPECT_EQ(group.at("steps").dump(), steps) << group.at("method").dump();
    // Two heads from the start are a training like any other.
    Words longer = tiny({"--heads", "2", "--d-head", "4", "--out", method + "-alone", "--json"});
    *std::ranges::find(longer, "30") = steps;
    EXPECT_EQ(json.at("groups").items()[1].at("losses").items()[0], done(longer).json().at("loss"));
  }
}

TEST_F(SweepCommand, TakesAConfigForAllCells) {
  done(tiny({"--out", "a", "--lr", "2e-3"}));
  done({"sweep", "--config", "a/config.json", "--heads", "1,2", "--seeds", "1", "--steps", "2",
        "--warmup", "0", "--out", "s"});
  const Json config = Json::parse(file("s/heads=2,seed=0/config.json"));
  EXPECT_EQ(config.at("lr").number(), 2e-3);
  EXPECT_EQ(config.at("d_model").integer(), 16);
  EXPECT_EQ(config.at("steps").integer(), 2);
}

TEST_F(SweepCommand, KeepsTheGridsThatWereThere) {
  done(grid({"--out", "s", "--heads", "1"}));
  done(grid({"--out", "s", "--heads", "4"}));
  const Json json = done({"sweep", "--collect", "--out", "s", "--json"}).json();
  EXPECT_EQ(json.at("groups").items().size(), 2u);
}

}  // namespace
}  // namespace headlab::cli
