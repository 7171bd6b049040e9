// Sign-flip tests. All flips are enumerated for few seeds: 14 seeds have 16,384, which takes
// milliseconds. Random flips are the same each time.
// Read next: include/headlab/lab/results/comparison.h.
#include "headlab/lab/results/comparison.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>

#include "headlab/core/base/error.h"
#include "headlab/core/base/random.h"
#include "headlab/core/base/text.h"

namespace headlab {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kExactSeeds = 14;

}  // namespace

double least_p(std::size_t seeds) {
  return std::ldexp(1.0, seeds > kExactSeeds ? -int{kExactSeeds} : 1 - static_cast<int>(seeds));
}

namespace {

/// Returns all sign flips of seeds except the identity: every other one for up to 14 seeds,
/// otherwise as many random ones, the same each time.
template <class Use>
void for_flips(std::size_t seeds, const Use& use) {
  const bool exact = seeds <= kExactSeeds;
  const std::size_t ways = std::size_t{1} << (exact ? seeds : kExactSeeds);
  std::vector<double> sign(seeds, 1);
  Generator random(Key{}.fold("sign flips"));
  for (std::size_t way = 1; way < ways; ++way) {
    for (std::size_t i = 0; i < seeds; ++i) {
      const std::uint64_t bits = exact ? way >> i : random.bits();
      sign[i] = (bits & 1U) != 0 ? -1 : 1;
    }
    use(std::span<const double>(sign));
  }
}

/// Returns the share of flips, including the identity, for which `statistic` of the signs is at
/// least `found`.
template <class Statistic>
double share_of_flips(std::size_t seeds, double found, const Statistic& statistic) {
  std::size_t ways = 1;
  std::size_t as_large = 1;
  for_flips(seeds, [&](std::span<const double> sign) {
    ++ways;
    as_large += statistic(sign) >= found - 1e-9 ? 1 : 0;
  });
  return static_cast<double>(as_large) / static_cast<double>(ways);
}

/// Returns sqrt(sum d^2), which flips do not change.
double root_of_squares(const std::vector<double>& row) {
  return std::sqrt(std::inner_product(row.begin(), row.end(), row.begin(), 1e-300));
}

bool all_finite(const std::vector<double>& row) {
  return std::ranges::all_of(row, [](double x) { return std::isfinite(x); });
}

}  // namespace

std::size_t seeds_for(std::size_t comparisons) {
  std::size_t seeds = 1;
  const auto tests = static_cast<double>(std::max<std::size_t>(1, comparisons));
  while (seeds < kExactSeeds && least_p(seeds) * tests >= 0.05) ++seeds;
  return seeds;
}

double sign_flip_p(std::span<const std::vector<double>> rows, bool above) {
  const std::size_t seeds = rows.empty() ? 0 : rows[0].size();
  if (!std::ranges::all_of(rows, all_finite)) return kNoNumber;
  const std::vector<double> sizes = mapped(rows, root_of_squares);
  const auto largest = [&](std::span<const double> sign) {
    double most = above ? -HUGE_VAL : 0;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const double sum = std::inner_product(sign.begin(), sign.end(), rows[r].begin(), 0.0);
      most = std::max(most, (above ? sum : std::abs(sum)) / sizes[r]);
    }
    return most;
  };
  const std::vector<double> none(seeds, 1);
  return share_of_flips(seeds, largest(none), largest);
}

Interval sign_flip_interval(std::span<const double> differences) {
  const std::vector<double> row(differences.begin(), differences.end());
  const double center = mean(row);
  if (row.size() < 2 || !all_finite(row)) return {center};
  const auto [least, most] = std::ranges::minmax(row);
  if (most - least <= 1e-12 * std::abs(most)) return {center};
  const double total = center * static_cast<double>(row.size());
  // A flip of the seeds S is as large as no flip, for differences less m below the mean, exactly if
  // m is at least the mean over S or the mean over the other seeds. So p changes at these means.
  std::vector<double> low, high;
  double always = 1;  // ways that are as large for every m: no flip and that of all seeds
  for_flips(row.size(), [&](std::span<const double> sign) {
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (sign[i] > 0) continue;
      sum += row[i];
      ++count;
    }
    const double others = static_cast<double>(row.size()) - count;
    if (count == 0 || others == 0) {
      ++always;
      return;
    }
    const double flipped = sum / count, left = (total - sum) / others;
    low.push_back(std::min(flipped, left));
    high.push_back(std::max(flipped, left));
  });
  const double ways = always + static_cast<double>(low.size());
  const auto needed = static_cast<std::ptrdiff_t>(std::ceil(0.05 * ways - always - 1e-9));
  if (needed < 1) return {center, least, most};
  std::ranges::nth_element(low, low.begin() + needed - 1);
  std::ranges::nth_element(high, high.begin() + needed - 1, std::greater<>());
  return {center, low[static_cast<std::size_t>(needed - 1)],
          high[static_cast<std::size_t>(needed - 1)]};
}

/// Returns 1, -1 or 0; NaN for NaN.
static double sign_of(double x) {
  if (x > 0) return 1;
  return x < 0 ? -1 : x;
}

double p_of_picked(std::span<const std::vector<double>> arms, std::size_t one, std::size_t other,
                   Statistic statistic) {
  std::vector<std::vector<double>> rows;
  std::size_t picked = 0;
  for (std::size_t k = 0; k < arms.size(); ++k) {
    if (k == one) continue;
    if (k == other) picked = rows.size();
    rows.push_back(log_ratios(arms[one], arms[k]));
    if (statistic == Statistic::means) continue;
    for (double& x : rows.back()) x = sign_of(x);
  }
  if (!std::ranges::all_of(rows, all_finite)) return kNoNumber;
  const std::vector<double> sizes = mapped(rows, root_of_squares);
  const auto size_of = [&](std::size_t r, std::span<const double> sign) {
    return std::abs(std::inner_product(sign.begin(), sign.end(), rows[r].begin(), 0.0)) / sizes[r];
  };
  const auto largest = [&](std::span<const double> sign) {
    double most = 0;
    for (std::size_t r = 0; r < rows.size(); ++r) most = std::max(most, size_of(r, sign));
    return most;
  };
  const std::vector<double> none(rows[picked].size(), 1);
  return share_of_flips(none.size(), size_of(picked, none), largest);
}

double equal_p(std::span<const double> differences, double margin) {
  std::vector<double> below, above;
  for (const double difference : differences) {
    below.push_back(margin - difference);
    above.push_back(margin + difference);
  }
  return std::max(sign_flip_p(std::span(&below, 1), true), sign_flip_p(std::span(&above, 1), true));
}

std::vector<double> holm(const std::vector<double>& p, std::size_t most_true) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t i) { return std::isnan(p[i]); });
  std::ranges::sort(order, {}, [&](std::size_t i) { return p[i]; });
  std::vector<double> corrected(p.size(), kNoNumber);
  double least = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t factor = std::min(order.size() - i, most_true);
    least = std::max(least, p[order[i]] * static_cast<double>(factor));
    corrected[order[i]] = std::min(1.0, least);
  }
  return corrected;
}

Paired paired(std::span<const double> differences) {
  const std::vector<double> row(differences.begin(), differences.end());
  Paired result{.difference = sign_flip_interval(row), .seeds = std::ssize(row)};
  result.wins = std::ranges::count_if(row, [](double x) { return x < 0; });
  result.effect = result.difference.mean / standard_deviation(row);
  return result;
}

std::vector<double> log_ratios(std::span<const double> a, std::span<const double> b) {
  require(a.size() == b.size(), "cannot compare two arms: they have ", a.size(), " and ", b.size(),
          " seeds");
  std::vector<double> logs;
  for (std::size_t i = 0; i < a.size(); ++i) logs.push_back(log_of(a[i]) - log_of(b[i]));
  return logs;
}

void correct(std::span<Test* const> tests, std::size_t most_true) {
  const std::vector<double> corrected = holm(mapped(tests, &Test::p), most_true);
  for (std::size_t i = 0; i < tests.size(); ++i) tests[i]->corrected = corrected[i];
}

double sign_test_p(std::span<const double> differences) {
  const auto below = std::ranges::count_if(differences, [](double x) { return x < 0; });
  const auto above = std::ranges::count_if(differences, [](double x) { return x > 0; });
  const auto seeds = static_cast<double>(below + above);
  const auto fewer = static_cast<double>(std::min(below, above));
  double ways = 0;  // to have so few seeds on one side, as a share of all 2^seeds
  for (double k = 0; k <= fewer; ++k) {
    const double logarithm =
        std::lgamma(seeds + 1) - std::lgamma(k + 1) - std::lgamma(seeds - k + 1);
    ways += std::exp(logarithm - seeds * std::numbers::ln2);
  }
  return std::min(1.0, 2 * ways);
}

namespace {

constexpr std::int64_t kDrawnPowerSeeds = 10;  // more seeds: the formula of the normal distribution

/// Returns whether at least 80% of experiments with normal differences of this effect size have p
/// below `alpha`. The draws are the same each time.
bool has_power(std::int64_t seeds, double effect, double alpha) {
  constexpr int kDraws = 400;
  Generator random(Key{}.fold("power").fold(seeds));
  int significant = 0;
  std::vector<double> row(static_cast<std::size_t>(seeds));
  for (int draw = 0; draw < kDraws; ++draw) {
    for (double& x : row) x = effect + random.normal();
    significant += sign_flip_p(std::span(&row, 1)) < alpha ? 1 : 0;
  }
  return significant >= kDraws * 8 / 10;
}

/// Returns the smallest effect that so many seeds show with a power of 0.8. A report asks the same
/// few questions for many rows, so each thread keeps the answers.
double least_effect(std::int64_t seeds, double alpha) {
  thread_local std::map<std::pair<std::int64_t, double>, double> known;
  const auto [found, is_new] = known.try_emplace({seeds, alpha}, 0.0);
  if (!is_new) return found->second;
  double low = 0;
  double high = 16;
  while (high - low > 0.01) {
    const double middle = (low + high) / 2;
    if (has_power(seeds, middle, alpha)) {
      high = middle;
    } else {
      low = middle;
    }
  }
  found->second = high;
  return high;
}

}  // namespace

std::int64_t seeds_to_tell(double effect, double alpha) {
  if (!(std::abs(effect) > 1e-6)) return 0;
  std::int64_t seeds = 2;
  while (seeds < std::int64_t{kExactSeeds} && !(least_p(static_cast<std::size_t>(seeds)) < alpha)) {
    ++seeds;
  }
  for (; seeds <= kDrawnPowerSeeds; ++seeds) {
    if (std::abs(effect) >= least_effect(seeds, alpha)) return seeds;
  }
  const double z = t_quantile(1 - alpha / 2, 1e6), power = t_quantile(0.8, 1e6);
  const double needed = std::pow((z + power) / effect, 2) + z * z / 2;  // of Student's t
  return std::max(seeds, static_cast<std::int64_t>(std::ceil(std::min(needed, 1e15))));
}

std::string seeds_plan(std::size_t seeds, std::size_t comparisons) {
  const std::size_t needed = seeds_for(comparisons);
  const std::string count = text(seeds, seeds == 1 ? " seed" : " seeds");
  const std::string tests = text(comparisons, comparisons == 1 ? " comparison" : " comparisons");
  if (comparisons == 0) return text(count, ": nothing is compared, so no difference is tested");
  const double least = least_p(seeds) * static_cast<double>(comparisons);
  if (seeds >= needed) {
    return text(count, ": p can reach ", number_text(std::min(1.0, least)), " in ", tests,
                " after Holm's correction, so a difference can be shown");
  }
  const std::string takes =
      comparisons == 1 ? "it takes 6" : text("it takes ", needed, ", and 6 for two arms");
  return text("with ", count, " no difference can reach p < 0.05 in ", tests, "; ", takes);
}

std::string chance_text(std::int64_t seeds) {
  const bool exact = seeds <= std::int64_t{kExactSeeds};
  const std::string interval =
      seeds < 6 ? "With fewer than 6 seeds there is no interval: the ends are the least and the "
                  "largest of the seeds. "
                : "The 95% interval inverts this test. ";
  return text("p is ", exact ? "exact, by" : "by 16,384 draws of",
              " flipping the signs of seeds, two-sided, and Holm's p is that where all are ",
              "asked at once. ", interval, seeds,
              seeds == 1 ? " seed reaches p " : " seeds reach p ",
              least_p(static_cast<std::size_t>(seeds)),
              " at best. Below .05 they are called different; ",
              "above it they are not, which does not make them equal.");
}

}  // namespace headlab
