// `curve` by the program alone, and what it and `prune` refuse: one sentence each, and nothing is
// written. The computations are tested in tests/prune.
#include <cmath>
#include <set>

#include "cli/program.h"
#include "headlab/lab/results/stored_json.h"

namespace headlab::cli { namespace {

/// A run of four heads and one of seventeen; one whose examples often have no target.
class Curves : public Program {
 protected:
  Curves() { done(tiny({"--out", "a"})); }
  /// The result of a command on the run: the only one of the `list` in the JSON that it prints.
  /// Checks that this is the file that it leaves, and the only one.
  Json kept_in(const std::string& name, const Words& words, const char* list) const {
    const auto before = contents(folder.path() / "a");
    const Json json = done(with(words, {"--json"})).json();
    EXPECT_EQ(json.at("paths").dump(), R"(["a"])");
    EXPECT_EQ(json.at(list).items().size(), 1u);
    EXPECT_EQ(json.at(list).items()[0], kept("a/" + name));
    auto after = contents(folder.path() / "a");
    EXPECT_EQ(after.erase(name), 1u);
    std::erase_if(after, [](const auto& one) { return one.first.starts_with("cells"); });
    EXPECT_EQ(after, before);
    return json.at(list).items()[0];
  }
};

/// The kinds of all values of a JSON document, by their place: members by name, items of a
/// list as one. A null says nothing, and a single run has no interval.
void add_kinds(const Json& json, const std::string& at, std::set<std::string>& kinds) {
  const bool of_interval =
      at.ends_with(".low") || at.ends_with(".high") || at.ends_with("effect_size");
  if (!json.is_null() && !of_interval) kinds.insert(at + ": " + json.kind());
  if (json.is_object())
    for (const auto& [name, value] : json.members()) add_kinds(value, at + "." + name, kinds);
  if (json.is_array())
    for (const Json& item : json.items()) add_kinds(item, at + "[]", kinds);
}

std::set<std::string> kinds_of(const Json& json) {
  std::set<std::string> kinds;
  add_kinds(json, "", kinds);
  return kinds;
}

/// Elements that one has and the other lacks.
Words only_in(const std::set<std::string>& one, const std::set<std::string>& other) {
  Words words;
  std::ranges::set_difference(one, other, std::back_inserter(words));
  return words;
}

TEST_F(Curves, PrintTheirKeysAndKeepThem) {
  const Json json =
      kept_in("curve.json", {"curve", "a", "--examples", "16", "--methods", "greedy,lrp"},
              "curves");
  for (const char* key : {"headlab", "attention", "heads", "needed", "full", "none", "methods",
                          "settings", "command"})
    EXPECT_NE(json.find(key), nullptr) << key;
  ASSERT_EQ(json.at("methods").items().size(), 2u);
  EXPECT_EQ(json.at("methods").items()[1].at("method").string(), "lrp");
  const auto& points = json.at("methods").items()[0].at("points").items();
  ASSERT_EQ(points.size(), 5u);
  for (const char* key : {"kept", "heads", "loss", "accuracy", "recall", "precision"})
    EXPECT_NE(points[0].find(key), nullptr) << key;
  EXPECT_EQ(points[0].find("finetuned"), nullptr);
}

TEST_F(Curves, KeepTheSizesThatAreAskedFineTunedAndFromScratch) {
  const Words words =
      typed("curve a --examples 16 --methods magnitude --sizes 3,1 --finetune 3 --from-scratch");
  const Json json = kept_in("curve.json", words, "curves");
  const auto& points = json.at("methods").items()[0].at("points").items();
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0].at("kept").integer(), 1);
  EXPECT_EQ(points[1].at("kept").integer(), 3);
  for (const Json& point : points) {
    EXPECT_NE(point.at("finetuned").at("loss"), point.at("loss"));
    EXPECT_NE(point.at("from_scratch").at("loss"), point.at("loss"));
  }
  // Models from scratch and the unpruned model follow one schedule, restart included, which is
  // named.
  const Json& method = json.at("methods").items()[0];
  EXPECT_TRUE(holds(method.at("schedule").string(), "30")) << method.at("schedule").dump();
  for (const Json& point : points) EXPECT_NE(point.find("unpruned"), nullptr);
  // If gates are trained first, their steps count too.
  const Json gated = done(typed("curve a --methods l0 --gate-steps 5 --sizes 1 --finetune 3 "
                                "--from-scratch --examples 16 --json"))
                         .json()
                         .at("curves")
                         .items()[0]
                         .at("methods")
                         .items()[0];
  EXPECT_EQ(gated.at("steps").integer(), 38);
  EXPECT_NE(gated.at("points").items()[0].at("from_scratch").at("loss"),
            points[0].at("from_scratch").at("loss"));
}

TEST_F(Curves, ShowEveryMethodThatNeedsNoTrainingAndHowToMakeThemAgain) {
  const Outcome text = done({"curve", "a", "--examples", "16", "--seed", "3"});
  expect_parts(text.out, {"\nloss after removal\n", "exhaustive", "lrp", "regret",
                          "command: headlab curve a --examples 16 --seed 3\n"});
  EXPECT_FALSE(holds(text.out, "\nsubset")) << text.out;
  EXPECT_TRUE(holds(text.err, "greedy")) << text.err;
}

TEST_F(Curves, AverageSeveralRunsAndKeepEachOne) {
  done(tiny({"--out", "b", "--seed", "1"}));
  const Words words = {"curve", "a", "b", "--examples", "16", "--methods", "greedy"};
  const Outcome text = done(words);
  EXPECT_TRUE(holds(text.out, "over 2 runs")) << text.out;
  EXPECT_TRUE(holds(text.err, "b: greedy")) << text.err;
  const Json json = done(with(words, {"--json"})).json();
  const auto loss_in = [&](const char* name) {
    return kept(name).at("methods").items()[0].at("points").items()[2].at("loss");
  };
  const double mean =
      std::sqrt(loss_in("a/curve.json").number() * loss_in("b/curve.json").number());
  const Json& point = json.at("methods").items()[0].at("points").items()[2];
  EXPECT_NEAR(point.at("loss").at("mean").number(), mean, 1e-12);
  EXPECT_EQ(json.at("paths").dump(), R"(["a","b"])");
}

TEST_F(Curves, HaveOneJsonShapeForOneAndSeveralRuns) {
  done(tiny({"--out", "b", "--seed", "1"}));
  const auto one =
      kinds_of(done(typed("curve a --examples 16 --methods random,exhaustive --json")).json());
  const auto several =
      kinds_of(done(typed("curve a b --examples 16 --methods random,exhaustive --json")).json());
  EXPECT_EQ(only_in(one, several), Words());
  EXPECT_EQ(only_in(several, one), Words());
}

const Words kCurve = typed(
    "curve a b --examples 16 --methods random,l0,greedy --gate-steps 3 --finetune 2 --sizes 1,2");

/// Lines of a curve that hold no time.
std::string timeless(const std::string& text) {
  std::string kept;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (!holds(line, "\"seconds\"") && !holds(line, "\"checksum\"")) kept += line + "\n";
  return kept;
}

TEST_F(Curves, DoNotDependOnJobsOrOrder) {
  done(tiny({"--out", "b", "--seed", "1"}));
  done(with(kCurve, {"--jobs", "1"}));
  const std::string a = timeless(file("a/curve.json")), b = timeless(file("b/curve.json"));
  const auto forget = [&] {
    for (const char* run : {"a", "b"}) {
      fs::remove_all(folder.path() / run / "cells");
      fs::remove(folder.path() / run / "curve.json");
    }
  };
  forget();
  done(with(kCurve, {"--jobs", "2"}));
  EXPECT_EQ(timeless(file("a/curve.json")), a);
  EXPECT_EQ(timeless(file("b/curve.json")), b);
  forget();
  Process first(kCurve, {.folder = folder.path()}), second(kCurve, {.folder = folder.path()});
  first.finish(), second.finish();
  const Outcome all = done(kCurve);
  EXPECT_FALSE(holds(all.err, "training") || holds(all.err, "draw")) << all.err;
  EXPECT_EQ(timeless(file("a/curve.json")), a);
  EXPECT_EQ(timeless(file("b/curve.json")), b);
}

TEST_F(Curves, TakeTrainingsThatOtherCurvesMade) {
  const Words words = {"curve", "a", "--examples", "16", "--finetune", "2", "--sizes", "2"};
  done(with(words, {"--methods", "greedy,exhaustive"}));
  const auto trainings = [&] {
    return std::ranges::count_if(contents(folder.path() / "a" / "cells"), [](const auto& one) {
      return one.first.starts_with("finetuned");
    });
  };
  const auto before = trainings();
  EXPECT_GE(before, 1);
  const Outcome more = done(with(words, {"--methods", "greedy,exhaustive,forward"}));
  EXPECT_EQ(trainings(), before) << "one subset, one training: " << more.err;
}

TEST_F(Curves, AreRefusedWhereAPartIsDamaged) {
  const Words words = {"curve", "a", "--examples", "16", "--methods", "greedy,lrp"};
  done(words);
  fs::path part;
  for (const auto& entry : fs::directory_iterator(folder.path() / "a" / "cells"))
    if (holds(entry.path().filename().string(), "curve-lrp")) part = entry.path();
  const std::string whole = read_file(part);
  Json fewer = read_json(part), other = fewer;
  fewer["points"].items().pop_back();
  other["decided_by"]["draws"] = 9;
  for (const std::string& damaged : {fewer.dump(), other.dump(), std::string("{\"method\": 3"),
                                     std::string("[]"), whole.substr(0, whole.size() / 2)}) {
    write_file(part, damaged);
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.status, 1) << damaged;
    EXPECT_TRUE(holds(outcome.err, "error: ") && holds(outcome.err, "curve-lrp")) << outcome.err;
  }
}

TEST_F(Curves, CountRunsThatFail) {
  const std::string large = "a: large";  // the name of a run may begin like that of another
  done(tiny({"--out", large, "--heads", "17", "--d-head", "1", "--steps", "1"}));
  const Outcome outcome =
      run(with(typed("curve a --methods exhaustive --sizes 2 --examples 16"), {"--", large}));
  EXPECT_EQ(outcome.status, 1);
  expect_parts(outcome.out,
               {"1 of 2 runs failed\n  a: large: cannot search exhaustively over 17 heads"});
}

/// A run of four heads; one of seventeen; one of a task of which one example may ask nothing.
class PruningMistakes : public Program, public testing::WithParamInterface<Mistake> {
 protected:
  PruningMistakes() {
    done(tiny({"--out", "a"}));
    done(tiny({"--out", "large", "--heads", "17", "--d-head", "1", "--steps", "1"}));
    done(
        typed("train --task grid:width=2,height=2,colors=3 --steps 1 --eval-examples 8 --d-model 8 "
              "--out silent"));
  }
};

TEST_P(PruningMistakes, PrintOneErrorAndChangeNothing) {
  const auto without_cells = [&] {
    auto files = contents(folder.path());
    std::erase_if(files, [](const auto& one) { return holds(one.first, "/cells"); });
    return files;
  };
  const auto before = without_cells();
  const Outcome outcome = run(GetParam().words());
  EXPECT_EQ(outcome.status, GetParam().status);
  EXPECT_EQ(outcome.out, "");
  std::string said = outcome.err;  // notes of progress may come before
  said.erase(0, std::min(said.find("error: "), said.size()));
  expect_sentence(said, GetParam().said());
  expect_hint(said);
  EXPECT_TRUE(without_cells() == before);
}

const std::vector<Mistake> kMistakes = {
    {"KeepMoreThanThereAre", "prune a --keep 5 --out b", 2, "the model has 4 heads|from 0 to 4"},
    {"KeepLessThanTheMinimum", "prune a --keep 2 --per-layer-min 3 --out b", 2,
     "cannot keep 2 heads: the attention layers keep 3 at least|--per-layer-min"},
    {"DropMoreThanAll", "prune a --drop 101 --out b", 2, "drop|got 101"},
    {"DropBelowTheMinimum", "prune a --drop 50 --per-layer-min 3 --out b", 1,
     "cannot keep 2 heads|keep 3"},
    {"TwoSizes", "prune a --keep 2 --drop 50 --out b", 2, "--drop cannot be combined with --keep"},
    {"ExhaustiveSearchThatIsTooLarge", "prune large --keep 2 --method exhaustive --out b", 1,
     "17 heads: there are 2^17 subsets|greedy"},
    {"GradientsWithoutALoss", "prune silent --keep 1 --method importance --examples 1 --out b", 1,
     "no loss to judge heads by"},
    {"SearchWithoutALoss", "prune silent --keep 1 --examples 1 --out b", 1, "no loss to judge"},
    {"CurveOfNoMethod", "curve a --methods greedy,gredy", 2, "'gredy'|'greedy'"},
    {"CurveOfTooManyHeads", "curve a --sizes 2,5", 2, "cannot keep 5 heads|4 heads"},
    {"CurveBelowTheMinimum", "curve a --sizes 2 --per-layer-min 3", 2,
     "cannot keep 2 heads: the attention layers keep 3 at least|--per-layer-min"},
    {"CurveOfSizesThatAreNone", "curve a --sizes two", 2, "sizes|two"},
    {"CurveThatIsTooLarge", "curve large --methods exhaustive", 1, "17 heads|2^17"},
    {"CurveWithoutALoss", "curve silent --methods lrp --examples 1", 1, "no loss to judge"},
    {"CurvesOfOtherSizes", "curve a large --methods greedy", 2, "17 heads and a with 4|--sizes"},
    {"CurveOfNoRun", "curve nowhere", 1, "no run found in 'nowhere'"},
};

INSTANTIATE_TEST_SUITE_P(Table, PruningMistakes, testing::ValuesIn(kMistakes),
                         [](const auto& row) { return std::string(row.param.name); });

TEST_F(Program, CurvesOverRunsTakeWhatRunsKeep) {
  for (const char* seed : {"0", "1"})
    done(tiny({"--out", std::string("r") + seed, "--seed", seed}));
  const Words words = typed("curve r0 r1 --methods random,greedy --examples 16 --json");
  const Outcome first = done(words), second = done(words);
  EXPECT_EQ(first.out, second.out);
  EXPECT_TRUE(holds(first.err, "r1: greedy")) << first.err;
  EXPECT_FALSE(holds(second.err, "greedy")) << second.err;
  done({"train", "--resume", "r1", "--steps", "32"});  // other weights
  const Outcome third = done(words);
  EXPECT_TRUE(holds(third.err, "r1: greedy") && !holds(third.err, "r0: greedy")) << third.err;
  EXPECT_TRUE(holds(done(with(words, {"--force"})).err, "r0: greedy"));
  EXPECT_FALSE(holds(done(with(words, {"--no-force"})).err, "r0: greedy"));
}

}  // namespace
}  // namespace headlab::cli
