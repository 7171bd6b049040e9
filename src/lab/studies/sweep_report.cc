// The report of a sweep: trials become groups, groups become comparisons. The spread over seeds
// differs by orders of magnitude between a model with enough heads and one without, so losses are
// compared as ratios, and chance is tested by flipping signs. The sentences report the measurement
// and its conditions: that several heads win is not a general law. Read next:
// lab/results/comparison.h.
#include "headlab/lab/studies/sweep.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "headlab/core/base/error.h"
#include "headlab/core/base/mean.h"
#include "headlab/lab/results/stored_json.h"
#include "lab/results/ratio_fields.h"
#include "lab/studies/sweep_comparison.h"

namespace headlab {
namespace {

using Results = std::vector<TrialResult>;

double diversity_or_none(const TrialResult& result) {
  return result.diversity.value_or(kUndefined);
}

double specialization(const TrialResult& result) {
  const auto owned = std::ranges::count(result.roles, true, &SweepRole::owned);
  return Mean(static_cast<double>(owned), std::ssize(result.roles)).or_nan();
}

SweepRoles roles_over_seeds(const Results& results, std::size_t r) {
  SweepRoles roles{.relation = results[0].roles[r].relation};
  std::vector<double> lifts;
  for (const TrialResult& result : results) {
    const SweepRole& role = result.roles[r];
    roles.heads.push_back(role.head);
    roles.owned += role.owned;
    if (role.head) lifts.push_back(role.lift);
  }
  roles.lift = within(t_interval(lifts), -HUGE_VAL, 1);  // no lift is above 1
  return roles;
}

/// Fills in the seeds that fail and the number of models at guessing.
void count_failures(const Results& results, SweepGroup& group) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    const bool at_guessing = results[i].at_guessing.value_or(false);
    group.at_guessing += at_guessing ? 1 : 0;
    if (seed_fails(group.config.task, results[i].accuracy, at_guessing)) {
      group.failed.push_back(group.seeds[i]);
    }
  }
}

SweepGroup group_of(const std::vector<const SweepTrial*>& trials, const Results& results) {
  SweepGroup group;
  group.name = trials[0]->group;
  group.family = trials[0]->family;
  group.config = trials[0]->config;
  group.settings = trials[0]->settings;
  for (const SweepTrial* trial : trials) group.seeds.push_back(trial->config.train.seed);
  group.losses = mapped(results, &TrialResult::loss);
  group.loss = geometric_interval(group.losses);
  group.diversities = mapped(results, diversity_or_none);
  const double most_distance = std::sqrt(std::numbers::ln2);  // of Jensen and Shannon
  group.diversity = within(t_interval(group.diversities), 0, most_distance);
  group.accuracies = mapped(results, &TrialResult::accuracy);
  const auto targets = static_cast<double>(results[0].targets.value_or(0));
  group.accuracy = share_interval(group.accuracies, 0.95, targets);
  const auto relations = static_cast<double>(results[0].roles.size());
  if (relations > 0) {
    group.specialization = share_interval(mapped(results, specialization), 0.95, relations);
  }
  count_failures(results, group);
  group.parameters = results[0].parameters;
  group.relations_at_once = static_cast<Index>(results[0].keys);
  group.keys_read = results[0].keys_read;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!std::ranges::equal(results[i].roles, results[0].roles, {}, &SweepRole::relation,
                            &SweepRole::relation)) {
      throw Error(text("cannot report the sweep: the trials ", trials[0]->name, " and ",
                       trials[i]->name, " have scores of different relations"),
                  "delete the cell.json of the damaged one; the sweep computes it again");
    }
  }
  for (std::size_t r = 0; r < results[0].roles.size(); ++r) {
    group.roles.push_back(roles_over_seeds(results, r));
  }
  return group;
}

}  // namespace

SweepReport collect_sweep(const std::filesystem::path& folder,
                          const std::vector<SweepTrial>& trials) {
  SweepReport report;
  report.trials = trials.size();
  std::vector<const SweepTrial*> members;
  Results results;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (trial_state(folder, trials[i]) == TrialState::finished) {
      members.push_back(&trials[i]);
      results.push_back(read_trial(folder / trials[i].name));
    } else {
      report.missing.push_back(trials[i].name);
      if (const auto failure = failure_of(training_job(folder, trials[i]))) {
        report.failed.push_back(*failure);
      }
    }
    const bool last = i + 1 == trials.size() || trials[i + 1].group != trials[i].group;
    if (last && !members.empty()) {  // the seeds of a group are side by side
      report.groups.push_back(group_of(members, results));
      members.clear();
      results.clear();
    }
  }
  compare_groups(report);
  compare_settings(report);
  return report;
}

/// Returns `table` with the meanings of a comparison of losses, of which ratio and corrected p are
/// shown. `corrected` names the comparisons that Holm's correction covers.
static Table with_losses_explained(Table table, const std::string& ratio_meaning,
                                   const std::string& corrected) {
  Column& ratio = table.column("loss.ratio");
  ratio.meaning = ratio_meaning;
  ratio.in_legend = true;
  Column& p = table.column("loss.p_holm");
  p.meaning = text(
      "two-sided, by flipping signs of seeds (if seeds fail, by counting seeds), for the best "
      "picked from all groups; Holm's correction covers ",
      corrected);
  p.in_legend = true;
  for (const char* key : {"wins", "seeds", "effect_size", "p", "told_apart"}) {
    table.column(text("loss.", key)).form = Form::hidden;
  }
  return table;
}

/// Adds the conclusion of a comparison with its reason and its guard.
template <class Row>
static void add_conclusion(Fields<Row>& fields) {
  fields.add(Column("verdict", "conclusion over seeds").no_legend(), &Row::conclusion);
  fields.add(Column("reason", "reason").hidden(), &Row::reason);
  fields.add(Column("guard", "guard").hidden(), &Row::guard);
}

static Table comparisons_of(const SweepReport& report) {
  using Row = SweepComparison;
  const auto name = [&](std::size_t group) { return report.groups[group].name; };
  Fields<Row> fields;
  fields.add(Column("family", "trials", "groups that differ in heads alone").no_legend(),
             &Row::family);
  fields.add(Column("one", "fewest", "the group with the fewest heads").hidden(),
             [&](const Row& row) { return name(row.one); });
  fields.add({"best", "best", "the group with the lowest mean loss"},
             [&](const Row& row) { return name(row.best); });
  fields.add_part(ratio_fields("loss", "loss of the fewest"), &Row::loss);
  fields.add(Column("accuracy_gain", "accuracy",
                    "accuracy of the best number of heads minus that of the fewest")
                 .shown_as(Form::signed_number),
             &Row::accuracy_gain);
  fields.add(Column("enough", "enough").hidden(),
             [&](const Row& row) { return row.enough ? Json(name(*row.enough)) : Json(); });
  fields.add(Column("equal_parameters", "equal parameters").hidden(), &Row::equal_parameters);
  fields.add(Column("keys_at_once", "keys").hidden(), &Row::keys_read);
  fields.add(Column("relations_at_once", "relations").hidden(), &Row::relations_at_once);
  fields.add(Column("several_win", "several win").hidden(), &Row::several_win);
  add_conclusion(fields);
  return with_losses_explained(
      fields.table({.name = "comparisons"}, report.comparisons),
      "loss with the fewest heads, times that of the best",
      "the differences of all groups and families, one comparison for each group with fewer heads "
      "than the best");
}

static Table settings_of_groups(const SweepReport& report) {
  using Row = SettingComparison;
  const auto name = [&](std::size_t group) { return report.groups[group].name; };
  Fields<Row> fields;
  fields.add({"setting", "setting", "the only setting in which these groups differ"},
             &Row::setting);
  fields.add(Column("family", "trials", "the settings that they share").no_legend(), &Row::family);
  fields.add({"best", "best", "the group with the lowest mean loss"},
             [&](const Row& row) { return name(row.best); });
  fields.add({"next", "next", "the group with the next lowest"},
             [&](const Row& row) { return name(row.next); });
  fields.add_part(ratio_fields("loss", "loss of the next"), &Row::loss);
  fields.add(Column("equal_parameters", "equal parameters").hidden(), &Row::equal_parameters);
  add_conclusion(fields);
  std::string reasons;
  for (const SettingComparison& c : report.settings) {
    const std::string shared = c.family == "all" ? "" : ", " + c.family;
    reasons += text(c.setting, shared, ": ", c.reason, "\n");
  }
  return with_losses_explained(fields.table({.name = "settings", .note = reasons}, report.settings),
                               "loss of the next, times that of the best",
                               "all comparisons of this table");
}

static const Column kGroup = Column("group", "trials").no_legend();

/// Returns the table of trials, with a row for each seed of each group.
static Table seeds_of(const SweepReport& report) {
  struct Row {
    std::string group;
    std::int64_t seed;
    double loss, accuracy, diversity;
  };
  std::vector<Row> rows;
  for (const SweepGroup& one : report.groups) {
    for (std::size_t s = 0; s < one.losses.size(); ++s) {
      rows.push_back(
          {one.name, one.seeds[s], one.losses[s], one.accuracies[s], one.diversities[s]});
    }
  }
  Fields<Row> fields;
  fields.add(kGroup, &Row::group);
  fields.add({"seed", "seed"}, &Row::seed);
  fields.add({"loss", "loss", "held out"}, &Row::loss);
  fields.add({"accuracy", "accuracy", "held out"}, &Row::accuracy);
  fields.add({"diversity", "diversity", "mean distance of heads' rows"}, &Row::diversity);
  return fields.table({.name = "results", .shown = false}, rows);
}

/// Returns the table of relations, with a row for each of each group.
static Table roles_of(const SweepReport& report) {
  struct Row {
    std::string group, relation;
    double lift;
    Interval owned;
  };
  std::vector<Row> rows;
  for (const SweepGroup& one : report.groups) {
    for (const SweepRoles& role : one.roles) {
      std::vector<double> owned(one.seeds.size());
      std::fill_n(owned.begin(), role.owned, 1.0);
      rows.push_back({one.name, role.relation, role.lift.mean, share_interval(owned)});
    }
  }
  Fields<Row> fields;
  fields.add(kGroup, &Row::group);
  fields.add({"relation", "relation"}, &Row::relation);
  fields.add(Column("lift", "lift", "lift of the relation's head, mean").fixed(3).no_legend(),
             &Row::lift);
  fields.add(
      interval_column("owned", "owned", "share of seeds in which it owns the relation").no_legend(),
      &Row::owned);
  Table roles = fields.table({.name = "roles"}, rows);
  roles.grids = {{"mean lift of the relation's head", "group", "relation", "lift"},
                 {"share of seeds in which that head owns the relation", "group", "relation",
                  "owned"}};
  return roles;
}

/// Returns the sentences on families of which no table has a comparison; "" if there are none.
static std::string uncompared_text(const SweepReport& report) {
  if (!report.settings.empty()) return "";
  std::string said;
  for (const SweepFamily& family : families_of(report)) {
    const bool is_compared =
        std::ranges::count(report.comparisons, family.name, &SweepComparison::family) > 0;
    if (!is_compared) said += family.conclusion + "\n";
  }
  return said;
}

Result result_of(const SweepReport& report) {
  Result found{.about = stamped({{"cells", report.trials},
                                 {"missing", report.missing},
                                 {"failed", report.failed},
                                 {"groups", report.groups},
                                 {"families", families_of(report)}})};
  found.tables.push_back(table_of(
      found.about,
      {"groups",
       {Column("name", "trials", "runs that differ by the seed alone").no_legend(),
        Column("seeds", "seeds", "number of runs in the means").hidden(),
        Column("parameters", "parameters", "number of parameters").shown_as(Form::grouped),
        interval_column("loss", "loss", "geometric mean over seeds, 95% interval on logarithms"),
        interval_column(
            "accuracy", "accuracy",
            "mean over seeds, 95% interval of Wilson over all targets, clustered by seed"),
        interval_column("diversity", "diversity", "mean distance of two heads' patterns").hidden(),
        interval_column("specialization", "own a head",
                        "share of relations with their own head; no head counts twice")}}));
  found.tables.back().rows_in_about = true;
  found.tables.back().note = uncompared_text(report);
  found.tables.push_back(seeds_of(report));
  found.tables.push_back(roles_of(report));
  if (!report.comparisons.empty() || report.groups.empty()) {
    found.tables.push_back(comparisons_of(report));
    Index seeds = 0;
    std::string reasons;
    for (const SweepComparison& c : report.comparisons) {
      seeds = std::max(seeds, c.loss.seeds());
      reasons += (report.comparisons.size() > 1 ? c.family + ": " : "") + c.reason + "\n";
    }
    if (seeds > 0) found.tables.back().note = reasons + chance_text(seeds);
  }
  if (!report.settings.empty() || report.groups.empty()) {
    found.tables.push_back(settings_of_groups(report));
  }
  return found;
}

}  // namespace headlab
