// Pairing of seeds and comparison of arms. Arms are compared on logarithms of their values, so that
// losses that differ by factors are compared by their ratio. Corrections are left to the caller,
// which knows all tests of its report. Read next: headlab/lab/results/arms.h.
#include "headlab/lab/results/arms.h"

#include <algorithm>

#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"
#include "lab/results/ratio_fields.h"

namespace headlab {

std::vector<SeedValues> on_shared_seeds(std::vector<SeedValues> arms) {
  if (arms.empty()) return arms;
  const auto all_have = [&](std::int64_t seed) {
    return std::ranges::all_of(arms, [&](const SeedValues& arm) {
      return std::ranges::count(arm.seeds, seed) > 0;
    });
  };
  std::vector<std::int64_t> shared = arms[0].seeds;
  std::erase_if(shared, [&](std::int64_t seed) { return !all_have(seed); });
  for (SeedValues& arm : arms) {
    std::vector<double> values;
    for (const std::int64_t seed : shared) {
      const auto at = std::ranges::find(arm.seeds, seed) - arm.seeds.begin();
      values.push_back(arm.values[static_cast<std::size_t>(at)]);
    }
    arm.seeds = shared;
    arm.values = std::move(values);
  }
  return arms;
}

Compared compared(std::span<const double> differences) {
  const std::vector<double> row(differences.begin(), differences.end());
  Compared result{.difference = paired(row)};
  result.test.p = sign_flip_p(std::span(&row, 1));
  result.test.corrected = result.test.p;
  return result;
}

Compared compared_with_picked(std::span<const SeedValues> arms, std::size_t arm, std::size_t picked,
                              Statistic statistic) {
  const std::vector<std::vector<double>> values = mapped(arms, &SeedValues::values);
  Compared one{arm, picked, paired(log_ratios(values[arm], values[picked]))};
  one.test.p = p_of_picked(values, arm, picked, statistic);
  one.test.corrected = one.test.p;
  return one;
}

std::vector<Compared> against_picked(std::span<const SeedValues> arms, std::size_t picked) {
  require(picked < arms.size(), "cannot compare with arm ", picked, ": there are ", arms.size());
  std::vector<Compared> all;
  for (std::size_t arm = 0; arm < arms.size(); ++arm) {
    if (arm != picked) all.push_back(compared_with_picked(arms, arm, picked));
  }
  return all;
}

Json to_json(const Compared& logs) {
  return Json::object({{"ratio", exp_of(logs.difference.difference)},
                       {"effect_size", logs.difference.effect},
                       {"wins", logs.difference.wins},
                       {"seeds", logs.difference.seeds},
                       {"p", logs.test.p},
                       {"p_holm", logs.test.corrected},
                       {"told_apart", logs.test.is_significant()}});
}

Fields<Compared> ratio_fields(const std::string& key, const std::string& title) {
  using Row = Compared;
  Fields<Row> fields;
  fields.add(interval_column(key + ".ratio", title).mean_over(key + ".seeds").no_legend(),
             [](const Row& logs) { return exp_of(logs.difference.difference); });
  fields.add(Column(key + ".wins", "wins", "seeds in which the loss is lower").no_legend(),
             [](const Row& logs) { return logs.difference.wins; });
  fields.add(Column(key + ".seeds", "of", "seeds").no_legend(), &Row::seeds);
  fields.add(Column(key + ".effect_size", "effect",
                    "mean of the logarithms of the ratio / their standard deviation: .8 and more "
                    "is large")
                 .fixed(2)
                 .mean_over(key + ".seeds")
                 .no_legend(),
             [](const Row& logs) { return logs.difference.effect; });
  fields.add(Column(key + ".p", "p", "p-value of the sign-flip test over seeds, exact").no_legend(),
             [](const Row& logs) { return logs.test.p; });
  fields.add(Column(key + ".p_holm", "Holm's p", "p after Holm's correction for all comparisons")
                 .no_legend(),
             [](const Row& logs) { return logs.test.corrected; });
  fields.add(
      Column(key + ".told_apart", "different", "p below .05 after Holm's correction").no_legend(),
      [](const Row& logs) { return logs.test.is_significant(); });
  return fields;
}

}  // namespace headlab
