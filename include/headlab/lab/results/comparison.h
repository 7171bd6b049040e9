// Comparison of two arms with the same seeds, seed by seed: losses by the logarithm of their ratio.
// One test is used everywhere, the sign-flip test, which is exact for any number of seeds if the
// arms are interchangeable within a seed. Intervals invert this test, so that no interval
// contradicts its p. Read next: src/lab/results/comparison.cc; lab/results/arms.h.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "headlab/lab/results/statistics.h"

namespace headlab {

/// Returns the p-value of the sign-flip test. The signs of all differences of a seed are flipped
/// together, in every possible way (in 2^14 random ways for more than 14 seeds). The largest mean /
/// root mean square over `rows` is compared with the observed one: by size, or by value if `above`
/// is true and only differences above 0 count. One row gives the exact test of its mean. Several
/// rows, one for each other arm, are tested by their maximum, which allows for choosing the best
/// arm first. NaN if a difference is not finite.
double sign_flip_p(std::span<const std::vector<double>> rows, bool above = false);
/// Returns the two-sided p of the sign test, which counts seeds above and below 0 and leaves out
/// those without a difference: 1 if there is none.
double sign_test_p(std::span<const double> differences);
/// Returns the smallest p that `seeds` differences can reach: 2^(1 - seeds), or 2^-14 if flips are
/// random.
double least_p(std::size_t seeds);
/// Returns the smallest number of seeds with which `comparisons` tests, corrected by Holm, can all
/// reach p < 0.05: 6 for one, 8 for five.
std::size_t seeds_for(std::size_t comparisons);
/// Returns the 95% interval of the mean difference that inverts sign_flip_p: the shifts m with p >=
/// 0.05 for the differences minus m. It contains 0 exactly if p >= 0.05. Fewer than 6 differences
/// cannot reach p < 0.05 and have no interval: the ends are then the smallest and the largest
/// difference. NaN as in Interval.
Interval sign_flip_interval(std::span<const double> differences);
/// Numbers that a test over seeds compares: the differences, or, if seeds fail, their signs alone.
enum class Statistic { means, signs };
/// Returns the two-sided p of arm `one` against arm `other`, where `other` may have been selected
/// as the best of all arms: flips are compared by the largest of the differences from all other
/// arms. It is at least the p of the pair alone. `arms`: losses by seed, compared on logarithms.
double p_of_picked(std::span<const std::vector<double>> arms, std::size_t one, std::size_t other,
                   Statistic statistic = Statistic::means);
/// Returns one line that states what this number of seeds can show, before the results are
/// computed: "10 seeds: ..."
std::string seeds_plan(std::size_t seeds, std::size_t comparisons);
/// Returns the p-value of the equivalence test, whose null hypothesis is a mean difference of
/// `margin` or more: two one-sided tests.
double equal_p(std::span<const double> differences, double margin);
/// Returns the corrected p of each of several tests (Holm 1979); NaN if it was NaN. `most_true`:
/// the largest number of null hypotheses that can be true at the same time, if they exclude each
/// other; no p is multiplied by more than that (Shaffer 1986).
std::vector<double> holm(const std::vector<double>& p, std::size_t most_true = SIZE_MAX);

/// A p-value, and the same after the correction over all tests of a report.
struct Test {
  double p = std::nan("");
  double corrected = std::nan("");

  /// Returns whether the null hypothesis is rejected at the 5% level.
  bool is_significant() const { return corrected < 0.05; }
};
/// Sets `corrected` of all tests (Holm 1979). `most_true`: as in holm().
void correct(std::span<Test* const> tests, std::size_t most_true = SIZE_MAX);

/// Difference of two arms, seed by seed.
struct Paired {
  Interval difference{};             // sign_flip_interval
  std::int64_t seeds = 0, wins = 0;  // wins: seeds in which the difference is below 0
  double effect = 0;                 // mean / standard deviation; NaN for a single seed

  /// Returns whether there is no difference at all, in any seed.
  bool is_same() const { return difference.mean == 0 && std::isnan(effect); }
};
Paired paired(std::span<const double> differences);
/// Returns log(a / b) seed by seed, with the logarithms of geometric_interval.
std::vector<double> log_ratios(std::span<const double> a, std::span<const double> b);
/// Returns the smallest number of seeds with which a difference of this effect size is significant,
/// p below `alpha`, in 8 of 10 cases; 0 if there is no effect to detect. The power of the sign-flip
/// test is computed for normal differences, by draws for up to 10 seeds.
std::int64_t seeds_to_tell(double effect, double alpha = 0.05);

/// Returns a sentence that explains p for this number of seeds.
std::string chance_text(std::int64_t seeds);

}  // namespace headlab
