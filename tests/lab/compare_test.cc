// Comparing arms: known answers, and which runs a name stands for. Read next:
// compare_calibration_test.cc, how often the words are wrong.
#include "headlab/lab/studies/compare.h"

#include <algorithm>
#include <cmath>

#include "headlab/core/base/files.h"
#include "headlab/lab/prune/curve.h"
#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/studies/sweep.h"
#include "lab/made_arms.h"
#include "support/runs.h"

namespace headlab { namespace {

TEST(Compare, KnowsTheRatioAndHowOftenItWins) {
  std::vector<double> a, b;
  for (int i = 0; i < 10; ++i) {
    b.push_back(std::pow(10, i % 4));
    a.push_back(b.back() * (i == 0 ? 1.1 : 0.5));
  }
  const std::vector<Arm> arms = {arm("b", b), arm("a", a)};
  const Result found = compare_arms(arms);
  const double mean = (9 * std::log(0.5) + std::log(1.1)) / 10;
  EXPECT_NEAR(cell(found, "ratio").items()[0].number(), std::exp(mean), 1e-12);
  EXPECT_EQ(cell(found, "wins").integer(), 9);
  EXPECT_EQ(cell(found, "seeds").integer(), 10);
  // Among 1,024 ways, those with all nine one way, whichever way the tenth.
  EXPECT_EQ(cell(found, "p").number(), 4 / 1024.0);
  EXPECT_EQ(cell(found, "verdict").string(), "lower in 9 of 10 seeds");
  EXPECT_EQ(Json(found.table("seeds").cells("loss")).items().size(), 20u);
  CompareOptions options;
  options.reference = "a";
  EXPECT_EQ(cell(compare_arms(arms, options), "verdict"), Json("higher in 9 of 10 seeds"));
}

TEST(Compare, ShowsNamesWithoutTheirCommonPrefix) {
  const Result found = compare_arms(std::vector<Arm>{arm("sweeps/knee/heads=4:greedy", {1, 2}),
                                                     arm("sweeps/knee/heads=8", {1, 2})});
  EXPECT_EQ(cell(found, "arm").string(), "sweeps/knee/heads=8") << "whole for programs";
  EXPECT_EQ(cell(found, "shown").string(), "heads=8");
  EXPECT_EQ(found.table("arms").title, "arms of sweeps/knee/");
  EXPECT_EQ(found.table("comparisons").column("ratio").title, "times heads=4:greedy");
  const Result apart = compare_arms(std::vector<Arm>{arm("abc", {1, 2}), arm("abd", {1, 2})});
  EXPECT_EQ(apart.table("comparisons").column("ratio").title, "times abc");
}

TEST(Compare, IsInconclusiveIfTheSeedsDoNotDecide) {
  const Result five =
      compare_arms(std::vector<Arm>{arm("a", {1, 1, 1, 1, 1}), arm("b", {.1, .2, .1, .1, .1})});
  EXPECT_EQ(cell(five, "p").number(), 0.0625);
  EXPECT_EQ(cell(five, "verdict").string(),
            "inconclusive: 0.1149 times, in 5 of 5 seeds; the test needs 6");
  EXPECT_EQ(cell(five, "guard").string(), "seeds");
  EXPECT_EQ(cell(five, "seeds_to_tell").integer(), 6);
  EXPECT_NE(five.table("comparisons").note.find("5 seeds reach p 0.0625 at best"),
            std::string::npos);
  const Result one = compare_arms(std::vector<Arm>{arm("a", {1}), arm("b", {2})});
  EXPECT_EQ(cell(one, "p").number(), 1);
  EXPECT_TRUE(cell(one, "seeds_to_tell").is_null());
}

TEST(Compare, CallsEqualOnlyWhatLiesWithinTheMargin) {
  const std::vector<double> a = {1, 2, 3, 1, 2, 3}, near = {1.1, 1.9, 3.1, 0.9, 2.1, 2.9},
                            far = {1.1, 1.9, 9, 0.9, 2.1, 1};
  CompareOptions options;
  const auto conclusion = [&](const auto& x, const auto& y) {
    return cell(compare_arms(std::vector<Arm>{arm("a", x), arm("b", y)}, options), "verdict");
  };
  EXPECT_EQ(conclusion(a, near), Json("equal within 1.25 for the median seed"));
  EXPECT_EQ(conclusion(a, far), Json("inconclusive"));
  options.measure = "accuracy";
  const std::vector<double> high(6, 0.99), same(6, 0.992);
  EXPECT_EQ(conclusion(high, same), Json("higher in 6 of 6 seeds")) << "told apart, however little";
  options.margin = 0.001;
  EXPECT_EQ(conclusion(high, high), Json("equal within 0.001 for the median seed"));
}

TEST(Compare, CutsIntervalsToTheRangeOfTheMeasure) {
  CompareOptions options;
  options.measure = "lift";
  const std::vector<Arm> lifts = {arm("a", {1, .3, .9}), arm("b", {1, .9, 1})};
  for (const Json& mean : compare_arms(lifts, options).table("arms").cells("lift")) {
    EXPECT_EQ(mean.items()[2], Json(1)) << "no lift is above 1";
    EXPECT_LT(mean.items()[1].number(), mean.items()[0].number());
  }
  options.measure = "regret";
  const std::vector<Arm> regrets = {arm("a", {0, 0, .5}), arm("b", {.1, .2, .1})};
  const Result found = compare_arms(regrets, options);
  EXPECT_EQ(found.table("arms").cells("regret")[0].items()[1], Json(0));
}

TEST(Compare, CorrectsForAllThatAreAsked) {
  const std::vector<double> ones(7, 1), less = {.5, .5, .5, .5, .5, .5, .2};
  std::vector<Arm> arms = {arm("reference", ones)};
  for (const char* name : {"a", "b", "c", "d"}) arms.push_back(arm(name, less));
  const Result found = compare_arms(arms);
  EXPECT_EQ(cell(found, "p").number(), 1 / 64.0);
  EXPECT_EQ(cell(found, "p_holm").number(), 4 / 64.0);
  EXPECT_EQ(cell(found, "seeds_to_tell").number(), 8) << "4 / 128 < .05";
  EXPECT_EQ(cell(found, "verdict").string(),
            "inconclusive: 0.4387 times, in 7 of 7 seeds; the test needs 8");
}

TEST(Compare, CorrectsDifferencesAndEqualitiesTogether) {
  const std::vector<double> ones(7, 1), all(7, 0.5), most = {.5, .5, .5, .5, .5, .5, 1.1};
  const Result found =
      compare_arms(std::vector<Arm>{arm("reference", ones), arm("all", all), arm("most", most)});
  EXPECT_EQ(cell(found, "p_holm", 0).number(), 2 * 2 / 128.0);
  EXPECT_EQ(cell(found, "p", 1).number(), 4 / 128.0);
  EXPECT_EQ(cell(found, "p_holm", 1).number(), 2 * 4 / 128.0) << "two equalities are left";
  EXPECT_EQ(cell(found, "verdict", 1), Json("inconclusive"));
}

TEST(Compare, PairsTheSeedsThatBothHave) {
  const Arm a{"a", {0, 1, 2, 5}, {1, 10, 100, 1000}}, b{"b", {2, 1, 7}, {200, 20, 1}};
  const Result found = compare_arms(std::vector<Arm>{a, b});
  EXPECT_EQ(cell(found, "seeds").integer(), 2);
  EXPECT_NEAR(cell(found, "ratio").items()[0].number(), 2, 1e-12);
}

/// The mean hides what 16 of 20 seeds show, because three seeds of the other arm fail.
TEST(Compare, CountsFailingSeedsFirst) {
  std::vector<double> one, four;
  for (int seed = 0; seed < 20; ++seed) {
    one.push_back(seed < 3 ? 40 : 1 + 0.01 * seed);
    four.push_back((1 + 0.01 * seed) * (seed < 4 ? 0.9 : 1.2));
  }
  Arm failing = arm("one", one);
  failing.failed = {0, 1, 2};
  const Result found = compare_arms(std::vector<Arm>{arm("four", four), failing});
  EXPECT_EQ(cell(found, "verdict").string(),
            "fails in 3 of 20 seeds, the other arm in none; lower in 16 of 20 seeds; where both "
            "succeed, 0.8476 times");
  EXPECT_NEAR(cell(found, "p").number(), 0.0118, 1e-4) << "sign test";
  EXPECT_GT(cell(found, "ratio").items()[0].number(), 1.2) << "the mean is that of three seeds";
  const Json::Array& notes = found.about.at("notes").items();
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_TRUE(notes[0].string().starts_with("one: seeds 0, 1, 2 fail")) << notes[0].string();
}

TEST(Compare, CallsNoArmEqualThatFailsOrIsAtGuessing) {
  const std::vector<double> ones(10, 1), twice = {1, 1.1, .9, 1, 1.1, .9, 1, 1.1, .9, 1};
  Arm other = arm("b", twice);
  EXPECT_EQ(cell(compare_arms(std::vector<Arm>{arm("a", ones), other}), "verdict").string(),
            "equal within 1.25 for the median seed");
  other.failed = {4};
  const Result failing = compare_arms(std::vector<Arm>{arm("a", ones), other});
  EXPECT_EQ(cell(failing, "verdict").string().find("equal"), std::string::npos);
  EXPECT_EQ(cell(failing, "guard").string(), "failures");
  other.failed.clear();
  other.at_guessing = other.seeds;
  const Result guessing = compare_arms(std::vector<Arm>{arm("a", ones), other});
  EXPECT_EQ(cell(guessing, "verdict").string(), "train longer: an arm is at guessing");
  EXPECT_EQ(cell(guessing, "guard").string(), "guessing");
}

TEST(Compare, ComparesOnlyWhatIsMeasuredAlike) {
  const std::vector<double> ones(6, 1), twos(6, 2);
  Arm a = arm("a", ones), b = arm("b", twos);
  a.conditions = {{"task", "\"relations\"", true}, {"steps", "500"}, {"lr", "0.01"}};
  b.conditions = {{"task", "\"sort\"", true}, {"steps", "1000"}, {"lr", "0.01"}};
  const Result other = compare_arms(std::vector<Arm>{a, b});
  EXPECT_EQ(cell(other, "verdict").string(), "not compared: other task");
  EXPECT_EQ(cell(other, "guard").string(), "arms");
  EXPECT_TRUE(cell(other, "p").is_null());
  b.conditions[0] = a.conditions[0];
  const Result same = compare_arms(std::vector<Arm>{a, b});
  EXPECT_EQ(cell(same, "verdict").string(),
            "higher in 6 of 6 seeds; the arms also differ in steps: 1000, 500");
  EXPECT_EQ(cell(same, "guard").string(), "");
}

TEST(Compare, DoesNotNameTheSettingThatNamesTheGroups) {
  Arm a = arm("s/heads=1", {1, 1, 1, 1, 1, 1}), b = arm("s/heads=2", {2, 2, 2, 2, 2, 2});
  a.conditions = {{"heads", "1"}, {"d_head", "8"}, {"batch", "4", false, true}};
  b.conditions = {{"heads", "2"}, {"d_head", "4"}, {"batch", "8", false, true}};
  EXPECT_EQ(cell(compare_arms(std::vector<Arm>{a, b}), "verdict").string(),
            "higher in 6 of 6 seeds; the arms also differ in batch: 8, 4");
  a.sweep = b.sweep = "s";
  EXPECT_EQ(cell(compare_arms(std::vector<Arm>{a, b}), "verdict").string(),
            "higher in 6 of 6 seeds")
      << "groups of one sweep";
}

TEST(Compare, LeavesOutAnArmWithoutNumbers) {
  const Arm a = arm("a", {1, 2}), b = arm("b", {2, 1}), none{"none", {}};
  const Result found = compare_arms(std::vector<Arm>{a, none, b});
  EXPECT_TRUE(found.table("arms").cells(CompareOptions().measure).at(1).is_null());
  EXPECT_EQ(found.table("comparisons").rows.size(), 1u);
  expect_error([&] { compare_arms(std::vector<Arm>{none, a}); }, {"no seed in common"});
}

/// A run without the number is a failure, which the means cannot show.
TEST(Compare, CountsSeedsWithoutTheNumber) {
  const Arm three{"three", {0, 1, 4}, {3, 3, 3}, {2, 3}}, two{"two", {0, 1}, {3, 3}, {2, 3, 4}};
  const Result found = compare_arms(std::vector<Arm>{three, two}, {.measure = "used"});
  EXPECT_EQ(found.table("arms").cells("seeds"), (Json::Array{3, 2}));
  EXPECT_EQ(found.table("arms").cells("without"), (Json::Array{2, 3}));
  EXPECT_EQ(found.table("arms").column("without").form, Form::automatic) << "it is shown";
  EXPECT_EQ(cell(found, "verdict").string(), "fails in 3 of 5 seeds against 2");
  EXPECT_EQ(cell(found, "seeds").integer(), 2);
  EXPECT_EQ(cell(found, "shared_seeds").integer(), 5);
  const Json::Array& notes = found.about.at("notes").items();
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_EQ(notes[0].string(), "three: 3 of 5 seeds have a value of used; seeds 2, 3 have none");
  EXPECT_EQ(found.table("seeds").rows.size(), 10u) << "a row for each seed";
  const Result back = compare_arms(std::vector<Arm>{two, three}, {.measure = "used"});
  EXPECT_EQ(cell(back, "verdict").string(), "fails in 2 of 5 seeds against 3");
}

TEST(Compare, ComparesAnArmThatFailsInEverySeed) {
  const Arm good{"good", {0, 1, 2}, {2, 2, 2}}, never{"never", {}, {}, {0, 1, 2}};
  for (const auto& arms : {std::vector{good, never}, {never, good}}) {
    const Result found = compare_arms(arms, {.measure = "used"});
    EXPECT_TRUE(cell(found, "difference").is_null());
    EXPECT_TRUE(cell(found, "verdict").string().starts_with("fails ")) << "never equal";
  }
  const Result alike = compare_arms(std::vector<Arm>{{"a", {}, {}, {0, 1}}, {"b", {}, {}, {0, 1}}},
                                    {.measure = "used"});
  EXPECT_EQ(cell(alike, "verdict").string(), "no seed has a number in both");
}

TEST(Compare, SaysOverWhichSeedsItsMeansAre) {
  const Arm a{"a", {0, 1, 2}, {1, 10, 100}}, b{"b", {1, 2, 7, 8}, {20, 200, 30, 30}};
  const Result found = compare_arms(std::vector<Arm>{a, b});
  EXPECT_EQ(cell(found, "seeds").integer(), 2);
  EXPECT_EQ(cell(found, "seeds_of_either").integer(), 5);
  EXPECT_NEAR(cell(found, "mean").number(), std::sqrt(20 * 200), 1e-9);
  EXPECT_NEAR(cell(found, "reference_mean").number(), std::sqrt(10 * 100), 1e-9);
  EXPECT_EQ(found.table("comparisons").column("mean").form, Form::automatic) << "then it is shown";
  ASSERT_EQ(found.about.at("notes").items().size(), 1u);
  EXPECT_TRUE(found.about.at("notes").items()[0].string().starts_with("2 of 5 seeds are in b"));
  const Result same = compare_arms(std::vector<Arm>{arm("a", {1, 2}), arm("b", {2, 1})});
  EXPECT_EQ(same.table("comparisons").column("mean").form, Form::hidden);
  EXPECT_TRUE(same.about.at("notes").items().empty());
}

TEST(Compare, RefusesFewerThanTwoArmsAndEqualArms) {
  const Arm a = arm("a", {1, 2}), other{"b", {7, 8}, {1, 2}};
  expect_error([&] { compare_arms(std::vector<Arm>{a}); }, {"cannot compare a single arm"});
  expect_error(
      [&] {
        compare_arms(std::vector<Arm>{a, a});
      },
      {"cannot compare the arm a with itself"});
  expect_error([&] { compare_arms(std::vector<Arm>{a, other}); }, {"no seed in common"});
  for (const auto& asked : {std::pair{CompareOptions{.reference = "c"}, "'c'"},
                            {CompareOptions{.margin = 0.5}, "factor above 1"}})
    expect_error([&] { compare_arms(std::vector{a, other}, asked.first); }, {asked.second});
}

/// A sweep of two groups of two seeds with results that are known, and a curve in one of its
/// trials.
class Arms : public testing::Test {
 protected:
  Arms() {
    const SweepGrid grid = {{"task", {"relations:length=8,vocab=6,relations=1+3"}},
                            {"d_model", {"12"}},
                            {"heads", {"1", "2"}},
                            {"seed", {"4", "9"}}};
    add_grid(sweep_, grid);
    for (const SweepTrial& trial : sweep_trials(grid)) {
      create_run(sweep_ / trial.name, trial.config);
      const double loss =
          static_cast<double>(trial.config.train.seed * trial.config.model.heads[0]);
      write_file(sweep_ / trial.name / "cell.json",
                 text(R"({"loss":)", loss, R"(,"accuracy":0.5,"parameters":1,"keys":2,"roles":[)",
                      R"({"relation":"back1","head":[0,0],"lift":0.5,"owned":true},)",
                      R"({"relation":"back3","head":null,"lift":null,"owned":false}]})"));
    }
    Curve curve;
    curve.methods = {{.method = "greedy", .regret = 0.25}};
    curve.methods[0].points = {{.kept = 1,
                                .heads = {},
                                .pruned = {3, 0.1},
                                .finetuned = Judged{2, 0.2},
                                .from_scratch = Judged{1, 0.3}}};
    for (const char* name : {"heads=2,seed=4", "heads=2,seed=9"})
      write_json(sweep_ / name / "curve.json", curve);
  }
  std::vector<double> values(const std::string& name, const char* measure = "loss") const {
    return arms_of((folder_.path() / name).string(), find_measure(measure)).at(0).values;
  }
  TemporaryFolder folder_;
  fs::path sweep_ = folder_ / "s";
};

TEST_F(Arms, AreGroupsOfASweepAndRuns) {
  const std::string s = sweep_.string();
  const std::vector<Arm> all = arms_of(s, find_measure("loss"));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_TRUE(all[1].name.ends_with("s/heads=2")) << all[1].name;
  EXPECT_EQ(all[1].seeds, (std::vector<std::int64_t>{4, 9}));
  EXPECT_EQ(all[1].values, (std::vector<double>{8, 18}));
  EXPECT_EQ(values("s/heads=1"), (std::vector<double>{4, 9}));
  EXPECT_EQ(values("s/heads=1", "accuracy"), (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(values("s/heads=1,seed=9"), std::vector<double>{9});
  const std::string both = s + "/heads=1,seed=4+" + s + "/heads=2,seed=9";
  EXPECT_EQ(arms_of(both, find_measure("loss")).at(0).values, (std::vector<double>{4, 18}));
  expect_error([&] { arms_of(s + "/heads=1+" + s + "/heads=2", find_measure("loss")); },
               {"two of its runs have seed 4"});
}

TEST_F(Arms, NameEachValueOfASettingThatDiffersAmongTheirRuns) {
  RunConfig config = tiny_config();
  std::string name;
  for (const Index steps : {1000, 100}) {  // one is the beginning of the other
    config.train.steps = steps;
    config.train.seed = steps;
    const fs::path run = folder_ / text("steps", steps);
    create_run(run, config);
    write_file(run / "cell.json",
               R"({"loss":1,"accuracy":0.5,"parameters":1,"keys":2,"roles":[]})");
    name += text(name.empty() ? "" : "+", run.string());
  }
  const Arm arm = arms_of(name, find_measure("loss")).at(0);
  const auto steps = std::ranges::find(arm.conditions, "steps", &ArmCondition::name);
  ASSERT_NE(steps, arm.conditions.end());
  EXPECT_EQ(steps->value, "100 and 1000");
}

TEST_F(Arms, NameSeedsThatAreNotFinished) {
  fs::remove(sweep_ / "heads=2,seed=9" / "cell.json");
  const Measure& loss = find_measure("loss");
  EXPECT_EQ(arms_of(sweep_.string(), loss).at(1).missing, std::vector<std::int64_t>{9});
  const std::vector<Arm> one = arms_of((sweep_ / "heads=2").string(), loss);
  EXPECT_EQ(one.at(0).missing, std::vector<std::int64_t>{9});
  const Result found = compare_arms(arms_of(sweep_.string(), loss));
  const Json::Array& notes = found.about.at("notes").items();
  ASSERT_EQ(notes.size(), 4u) << "what is missing, that both arms fail, and that seeds differ";
  EXPECT_TRUE(notes[1].string().ends_with("heads=2: seed 9 is not finished and is left out"));
}

TEST_F(Arms, CanBeModelsPrunedByAMethod) {
  for (const auto& [part, value] : {std::pair{"", 2.}, {":pruned", 3.}, {":from_scratch", 1.}})
    EXPECT_EQ(values(text("s/heads=2:greedy@1", part)), std::vector<double>(2, value));
}

TEST_F(Arms, HaveTheNumbersOfAnyMeasure) {
  const std::vector<double> quarter = {0.25, 0.25}, half = {0.5, 0.5};
  EXPECT_EQ(values("s/heads=1", "lift"), quarter);
  EXPECT_EQ(values("s/heads=1", "owned"), half);
  EXPECT_EQ(values("s/heads=2:greedy", "regret"), quarter);
  EXPECT_EQ(values("s/heads=2:greedy", "used"), std::vector<double>());
  EXPECT_EQ(values("s/heads=2:greedy", "needed"), std::vector<double>());
  EXPECT_EQ(arms_of(sweep_.string() + "/heads=2:greedy", find_measure("used")).at(0).without,
            (std::vector<std::int64_t>{4, 9}));
  expect_error([&] { values("s/heads=2", "regret"); }, {"s/heads=2", ":greedy"});
  expect_error([&] { values("s/heads=2:greedy@1", "lift"); }, {"it needs a trained run"});
  expect_error([&] { values("s/heads=2:greedy@1", "emergence_step"); },
               {"cannot compute emergence"});
  expect_error([&] { values("s/heads=2:greedy"); },
               {"without a number of heads: name it as greedy@4"});
  expect_error([&] { find_measure("lifts"); }, {"'lifts'", "'lift'"});
}

TEST_F(Arms, AreRefusedIfNoRunIsFound) {
  const auto refused = [&](const std::string& name, const std::vector<std::string>& parts) {
    expect_error([&] { values(name); }, parts);
  };
  refused("s/heads=3", {"no run found"});
  refused("nowhere", {"no run found"});
  refused("s/heads=1:greedy@1", {"cannot read the curve of"});
  refused("s/heads=2:greedi@1", {"'greedi'", "'greedy'"});
  refused("s/heads=2:greedy@2", {"of greedy with 2 heads"});
  refused("s/heads=2:greedy@1:tuned", {"'tuned'"});
  refused("s/heads=2:greedy@x", {"cannot read the arm"});
}

}  // namespace
}  // namespace headlab
