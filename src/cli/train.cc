// `headlab train`: a new run from a task's recommended settings, a config file and flags, in this
// order; or a run resumed.
#include <algorithm>
#include <filesystem>
#include <string>

#include "cli/all_commands.h"
#include "cli/terminal.h"
#include "headlab/base/error.h"
#include "headlab/base/files.h"
#include "headlab/base/version.h"
#include "headlab/report/table.h"
#include "headlab/tasks/table.h"

namespace headlab::cli {
namespace {

struct TrainFlags {
  std::string out, resume, config;
  bool force = false;
  CommonFlags common;

  Settings settings() {
    Settings s;
    s.text("out", out, "folder of the new run (default: runs/TASK)");
    s.text("resume", resume,
           "continue the run in this folder, bit for bit as if it had never stopped");
    s.text("config", config, "a config.json; flags override it");
    s.boolean("force", force, "replace the run that --out names");
    s.add(common.settings());
    return s;
  }
};

void read_config_file(const std::string& path, RunConfig& config) {
  const Json json = Json::parse(read_file(path), path);
  settings_of(config).set_all(json, path, {"headlab", "parent", "data_hash"});
}

/// Defaults, then what the task recommends, then the config file; flags come last, with all others.
RunConfig base_config(Arguments arguments) {
  RunConfig config;
  const std::string file = find_value(arguments, "--config");
  if (!file.empty()) {
    read_config_file(file, config);
  }
  const std::string task = find_value(arguments, "--task");
  const std::string name = task.empty() ? config.task : task;
  try {
    config = recommended_config(name);
  } catch (const Error& error) {
    throw UsageError(text("--task ", name, ": ", error.what()), error.hint());
  }
  if (!file.empty()) {
    read_config_file(file, config);
    config.task = name;
  }
  return config;
}

int finish(const Run& run, const TrainResult& result, bool json) {
  if (json) {
    Json object = Json::object();
    object["headlab"] = version();
    result.held_out.write_to(object);
    object["steps"] = result.steps;
    object["seconds"] = result.seconds;
    object["tokens_per_s"] = result.tokens_per_s;
    object["run"] = run.path.string();
    print(object);
  } else {
    Table table({"target", "held-out loss", "accuracy"});
    for (const TargetScore& target : result.held_out.targets) {
      table.add({target.name, significant(target.loss), fixed(target.accuracy, 4)});
    }
    if (result.held_out.targets.size() > 1) {
      table.add({"all", significant(result.held_out.loss), fixed(result.held_out.accuracy, 4)});
    }
    print(table.text());
    print(text("\n", run.path.string(), ": ", result.steps, " steps, seed ", run.config.train.seed,
               ", ", grouped(static_cast<Index>(result.tokens_per_s)), " tokens/s\n"));
  }
  if (!result.finished) {
    note(text("interrupted; continue with: headlab train --resume ", run.path.string()));
    return 130;
  }
  return 0;
}

int train_and_report(Run& run, const CommonFlags& common) {
  catch_interrupts();
  TrainResult result;
  {
    Progress progress(run.config.train.steps);
    result = train_run(run, watch(progress));
  }
  return finish(run, result, common.json);
}

/// What may change when a run is resumed: how long it goes on, and when it is looked at.
Settings resumable(RunConfig& config) {
  const Settings all = user_settings_of(config);
  Settings some;
  for (const char* name : {"steps", "eval_every", "eval_examples", "save_every"}) {
    some.add(*all.find(name));
  }
  return some;
}

int resume(Arguments arguments) {
  TrainFlags flags;
  RunConfig config;
  Settings settings = flags.settings();
  settings.add(resumable(config));
  std::vector<std::string> given;
  try {
    parse_arguments(arguments, {}, settings, &given);
  } catch (const UsageError& error) {
    const bool known = user_settings_of(config).find("steps") != nullptr;
    throw UsageError(error.what(), known ? "with --resume only " +
                                               join(resumable(config).names(), ", ") +
                                               " may change; for anything else train a new run"
                                         : error.hint());
  }
  flags.common.apply();
  Run run = open_run(flags.resume);
  const Settings now = resumable(config), saved = resumable(run.config);
  for (const Setting& setting : now.all()) {
    if (std::find(given.begin(), given.end(), setting.name) != given.end()) {
      saved.set(setting.name, setting.get());
    }
  }
  if (!given.empty()) {
    save_config(run);
  }
  return train_and_report(run, flags.common);
}

}  // namespace

int train_command(Arguments arguments) {
  if (!find_value(arguments, "--resume").empty()) {
    return resume(arguments);
  }
  TrainFlags flags;
  RunConfig config = base_config(arguments);
  Settings settings = flags.settings();
  settings.add(user_settings_of(config));
  parse_arguments(arguments, {}, settings);
  if (flags.common.help) {
    print_help("train", "", settings);
    return 0;
  }
  flags.common.apply();
  const std::string name = find_task(config.task).name;
  Run run = create_run(
      flags.out.empty() ? std::filesystem::path("runs") / name : std::filesystem::path(flags.out),
      config, flags.force);
  note(text("training ", config.task, ": ", grouped(run.model.parameter_count()),
            " parameters, seed ", config.train.seed, " -> ", run.path.string()));
  return train_and_report(run, flags.common);
}

}  // namespace headlab::cli
