// Reports of sweeps whose trials have known results: means, intervals, comparisons, and what is
// missing. The trials are runs that were never trained, with a cell.json written by hand.
#include "headlab/lab/studies/sweep.h"

#include <cmath>
#include <iostream>

#include "headlab/core/base/files.h"
#include "headlab/core/base/random.h"
#include "headlab/core/tasks/table.h"
#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/studies/compare.h"
#include "support/runs.h"

namespace headlab { namespace {

/// The result that a trial reports.
struct Reached {
  double loss = 0, accuracy = 0;
  Index head = 0;  // of the one relation; -1: none
};

class Sweep : public testing::Test {
 protected:
  /// Trials of heads x seeds 0 ... N - 1 with the results of each.
  SweepReport collect(const std::vector<std::pair<std::string, std::vector<Reached>>>& results) {
    std::vector<SweepAxis> grid = {{"task", {"relations:length=8,vocab=6,relations=1+3"}},
                                   {"d_model", {"12"}},
                                   {"heads", {}},
                                   {"seed", {}}};
    for (const auto& [heads, reached] : results) grid[2].values.push_back(heads);
    for (std::size_t seed = 0; seed < results[0].second.size(); ++seed)
      grid[3].values.push_back(std::to_string(seed));
    trials_ = sweep_trials(grid);
    std::size_t next = 0;
    for (const auto& [heads, reached] : results)
      for (const Reached& one : reached) write(trials_[next++], one);
    return collect_sweep(folder_.path(), trials_);
  }

  void write(const SweepTrial& trial, const Reached& reached) const {
    create_run(folder_ / trial.name, trial.config, Existing::replace);
    const std::string role = reached.head < 0
                                 ? R"(null,"lift":null,"owned":false)"
                                 : text("[0,", reached.head, R"(],"lift":)",
                                        reached.head == 1 ? "0.5" : "1", R"(,"owned":true)");
    write_file(folder_ / trial.name / "cell.json",
               text(R"({"loss":)", reached.loss, R"(,"accuracy":)", reached.accuracy,
                    R"(,"parameters":)", 100 + trial.config.model.heads[0] / 4, R"(,"keys":)",
                    relations_at_once_, R"(,"keys_read":)", keys_read_,
                    R"(,"targets":1000,"roles":[{"relation":"a","head":)", role,
                    R"(},{"relation":"b","head":null,"lift":null,"owned":false}]})"));
  }

  TemporaryFolder folder_;
  std::vector<SweepTrial> trials_;
  Index relations_at_once_ = 2, keys_read_ = 3;
};

TEST_F(Sweep, ReportsGeometricMeansWithTheirInterval) {
  const SweepReport report = collect({{"2", {{1, 0.5}, {2, 0.5}, {4, 0.8}}}});
  ASSERT_TRUE(report.groups.size() == 1 && report.comparisons.empty());
  const SweepGroup& group = report.groups[0];
  EXPECT_EQ(group.name, "heads=2");
  EXPECT_EQ(group.seeds, (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_DOUBLE_EQ(group.loss.mean, 2);
  // t(.975) for 2 degrees
  EXPECT_NEAR(std::log(group.loss.high / group.loss.low),
              2 * 4.30265 * std::log(2.0) / std::sqrt(3.0), 1e-4);
  EXPECT_DOUBLE_EQ(group.accuracy.mean, 0.6);
  EXPECT_TRUE(group.accuracy.low > 0 && group.accuracy.high < 1);
}

TEST_F(Sweep, RefusesACellWithFewerRolesThanTheFirst) {
  collect({{"2", {{1, 0.5}, {2, 0.5}}}});
  const std::filesystem::path file = folder_ / trials_[1].name / "cell.json";
  Json trial = Json::parse(read_file(file));
  trial["roles"].items().pop_back();
  write_file(file, trial.dump());
  expect_error([&] { collect_sweep(folder_.path(), trials_); }, {"different relations", "seed=1"});
}

TEST_F(Sweep, AlignsHeadsByRelation) {
  const SweepReport report = collect({{"2", {{1, 1, 1}, {1, 1, 0}, {1, 1, -1}}}});
  const SweepRoles& roles = report.groups[0].roles.at(0);
  EXPECT_EQ(roles.relation, "a");
  EXPECT_EQ(roles.heads,
            (std::vector<std::optional<HeadId>>{HeadId{0, 1}, HeadId{0, 0}, std::nullopt}));
  EXPECT_EQ(roles.owned, 2);
  EXPECT_DOUBLE_EQ(roles.lift.mean, 0.75);
  EXPECT_EQ(roles.lift.high, 1) << "no lift is above 1";
  EXPECT_NEAR(report.groups[0].specialization.mean, 1.0 / 3, 1e-12);  // 1/2, 1/2, 0 of relations
}

/// As many seeds of about this loss and accuracy.
std::vector<Reached> seeds_of(double loss, double accuracy, int count = 8) {
  std::vector<Reached> all;
  for (int seed = 0; seed < count; ++seed) all.push_back({loss * (1 + 0.1 * seed), accuracy});
  return all;
}

/// The text of a report on its only comparison.
std::string conclusion_in(const SweepReport& report) {
  return result_of(report).table("comparisons").cells("verdict").at(0).string();
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(Sweep, SaysThatSeveralHeadsWinWhereTheyDo) {
  std::vector<Reached> two = seeds_of(0.01, 1), four = seeds_of(0.009, 1);
  std::swap(four[0].loss, four[4].loss);
  const SweepReport report = collect({{"1", seeds_of(0.9, 0.7)}, {"2", two}, {"4", four}});
  ASSERT_EQ(report.comparisons.size(), 1u);
  const SweepComparison& comparison = report.comparisons[0];
  EXPECT_TRUE(comparison.several_win);
  EXPECT_EQ(report.groups[comparison.one].name, "heads=1");
  EXPECT_EQ(report.groups[comparison.best].name, "heads=4");
  EXPECT_EQ(report.groups.at(comparison.enough.value()).name, "heads=2");
  EXPECT_NEAR(comparison.accuracy_gain, 0.3, 1e-12);
  EXPECT_NEAR(std::exp(comparison.loss.difference.difference.mean), 100, 1e-9);
  EXPECT_EQ(comparison.loss.test.p, 2 / 256.0) << "two-sided";
  EXPECT_EQ(comparison.loss.test.corrected, 2 * 2 / 256.0) << "two groups have fewer heads";
  EXPECT_FALSE(comparison.equal_parameters);
  EXPECT_EQ(conclusion_in(report), "2 heads are enough.");
  EXPECT_EQ(
      comparison.reason,
      "With 1 head 8 of 8 seeds fail, with 4 heads 0; the loss is higher in 8 of 8. p = "
      "0.01562 after correction for 2 comparisons. A query of this task must attend to up to 3 "
      "keys at once, for 2 relations. The numbers of parameters differ.");
  EXPECT_EQ(comparison.guard, "");
}

TEST_F(Sweep, IsInconclusiveIfTheSeedsDoNotDecide) {
  for (const int seeds : {1, 3, 4, 5}) {  // 5 reach 1/16
    const SweepReport report =
        collect({{"1", seeds_of(0.9, 0.7, seeds)}, {"2", seeds_of(0.01, 1, seeds)}});
    EXPECT_FALSE(report.comparisons.at(0).several_win);
    EXPECT_FALSE(report.comparisons[0].enough);
    EXPECT_EQ(conclusion_in(report), text("How many heads are enough is not decided by ", seeds,
                                          seeds == 1 ? " seed" : " seeds", "; the test needs 6."));
    EXPECT_EQ(report.comparisons[0].guard, "seeds");
  }
}

TEST_F(Sweep, SaysThatTheBestIsEnoughWhereAllWithFewerAreWorse) {
  const SweepReport report =
      collect({{"1", seeds_of(0.9, 0.7)}, {"2", seeds_of(0.5, 0.8)}, {"4", seeds_of(0.01, 0.99)}});
  EXPECT_EQ(report.comparisons.at(0).enough, report.comparisons[0].best);
  EXPECT_EQ(conclusion_in(report), "Loss falls up to 4 heads, the most that were tried.");
}

TEST_F(Sweep, SaysThatSeveralHeadsGainNothingWhereAccuracyIsTheSame) {
  const SweepReport report = collect({{"1", seeds_of(0.008, 1)}, {"2", seeds_of(0.004, 1)}});
  EXPECT_FALSE(report.comparisons.at(0).several_win);
  EXPECT_TRUE(report.comparisons[0].one_is_equal);
  EXPECT_TRUE(report.comparisons[0].equal_parameters);
  EXPECT_EQ(conclusion_in(report), "One head is enough.");
  const SweepReport first = collect({{"1", seeds_of(0.004, 1)}, {"2", seeds_of(0.008, 1)}});
  EXPECT_EQ(conclusion_in(first), "One head has the lowest loss.");
  EXPECT_EQ(first.comparisons.at(0).loss.difference.difference.mean, 0)
      << "one head, compared with itself";
}

// One key at once is no reason why several heads would win, and many keys of one relation are not
// either: one head reads them all.
TEST_F(Sweep, GivesAReasonOnlyWhereItIsTrue) {
  const auto reason = [&](Index relations, Index keys, double loss, double accuracy) {
    relations_at_once_ = relations;
    keys_read_ = keys;
    return collect({{"1", seeds_of(loss, accuracy)}, {"2", seeds_of(0.01, 1)}})
        .comparisons.at(0)
        .reason;
  };
  EXPECT_FALSE(holds(reason(1, 1, 0.9, 0.7), "A query")) << reason(1, 1, 0.9, 0.7);
  EXPECT_FALSE(holds(reason(1, 5, 0.9, 0.7), "A query")) << reason(1, 5, 0.9, 0.7);
  EXPECT_TRUE(holds(reason(4, 4, 0.9, 0.7), "A query of this task must attend to up to 4 keys"));
  EXPECT_TRUE(
      holds(reason(1, 1, 0.02, 1), "A query of this task must attend to at most 1 key at once."));
  EXPECT_FALSE(holds(reason(4, 4, 0.02, 1), "A query"));
}

TEST(ReadAtOnce, CountsKeysAndNotSets) {
  const ReadAtOnce equal = read_at_once(*make_task("histogram"));
  EXPECT_EQ(equal.relations, 1);
  EXPECT_GT(equal.keys, 1) << "a query reads all tokens that are equal to it";
  const ReadAtOnce mirror = read_at_once(*make_task("reverse"));
  EXPECT_EQ(mirror.relations, 1);
  EXPECT_EQ(mirror.keys, 1);
  EXPECT_EQ(read_at_once(*make_task("relations")).relations, 4);
}

// A p below .05 is next to an interval of the ratio without 1, and the reverse.
TEST_F(Sweep, HasNoIntervalThatContradictsItsP) {
  Generator random(Key{}.fold("one rule"));
  for (int trial = 0; trial < 20; ++trial) {
    const auto seeds = [&](double shift) {
      std::vector<Reached> reached;
      for (int seed = 0; seed < 8; ++seed)
        reached.push_back({std::exp(shift + std::exp(random.normal())), 1});
      return reached;
    };
    const SweepReport report = collect({{"1", seeds(1)}, {"2", seeds(0)}});
    const Compared& loss = report.comparisons.at(0).loss;
    if (report.comparisons[0].best == report.comparisons[0].one) continue;
    const Interval& logs = loss.difference.difference;
    EXPECT_EQ(loss.test.p<0.05, logs.low> 0 || logs.high < 0) << loss.test.p;
  }
}

/// If fewer heads are as bad as the margin, or as good as the best, conclusions are seldom wrong.
TEST_F(Sweep, FalseConclusionsAreRare) {
  Generator random(Key{}.fold("verdicts of sweeps"));
  int win = 0, enough = 0;
  constexpr int kTrials = 20;
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto seeds = [&](double accuracy) {
      std::vector<Reached> reached;
      for (int seed = 0; seed < 8; ++seed)
        reached.push_back({std::exp(random.normal()), accuracy + 0.002 * random.normal()});
      return reached;
    };
    // Losses are alike, so that several heads win by chance alone; in accuracy one head lies below
    // by what counts, so that it is not enough.
    const SweepReport report = collect({{"1", seeds(0.9)}, {"2", seeds(0.9 + kGain)}});
    const SweepComparison& found = report.comparisons.at(0);
    win += found.several_win;
    enough +=
        found.enough && report.groups[*found.enough].name == "heads=1" && found.best != found.one;
  }
  std::cout << "  several win: " << win << ", enough: " << enough << " of " << kTrials << "\n";
  EXPECT_LE(win, 3) << "5 of 100, and two standard errors";
  EXPECT_LE(enough, 3);
}

TEST_F(Sweep, ComparesTheSeedsThatAllGroupsHave) {
  collect({{"1", seeds_of(0.9, 0.7, 6)}, {"2", seeds_of(0.01, 1, 6)}});
  fs::remove(folder_ / "heads=2,seed=3" / "cell.json");
  const SweepReport report = collect_sweep(folder_.path(), trials_);
  EXPECT_EQ(report.comparisons.at(0).loss.seeds(), 5);
  EXPECT_NEAR(std::exp(report.comparisons[0].loss.difference.difference.mean), 90, 1e-9)
      << "pairs of a seed";
}

TEST_F(Sweep, ComparesNothingButOneHeadWithMore) {
  EXPECT_TRUE(collect({{"1", {{1, 1}, {2, 1}}}}).comparisons.empty());
}

TEST_F(Sweep, ComparesTheFewestHeadsIfOneWasNotTried) {
  const SweepReport report = collect({{"2", seeds_of(0.9, 0.7)}, {"4", seeds_of(0.01, 1)}});
  ASSERT_EQ(report.comparisons.size(), 1u);
  EXPECT_TRUE(report.comparisons[0].several_win);
  EXPECT_EQ(conclusion_in(report), "Loss falls up to 4 heads, the most that were tried.");
}

/// Six seeds of two groups: the sweep and `compare` have one comparison each.
TEST_F(Sweep, DecidesWhatCompareDecides) {
  const SweepReport report = collect({{"1", seeds_of(0.9, 1, 6)}, {"4", seeds_of(0.3, 1, 6)}});
  EXPECT_EQ(report.comparisons.at(0).loss.test.corrected, 1 / 32.0);
  const Arm one{"a", report.groups[0].seeds, report.groups[0].losses};
  const Arm four{"b", report.groups[1].seeds, report.groups[1].losses};
  const Result found = compare_arms(std::vector<Arm>{four, one});
  EXPECT_EQ(found.table("comparisons").cells("p_holm").at(0).number(), 1 / 32.0);
}

TEST_F(Sweep, ConcludesNothingIfTheModelsAreAtGuessing) {
  collect({{"1", seeds_of(0.9, 0.3)}, {"4", seeds_of(0.89, 0.3)}});
  for (const SweepTrial& trial : trials_) {
    Json json = read_json(folder_ / trial.name / "cell.json");
    json["at_guessing"] = true;
    write_json(folder_ / trial.name / "cell.json", json);
  }
  const SweepComparison found = collect_sweep(folder_.path(), trials_).comparisons.at(0);
  EXPECT_EQ(found.conclusion, "Train longer: no number of heads beats guessing.");
  EXPECT_EQ(found.guard, "guessing");
  EXPECT_FALSE(found.enough || found.several_win || found.one_is_equal);
}

/// One seed in ten fails: its group is never as accurate as the other.
TEST_F(Sweep, CallsNoGroupEnoughThatFails) {
  std::vector<Reached> one = seeds_of(0.011, 1, 10);
  one[3] = {2, 0.4};
  const SweepReport report = collect({{"1", one}, {"4", seeds_of(0.01, 1, 10)}});
  const SweepComparison& found = report.comparisons.at(0);
  EXPECT_EQ(report.groups[0].failed, (std::vector<std::int64_t>{3}));
  EXPECT_FALSE(found.one_is_equal);
  EXPECT_TRUE(holds(found.reason,
                    "With 1 head 1 of 10 seeds fail, with 4 heads 0; the loss is "
                    "higher in 10 of 10; where both succeed, 1.1 times"))
      << found.reason;
}

TEST_F(Sweep, SaysHowLittleItsSeedsCanTell) {
  const auto note = [&](std::size_t seeds) {
    const std::vector<Reached> one(seeds, {2, 0.5, 0}), four(seeds, {1, 0.5, 0});
    return result_of(collect({{"1", one}, {"4", four}})).table("comparisons").note;
  };
  EXPECT_TRUE(holds(note(3), "3 seeds reach p 0.25 at best")) << note(3);
  EXPECT_TRUE(holds(note(1), "1 seed reaches p 1 at best")) << note(1);
}

TEST_F(Sweep, NamesMissingTrials) {
  collect({{"1", {{1, 1}, {1, 1}}}, {"2", {{1, 1}, {1, 1}}}});
  fs::remove(folder_ / "heads=1,seed=1" / "cell.json");
  fs::remove_all(folder_ / "heads=2,seed=0");
  fs::remove_all(folder_ / "heads=2,seed=1");
  const SweepReport report = collect_sweep(folder_.path(), trials_);
  EXPECT_EQ(report.missing,
            (std::vector<std::string>{"heads=1,seed=1", "heads=2,seed=0", "heads=2,seed=1"}));
  ASSERT_EQ(report.groups.size(), 1u);
  EXPECT_TRUE(std::isnan(report.groups[0].loss.low)) << "one seed has no interval";
  EXPECT_EQ(report.trials, 4u);
}

TEST_F(Sweep, IsWholeAsJson) {
  const SweepReport report = collect({{"1", {{1, 1}, {1, 1, -1}}}, {"2", {{1, 1}, {1, 1}}}});
  const Json json = Json::parse(to_json(result_of(report)).dump());
  const Json& group = json.at("groups").items().at(0);
  EXPECT_EQ(group.at("model").at("heads").integer(), 1);
  EXPECT_EQ(group.at("relations").items().at(0).at("heads").dump(), "[[0,0],null]");
  EXPECT_EQ(group.at("losses").dump(), "[1,1]");
  EXPECT_EQ(json.at("comparisons").items().at(0).at("keys_at_once").integer(), 3);
  EXPECT_EQ(json.at("comparisons").items().at(0).at("relations_at_once").integer(), 2);
  EXPECT_EQ(json.at("missing").items().size(), 0u);
  const Result found = result_of(report);
  EXPECT_EQ(Json(found.table("results").cells("seed")).dump(), "[0,1,0,1]");
  EXPECT_EQ(Json(found.table("results").cells("loss")).dump(), "[1,1,1,1]");
  EXPECT_EQ(found.table("groups").rows.size(), 2u);
  EXPECT_EQ(found.table("roles").rows.size(), 4u);
}

TEST_F(Sweep, HasTheDiversityOfHeadsOverSeeds) {
  collect({{"2", {{1, 1}, {1, 1}, {1, 1}}}});
  const double values[] = {.2, .3, .7};
  for (std::size_t i = 0; i < 3; ++i) {
    const fs::path file = folder_ / trials_[i].name / "cell.json";
    Json trial = read_json(file);
    trial["diversity"] = values[i];
    write_json(file, trial);
  }
  const SweepReport whole = collect_sweep(folder_.path(), trials_);
  const SweepGroup& group = whole.groups.at(0);
  EXPECT_EQ(group.diversities, (std::vector<double>{.2, .3, .7}));
  EXPECT_DOUBLE_EQ(group.diversity.mean, .4);
  // The half width 4.30265 sqrt(.07 / 3) = .657, from t(.975) for 2 degrees of freedom, is cut to
  // the range of distances: 0 to sqrt(ln 2).
  EXPECT_DOUBLE_EQ(group.diversity.low, 0);
  EXPECT_NEAR(group.diversity.high, std::sqrt(std::log(2.0)), 1e-12);
  EXPECT_EQ(to_json(group).at("diversities").dump(), "[0.2,0.3,0.7]");
}

TEST_F(Sweep, ReadsCellsThatDoNotSayHowDiverseTheyAre) {
  const SweepReport report = collect({{"2", {{1, 1}, {1, 1}}}});
  EXPECT_TRUE(std::isnan(report.groups.at(0).diversity.mean));
  EXPECT_TRUE(to_json(report.groups[0]).at("diversities").items()[0].is_null());
}

}  // namespace
}  // namespace headlab
