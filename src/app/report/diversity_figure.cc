// Diversity of trained heads against their number, for a page: means over the seeds of a sweep with
// intervals, or one model of each size. The facts of the page hold all numbers of it.
// Read next: page.cc.
#include <algorithm>
#include <cmath>
#include <set>

#include "app/report/chart.h"
#include "app/report/page_parts.h"
#include "headlab/core/base/text.h"

namespace headlab {
namespace {

constexpr double kMostDistance = 0.84;  // a bit above the largest, the square root of ln 2

/// Diversity of models with a number of heads; `seeds` is empty for a single model.
struct Diversity {
  Index heads = 0;
  Sample mean{};
  std::vector<double> seeds{};
};

/// Returns the number of heads in each layer of a group of a sweep; nothing if layers differ.
std::optional<Index> heads_of_group(const Json& group) {
  const Json& heads = group.at("model").at("heads");
  if (heads.is_number()) return heads.integer();
  const std::string& words = heads.string();  // "" without layers, "2+1" if layers differ
  const bool is_one = !words.empty() && words.find_first_not_of("0123456789") == std::string::npos;
  return is_one ? std::optional<Index>(std::stoll(words)) : std::nullopt;
}

std::vector<Diversity> over_seeds(const Json& sweep) {
  std::vector<Diversity> all;
  for (const Json& group : sweep.at("groups").items()) {
    const std::optional<Index> heads = heads_of_group(group);
    const Json& spread = group.at("diversity");
    if (!heads || !spread.at("mean").is_number()) continue;
    Diversity& one = all.emplace_back(Diversity{.heads = *heads});
    one.mean = {double(*heads), spread.at("mean").number()};
    if (spread.at("high").is_number()) {
      one.mean.low = spread.at("low").number();
      one.mean.high = spread.at("high").number();
    }
    for (const Json& seed : group.at("diversities").items()) {
      if (seed.is_number()) one.seeds.push_back(seed.number());
    }
  }
  return all;
}

/// Returns the mean distance of each two heads of a scored run.
double mean_distance(const Json::Array& distances) {
  double sum = 0;
  Index pairs = 0;
  for (std::size_t a = 0; a < distances.size(); ++a) {
    for (std::size_t b = a + 1; b < distances.size(); ++b) {
      const Json& distance = distances[a].items()[b];
      if (!distance.is_number()) continue;
      sum += distance.number();
      ++pairs;
    }
  }
  return sum / double(std::max<Index>(1, pairs));
}

std::vector<Diversity> of_runs(const Json& runs) {
  std::vector<Diversity> all;
  for (const Json& run : runs.items()) {
    const Json* heads = run.at("reports").find("heads");
    const Json* rows = heads != nullptr ? heads->find("distances") : nullptr;
    if (rows == nullptr || rows->items().empty()) continue;
    const Json::Array& distances = rows->items();
    all.push_back({.heads = std::ssize(distances),
                   .mean = {double(distances.size()), mean_distance(distances)}});
  }
  return all;
}

/// Returns "4: 0.300 (0.250 to 0.350)".
std::string spread_text(const Diversity& one) {
  const std::string mean = text(one.heads, ": ", fixed(one.mean.y, 3));
  if (!one.mean.high) return mean;
  return text(mean, " (", fixed(*one.mean.low, 3), " to ", fixed(*one.mean.high, 3), ")");
}

std::string sentence_of(const std::vector<Diversity>& all) {
  std::vector<std::string> said;
  for (const Diversity& one : all) {
    if (one.heads > 1) said.push_back(spread_text(one));
  }
  const std::size_t seeds = all[0].seeds.size();
  const std::string over =
      seeds > 0 ? text("95 % intervals over ", seeds, " seeds, Student’s t")
                : "one model each, so there is no interval: a sweep has several seeds";
  const auto most =
      std::ranges::max_element(all, {}, [](const Diversity& one) { return one.mean.y; });
  return text("Diversity for each number of heads: ", join(said, ", "), " (", over,
              "); largest with ", most->heads, ".");
}

Plot plot_of(const std::vector<Diversity>& all) {
  const bool has_seeds = !all[0].seeds.empty();
  Series trained{.name = "trained", .line = has_seeds, .radius = 5};
  Series seeds{.name = "one seed", .line = false, .hollow = true, .radius = 2, .like = 0};
  std::set<double> ticks;
  for (const Diversity& one : all) {
    trained.samples.push_back(one.mean);
    for (const double seed : one.seeds) seeds.samples.push_back({double(one.heads), seed});
    ticks.insert(double(one.heads));
  }
  Plot plot{.x = {.label = "heads", .ticks = {ticks.begin(), ticks.end()}},
            .y = {.label = "mean JS distance", .low = 0, .high = kMostDistance},
            .series = {trained}};
  if (has_seeds) plot.series.push_back(seeds);
  return plot;
}

}  // namespace

Json diversity_facts(const Json& facts) {
  std::vector<Diversity> all;
  if (const Json* sweep = facts.find("sweep")) all = over_seeds(*sweep);
  if (all.empty()) all = of_runs(facts.at("runs"));
  const auto has_several = [](const Diversity& one) { return one.heads > 1; };
  if (std::ranges::none_of(all, has_several)) return {};
  std::ranges::stable_sort(all, {}, &Diversity::heads);
  return plotted("Diversity against the number of heads", sentence_of(all), {plot_of(all)}, 0).data;
}

}  // namespace headlab
