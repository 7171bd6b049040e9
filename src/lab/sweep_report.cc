// Cells become groups, groups become comparisons. A difference counts if Welch's interval leaves 0
// out: the spread over seeds differs by orders of magnitude between a model that has enough heads
// and one that has not, so the variances are never taken for equal. Read next: sweep.h.
#include "headlab/lab/sweep_report.h"

#include <algorithm>

#include "headlab/base/error.h"
#include "headlab/base/version.h"

namespace headlab {
namespace {

using Results = std::vector<CellResult>;

template <class Get>
std::vector<double> each(const Results& results, Get&& get) {
  std::vector<double> values;
  for (const CellResult& result : results) values.push_back(get(result));
  return values;
}

double specialization(const CellResult& result) {
  const auto owned = std::count_if(result.roles.begin(), result.roles.end(),
                                   [](const SweepRole& role) { return role.owned; });
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
    if (role.head.layer >= 0) lifts.push_back(role.lift);
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
  group.losses = each(results, [](const CellResult& result) { return result.loss; });
  group.loss = t_interval(group.losses);
  group.accuracy =
      t_interval(each(results, [](const CellResult& result) { return result.accuracy; }));
  group.specialization = t_interval(each(results, specialization));
  group.parameters = results[0].parameters;
  group.keys = results[0].keys;
  for (std::size_t r = 0; r < results[0].roles.size(); ++r)
    group.roles.push_back(roles_over_seeds(results, r));
  return group;
}

Index heads_of(const SweepGroup& group) { return group.config.model.heads_of(0); }

/// Whether a's loss lies above b's, and not by chance.
bool measurably_above(const SweepGroup& a, const SweepGroup& b) {
  const Interval gap = welch_interval(a.losses, b.losses);
  return gap.mean - gap.half_width > 0;
}

/// Compares the groups of one family; nothing unless one of them has one head and another more.
std::optional<SweepComparison> compare(const std::vector<SweepGroup>& groups,
                                       std::vector<std::size_t> members) {
  std::sort(members.begin(), members.end(), [&](std::size_t a, std::size_t b) {
    return heads_of(groups[a]) < heads_of(groups[b]);
  });
  const auto one = std::find_if(members.begin(), members.end(),
                                [&](std::size_t i) { return heads_of(groups[i]) == 1; });
  if (one == members.end() || one + 1 == members.end()) return std::nullopt;
  members.erase(members.begin(), one);  // models without heads
  SweepComparison result;
  result.family = groups[*one].family;
  result.one = members[0];
  result.best = *std::min_element(
      members.begin(), members.end(),
      [&](std::size_t a, std::size_t b) { return groups[a].loss.mean < groups[b].loss.mean; });
  const SweepGroup &single = groups[result.one], &best = groups[result.best];
  result.enough = *std::find_if(members.begin(), members.end(), [&](std::size_t i) {
    return i == result.best || !measurably_above(groups[i], best);
  });
  result.loss_gain = welch_interval(single.losses, best.losses);
  result.accuracy_gain = best.accuracy.mean - single.accuracy.mean;
  result.equal_parameters = std::all_of(members.begin(), members.end(), [&](std::size_t i) {
    return groups[i].parameters == single.parameters;
  });
  result.keys = single.keys;
  result.several_win = result.accuracy_gain >= kGain && measurably_above(single, best);
  return result;
}

void add_comparisons(SweepReport& report) {
  std::vector<std::string> families;
  for (const SweepGroup& group : report.groups)
    if (std::find(families.begin(), families.end(), group.family) == families.end())
      families.push_back(group.family);
  for (const std::string& family : families) {
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < report.groups.size(); ++i)
      if (report.groups[i].family == family && report.groups[i].config.model.heads.size() == 1)
        members.push_back(i);
    if (const auto comparison = compare(report.groups, members))
      report.comparisons.push_back(*comparison);
  }
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

}  // namespace headlab
