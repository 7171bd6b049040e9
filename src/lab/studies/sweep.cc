// The grid of a sweep: from lists of values to trials with names. A name holds the settings that
// vary, and always heads and seed, so that a grid can grow. Trials are ordered by the axes with the
// seed last, so that the first trials cover every combination. For each trial a run is trained, its
// heads are scored and assigned to the relations, and the result is stored in its folder:
// heads.json, and cell.json, which is written last, so a trial that has one is finished. Read next:
// sweep_report.cc.
#include "headlab/lab/studies/sweep.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <set>

#include "headlab/core/base/files.h"
#include "headlab/core/base/text.h"
#include "headlab/core/tasks/table.h"
#include "headlab/core/train/evaluate.h"
#include "headlab/core/train/streams.h"
#include "headlab/lab/heads/scores/tracking.h"
#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/results/words.h"
#include "headlab/lab/runs/file_lock.h"

namespace headlab {
namespace {

namespace fs = std::filesystem;

using Value = std::pair<std::string, std::string>;  // a setting and its value

/// Returns the name with '_' in place of characters that some file system or shell treats
/// specially.
std::string folder_name(std::string name) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789=,.+-_:";
  std::ranges::replace_if(
      name, [&](char c) { return kPlain.find(c) == kPlain.npos; }, '_');
  return name;
}

/// Returns "heads=4,seed=2": the values of the settings in `shown`.
std::string name_of(const std::vector<Value>& values, const std::set<std::string>& shown) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : values) {
    if (shown.contains(name)) parts.push_back(name + "=" + value);
  }
  return folder_name(parts.empty() ? "all" : join(parts, ","));
}

/// Returns the values of the settings in `shown`.
std::vector<Value> values_of(std::vector<Value> values, const std::set<std::string>& shown) {
  std::erase_if(values, [&](const Value& one) { return !shown.contains(one.first); });
  return values;
}

/// Returns the config of a run, or else the task's recommendation, with these values.
RunConfig config_of(const std::vector<Value>& values, const fs::path& run) {
  const auto task = std::ranges::find(values, "task", &Value::first);
  RunConfig config =
      !run.empty() ? read_config(run)
                   : recommended_config(task == values.end() ? RunConfig().task : task->second);
  const Settings settings = user_settings_of(config);
  for (const auto& [name, value] : values) settings.set_text(name, value);
  fit_heads(config.model);
  fit_to_task(config);
  config.model.validate();
  config.train.validate();
  return config;
}

/// Returns the settings of a trial by value, independent of spelling: equal for trials that train
/// the same model in the same way.
std::string settings_as_read(RunConfig config) {
  TransformerConfig& model = config.model;
  const auto layers = static_cast<std::size_t>(model.all_layers());
  if (model.heads.size() == 1) model.heads.resize(layers, model.heads[0]);
  if (model.window.size() == 1) model.window.resize(layers, model.window[0]);
  const std::set<Index> counts(model.heads.begin(), model.heads.end());
  if (counts.size() == 1 && *counts.begin() > 0) {
    model.d_head = model.d_head_of(0);
    if (model.kv_heads == 0) model.kv_heads = *counts.begin();
  }
  return settings_of(config).to_json().dump();
}

/// Returns the settings in a name, without their values: "lr,heads,seed".
std::string shown_in(const std::string& name) {
  return join(texts_of(split(name, ','),
                       [](std::string_view part) { return part.substr(0, part.find('=')); }),
              ",");
}

/// Throws an Error if two trials are the same training in two spellings. For several grids, only
/// trials whose names show the same settings are compared: another grid may name a setting that was
/// a default.
void require_different(const std::vector<SweepTrial>& trials, bool several_grids) {
  std::map<std::string, std::string> names;  // by settings
  for (const SweepTrial& trial : trials) {
    const std::string shown = several_grids ? shown_in(trial.name) : "";
    const auto [known, is_new] = names.emplace(shown + settings_as_read(trial.config), trial.name);
    if (is_new || known->second == trial.name) continue;
    throw Error(text("cannot sweep: the grid has one trial twice, since ", known->second, " and ",
                     trial.name, " are the same settings"),
                "leave one of the two spellings out");
  }
}

/// Returns the axes with the seed last, 0 if none is given, and the block first, which sets several
/// settings together: an axis for one of them overrides it.
std::vector<SweepAxis> completed(std::vector<SweepAxis> grid) {
  const auto is_seed = [](const SweepAxis& axis) { return axis.name == "seed"; };
  const auto is_block = [](const SweepAxis& axis) { return axis.name == "block"; };
  if (std::ranges::none_of(grid, is_seed)) grid.push_back({"seed", {"0"}});
  std::stable_partition(grid.begin(), grid.end(), std::not_fn(is_seed));
  std::stable_partition(grid.begin(), grid.end(), is_block);
  return grid;
}

/// Returns every combination, the last axis fastest.
std::vector<std::vector<Value>> combinations(const std::vector<SweepAxis>& grid) {
  std::vector<std::vector<Value>> all = {{}};
  for (const SweepAxis& axis : grid) {
    std::vector<std::vector<Value>> longer;
    for (const std::vector<Value>& values : all) {
      for (const std::string& value : axis.values) {
        longer.emplace_back(values).emplace_back(axis.name, value);
      }
    }
    all = std::move(longer);
  }
  return all;
}

// ---- trials

constexpr Index kScoredExamples = 512;  // as HeadsOptions has it

/// Returns the head of each relation: its one-to-one assignment.
std::vector<SweepRole> roles_of(const HeadsReport& report) {
  std::vector<SweepRole> roles;
  for (const RelationWinner& winner : report.relations) {
    SweepRole role{winner.relation.name, {}, kUndefined, winner.assigned_owns};
    if (winner.assigned) {
      const HeadScores& head = report.heads[*winner.assigned];
      role.head = HeadId{head.attention_layer, head.head};
      role.lift = head.relations[roles.size()].lift;
    }
    roles.push_back(std::move(role));
  }
  return roles;
}

/// Stores the scores of a trial's heads as `headlab heads` with its usual options does, which
/// therefore replaces them.
void keep_scores(const Run& run, const HeadsReport& report) {
  Json json = to_json(result_of(report, {.all = true}));
  json["seed"] = run.config.train.seed;
  json["options"] = Json::object(
      {{"examples", kScoredExamples}, {"permutations", HeadsOptions().permutations}, {"npy", ""}});
  json["step"] = run.step < 0 ? Json() : Json(run.step);
  json["weights"] = weights_hash(run.model);
  json["run"] = identity_of(run.config);
  json["command"] = "headlab heads " + shell_word(run.path.string());
  write_json(run.path / "heads.json", json);
}

TrialResult result_of(const Run& run, const Evaluation& held_out, const HeadsReport& report) {
  const ReadAtOnce read = read_at_once(*run.task);
  const Batch examples = held_out_examples(*run.task, run.config.train.eval_examples).batch;
  const bool at_guessing = against_guessing(run.model, examples).is_at_guessing();
  return {.loss = held_out.loss,
          .accuracy = held_out.accuracy,
          .parameters = run.model.parameter_count(),
          .keys = static_cast<double>(read.relations),
          .roles = roles_of(report),
          .diversity = diversity_of(report),
          .keys_read = read.keys,
          .targets = held_out.count,
          .at_guessing = at_guessing};
}

/// Returns the first setting in which two configs differ, as a sentence; "" if they are the same.
std::string first_difference(RunConfig there, RunConfig wanted) {
  if (there == wanted) return "";
  const Settings found = settings_of(there), asked = settings_of(wanted);
  for (const Setting& setting : asked.all()) {
    const Json have = found.find(setting.name)->get(), want = setting.get();
    if (have != want) {
      return text(setting.name, " is ", have.dump(), " there and ", want.dump(), " here");
    }
  }
  return "";
}

/// Returns the settings that the name of a family shows: those with several values, without the
/// number of heads and the seed.
std::set<std::string> settings_of_families(const std::vector<SweepAxis>& grid) {
  std::set<std::string> settings;
  for (const SweepAxis& axis : grid) {
    if (axis.values.size() > 1 && axis.name != "heads" && axis.name != "seed") {
      settings.insert(axis.name);
    }
  }
  return settings;
}

}  // namespace

ReadAtOnce read_at_once(const Task& task) {
  constexpr Index kLooked = 64;
  const Example example = task.make(streams::scored(), kLooked, Split::validation);
  ReadAtOnce most;
  for (Index b = 0; b < kLooked; ++b) {
    for (Index t = 0; t < example.batch.length; ++t) {
      std::set<std::vector<std::int32_t>> sets;
      std::set<std::int32_t> all;
      for (const GroundTruth& truth : example.truth) {
        const auto keys = truth.keys(b, t);
        if (keys.empty()) continue;
        sets.emplace(keys.begin(), keys.end());
        all.insert(keys.begin(), keys.end());
      }
      most.relations = std::max<Index>(most.relations, std::ssize(sets));
      most.keys = std::max<Index>(most.keys, std::ssize(all));
    }
  }
  return most;
}

std::vector<std::string> sweep_values(const std::string& list) {
  std::vector<std::string> values;
  for (const std::string_view part : split(list, ',')) {
    const bool parameter = part.substr(0, part.find(':')).find('=') != part.npos;
    if (parameter && !values.empty()) {
      values.back().append(",").append(part);
    } else {
      values.emplace_back(part);
    }
  }
  return values;
}

std::vector<SweepTrial> sweep_trials(const std::vector<SweepAxis>& given, const fs::path& folder) {
  const std::vector<SweepAxis> grid = completed(given);
  const std::set<std::string> of_family = settings_of_families(grid);
  std::set<std::string> of_group = of_family;
  of_group.insert("heads");
  std::set<std::string> of_cell = of_group;
  of_cell.insert("seed");
  std::vector<SweepTrial> trials;
  std::set<std::string> names;
  std::vector<Value> group;
  RunConfig of_seeds;  // the config of a group, whose trials differ in their seeds alone
  bool kept = false;   // it is that of a run in the folder
  for (const std::vector<Value>& values : combinations(grid)) {
    SweepTrial trial{name_of(values, of_cell), name_of(values, of_group),
                     name_of(values, of_family), of_seeds, values_of(values, of_group)};
    const std::vector<Value> but_seed(values.begin(), values.end() - 1);
    in_context("cannot sweep: trial " + trial.name, [&] {
      const bool other = trials.empty() || but_seed != group;
      const fs::path run = folder / trial.name;
      if (other) {
        of_seeds = config_of(values, {});
        kept = folder.empty();
      }
      if (!kept && is_there(run / "config.json")) {
        of_seeds = config_of(values, run);
        kept = true;
      }
      trial.config = of_seeds;
      settings_of(trial.config.train).set_text("seed", values.back().second);
    });
    group = but_seed;
    const bool is_new = names.insert(trial.name).second;
    require(is_new, "cannot sweep: the grid has the trial ", trial.name, " twice");
    trials.push_back(std::move(trial));
  }
  // A sweep that exists is read as it was made.
  if (folder.empty()) require_different(trials, false);
  return trials;
}

RunLock lock_sweep(const fs::path& folder) {
  constexpr std::chrono::seconds kPatience{10};
  const auto begin = std::chrono::steady_clock::now();
  for (;; wait_a_moment()) {
    try {
      return lock_run(folder);
    } catch (const RunBusy&) {
      if (std::chrono::steady_clock::now() - begin > kPatience) throw;
    }
  }
}

void add_grid(const fs::path& folder, const SweepGrid& grid) {
  const RunLock lock = lock_sweep(folder);
  const fs::path file = folder / "grid.json";
  Json all = is_there(file) ? read_json(file) : stamped({{"grids", Json::array()}});
  Json axes = Json::object();
  for (const SweepAxis& axis : grid) axes[axis.name] = axis.values;
  const bool known = std::ranges::count(all["grids"].items(), axes) > 0;
  const std::vector<SweepTrial> trials = sweep_trials(grid);
  const auto is_made = [&](const SweepTrial& c) { return is_there(folder / c.name / "cell.json"); };
  if (!known || !std::ranges::all_of(trials, is_made)) {  // else collect_sweep checks them
    for (const SweepTrial& trial : trials) trial_state(folder, trial);
  }
  if (known) return;
  if (is_there(file)) {  // the new trials may be those of the sweep in another spelling
    std::vector<SweepTrial> together = kept_trials(folder);
    together.insert(together.end(), trials.begin(), trials.end());
    require_different(together, true);
  }
  all["grids"].push_back(std::move(axes));
  make_directories(folder);
  write_json(file, all);
}

std::vector<SweepTrial> kept_trials(const fs::path& folder) {
  const fs::path file = folder / "grid.json";
  if (!is_there(file)) {
    throw Error(text("no sweep found in '", folder.string(), "' (grid.json is missing)"),
                "pass a folder created by `headlab sweep --out`");
  }
  const Json all = read_json(file);
  std::vector<SweepTrial> trials;
  std::set<std::string> names;
  for (const Json& axes : all.at("grids").items()) {
    SweepGrid grid;
    for (const auto& [name, values] : axes.members()) {
      grid.push_back({name, texts_of(values.items(), &Json::string)});
    }
    for (SweepTrial& trial : sweep_trials(grid, folder)) {
      if (names.insert(trial.name).second) trials.push_back(std::move(trial));
    }
  }
  return trials;
}

TrialState trial_state(const fs::path& folder, const SweepTrial& trial) {
  const fs::path path = folder / trial.name;
  if (!is_there(path / "config.json")) return TrialState::missing;
  const std::string difference = first_difference(read_config(path), trial.config);
  if (!difference.empty()) {
    throw Error(text("cannot continue ", path.string(),
                     ": it holds a run with other settings: ", difference),
                "repeat the setting as it is there, or give the sweep another folder");
  }
  return is_there(path / "cell.json") ? TrialState::finished : TrialState::started;
}

TrialResult read_trial(const fs::path& trial) {
  const fs::path file = trial / "cell.json";
  return in_context(text("cannot read ", file.string()),
                    [&] { return read_as<TrialResult>(read_json(file)); });
}

bool seed_fails(const std::string& task, double accuracy, bool at_guessing) {
  const double least = find_task(task).learned.accuracy;
  return least > 0 ? accuracy < least : at_guessing;
}

Job training_job(const fs::path& folder, const SweepTrial& trial, const WatchTrial& watch) {
  const fs::path path = folder / trial.name;
  const auto make = [=] {
    const bool begun = trial_state(folder, trial) == TrialState::started;
    Run run = begun ? open_run(path) : create_run(path, trial.config, Existing::replace);
    const TrainResult trained =
        train_run(run, track_heads(run, watch ? watch(trial) : RunCallbacks{}));
    if (!trained.finished) throw Stopped();
    const HeadsReport report = score_heads(run.model, *run.task, {.examples = kScoredExamples});
    keep_scores(run, report);
    return stamped(to_json(result_of(run, trained.held_out, report)).members());
  };
  return {.name = trial.name,
          .label = "trial " + trial.name,
          .path = path,
          .file = path / "cell.json",
          .settings = path / "config.json",
          .make = make,
          .bytes = training_bytes(trial.config)};
}

}  // namespace headlab
