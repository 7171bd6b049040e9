// Families of a sweep: what is concluded about the groups that differ in heads alone. A comparison
// of numbers of heads concludes; without one the comparisons of other settings do, or a sentence
// states what was trained. Read next: sweep_comparison.cc, sweep_report.cc.
#include <algorithm>
#include <cmath>
#include <limits>

#include "headlab/core/base/text.h"
#include "headlab/lab/studies/sweep.h"

namespace headlab {
namespace {

/// Returns the families without conclusions; one of all groups if no two groups differ in heads
/// alone.
std::vector<SweepFamily> grouped_by_family(const std::vector<SweepGroup>& groups) {
  std::vector<SweepFamily> families;
  SweepFamily all;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    auto family = std::ranges::find(families, groups[i].family, &SweepFamily::name);
    if (family == families.end()) {
      family = families.insert(family, SweepFamily{.name = groups[i].family});
    }
    family->groups.push_back(i);
    all.groups.push_back(i);
  }
  return families.size() < groups.size() ? families : std::vector<SweepFamily>{all};
}

std::size_t lowest_loss(const SweepReport& report, const SweepFamily& family) {
  const auto loss = [&](std::size_t group) {
    const double mean = report.groups[group].loss.mean;
    return std::isnan(mean) ? std::numeric_limits<double>::infinity() : mean;
  };
  return *std::ranges::min_element(family.groups, {}, loss);
}

/// Returns the sentences on all settings, such as layers or norm, one after the other.
std::string on_settings(const SweepReport& report, std::string SettingComparison::*sentence) {
  std::vector<std::string> sentences;
  for (const SettingComparison& one : report.settings) sentences.push_back(one.*sentence);
  return join(sentences, " ");
}

/// Returns what was trained.
std::string trained_text(const SweepReport& report, const SweepFamily& family) {
  if (family.groups.size() == 1) {
    const std::size_t seeds = report.groups[family.groups[0]].seeds.size();
    return text("One group of ", seeds, seeds == 1 ? " seed." : " seeds.");
  }
  return text(family.groups.size(), " groups; ", report.groups[lowest_loss(report, family)].name,
              " has the lowest mean loss.");
}

/// Fills the conclusion, its reason and the group that opens the family.
void conclude(const SweepReport& report, SweepFamily& family) {
  const auto compared =
      std::ranges::find(report.comparisons, family.name, &SweepComparison::family);
  if (compared != report.comparisons.end()) {
    family.opening = compared->enough.value_or(compared->best);
    family.conclusion = compared->conclusion;
    family.reason = compared->reason;
    return;
  }
  family.opening = lowest_loss(report, family);
  const bool has_settings = report.comparisons.empty() && !report.settings.empty();
  if (!has_settings) {
    family.conclusion = trained_text(report, family);
    return;
  }
  family.conclusion = on_settings(report, &SettingComparison::conclusion);
  family.reason = on_settings(report, &SettingComparison::reason);
}

}  // namespace

std::vector<SweepFamily> families_of(const SweepReport& report) {
  if (report.groups.empty()) return {};
  std::vector<SweepFamily> families = grouped_by_family(report.groups);
  const bool several = families.size() > 1;
  for (SweepFamily& family : families) {
    conclude(report, family);
    if (several) family.conclusion = family.name + ": " + family.conclusion;
  }
  return families;
}

}  // namespace headlab
