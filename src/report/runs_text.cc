// Tables of runs. Losses have four significant digits and accuracies four decimals, as everywhere
// in what the program prints. Relations differ between tasks, so the table of roles is made for
// each family of groups apart. The sentences under the tables of a sweep say what was measured and
// on what condition: that several heads win is no law. Read next: table.h.
#include "headlab/report/runs_text.h"

#include <algorithm>
#include <cmath>

#include "headlab/base/error.h"
#include "headlab/report/prune_text.h"
#include "headlab/report/table.h"
#include "report/columns.h"

namespace headlab {
namespace {

std::string groups_table(const SweepReport& report) {
  Texts table({"cells", "seeds", "parameters", "loss", "accuracy", "own a head"});
  for (const SweepGroup& group : report.groups) {
    table.add({group.name, std::to_string(group.seeds.size()), grouped(group.parameters),
               interval_text(group.loss), share_text(group.accuracy),
               share_text(group.specialization)});
  }
  return table.to_string();
}

/// "0.953 5/5": the mean lift of the relation's head, and the seeds in which the head owns it.
std::string role_text(const SweepRoles& roles) {
  return text(fixed(roles.lift.mean, 3), " ", roles.owned, "/", roles.heads.size());
}

std::string roles_table(const SweepReport& report, const std::string& family) {
  const auto first = std::ranges::find(report.groups, family, &SweepGroup::family);
  if (first->roles.empty()) return "";
  Texts table(row_of("lift, seeds that own", texts_of(first->roles, &SweepRoles::relation)));
  for (const SweepGroup& group : report.groups) {
    if (group.family != family) continue;
    std::vector<std::string> row = row_of(group.name, texts_of(group.roles, role_text));
    row.resize(first->roles.size() + 1, "-");
    table.add(std::move(row));
  }
  return table.to_string() + "\n";
}

/// The loss with one head beside the lowest one.
std::string losses_text(const SweepGroup& one, const SweepGroup& best, const SweepComparison& c) {
  if (c.best == c.one) {
    return text("  ", one.name, " has the lowest loss; accuracy ", fixed(one.accuracy.mean, 4),
                "\n");
  }
  return text("  loss of ", one.name, " - loss of ", best.name, ": ", interval_text(c.loss_gain),
              "; accuracy ", fixed(one.accuracy.mean, 4), " and ", fixed(best.accuracy.mean, 4),
              " (", kGain, " counts as a gain)\n");
}

std::string comparison_text(const SweepReport& report, const SweepComparison& c) {
  const SweepGroup &one = report.groups[c.one], &best = report.groups[c.best];
  const std::string keys = text(c.keys, c.keys == 1 ? " key" : " keys");
  std::string out = one.family == "all" ? "" : one.family + ": ";
  if (!std::isfinite(c.loss_gain.half_width))
    return out + "one seed says nothing of chance: whether several heads beat one needs several\n" +
           losses_text(one, best, c);
  if (c.several_win)
    out +=
        text("several heads beat one: a query of this task must read up to ", keys, " at once\n");
  else if (c.accuracy_gain >= kGain)
    out += text("whether several heads beat one is not told by ", one.seeds.size(),
                " seeds: the interval of the loss holds 0\n");
  else
    out += text("several heads gain nothing over one: a query of this task must read at most ",
                keys, " at once\n");
  out += losses_text(one, best, c);
  out += text("  ", report.groups[c.enough].name, " is enough: ",
              c.enough == c.one ? "no other is measurably better\n"
                                : "fewer heads are measurably worse than the best\n");
  return out + (c.equal_parameters ? "  the numbers of parameters are equal\n"
                                   : "  the numbers of parameters differ: see the table\n");
}

std::string missing_text(std::vector<std::string> names, std::size_t cells) {
  if (names.empty()) return "";
  constexpr std::size_t kShown = 8;
  const std::size_t missing = names.size();
  if (names.size() > kShown) names.resize(kShown), names.emplace_back("...");
  return text("\nmissing: ", missing, " of ", cells, " cells: ", join(names, " "), "\n");
}

/// A line for each cell that failed when it was tried last.
std::string failures_text(const std::vector<CellFailure>& failures) {
  if (failures.empty()) return "";
  const auto diverged = std::ranges::count(failures, true, &CellFailure::diverged);
  std::string lines =
      text("failed: ", failures.size(), " of these, ", diverged, " because they diverged\n");
  for (const CellFailure& failure : failures)
    lines += text("  ", failure.cell, ": ", failure.error, "\n");
  return lines;
}

}  // namespace

std::string sweep_text(const SweepReport& report) {
  if (report.groups.empty())
    return "no cell is finished yet\n" + missing_text(report.missing, report.cells) +
           failures_text(report.failed);
  std::string out = groups_table(report) + "\n";
  std::vector<std::string> families;
  for (const SweepGroup& group : report.groups) {
    if (std::ranges::find(families, group.family) == families.end()) {
      families.push_back(group.family);
      out += roles_table(report, group.family);
    }
  }
  for (const SweepComparison& comparison : report.comparisons)
    out += comparison_text(report, comparison);
  return out +
         "mean ± 95% interval over seeds (Student's t); own a head: share of the relations, no "
         "head\ncounted twice\n" +
         missing_text(report.missing, report.cells) + failures_text(report.failed);
}

std::string prune_sweep_text(const PruneSweepReport& report) {
  std::string out = report.groups.empty() ? "no pruning is finished yet\n" : "";
  for (const PruneGroup& group : report.groups)
    out += text(group.name, " pruned\n", curve_text(over_runs(group.curves)), "\n");
  return out + missing_text(report.missing, report.cells) + failures_text(report.failed);
}

}  // namespace headlab
