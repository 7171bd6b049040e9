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

/// Appends the columns of a comparison of losses, of which ratio and corrected p are shown. `other`
/// names the group that is compared with the best, `corrected` the comparisons that Holm's
/// correction covers.
static void append_losses(Table& table, const std::string& other, const std::string& ratio_meaning,
                          const std::string& corrected) {
  table.append(ratio_columns("loss", text("loss of the ", other)));
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
}

static Table comparisons_columns() {
  Table table{"comparisons",
              {Column("family", "trials", "groups that differ in heads alone").no_legend(),
               Column("one", "fewest", "the group with the fewest heads").hidden(),
               {"best", "best", "the group with the lowest mean loss"}}};
  append_losses(table, "fewest", "loss with the fewest heads, times that of the best",
                "the differences of all groups and families, one comparison for each group with "
                "fewer heads than the best");
  table.append(
      {Column("accuracy_gain", "accuracy",
              "accuracy of the best number of heads minus that of the fewest")
           .shown_as(Form::signed_number),
       Column("enough", "enough").hidden(), Column("equal_parameters", "equal parameters").hidden(),
       Column("keys_at_once", "keys").hidden(), Column("relations_at_once", "relations").hidden(),
       Column("several_win", "several win").hidden(),
       Column("verdict", "conclusion over seeds").no_legend(), Column("reason", "reason").hidden(),
       Column("guard", "guard").hidden()});
  return table;
}

static Table comparisons_of(const SweepReport& report) {
  const auto name = [&](std::size_t group) { return report.groups[group].name; };
  Json rows = Json::array();
  for (const SweepComparison& c : report.comparisons) {
    rows.push_back(Json::object({{"family", c.family},
                                 {"one", name(c.one)},
                                 {"best", name(c.best)},
                                 {"loss", c.loss},
                                 {"accuracy_gain", c.accuracy_gain},
                                 {"enough", c.enough ? Json(name(*c.enough)) : Json()},
                                 {"equal_parameters", c.equal_parameters},
                                 {"keys_at_once", c.keys_read},
                                 {"relations_at_once", c.relations_at_once},
                                 {"several_win", c.several_win},
                                 {"verdict", c.conclusion},
                                 {"reason", c.reason},
                                 {"guard", c.guard}}));
  }
  return table_of(Json::object({{"comparisons", rows}}), comparisons_columns());
}

static Table settings_columns() {
  Table table{"settings",
              {{"setting", "setting", "the only setting in which these groups differ"},
               Column("family", "trials", "the settings that they share").no_legend(),
               {"best", "best", "the group with the lowest mean loss"},
               {"next", "next", "the group with the next lowest"}}};
  append_losses(table, "next", "loss of the next, times that of the best",
                "all comparisons of this table");
  table.append({Column("equal_parameters", "equal parameters").hidden(),
                Column("verdict", "conclusion over seeds").no_legend(),
                Column("reason", "reason").hidden(), Column("guard", "guard").hidden()});
  return table;
}

static Table settings_of_groups(const SweepReport& report) {
  const auto name = [&](std::size_t group) { return report.groups[group].name; };
  Json rows = Json::array();
  std::string reasons;
  for (const SettingComparison& c : report.settings) {
    rows.push_back(Json::object({{"setting", c.setting},
                                 {"family", c.family},
                                 {"best", name(c.best)},
                                 {"next", name(c.next)},
                                 {"loss", c.loss},
                                 {"equal_parameters", c.equal_parameters},
                                 {"verdict", c.conclusion},
                                 {"reason", c.reason},
                                 {"guard", c.guard}}));
    const std::string shared = c.family == "all" ? "" : ", " + c.family;
    reasons += text(c.setting, shared, ": ", c.reason, "\n");
  }
  Table table = table_of(Json::object({{"settings", rows}}), settings_columns());
  table.note = reasons;
  return table;
}

/// Returns a row for each trial, and one for each relation of a group.
static std::vector<Table> rows_of(const SweepReport& report) {
  const Column group = Column("group", "trials").no_legend();
  Table seeds{"results",
              {group,
               {"seed", "seed"},
               {"loss", "loss", "held out"},
               {"accuracy", "accuracy", "held out"},
               {"diversity", "diversity", "mean distance of heads' rows"}}};
  seeds.shown = false;
  Table roles{"roles",
              {group,
               {"relation", "relation"},
               Column("lift", "lift", "lift of the relation's head, mean").fixed(3).no_legend(),
               interval_column("owned", "owned", "share of seeds in which it owns the relation")
                   .no_legend()}};
  for (const SweepGroup& one : report.groups) {
    for (std::size_t s = 0; s < one.losses.size(); ++s) {
      seeds.rows.push_back(
          {one.name, one.seeds[s], one.losses[s], one.accuracies[s], one.diversities[s]});
    }
    for (const SweepRoles& role : one.roles) {
      std::vector<double> owned(one.seeds.size());
      std::fill_n(owned.begin(), role.owned, 1.0);
      const Interval share = share_interval(owned);
      roles.rows.push_back({one.name, role.relation, role.lift.mean,
                            Json::Array{share.mean, share.low, share.high}});
    }
  }
  roles.grids = {{"mean lift of the relation's head", "group", "relation", "lift"},
                 {"share of seeds in which that head owns the relation", "group", "relation",
                  "owned"}};
  return {seeds, roles};
}

Result result_of(const SweepReport& report) {
  Result found{.about = stamped({{"cells", report.trials},
                                 {"missing", report.missing},
                                 {"failed", report.failed},
                                 {"groups", report.groups}})};
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
  for (Table& table : rows_of(report)) found.tables.push_back(std::move(table));
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
