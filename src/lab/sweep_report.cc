// Cells become groups, groups become comparisons. A difference counts if Welch's interval excludes
// 0: the spread over seeds differs by orders of magnitude between a model with enough heads and one
// without, so equal variances cannot be assumed. Read next: report/runs_text.h.
#include "headlab/lab/sweep.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "headlab/base/error.h"

namespace headlab {
namespace {

using Results = std::vector<CellResult>;

/// value(result) for each cell of a group.
template <class Value>
std::vector<double> by_seed(const Results& results, const Value& value) {
  std::vector<double> values;
  for (const CellResult& result : results) values.push_back(std::invoke(value, result));
  return values;
}

double specialization(const CellResult& result) {
  const auto owned = std::ranges::count(result.roles, true, &SweepRole::owned);
  return result.roles.empty()
             ? 0
             : static_cast<double>(owned) / static_cast<double>(result.roles.size());
}

SweepRoles roles_over_seeds(const Results& results, std::size_t r) {
  SweepRoles roles;
  roles.relation = results[0].roles[r].relation;
  std::vector<double> lifts;
  for (const CellResult& result : results) {
    const SweepRole& role = result.roles[r];
    roles.heads.push_back(role.head);
    roles.owned += role.owned;
    if (role.head) lifts.push_back(role.lift);
  }
  roles.lift = t_interval(lifts);
  return roles;
}

SweepGroup group_of(const std::vector<const SweepCell*>& cells, const Results& results) {
  SweepGroup group;
  group.name = cells[0]->group;
  group.family = cells[0]->family;
  group.config = cells[0]->config;
  for (const SweepCell* cell : cells) group.seeds.push_back(cell->config.train.seed);
  group.losses = by_seed(results, &CellResult::loss);
  group.loss = t_interval(group.losses);
  group.diversity = t_interval(group.diversities = by_seed(results, &CellResult::diversity));
  group.accuracy = t_interval(by_seed(results, &CellResult::accuracy));
  group.specialization = t_interval(by_seed(results, specialization));
  group.parameters = results[0].parameters;
  group.keys = results[0].keys;
  for (std::size_t i = 0; i < results.size(); ++i)
    if (!std::ranges::equal(results[i].roles, results[0].roles, {}, &SweepRole::relation,
                            &SweepRole::relation))
      throw Error(text("the cells ", cells[0]->name, " and ", cells[i]->name,
                       " have scores of different relations"),
                  "delete the cell.json of the damaged one, and it is made again");
  for (std::size_t r = 0; r < results[0].roles.size(); ++r)
    group.roles.push_back(roles_over_seeds(results, r));
  return group;
}

Index heads_of(const SweepGroup& group) { return group.config.model.heads_of(0); }

/// Whether a's loss is above b's by more than the interval of the difference.
bool measurably_above(const SweepGroup& a, const SweepGroup& b) {
  const Interval gap = welch_interval(a.losses, b.losses);
  return gap.mean - gap.half_width > 0;
}

/// Compares the groups of one family, numbered in `report`; nothing unless one of them has one head
/// and another more.
std::optional<SweepComparison> compare(const std::vector<SweepGroup>& groups,
                                       std::vector<std::size_t> members) {
  const auto heads = [&](std::size_t i) { return heads_of(groups[i]); };
  const auto loss = [&](std::size_t i) { return groups[i].loss.mean; };
  std::erase_if(members, [&](std::size_t i) { return heads(i) < 1; });
  std::ranges::sort(members, {}, heads);
  if (members.size() < 2 || heads(members[0]) != 1) return std::nullopt;
  SweepComparison result;
  result.family = groups[members[0]].family;
  result.one = members[0];
  result.best = *std::ranges::min_element(members, {}, loss);
  const SweepGroup &single = groups[result.one], &best = groups[result.best];
  result.enough = *std::ranges::find_if(members, [&](std::size_t i) {
    return i == result.best || !measurably_above(groups[i], best);
  });
  result.loss_gain = welch_interval(single.losses, best.losses);
  result.accuracy_gain = best.accuracy.mean - single.accuracy.mean;
  result.equal_parameters = std::ranges::all_of(members, [&](std::size_t i) {
    return groups[i].parameters == single.parameters;
  });
  result.keys = single.keys;
  result.several_win = result.accuracy_gain >= kGain && measurably_above(single, best);
  return result;
}

void add_comparisons(SweepReport& report) {
  std::vector<std::pair<std::string, std::vector<std::size_t>>> families;  // and their groups
  for (std::size_t i = 0; i < report.groups.size(); ++i) {
    const std::string& name = report.groups[i].family;
    auto family = std::ranges::find(families, name, [](const auto& f) { return f.first; });
    if (family == families.end()) family = families.insert(family, {name, {}});
    if (report.groups[i].config.model.heads.size() == 1) family->second.push_back(i);
  }
  for (const auto& [name, members] : families)
    if (const auto comparison = compare(report.groups, members))
      report.comparisons.push_back(*comparison);
}

}  // namespace

SweepReport collect_sweep(const std::filesystem::path& folder,
                          const std::vector<SweepCell>& cells) {
  SweepReport report;
  report.cells = cells.size();
  std::vector<const SweepCell*> members;
  Results results;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cell_state(folder, cells[i]) == CellState::finished) {
      members.push_back(&cells[i]);
      results.push_back(read_cell(folder, cells[i]));
    } else {
      report.missing.push_back(cells[i].name);
      if (const auto failure = failure_of(training_cell(folder, cells[i])))
        report.failed.push_back(*failure);
    }
    const bool last = i + 1 == cells.size() || cells[i + 1].group != cells[i].group;
    if (last && !members.empty()) {  // the seeds of a group stand side by side
      report.groups.push_back(group_of(members, results));
      members.clear();
      results.clear();
    }
  }
  add_comparisons(report);
  return report;
}

Json to_json(const SweepRoles& roles) {
  return Json::object({{"name", roles.relation},
                       {"lift", roles.lift},
                       {"owned", roles.owned},
                       {"heads", roles.heads}});
}

Json to_json(const SweepGroup& group) {
  RunConfig config = group.config;
  return Json::object({{"name", group.name},
                       {"task", config.task},
                       {"model", settings_of(config.model).to_json()},
                       {"seeds", group.seeds},
                       {"parameters", group.parameters},
                       {"losses", group.losses},
                       {"loss", group.loss},
                       {"accuracy", group.accuracy},
                       {"diversities", group.diversities},
                       {"diversity", group.diversity},
                       {"specialization", group.specialization},
                       {"relations", group.roles}});
}

Json to_json(const SweepReport& report) {
  const auto name = [&](std::size_t group) { return report.groups[group].name; };
  Json comparisons = Json::array();
  for (const SweepComparison& comparison : report.comparisons) {
    comparisons.push_back(Json::object({{"one", name(comparison.one)},
                                        {"best", name(comparison.best)},
                                        {"enough", name(comparison.enough)},
                                        {"loss_gain", comparison.loss_gain},
                                        {"accuracy_gain", comparison.accuracy_gain},
                                        {"equal_parameters", comparison.equal_parameters},
                                        {"keys_at_once", comparison.keys},
                                        {"several_win", comparison.several_win}}));
  }
  return stamped({{"cells", report.cells},
                  {"missing", report.missing},
                  {"failed", report.failed},
                  {"groups", report.groups},
                  {"comparisons", comparisons}});
}

}  // namespace headlab
