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

SweepGroup group_of(const std::vector<const SweepTrial*>& trials, const Results& results) {
  SweepGroup group;
  group.name = trials[0]->group;
  group.family = trials[0]->family;
  group.config = trials[0]->config;
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

/// Groups of one family, with the values of the seeds that all of them have.
struct Family {
  std::vector<std::size_t> members;  // by number of heads
  std::vector<std::vector<double>> losses{}, accuracies{};

  Family(const std::vector<SweepGroup>& groups, std::vector<std::size_t> of)
      : members(std::move(of)) {
    const auto all_have = [&](std::int64_t seed) {
      return std::ranges::all_of(members, [&](std::size_t i) {
        return std::ranges::count(groups[i].seeds, seed) > 0;
      });
    };
    for (const std::size_t i : members) {
      losses.emplace_back();
      accuracies.emplace_back();
      for (std::size_t s = 0; s < groups[i].seeds.size(); ++s) {
        if (!all_have(groups[i].seeds[s])) continue;
        losses.back().push_back(groups[i].losses[s]);
        accuracies.back().push_back(groups[i].accuracies[s]);
      }
    }
  }
  /// Returns p of the test that group a is as accurate as group b within kGain.
  double p_as_accurate(std::size_t a, std::size_t b) const {
    std::vector<double> differences;
    for (std::size_t s = 0; s < accuracies[a].size(); ++s) {
      differences.push_back(accuracies[a][s] - accuracies[b][s]);
    }
    return equal_p(differences, kGain);
  }
};

/// Comparison of a family during the correction of its p with those of the others.
struct Judgement {
  SweepComparison comparison;
  std::vector<std::size_t> fewer{};  // groups with fewer heads than the best, in ascending order
  std::vector<Paired> losses{};      // each of these compared with the best
  std::vector<double> p_accurate{};  // p that each of these is as accurate as the best
};

/// Compares the groups of one family, numbered in `report`; nothing unless one of them has one head
/// and another more.
std::optional<Judgement> compare(const std::vector<SweepGroup>& groups,
                                 std::vector<std::size_t> members) {
  const auto heads = [&](std::size_t i) { return groups[i].config.model.heads_of(0); };
  const auto loss = [&](std::size_t i) { return groups[i].loss.mean; };
  std::erase_if(members, [&](std::size_t i) { return heads(i) < 1; });
  std::ranges::sort(members, {}, heads);
  if (members.size() < 2 || heads(members[0]) != 1) return std::nullopt;
  const Family family(groups, members);
  const auto best =
      static_cast<std::size_t>(std::ranges::min_element(members, {}, loss) - members.begin());
  Judgement judgement{.comparison = {.family = groups[members[0]].family}};
  SweepComparison& result = judgement.comparison;
  result.one = members[0];
  result.best = members[best];
  const SweepGroup& single = groups[result.one];
  for (std::size_t i = 0; i < best; ++i) {
    Paired& found =
        judgement.losses.emplace_back(paired(log_ratios(family.losses[i], family.losses[best])));
    found.p = p_of_picked(family.losses, i, best);
    found.corrected = found.p;
    judgement.fewer.push_back(members[i]);
    judgement.p_accurate.push_back(family.p_as_accurate(i, best));
  }
  result.loss =
      best > 0 ? judgement.losses[0] : paired(log_ratios(family.losses[0], family.losses[0]));
  result.accuracy_gain = groups[result.best].accuracy.mean - single.accuracy.mean;
  result.equal_parameters = std::ranges::all_of(members, [&](std::size_t i) {
    return groups[i].parameters == single.parameters;
  });
  result.relations_at_once = single.relations_at_once;
  result.keys_read = single.keys_read;
  return judgement;
}

/// Corrects both tests for all groups of all families together. Both hypotheses of a pair can be
/// true (its losses are the same, and its accuracies differ), so each counts.
void correct_all(std::vector<Judgement>& all) {
  std::vector<double> tested;
  for (const Judgement& one : all) {
    for (const Paired& loss : one.losses) tested.push_back(loss.p);
    tested.insert(tested.end(), one.p_accurate.begin(), one.p_accurate.end());
  }
  const std::vector<double> corrected = holm(tested);
  std::size_t next = 0;
  for (Judgement& one : all) {
    for (Paired& loss : one.losses) loss.corrected = corrected[next++];
    for (double& p : one.p_accurate) p = corrected[next++];
  }
}

/// Draws the conclusions from corrected p.
void conclude(Judgement& judgement) {
  SweepComparison& result = judgement.comparison;
  if (judgement.fewer.empty()) return;  // one head is the best
  result.loss = judgement.losses[0];
  result.several_win = result.accuracy_gain >= kGain && result.loss.is_significant();
  result.one_is_equal = judgement.p_accurate[0] < 0.05;
  const auto is_equal = [](double p) { return p < 0.05; };
  const auto first = std::ranges::find_if(judgement.p_accurate, is_equal);
  if (first != judgement.p_accurate.end()) {
    result.enough =
        judgement
            .fewer[static_cast<std::size_t>(std::distance(judgement.p_accurate.begin(), first))];
  } else if (std::ranges::all_of(judgement.losses, &Paired::is_significant)) {
    result.enough = result.best;
  }
}

void add_comparisons(SweepReport& report) {
  std::vector<std::pair<std::string, std::vector<std::size_t>>> families;  // and their groups
  for (std::size_t i = 0; i < report.groups.size(); ++i) {
    const std::string& name = report.groups[i].family;
    auto family = std::ranges::find(families, name, [](const auto& f) { return f.first; });
    if (family == families.end()) family = families.insert(family, {name, {}});
    if (report.groups[i].config.model.heads.size() == 1) family->second.push_back(i);
  }
  std::vector<Judgement> all;
  for (const auto& [name, members] : families) {
    if (auto judgement = compare(report.groups, members)) all.push_back(std::move(*judgement));
  }
  correct_all(all);
  for (Judgement& one : all) {
    conclude(one);
    report.comparisons.push_back(one.comparison);
  }
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
  add_comparisons(report);
  return report;
}

/// Returns the reason from the task's ground truth, only if it applies: one head cannot read
/// several relations at one query, but it can read a single key.
static std::string reason_of(const SweepComparison& c) {
  if (!c.keys_read) return "";
  const std::string keys = text(*c.keys_read, *c.keys_read == 1 ? " key" : " keys", " at once");
  if (c.several_win && c.relations_at_once > 1) {
    return text(": a query of this task must attend to up to ", keys, ", for ", c.relations_at_once,
                " relations");
  }
  if (!c.several_win && c.one_is_equal && *c.keys_read == 1) {
    return text(": a query of this task must attend to at most ", keys);
  }
  return "";
}

static std::string conclusion_of(const SweepReport& report, const SweepComparison& c) {
  const std::string seeds = text(c.loss.seeds, c.loss.seeds == 1 ? " seed" : " seeds");
  const std::string& single = report.groups[c.one].name;
  std::string said = text("whether several heads beat one is not decided by ", seeds);
  if (c.best == c.one) said = single + " has the lowest mean loss";
  if (c.best != c.one && c.one_is_equal) {
    said = "several heads gain nothing over one" + reason_of(c);
  }
  if (c.several_win) said = "several heads beat one" + reason_of(c);
  if (c.enough) {
    const std::string& name = report.groups[*c.enough].name;
    said += c.enough == c.best
                ? text("; ", name, " is enough, and fewer are worse")
                : text("; ", name, " is enough: as accurate as the best within ", kGain);
  }
  return said + (c.equal_parameters ? "" : "; the numbers of parameters differ");
}

static Table comparisons_columns() {
  Table table{"comparisons",
              {Column("family", "trials", "groups that differ in heads alone").no_legend(),
               Column("one", "one head").hidden(),
               {"best", "best", "the group with the lowest mean loss"}}};
  table.append(ratio_columns("loss", "loss of one head"));
  Column& ratio = table.column("loss.ratio");
  ratio.meaning = "loss with one head, times that of the best";
  ratio.in_legend = true;
  Column& corrected = table.column("loss.p_holm");
  corrected.meaning =
      "two-sided, by flipping signs of seeds, for the best picked from all groups; "
      "one Holm correction for the differences and the equalities of all groups and families";
  corrected.in_legend = true;
  for (const char* key : {"wins", "seeds", "effect_size", "p", "told_apart"}) {
    table.column(text("loss.", key)).form = Form::hidden;
  }
  table.append(
      {Column("accuracy_gain", "accuracy",
              "accuracy of the best number of heads minus that of one head")
           .shown_as(Form::signed_number),
       Column("enough", "enough").hidden(), Column("equal_parameters", "equal parameters").hidden(),
       Column("keys_at_once", "keys").hidden(), Column("relations_at_once", "relations").hidden(),
       Column("several_win", "several win").hidden(),
       Column("verdict", "conclusion over seeds").no_legend()});
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
                                 {"verdict", conclusion_of(report, c)}}));
  }
  return table_of(Json::object({{"comparisons", rows}}), comparisons_columns());
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
  for (Table& table : rows_of(report)) found.tables.push_back(std::move(table));
  if (!report.comparisons.empty() || report.groups.empty()) {
    found.tables.push_back(comparisons_of(report));
    Index seeds = 0;
    for (const SweepComparison& c : report.comparisons) seeds = std::max(seeds, c.loss.seeds);
    if (seeds > 0) found.tables.back().note = chance_text(seeds);
  }
  return found;
}

}  // namespace headlab
