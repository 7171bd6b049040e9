// Two arms with the same seeds, compared seed by seed: losses by their ratio, on logarithms. Chance
// is judged by flipping signs in every way, which holds for any number of seeds and however skewed
// losses are; Student's t is only behind the intervals. Read next: src/lab/results/comparison.cc;
// lab/compare.h.
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
/// How often chance does as well if the mean difference were `margin` or more: two one-sided tests.
double equal_p(std::span<const double> differences, double margin);
/// The p of each test where all are asked at once (Holm 1979); NaN where it was NaN.
std::vector<double> holm(const std::vector<double>& p);

/// Two arms, seed by seed.
struct Paired {
  Interval difference{};
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
/// sign_flip_p of the losses of arm `one` above those of any other: by the largest ratio.
double p_of_worse(std::span<const std::vector<double>> arms, std::size_t one);
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
