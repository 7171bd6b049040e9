// Tables of a sweep. Relations differ between tasks, so the table of roles is made for each family
// of groups apart. The sentences under the tables say what was measured and on what condition: that
// several heads win is no law. Read next: table.h.
#include "headlab/report/sweep_text.h"

#include <algorithm>
#include <cmath>

#include "headlab/base/error.h"
#include "headlab/report/table.h"

namespace headlab {
namespace {

std::string groups_table(const SweepReport& report) {
  Table table({"cells", "seeds", "parameters", "loss", "accuracy", "own a head"});
  for (const SweepGroup& group : report.groups) {
    table.add({group.name, std::to_string(group.seeds.size()), grouped(group.parameters),
               interval_text(group.loss), interval_text(group.accuracy),
               interval_text(group.specialization)});
  }
  return table.text();
}

/// "0.953 5/5": the mean lift of the relation's head, and the seeds in which the head owns it.
std::string role_text(const SweepRoles& roles) {
  return text(fixed(roles.lift.mean, 3), " ", roles.owned, "/", roles.heads.size());
}

std::string roles_table(const SweepReport& report, const std::string& family) {
  std::vector<std::string> header = {"lift, seeds that own"};
  std::vector<std::vector<std::string>> rows;
  for (const SweepGroup& group : report.groups) {
    if (group.family != family) continue;
    if (rows.empty())
      for (const SweepRoles& roles : group.roles) header.push_back(roles.relation);
    rows.push_back({group.name});
    for (const SweepRoles& roles : group.roles) rows.back().push_back(role_text(roles));
    rows.back().resize(header.size(), "-");
  }
  if (header.size() == 1) return "";
  Table table(header);
  for (std::vector<std::string>& row : rows) table.add(std::move(row));
  return table.text() + "\n";
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
  out += c.several_win ? text("several heads beat one: a query of this task must read up to ", keys,
                              " at once\n")
                       : text("several heads gain nothing over one: a query of this task must ",
                              "read at most ", keys, " at once\n");
  out += losses_text(one, best, c);
  if (std::isfinite(c.loss_gain.half_width)) {
    out += text("  ", report.groups[c.enough].name, " is enough: ",
                c.enough == c.one ? "no other is measurably better\n"
                                  : "fewer heads are measurably worse than the best\n");
  }
  return out + (c.equal_parameters ? "  the numbers of parameters are equal\n"
                                   : "  the numbers of parameters differ: see the table\n");
}

std::string missing_text(const SweepReport& report) {
  if (report.missing.empty()) return "";
  constexpr std::size_t kShown = 8;
  std::vector<std::string> names = report.missing;
  if (names.size() > kShown) names.resize(kShown), names.emplace_back("...");
  return text("\nmissing: ", report.missing.size(), " of ", report.cells,
              " cells: ", join(names, " "), "\n");
}

}  // namespace

std::string sweep_text(const SweepReport& report) {
  if (report.groups.empty()) return "no cell is finished yet\n" + missing_text(report);
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
         "mean ± 95% interval over seeds (Student's t); own a head: share of the relations, " +
         "no head counted twice\n" + missing_text(report);
}

}  // namespace headlab
