// The rate of wrong conclusions of a sweep: trials with made-up losses and accuracies, of
// which the truth is known. A few experiments by default; the number in examples/RESULTS.md is of
//   HEADLAB_SEEDS=200 build/test_lab --gtest_filter='Calibration.*'
#include <cmath>
#include <cstdlib>
#include <iostream>

#include "headlab/core/base/random.h"
#include "headlab/lab/results/statistics.h"
#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/studies/sweep.h"
#include "support/runs.h"

namespace headlab { namespace {

/// Returns the number of experiments: HEADLAB_SEEDS, or a few if it is not set.
Index experiments() {
  const char* given = std::getenv("HEADLAB_SEEDS");
  return given != nullptr ? std::atoi(given) : 20;
}

/// The truth about the trials of one number of heads.
struct TrueGroup {
  double loss = 1;  // times the skewed loss that all groups draw from
  double accuracy = 0.9;
};

/// A sweep of two tasks, three numbers of heads and ten seeds, whose trials are never trained.
class MadeSweep {
 public:
  MadeSweep() {
    std::vector<std::string> seeds;
    for (int seed = 0; seed < 10; ++seed) seeds.push_back(std::to_string(seed));
    trials_ = sweep_trials(
        {{"task",
          {"relations:length=8,vocab=6,relations=1+3", "relations:length=8,vocab=6,relations=1+2"}},
         {"d_model", {"12"}},
         {"heads", {"1", "2", "4"}},
         {"seed", seeds}});
    for (const SweepTrial& trial : trials_) {
      create_run(folder_ / trial.name, trial.config, Existing::replace);
    }
  }

  /// Returns the report on new draws from the truth, which both tasks share.
  SweepReport draw(const std::array<TrueGroup, 3>& truth, Generator& random) const {
    for (const SweepTrial& trial : trials_) {
      const TrueGroup& group = truth[group_of(trial)];
      const double skewed = std::exp(random.normal()) + 0.3 * random.normal();
      const TrialResult result{.loss = group.loss * std::exp(skewed),
                               .accuracy = group.accuracy + 0.002 * random.normal(),
                               .parameters = 100,
                               .keys = 2,
                               .roles = {},
                               .keys_read = 2,
                               .targets = 1000};
      write_json(folder_ / trial.name / "cell.json", to_json(result));
    }
    return collect_sweep(folder_.path(), trials_);
  }

 private:
  /// Returns 0, 1 or 2 for 1, 2 or 4 heads.
  static std::size_t group_of(const SweepTrial& trial) {
    return static_cast<std::size_t>(trial.config.model.heads_of(0) / 2);
  }

  TemporaryFolder folder_;
  std::vector<SweepTrial> trials_;
};

/// Expects that the 95% interval of Wilson of the share of wrong tables begins at 5% or below.
void expect_seldom(const std::vector<double>& wrong, const char* truth) {
  const Interval share = share_interval(wrong);
  std::cout << "  " << truth << ": a false claim in " << share.mean << " (" << share.low << " to "
            << share.high << ") of " << wrong.size() << " tables\n";
  EXPECT_LE(share.low, 0.05) << truth;
}

// Losses are alike and each number of heads is more accurate than the one before by the margin: no
// group beats another, and none with fewer heads than the best is as accurate.
TEST(Calibration, SweepOfEqualLossesSeldomMakesAFalseClaim) {
  const MadeSweep sweep;
  Generator random(Key{}.fold("sweeps of equal losses"));
  std::vector<double> wrong;
  for (Index i = 0; i < experiments(); ++i) {
    const SweepReport report =
        sweep.draw({{{1, 0.9}, {1, 0.9 + kGain}, {1, 0.9 + 2 * kGain}}}, random);
    wrong.push_back(std::ranges::any_of(report.comparisons, [](const SweepComparison& one) {
      return one.several_win || one.one_is_equal || one.enough;
    }));
  }
  expect_seldom(wrong, "equal losses, accuracies apart by the margin");
}

// One head is far worse, so that several win. Two and four have the same loss, and two are less
// accurate by the margin: if four heads are the best, neither number of heads may be called enough.
TEST(Calibration, SweepWithOneWorseGroupSeldomMakesAFalseClaim) {
  const MadeSweep sweep;
  Generator random(Key{}.fold("sweeps with one worse group"));
  std::vector<double> wrong;
  Index found = 0;
  for (Index i = 0; i < experiments(); ++i) {
    const SweepReport report = sweep.draw({{{1000, 0.7}, {1, 0.9}, {1, 0.9 + kGain}}}, random);
    wrong.push_back(std::ranges::any_of(report.comparisons, [&](const SweepComparison& one) {
      const bool four_are_best = report.groups[one.best].config.model.heads_of(0) == 4;
      return one.one_is_equal || (four_are_best && one.enough);
    }));
    found += std::ranges::all_of(report.comparisons, &SweepComparison::several_win);
  }
  expect_seldom(wrong, "one head far worse, two less accurate by the margin");
  EXPECT_GE(10 * found, 9 * experiments()) << "a loss of 1,000 times is found";
}

}  // namespace
}  // namespace headlab
