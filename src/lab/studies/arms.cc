// Names of arms are resolved to runs, and runs to numbers. The numbers are read from their files:
// results of trials, histories of heads, and curves; a loss that is stored nowhere is measured. A
// new measure is a row of kMeasures. Read next: compare.cc.
#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"
#include "headlab/core/train/evaluate.h"
#include "headlab/lab/heads/scores/tracking.h"
#include "headlab/lab/prune/curve.h"
#include "headlab/lab/prune/methods.h"
#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/results/words.h"
#include "headlab/lab/runs/guards.h"
#include "headlab/lab/studies/compare.h"
#include "headlab/lab/studies/sweep.h"

namespace headlab {
namespace {

namespace fs = std::filesystem;

using Stage = std::optional<Judged> (*)(const CurvePoint& point);
const std::map<std::string, Stage> kStages = {
    {"", [](const CurvePoint& p) { return std::optional(p.finetuned.value_or(p.pruned)); }},
    {"pruned", [](const CurvePoint& p) { return std::optional(p.pruned); }},
    {"finetuned", [](const CurvePoint& p) { return p.finetuned; }},
    {"from_scratch", [](const CurvePoint& p) { return p.from_scratch; }}};

bool is_method(const std::string& name) {
  try {
    find_prune_method(name);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Removes the method from the end of an arm's name: ":METHOD", ":METHOD@KEPT" or
/// ":METHOD@KEPT:STAGE".
std::optional<Pruned> split_off_pruned(std::string& name) {
  const std::size_t at = name.rfind('@'), colon = name.rfind(':', at);
  if (colon == name.npos || fs::exists(name)) return std::nullopt;
  const std::size_t stage = std::min(name.find(':', colon + 1), name.size());
  const std::string size = at == name.npos ? "" : name.substr(at + 1, stage - at - 1);
  Pruned pruned{name.substr(colon + 1, std::min(at, name.size()) - colon - 1),
                name.substr(std::min(stage + 1, name.size()))};
  if (at == name.npos) {  // a name may hold a colon: task=relations:length=8
    if (!is_method(pruned.method)) return std::nullopt;
  } else {
    if (size.empty() || size.size() > 6 || size.find_first_not_of("0123456789") != size.npos) {
      throw Error("cannot read the arm " + name + ": the number of heads after @ is missing",
                  "name a pruned run as RUN:METHOD@KEPT, such as runs/a:greedy@4");
    }
    if (!kStages.contains(pruned.stage)) {
      throw unknown_name("stage", pruned.stage, {"pruned", "finetuned", "from_scratch"});
    }
    pruned.kept = std::stoll(size);
  }
  name.resize(colon);
  return pruned;
}

MethodCurve curve_by(const std::string& method, const fs::path& run) {
  const fs::path file = run / "curve.json";
  if (!fs::exists(file)) {
    throw Error("cannot read the curve of " + run.string() + ": curve.json is missing",
                "headlab curve " + shell_word(run.string()));
  }
  return in_context(text("cannot read ", file.string()), [&] {
    std::vector<std::string> known;
    const Json json = read_json(file);
    check_schema(json);
    for (const Json& one : json.at("methods").items()) {
      const MethodCurve curve = read_as<MethodCurve>(one);
      if (curve.method == method) return curve;
      known.push_back(curve.method);
    }
    throw unknown_name("method", method, known);
  });
}

Judged left_by(const Pruned& pruned, const fs::path& run) {
  const MethodCurve curve = curve_by(pruned.method, run);
  require(pruned.kept.has_value(), "cannot compare ", pruned.method,
          " without a number of heads: name it as ", pruned.method, "@4");
  for (const CurvePoint& point : curve.points) {
    if (const auto judged = kStages.at(pruned.stage)(point); judged && point.kept == *pruned.kept) {
      return *judged;
    }
  }
  throw Error(text("cannot find a ", pruned.stage, pruned.stage.empty() ? "" : " ", "model of ",
                   pruned.method, " with ", *pruned.kept, " heads in ", run.string()),
              "repeat `headlab curve` with this size");
}

Judged reached_by(const fs::path& path) {
  if (fs::exists(path / "cell.json")) return read_as<Judged>(read_json(path / "cell.json"));
  const Run run = open_run(path);
  return judge(run.model, *run.task, {.examples = run.config.train.eval_examples});
}

using Measured = std::optional<double>;

template <double Judged::*number>
Measured of_judged(const fs::path& run, const std::optional<Pruned>& pruned) {
  return (pruned ? left_by(*pruned, run) : reached_by(run)).*number;
}

/// Returns the mean of number(role) over the roles of a trial, the relations of its task.
template <double (*number)(const SweepRole&)>
Measured of_roles(const fs::path& run, const std::optional<Pruned>& pruned) {
  require(!pruned, "cannot compute this measure for a pruned model: it needs a trained run");
  const std::vector<double> values = mapped(read_trial(run).roles, number);
  return values.empty() ? Measured() : mean(values);
}

double lift_of(const SweepRole& role) { return role.head ? role.lift : 0; }
double owned_of(const SweepRole& role) { return role.owned ? 1 : 0; }

/// Returns the emergence step of each role in a run, as precisely as its scored steps allow.
std::vector<Emergence> emergences_in(const fs::path& path, const std::optional<Pruned>& pruned) {
  require(!pruned, "cannot compute emergence for a pruned model: it needs a trained run");
  const HeadsHistory history = read_heads_history(open_run(path));
  std::vector<Emergence> all;
  for (const RelationHistory& relation : history.relations) {
    Emergence& one = all.emplace_back(Emergence{.role = relation.name});
    one.never = relation.emergence_step < 0;
    one.step = one.never ? history.steps.back() : relation.emergence_step;
    one.at_first = !one.never && one.step == history.steps.front();
  }
  return all;
}

template <auto number>
Measured of_curve(const fs::path& run, const std::optional<Pruned>& pruned) {
  if (!pruned || pruned->kept) {
    throw Error("cannot measure a pruning method of " + run.string() + ": none is named",
                text("name it: ", run.string(), ":greedy"));
  }
  return curve_by(pruned->method, run).*number;
}

using enum Measure::By;
constexpr double kNoLimit = std::numeric_limits<double>::infinity();
constexpr Measure kMeasures[] = {
    {"loss", "on held-out examples", ratio, 1.25, 0, kNoLimit, of_judged<&Judged::loss>, nullptr,
     true},
    {"accuracy", "accuracy on held-out examples", share_difference, 0.005, 0, 1,
     of_judged<&Judged::accuracy>, nullptr, true},
    {"lift", "lift of each relation's head, mean over relations", difference, 0.05, -kNoLimit, 1,
     of_roles<lift_of>},
    {"owned", "share of relations that own a head", share_difference, 0.05, 0, 1,
     of_roles<owned_of>},
    {"emergence_step", "step at which a role emerges", ratio, 1.25, 0, kNoLimit, nullptr,
     emergences_in},
    {"regret", "mean height of a method's curve above the best subsets, in nats", difference, 0.01,
     -kNoLimit, kNoLimit, of_curve<&MethodCurve::regret>},
    {"used", kUsedHeads, difference, 0.5, 0, kNoLimit, of_curve<&MethodCurve::used>},
    {"needed", kNeededHeads, difference, 0.5, 0, kNoLimit, of_curve<&MethodCurve::needed>}};

/// Returns the number of targets in the accuracy of a run's trial; 0 if unknown.
double targets_of(const fs::path& run) {
  if (!fs::exists(run / "cell.json")) return 0;
  return static_cast<double>(read_trial(run).targets.value_or(0));
}

/// Returns whether the model of a run is at guessing; false for a pruned model, whose losses by
/// example are not stored.
bool is_at_guessing(const fs::path& path, const std::optional<Pruned>& pruned) {
  if (pruned) return false;
  if (fs::exists(path / "cell.json")) {
    return read_trial(path).at_guessing.value_or(false);
  }
  const Run run = open_run(path);
  const Index examples = run.config.train.eval_examples;
  return against_guessing(run.model, held_out_examples(*run.task, examples).batch).is_at_guessing();
}

/// Settings without an effect on what a run reaches, or that say where it comes from.
constexpr const char* kUnconditional[] = {"seed",        "eval_every",   "save_every",
                                          "track_heads", "keep_weights", "parent",
                                          "pruning",     "extended",     "from_weights"};

/// Settings that decide what is measured.
constexpr const char* kMustMatch[] = {"task", "data_hash"};

/// Returns the conditions under which one run was made, and its curve if the arm needs one.
std::vector<ArmCondition> conditions_of(const fs::path& run, const std::optional<Pruned>& pruned,
                                        const Measure& measure) {
  std::vector<ArmCondition> conditions;
  RunConfig config = read_config(run);
  const Settings settings = settings_of(config);
  for (const Setting& setting : settings.all()) {
    const bool must_match = std::ranges::count(kMustMatch, setting.name) > 0;
    if (std::ranges::count(kUnconditional, setting.name) > 0) continue;
    const bool is_judged_on = setting.name == "eval_examples" && measure.can_fail && !pruned;
    conditions.push_back({setting.name == "data_hash" ? "data" : setting.name, setting.get().dump(),
                          must_match || is_judged_on, !must_match});
  }
  if (!pruned) return conditions;
  const Json curve = read_json(run / "curve.json");
  if (const Json* options = curve.find("options")) {
    for (const char* name : {"judged", "test_split"}) {
      conditions.push_back({name, options->at(name).dump(), true});
    }
  }
  const MethodCurve method = curve_by(pruned->method, run);
  if (!pruned->kept) {
    const std::vector<Index> sizes = mapped(method.points, &CurvePoint::kept);
    conditions.push_back({"sizes", Json(sizes).dump(), true});
    return conditions;
  }
  for (const CurvePoint& point : method.points) {
    if (point.kept != *pruned->kept) continue;
    const bool is_tuned = pruned->stage != "pruned" && point.finetuned.has_value();
    const std::string how = pruned->stage == "from_scratch" ? "from scratch" : "fine-tuned";
    conditions.push_back({"training after removal", is_tuned ? how : "none"});
  }
  return conditions;
}

/// Returns the conditions of an arm: the values of its runs that differ are joined.
std::vector<ArmCondition> conditions_of(const std::vector<fs::path>& runs,
                                        const std::optional<Pruned>& pruned,
                                        const Measure& measure) {
  std::vector<ArmCondition> all;
  std::map<std::string, std::set<std::string>> values;
  for (const fs::path& run : runs) {
    for (const ArmCondition& one : conditions_of(run, pruned, measure)) {
      if (!values.contains(one.name)) all.push_back(one);
      values[one.name].insert(one.value);
    }
  }
  for (ArmCondition& one : all) {
    const std::set<std::string>& found = values[one.name];
    one.value = join({found.begin(), found.end()}, " and ");
  }
  return all;
}

void require_new_seed(bool is_new, const std::string& name, std::int64_t seed) {
  require(is_new, "cannot use the arm ", name, ": two of its runs have seed ", seed);
}

Arm arm_of(const std::string& name, const std::vector<fs::path>& runs,
           const std::optional<Pruned>& pruned, const Measure& measure) {
  std::map<std::int64_t, Measured> values;
  Arm arm{.name = name, .seeds = {}};
  for (const fs::path& run : runs) {
    const std::int64_t seed = read_config(run).train.seed;
    require_new_seed(values.emplace(seed, measure.of(run, pruned)).second, name, seed);
    if (!pruned && measure.by == share_difference) arm.targets = targets_of(run);
    if (!measure.can_fail) continue;
    const double accuracy = pruned ? left_by(*pruned, run).accuracy : reached_by(run).accuracy;
    const bool at_guessing = is_at_guessing(run, pruned);
    if (at_guessing) arm.at_guessing.push_back(seed);
    if (seed_fails(read_config(run).task, accuracy, at_guessing)) arm.failed.push_back(seed);
  }
  arm.conditions = conditions_of(runs, pruned, measure);
  for (const auto& [seed, value] : values) {
    if (!value) {
      arm.without.push_back(seed);
      continue;
    }
    arm.seeds.push_back(seed);
    arm.values.push_back(*value);
  }
  return arm;
}

/// Returns an arm for each role that the runs have.
std::vector<Arm> arms_by_role(const std::string& name, const std::vector<fs::path>& runs,
                              const std::optional<Pruned>& pruned, const Measure& measure) {
  std::map<std::int64_t, std::vector<Emergence>> by_seed;
  const std::vector<ArmCondition> conditions = conditions_of(runs, pruned, measure);
  for (const fs::path& run : runs) {
    const std::int64_t seed = read_config(run).train.seed;
    require_new_seed(by_seed.emplace(seed, measure.by_role(run, pruned)).second, name, seed);
  }
  std::vector<Arm> arms;
  for (const auto& [seed, roles] : by_seed) {
    for (const Emergence& one : roles) {
      auto arm = std::ranges::find(arms, one.role, &Arm::role);
      if (arm == arms.end()) {
        arms.push_back({.name = name, .seeds = {}, .role = one.role, .conditions = conditions});
        arm = arms.end() - 1;
      }
      arm->seeds.push_back(seed);
      arm->values.push_back(static_cast<double>(one.step));
      if (one.never) arm->never.push_back(seed);
      if (one.at_first) arm->at_first.push_back(seed);
    }
  }
  return arms;
}

/// Returns the arms of one name: one, or one for each role.
std::vector<Arm> arms_named(const std::string& name, const std::vector<fs::path>& runs,
                            const std::optional<Pruned>& pruned, const Measure& measure) {
  if (measure.by_role != nullptr) return arms_by_role(name, runs, pruned, measure);
  return {arm_of(name, runs, pruned, measure)};
}

bool is_run(const fs::path& path) { return fs::exists(named_run(path).path / "config.json"); }

/// Trials of a sweep that differ only in their seeds.
struct Group {
  std::string name;
  std::vector<fs::path> runs{};
  std::vector<std::int64_t> missing{};  // seeds of unfinished trials
};

/// Returns the groups of a sweep with a finished trial, or the named one.
std::vector<Group> groups_in(const fs::path& sweep, const std::string& named) {
  std::vector<Group> groups;
  for (const SweepTrial& trial : kept_trials(sweep)) {
    if (!named.empty() && trial.group != named) continue;
    if (groups.empty() || groups.back().name != trial.group) groups.push_back({trial.group});
    if (trial_state(sweep, trial) == TrialState::finished) {
      groups.back().runs.push_back(sweep / trial.name);
    } else {
      groups.back().missing.push_back(trial.config.train.seed);
    }
  }
  std::erase_if(groups, [](const Group& group) { return group.runs.empty(); });
  return groups;
}

}  // namespace

std::vector<fs::path> runs_at(const std::string& place) {
  if (is_run(place)) return {place};
  std::vector<fs::path> runs;
  const fs::path path = place;
  if (fs::is_directory(path)) {
    for (const auto& entry : fs::directory_iterator(path)) {
      if (is_run(entry.path())) runs.push_back(entry.path());
    }
  } else if (fs::exists(path.parent_path() / "grid.json")) {
    for (const Group& group : groups_in(path.parent_path(), path.filename().string())) {
      runs.insert(runs.end(), group.runs.begin(), group.runs.end());
    }
  } else if (place.find('+') != place.npos) {
    for (const std::string_view part : split(place, '+')) {
      for (fs::path& run : runs_at(std::string(part))) runs.push_back(std::move(run));
    }
  }
  if (runs.empty()) {
    throw Error("no run found in '" + place + "'",
                "name a run, a folder of runs, RUN+RUN, SWEEP/GROUP, or one of these with "
                ":METHOD@KEPT");
  }
  return runs;
}

std::span<const Measure> measures() { return kMeasures; }

const Measure& find_measure(std::string_view name) {
  return named("measure", name, kMeasures, &Measure::name);
}

std::vector<Arm> arms_of(const std::string& name, const Measure& measure) {
  std::string place = name;
  const std::optional<Pruned> pruned = split_off_pruned(place);
  const std::string suffix = name.substr(place.size());
  while (place.size() > 1 && place.ends_with('/')) place.pop_back();
  const fs::path path = place;
  std::vector<Arm> arms;
  const auto add = [&](const std::string& called, const std::vector<fs::path>& runs,
                       const std::vector<std::int64_t>& missing, const fs::path& sweep) {
    for (Arm& arm : arms_named(called, runs, pruned, measure)) {
      arm.missing = missing;
      arm.sweep = sweep.string();
      arms.push_back(std::move(arm));
    }
  };
  if (is_run(path) || !fs::exists(path / "grid.json")) {
    std::vector<std::int64_t> missing;
    const bool is_group = !fs::exists(path) && fs::exists(path.parent_path() / "grid.json");
    if (is_group) {
      for (const Group& group : groups_in(path.parent_path(), path.filename().string())) {
        missing.insert(missing.end(), group.missing.begin(), group.missing.end());
      }
    }
    add(name, runs_at(place), missing, is_group ? fs::weakly_canonical(path.parent_path()) : "");
    return arms;
  }
  for (const Group& group : groups_in(path, "")) {
    add(text(place, "/", group.name, suffix), group.runs, group.missing,
        fs::weakly_canonical(path));
  }
  return arms;
}

}  // namespace headlab
