// Flips are counted one by one: of 14 seeds there are 16,384, which takes milliseconds. Drawn flips
// are the same each time.
// Read next: include/headlab/base/comparison.h.
#include "headlab/base/comparison.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "headlab/base/error.h"
#include "headlab/base/random.h"
#include "headlab/base/text.h"

namespace headlab {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kExactSeeds = 14;

}  // namespace

double least_p(std::size_t seeds) {
  return std::ldexp(1.0, seeds > kExactSeeds ? -int{kExactSeeds} : 1 - static_cast<int>(seeds));
}

double sign_flip_p(std::span<const std::vector<double>> rows, bool above) {
  const std::size_t seeds = rows.empty() ? 0 : rows[0].size();
  std::vector<double> sizes;  // sqrt(sum d^2), which flips do not change
  for (const std::vector<double>& row : rows) {
    if (!std::ranges::all_of(row, [](double x) { return std::isfinite(x); })) return kNoNumber;
    sizes.push_back(std::sqrt(std::inner_product(row.begin(), row.end(), row.begin(), 1e-300)));
  }
  std::vector<double> sign(seeds, 1);
  const auto largest = [&] {
    double most = above ? -HUGE_VAL : 0;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const double sum = std::inner_product(sign.begin(), sign.end(), rows[r].begin(), 0.0);
      most = std::max(most, (above ? sum : std::abs(sum)) / sizes[r]);
    }
    return most;
  };
  const double found = largest() - 1e-9;
  const bool exact = seeds <= kExactSeeds;
  const std::size_t ways = std::size_t{1} << (exact ? seeds : kExactSeeds);
  Generator random(Key{}.fold("sign flips"));
  std::size_t as_large = 1;  // as it was found
  for (std::size_t way = 1; way < ways; ++way) {
    for (std::size_t i = 0; i < seeds; ++i)
      sign[i] = ((exact ? way >> i : random.bits()) & 1U) != 0 ? -1 : 1;
    as_large += largest() >= found ? 1 : 0;
  }
  return static_cast<double>(as_large) / static_cast<double>(ways);
}

double equal_p(std::span<const double> differences, double margin) {
  std::vector<double> below, above;
  for (const double difference : differences) {
    below.push_back(margin - difference);
    above.push_back(margin + difference);
  }
  return std::max(sign_flip_p(std::span(&below, 1), true), sign_flip_p(std::span(&above, 1), true));
}

std::vector<double> holm(const std::vector<double>& p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t i) { return std::isnan(p[i]); });
  std::ranges::sort(order, {}, [&](std::size_t i) { return p[i]; });
  std::vector<double> corrected(p.size(), kNoNumber);
  double least = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    least = std::max(least, p[order[i]] * static_cast<double>(order.size() - i));
    corrected[order[i]] = std::min(1.0, least);
  }
  return corrected;
}

Paired paired(std::span<const double> differences) {
  const std::vector<double> row(differences.begin(), differences.end());
  Paired result{.difference = t_interval(row), .seeds = std::ssize(row)};
  result.wins = std::ranges::count_if(row, [](double x) { return x < 0; });
  result.effect = result.difference.mean / standard_deviation(row);
  result.p = result.holm = sign_flip_p(std::span(&row, 1));
  return result;
}

std::vector<double> log_ratios(std::span<const double> a, std::span<const double> b) {
  require(a.size() == b.size(), "two arms need as many seeds, not ", a.size(), " and ", b.size());
  std::vector<double> logs;
  for (std::size_t i = 0; i < a.size(); ++i) logs.push_back(log_of(a[i]) - log_of(b[i]));
  return logs;
}

double p_of_worse(std::span<const std::vector<double>> arms, std::size_t one) {
  std::vector<std::vector<double>> above;
  for (std::size_t k = 0; k < arms.size(); ++k)
    if (k != one) above.push_back(log_ratios(arms[one], arms[k]));
  return sign_flip_p(above, true);
}

void correct(std::span<Paired* const> asked) {
  const std::vector<double> corrected = holm(mapped(asked, &Paired::p));
  for (std::size_t i = 0; i < asked.size(); ++i) asked[i]->holm = corrected[i];
}

std::int64_t seeds_to_tell(double effect, double alpha) {
  if (!(std::abs(effect) > 1e-6)) return 0;
  const double z = t_quantile(1 - alpha / 2, 1e6), power = t_quantile(0.8, 1e6);
  const double needed = std::pow((z + power) / effect, 2) + z * z / 2;  // of Student's t
  std::size_t least = 2;
  while (least < kExactSeeds && !(least_p(least) < alpha)) ++least;
  return static_cast<std::int64_t>(std::max(std::ceil(std::min(needed, 1e15)), double(least)));
}

Json to_json(const Paired& logs) {
  return Json::object({{"ratio", exp_of(logs.difference)},
                       {"effect_size", logs.effect},
                       {"wins", logs.wins},
                       {"seeds", logs.seeds},
                       {"p", logs.p},
                       {"p_holm", logs.holm},
                       {"told_apart", logs.told_apart()}});
}

std::vector<Column> ratio_columns(const std::string& key, const std::string& title) {
  return {
      interval_column(key + ".ratio", title).no_legend(),
      Column(key + ".wins", "wins", "seeds in which the loss is lower").no_legend(),
      Column(key + ".seeds", "of", "seeds").no_legend(),
      Column(key + ".effect_size", "effect",
             "mean of the logarithms of the ratio / their standard deviation: .8 and more is large")
          .fixed(2)
          .no_legend(),
      Column(key + ".p", "p", "by flipping signs of seeds, in every way").no_legend(),
      Column(key + ".p_holm", "Holm's p", "the same where all are asked at once").no_legend(),
      Column(key + ".told_apart", "told apart", "by p < .05 of Holm").no_legend()};
}

std::string chance_text(std::int64_t seeds) {
  const bool exact = seeds <= std::int64_t{kExactSeeds};
  return text("p is ", exact ? "exact, by" : "by 16,384 draws of",
              " flipping the signs of seeds, and Holm's p is that where all are ",
              "asked at once; ", seeds, " seeds reach p ", least_p(static_cast<std::size_t>(seeds)),
              " at best. Below .05 they are told apart; ",
              "above it they are not, which does not make them equal.");
}

}  // namespace headlab
