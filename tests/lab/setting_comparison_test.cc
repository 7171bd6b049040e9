// Conclusions of a sweep about settings other than the number of heads. Trials are runs that were
// never trained, with results written by hand; p of the sign-flip test is counted by hand.
#include <cmath>

#include "headlab/core/base/files.h"
#include "headlab/lab/runs/guards.h"
#include "headlab/lab/studies/sweep.h"
#include "support/runs.h"

namespace headlab { namespace {

/// Losses of the seeds of one value.
using Losses = std::vector<double>;

class SettingComparisons : public testing::Test {
 protected:
  /// Returns the report on values of a setting; further axes may follow.
  SweepReport collect(const std::string& setting,
                      const std::vector<std::pair<std::string, Losses>>& results) {
    std::vector<SweepAxis> grid = {{"task", {"relations:length=8,vocab=6,relations=1+3"}},
                                   {"d_model", {"12"}},
                                   {"heads", {"2"}},
                                   {setting, {}},
                                   {"seed", {}}};
    if (setting == "d_model") grid.erase(grid.begin() + 1);
    for (SweepAxis& axis : grid) {
      for (const auto& [value, losses] : results) {
        if (axis.name == setting) axis.values.push_back(value);
      }
    }
    for (std::size_t seed = 0; seed < results[0].second.size(); ++seed) {
      grid.back().values.push_back(std::to_string(seed));
    }
    const std::vector<SweepTrial> trials = sweep_trials(grid);
    std::size_t next = 0;
    for (const auto& [value, losses] : results) {
      for (const double loss : losses) write(trials[next++], loss);
    }
    return collect_sweep(folder_.path(), trials);
  }

  void write(const SweepTrial& trial, double loss) const {
    create_run(folder_ / trial.name, trial.config, Existing::replace);
    const Index parameters = trial.config.model.layers * 100;
    const char* at_guessing = is_at_guessing_ ? "true" : "false";
    write_file(folder_ / trial.name / "cell.json",
               text(R"({"loss":)", loss, R"(,"accuracy":1,"parameters":)", parameters,
                    R"(,"keys":1,"at_guessing":)", at_guessing, R"(,"roles":[]})"));
  }

  TemporaryFolder folder_;
  bool is_at_guessing_ = false;
};

/// Eight seeds of about this loss.
Losses seeds_of(double loss) {
  Losses all;
  for (int seed = 0; seed < 8; ++seed) all.push_back(loss * (1 + 0.01 * seed * seed));
  return all;
}

TEST_F(SettingComparisons, LowerLossInAllSeedsIsAConclusion) {
  const SweepReport report = collect("layers", {{"1", seeds_of(0.4)}, {"2", seeds_of(0.1)}});
  EXPECT_TRUE(report.comparisons.empty()) << "the number of heads does not vary";
  ASSERT_EQ(report.settings.size(), 1u);
  const SettingComparison& one = report.settings[0];
  EXPECT_EQ(one.setting, "layers");
  EXPECT_EQ(one.family, "heads=2");
  EXPECT_EQ(one.conclusion, "layers=2 has a lower loss than layers=1.");
  EXPECT_NEAR(std::exp(one.loss.difference.difference.mean), 4, 1e-9);
  EXPECT_NEAR(one.loss.test.corrected, 2.0 / 256, 1e-12) << "2 of 2^8 assignments of signs";
  EXPECT_FALSE(one.equal_parameters);
  for (const char* part :
       {"With layers=1 the loss is 4 times that with layers=2", "higher in 8 of 8 seeds",
        "p = 0.007812 after correction for 1 comparison",
        "The numbers of parameters differ: 200 in the best group and 100"}) {
    EXPECT_NE(one.reason.find(part), std::string::npos) << part << " in " << one.reason;
  }
}

TEST_F(SettingComparisons, ValuesWithoutADifferenceAreNamed) {
  Losses near = seeds_of(0.1);
  for (std::size_t i = 0; i < near.size(); ++i) near[i] *= i % 2 == 0 ? 0.98 : 1.03;
  const SweepReport report =
      collect("norm", {{"layer", seeds_of(0.1)}, {"rms", near}, {"none", seeds_of(0.9)}});
  ASSERT_EQ(report.settings.size(), 1u);
  EXPECT_EQ(report.settings[0].conclusion,
            "norm=layer has a lower loss than norm=none; no difference from norm=rms is shown.");
  EXPECT_TRUE(report.settings[0].equal_parameters);
  const Table table = result_of(report).table("settings");
  EXPECT_EQ(table.cells("best").at(0).string(), "heads=2,norm=layer");
}

TEST_F(SettingComparisons, FewSeedsDecideNothing) {
  const SweepReport report = collect("layers", {{"1", {0.4, 0.5, 0.6}}, {"2", {0.1, 0.1, 0.2}}});
  const SettingComparison& one = report.settings.at(0);
  EXPECT_EQ(one.conclusion, "layers: the best value is not decided by 3 seeds; the test needs 6.");
  EXPECT_EQ(one.guard, kSeedsGuard);
  EXPECT_NE(one.reason.find("p cannot fall below 0.25 in 1 comparison."), std::string::npos)
      << one.reason;
}

TEST_F(SettingComparisons, ModelsAtGuessingAreNotCompared) {
  is_at_guessing_ = true;
  const SweepReport report = collect("layers", {{"1", seeds_of(0.4)}, {"2", seeds_of(0.1)}});
  EXPECT_EQ(report.settings.at(0).conclusion, "Train longer: no value of layers beats guessing.");
  EXPECT_EQ(report.settings[0].guard, kGuessingGuard);
}

TEST_F(SettingComparisons, SeveralFamiliesShareACorrection) {
  std::vector<SweepAxis> grid = {{"task", {"relations:length=8,vocab=6,relations=1+3"}},
                                 {"d_model", {"12"}},
                                 {"heads", {"2", "3"}},
                                 {"layers", {"1", "2"}},
                                 {"seed", {"0", "1", "2", "3", "4", "5", "6", "7"}}};
  const std::vector<SweepTrial> trials = sweep_trials(grid);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const double loss = trials[i].config.model.layers == 1 ? 0.4 : 0.1;
    write(trials[i], loss * (1 + 0.01 * double(i % 8)));
  }
  const SweepReport report = collect_sweep(folder_.path(), trials);
  ASSERT_EQ(report.settings.size(), 2u);
  EXPECT_EQ(report.settings[1].family, "heads=3");
  EXPECT_NEAR(report.settings[0].loss.test.corrected, 2 * 2.0 / 256, 1e-12);
}

}}  // namespace headlab
