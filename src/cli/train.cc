// `headlab train`: a new run from a task's recommended settings, a config file and flags, in this
// order; or a run resumed. Settings that do not fit together are a wrong command line, and nothing
// is written before all of them are checked. Read next: train/run.h.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>

#include "cli/all_commands.h"
#include "cli/terminal.h"
#include "headlab/base/error.h"
#include "headlab/base/files.h"
#include "headlab/base/safetensors.h"
#include "headlab/base/version.h"
#include "headlab/bench/profile.h"
#include "headlab/heads/tracking.h"
#include "headlab/report/table.h"
#include "headlab/tasks/table.h"
#include "headlab/train/memory.h"

namespace headlab::cli {
namespace {

struct TrainFlags {
  std::string out, resume, config;
  bool force = false, profile = false;
  CommonFlags common;

  Settings settings() {
    Settings s;
    s.add(named_text("out", "DIR", out, "folder of the new run (default: runs/TASK)"));
    s.add(named_text("resume", "DIR", resume,
                     "continue the run in this folder, bit for bit as if it had never stopped"));
    s.add(named_text("config", "FILE", config, "a config.json; flags override it"));
    s.boolean("force", force, "replace the run that --out names");
    s.boolean("profile", profile, "show where the time went: every op, forward and backward");
    s.add(common.settings());
    return s;
  }
};

/// Defaults, then what the task recommends, then the config file; flags come last, with all others.
RunConfig base_config(Arguments arguments) {
  const std::string file = find_value(arguments, "--config");
  const std::string task = find_value(arguments, "--task");
  const Json settings = file.empty() ? Json::object() : Json::parse(read_file(file), file);
  const auto apply_file = [&](RunConfig& config) {
    settings_of(config).set_all(settings, file, {"headlab"});
    config.task = task.empty() ? config.task : task;
  };
  RunConfig named;
  apply_file(named);
  RunConfig config = as_usage([&] { return recommended_config(named.task); });
  apply_file(config);
  return config;
}

/// The task with the model fitted to it, and all settings held against each other. What does not
/// fit is a wrong command line, unless it is a data file that cannot be used.
void check_config(RunConfig config) {
  as_usage([&] { check_task(config.task); });
  const TaskEntry& task = find_task(config.task);
  const std::string expected_hash = config.data_hash;
  if (task.parameters().find("file") == nullptr)
    as_usage([&] { fit_to_task(config); });
  else
    fit_to_task(config);
  as_usage([&] {
    config.model.validate();
    config.train.validate();
    require_memory(config.model, config.train);
  });
  if (!expected_hash.empty() && expected_hash != config.data_hash)
    note("warning: the data file is not the one that this config was written for");
  if (!config.parent.empty()) {
    note(text("note: this config was made by pruning ", config.parent,
              "; its heads are now trained from new initial values"));
  }
}

Json result_to_json(const Run& run, const TrainResult& result, const std::string& command) {
  Json object = Json::object();
  object["headlab"] = version();
  result.held_out.write_to(object);
  object["steps"] = result.steps;
  object["seconds"] = result.seconds;
  object["tokens_per_s"] = result.tokens_per_s;
  object["seed"] = run.config.train.seed;
  object["run"] = run.path.string();
  object["command"] = command.empty() ? Json(nullptr) : Json(command);
  return object;
}

std::string result_text(const Run& run, const TrainResult& result, const std::string& command) {
  Table table({"target", "held-out loss", "accuracy"});
  for (const TargetScore& target : result.held_out.targets)
    table.add({target.name, significant(target.loss), fixed(target.accuracy, 4)});
  if (result.held_out.targets.size() > 1)
    table.add({"all", significant(result.held_out.loss), fixed(result.held_out.accuracy, 4)});
  const std::string speed =  // there is none where nothing was left to do
      result.tokens_per_s > 0
          ? text(", ", grouped(static_cast<Index>(result.tokens_per_s)), " tokens/s")
          : "";
  return text(table.text(), "\n", run.path.string(), ": ", result.steps, " steps, seed ",
              run.config.train.seed, speed, "\n",
              command.empty() ? "" : "again: " + command + "\n");
}

/// Trains and prints. An empty `command` means that no command makes the run again.
int train_and_report(Run& run, const TrainFlags& flags, const std::string& command) {
  catch_interrupts();
  Progress progress(run.config.train.steps);
  std::optional<Profile> profile;
  if (flags.profile) profile.emplace();
  const TrainResult result = train_run(run, track_heads(run, watch(progress)));
  const BenchTable times = profile_table(profile ? profile->rows() : std::vector<ProfileRow>());
  progress.clear();
  if (flags.common.json) {
    Json json = result_to_json(run, result, command);
    if (profile) json["profile"] = to_json(times).at("rows");
    print(json);
  } else {
    print(result_text(run, result, command));
    if (profile) print("\n" + table_text(times));
  }
  return progress.status(run.path.string());
}

/// What may change when a run is resumed: how long it goes on, and when it is looked at.
Settings resumable(RunConfig& config) {
  const Settings all = user_settings_of(config);
  Settings some;
  for (const char* name : {"steps", "eval_every", "eval_examples", "save_every", "track_heads"})
    some.add(*all.find(name));
  return some;
}

/// Flags that train has, but not when it resumes.
void refuse_fixed_flags(Arguments arguments, const Settings& allowed) {
  TrainFlags flags;
  RunConfig config;
  Settings all = flags.settings();
  all.add(user_settings_of(config));
  for (const Setting& setting : all.all()) {
    const std::string flag = flag_of(setting.name);
    const bool there = std::any_of(arguments.begin(), arguments.end(), [&](const auto& argument) {
      return argument.substr(0, argument.find('=')) == flag;
    });
    if (there && allowed.find(setting.name) == nullptr) {
      throw UsageError(text(flag, " cannot be given when a run is resumed"),
                       text("only ", join(resumable(config).names(), ", "),
                            " may change; for anything else train a new run"));
    }
  }
}

Index saved_step(Run& run) {
  Trainer trainer(run.model, *run.task, run.config.train);
  trainer.load(read_safetensors(state_file(run)));
  return trainer.step();
}

/// Changes the settings of the run that `given` names; says where it goes on.
void update_run(Run& run, const Settings& settings, const std::vector<std::string>& given) {
  const Settings saved = resumable(run.config);
  for (const std::string& name : given)
    if (saved.find(name) != nullptr) saved.set(name, settings.find(name)->get());
  const Index step = saved_step(run), steps = run.config.train.steps;
  if (step > steps) {
    throw UsageError(text("--steps ", steps, ": the run has done ", step, " already"),
                     "give a larger number, or train a new run");
  }
  note(text("resuming ", run.path.string(), " at step ", step, " of ", steps));
  save_config(run);
}

int resume(Arguments arguments) {
  TrainFlags flags;
  RunConfig config;
  Settings settings = resumable(config);
  settings.add(named_text("resume", "DIR", flags.resume, "the folder of the run"));
  settings.boolean("profile", flags.profile, "show where the time went");
  settings.add(flags.common.settings());
  refuse_fixed_flags(arguments, settings);
  std::vector<std::string> given;
  parse_arguments(arguments, signature_of("train", {}), settings, &given);
  flags.common.apply();
  Run run = open_run(flags.resume);
  const Index steps = run.config.train.steps;
  update_run(run, settings, given);
  const bool same = run.config.train.steps == steps;  // else the learning rate took another course
  return train_and_report(
      run, flags, same ? "headlab train --config " + shell_word(config_file(run).string()) : "");
}

/// The words as they were given, without --out, and with the seed.
std::string train_again(Arguments arguments, const RunConfig& config) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i] == "--out")
      ++i;  // with its value
    else if (arguments[i].rfind("--out=", 0) != 0)
      words.push_back(arguments[i]);
  if (find_value(arguments, "--seed").empty())
    words.insert(words.end(), {"--seed", std::to_string(config.train.seed)});
  return again("train", words);
}

}  // namespace

int train_command(Arguments arguments) {
  const bool resumes = std::any_of(arguments.begin(), arguments.end(), [](const auto& argument) {
    return argument == "--resume" || argument.rfind("--resume=", 0) == 0;
  });
  if (resumes && !wants_help(arguments)) return resume(arguments);
  TrainFlags flags;
  RunConfig config = base_config(arguments);
  Settings settings = flags.settings();
  settings.add(user_settings_of(config));
  if (wants_help(arguments)) return print_help("train", "", settings);
  parse_arguments(arguments, signature_of("train", {}), settings);
  check_config(config);
  flags.common.apply();
  const std::string name = find_task(config.task).name;
  Run run = create_run(
      flags.out.empty() ? std::filesystem::path("runs") / name : std::filesystem::path(flags.out),
      config, flags.force);
  note(text("training ", config.task, ": ", grouped(run.model.parameter_count()),
            " parameters, seed ", config.train.seed, " -> ", run.path.string()));
  return train_and_report(run, flags, train_again(arguments, config));
}

}  // namespace headlab::cli
