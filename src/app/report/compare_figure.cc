// The figure of a comparison of arms: one place for each arm, a thin line for each seed from arm to
// arm, and the means with their intervals. Lines show the pairs that the test compares: an arm that
// is better in every seed has lines that all fall. Read next: lab/studies/compare.h; figures.cc.
#include <algorithm>
#include <cmath>
#include <map>

#include "app/report/chart.h"
#include "headlab/app/report/figures.h"
#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"

namespace headlab {
namespace {

constexpr std::size_t kMostInLegend = 8;  // roles

/// Returns the names of the arms, each once, in order.
std::vector<std::string> names_of(std::span<const Arm> arms) {
  std::vector<std::string> names;
  for (const Arm& arm : arms) {
    if (std::ranges::count(names, arm.name) == 0) names.push_back(arm.name);
  }
  return names;
}

/// Returns the names without the beginning that all have in common, in whole parts.
std::vector<std::string> shortened_names(std::vector<std::string> names) {
  std::string_view common = names[0];
  for (const std::string& name : names) {
    common = common.substr(0, std::ranges::mismatch(common, name).in1 - common.begin());
  }
  const std::size_t whole = common.find_last_of("/:,") + 1;
  for (std::string& name : names) name.erase(0, whole);
  return names;
}

/// Series of the arms of one role, or of all arms if the measure has no roles.
struct RoleSeries {
  Series means;
  std::map<std::int64_t, std::vector<Sample>> seeds{};  // values of each seed

  void add(const Arm& arm, double x, const Measure& measure) {
    for (std::size_t i = 0; i < arm.values.size(); ++i) {
      seeds[arm.seeds[i]].push_back({x, arm.values[i]});
    }
    means.samples.push_back(with_interval(x, mean_of_arm(arm, measure)));
  }
};

/// Returns a sentence with the means of all arms.
std::string sentence_of(std::span<const Arm> arms, const std::vector<std::string>& all,
                        const std::vector<std::string>& names, const Measure& measure) {
  std::vector<std::string> said;
  for (const Arm& arm : arms) {
    if (arm.values.empty()) continue;
    const auto place = std::ranges::find(all, arm.name) - all.begin();
    const Interval mean = mean_of_arm(arm, measure);
    std::string words = text(names[static_cast<std::size_t>(place)], arm.role.empty() ? "" : " ",
                             arm.role, " ", significant(mean.mean));
    if (std::isfinite(mean.low)) {
      words += text(" (", significant(mean.low), " to ", significant(mean.high), ")");
    }
    said.push_back(std::move(words));
  }
  return text("Means with 95% intervals; a line joins the values of one seed: ", join(said, "; "),
              ".");
}

/// Returns whether the axis is logarithmic: for ratios of values above 0.
bool is_logarithmic(std::span<const Arm> arms, const Measure& measure) {
  return measure.by == Measure::By::ratio && std::ranges::all_of(arms, [](const Arm& arm) {
           return std::ranges::all_of(arm.values, [](double value) { return value > 0; });
         });
}

/// Returns a series for each role, in the order of the arms.
std::vector<RoleSeries> series_of(std::span<const Arm> arms, const std::vector<std::string>& all,
                                  const Measure& measure) {
  std::vector<RoleSeries> by_role;
  for (const Arm& arm : arms) {
    if (arm.values.empty()) continue;
    const auto is_its = [&](const RoleSeries& one) { return one.means.name == arm.role; };
    auto role = std::ranges::find_if(by_role, is_its);
    if (role == by_role.end()) {
      by_role.push_back({.means = {.name = arm.role, .line = false, .radius = 4.5}});
      role = by_role.end() - 1;
    }
    const auto place = std::ranges::find(all, arm.name) - all.begin();
    role->add(arm, static_cast<double>(place), measure);
  }
  require(!by_role.empty(), "cannot draw the comparison: no arm has a value");
  return by_role;
}

}  // namespace

Picture compare_figure(std::span<const Arm> arms, const CompareOptions& options, double width) {
  const Measure& measure = find_measure(options.measure);
  const std::vector<std::string> all = names_of(arms);
  const std::vector<std::string> names = shortened_names(all);
  const std::vector<RoleSeries> by_role = series_of(arms, all, measure);
  std::vector<Series> series;
  for (const RoleSeries& role : by_role) {
    series.push_back(role.means);
    if (by_role.size() > kMostInLegend) series.back().name = "";
  }
  for (std::size_t r = 0; r < by_role.size(); ++r) {
    for (const auto& [seed, samples] : by_role[r].seeds) {
      series.push_back(
          {.name = "", .samples = samples, .hollow = true, .thick = 0.6, .radius = 2, .like = r});
    }
  }
  series.back().name = "one seed";
  explain_bars(series);
  Plot plot{.x = {.label = "arm", .low = -0.5, .high = static_cast<double>(all.size()) - 0.5},
            .y = {.label = measure.name, .logarithmic = is_logarithmic(arms, measure)},
            .series = std::move(series)};
  for (std::size_t i = 0; i < names.size(); ++i) plot.x.ticks.push_back(static_cast<double>(i));
  plot.x.names = names;
  return plotted(text("Comparison of ", measure.name), sentence_of(arms, all, names, measure),
                 {plot}, width);
}

}  // namespace headlab
