// Two arms with the same seeds, compared seed by seed: losses by their ratio, on logarithms. One
// test decides everywhere: signs are flipped in every way, which is exact for any number of seeds
// if the arms are interchangeable within a seed. Intervals invert this test, so that no interval
// contradicts its p. Read next: src/lab/results/comparison.cc; lab/compare.h.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "headlab/base/statistics.h"
#include "headlab/base/table.h"

namespace headlab {

/// How often chance does as well. The signs of all differences of a seed are flipped together, in
/// every way that there is (of more than 14 seeds in 2^14 drawn ones), and the largest mean / root
/// mean square over `rows` is compared with the one found: its size, or its value where only
/// differences `above` 0 count. One row is the exact test of its mean; several, one for each other
/// arm, are judged by their maximum, so that one may look for the best of them first. NaN where a
/// difference is not finite.
double sign_flip_p(std::span<const std::vector<double>> rows, bool above = false);
/// The least p that `seeds` differences reach: 2^(1 - seeds), or where flips are drawn 2^-14.
double least_p(std::size_t seeds);
/// The fewest seeds with which `comparisons` tests, corrected by Holm, can all reach p < 0.05: 6
/// for one, 8 for five.
std::size_t seeds_for(std::size_t comparisons);
/// The 95% interval of the mean difference that inverts sign_flip_p: the shifts m with p >= 0.05
/// for the differences less m. It holds 0 exactly if p >= 0.05. Fewer than 6 differences reach no p
/// below 0.05 and have no interval: the ends are then the least and the largest difference. NaN as
/// in Interval.
Interval sign_flip_interval(std::span<const double> differences);
/// The two-sided p of arm `one` against arm `other`, where `other` may have been picked from all
/// arms because it is the best: flips are judged by the largest of the differences from all other
/// arms. At least as large as the p of the pair alone. `arms`: losses by seed, compared on
/// logarithms.
double p_of_picked(std::span<const std::vector<double>> arms, std::size_t one, std::size_t other);
/// One line about what can be shown with so many seeds, before they are computed: "10 seeds: ..."
std::string seeds_plan(std::size_t seeds, std::size_t comparisons);
/// How often chance does as well if the mean difference were `margin` or more: two one-sided tests.
double equal_p(std::span<const double> differences, double margin);
/// The p of each test where all are asked at once (Holm 1979); NaN where it was NaN.
std::vector<double> holm(const std::vector<double>& p);

/// Two arms, seed by seed.
struct Paired {
  Interval difference{};             // sign_flip_interval
  std::int64_t seeds = 0, wins = 0;  // wins: seeds in which the difference is below 0
  double effect = 0;                 // mean / standard deviation; NaN for a single seed
  double p = 1;                      // sign_flip_p
  double holm = 1;                   // among all that were asked with it; whoever asks sets it

  /// Whether chance alone does as well in less than 5 of 100 cases.
  bool told_apart() const { return holm < 0.05; }
  /// Whether there is no difference at all, in any seed.
  bool is_same() const { return difference.mean == 0 && std::isnan(effect); }
};
Paired paired(std::span<const double> differences);
/// log(a / b), seed by seed, as geometric_interval takes logarithms.
std::vector<double> log_ratios(std::span<const double> a, std::span<const double> b);
/// Sets `holm` of all.
void correct(std::span<Paired* const> asked);
/// The fewest seeds with which a difference of this effect is told apart in 8 of 10 cases, where
/// p must be below `alpha`; 0 where there is no effect that any number could tell.
std::int64_t seeds_to_tell(double effect, double alpha = 0.05);

/// The ratio of two arms whose logarithms were compared, and what chance says of it.
Json to_json(const Paired& logs);
/// The columns of such pairs at `key`, beside a ratio called `title`.
std::vector<Column> ratio_columns(const std::string& key, const std::string& title);
/// What p means with so many seeds.
std::string chance_text(std::int64_t seeds);

}  // namespace headlab
