// `headlab train`: a new run from a task's recommended settings, a config file and flags, in this
// order; or a run resumed. Settings that do not fit together are a wrong command line, and nothing
// is written before all of them are checked. Read next: train/run.h.
#include <optional>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "headlab/base/files.h"
#include "headlab/bench/profile.h"
#include "headlab/heads/tracking.h"
#include "headlab/report/bench_text.h"
#include "headlab/report/evaluation_text.h"
#include "headlab/report/table.h"
#include "headlab/tasks/table.h"

namespace headlab::cli {
namespace {

struct TrainFlags {
  std::string out, resume, config;
  bool force = false, profile = false;

  Settings settings() {
    Settings s;
    s.add(named_text("out", "DIR", out, "folder of the new run (default: runs/TASK)"));
    s.add(named_text("resume", "DIR", resume,
                     "continue the run in this folder, bit for bit as if it had never stopped"));
    s.add(named_text("config", "FILE", config, "a config.json; flags override it"));
    s.boolean("force", force, "replace the run that --out names");
    s.boolean("profile", profile, "show where the time went: every op, forward and backward");
    return s;
  }
};

/// Defaults, then what the task recommends, then the config file; flags come last, with all others.
RunConfig base_config(const std::string& file, const std::string& task) {
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

/// Makes the task, fits the model to it, and holds all settings against each other. What does not
/// fit is a wrong command line, unless it is a data file that cannot be used.
std::unique_ptr<Task> fitted_task(RunConfig& config) {
  const std::string expected_hash = config.data_hash;
  as_usage([&] { check_task(config.task); });
  const bool reads_file = find_task(config.task).parameters().find("file") != nullptr;
  const auto fit = [&] { return fit_to_task(config); };
  std::unique_ptr<Task> task = reads_file ? fit() : as_usage(fit);
  as_usage([&] { config.validate(); });
  if (!expected_hash.empty() && expected_hash != config.data_hash)
    note("warning: the data file is not the one that this config was written for");
  if (!config.parent.empty()) {
    note(text("note: this config was made by pruning ", config.parent,
              "; its heads are now trained from new initial values"));
  }
  return task;
}

Result train_result(const Run& run, const TrainResult& trained, const std::string& command) {
  Json json = stamped({{"loss", trained.held_out.loss},
                       {"accuracy", trained.held_out.accuracy},
                       {"targets", trained.held_out.targets},
                       {"steps", trained.steps},
                       {"seconds", trained.seconds},
                       {"tokens_per_s", trained.tokens_per_s},
                       {"seed", run.config.train.seed},
                       {"run", run.path.string()},
                       {"command", command.empty() ? Json() : Json(command)}});
  const std::string speed =  // there is none where nothing was left to do
      trained.tokens_per_s > 0
          ? text(", ", grouped(static_cast<Index>(trained.tokens_per_s)), " tokens/s")
          : "";
  return {.json = std::move(json),
          .text =
              text(evaluation_text(trained.held_out, {.loss_heading = "held-out loss"}), "\n",
                   run.path.string(), ": ", trained.steps, " steps, seed ", run.config.train.seed,
                   speed, "\n", command.empty() ? "" : "again: " + command + "\n")};
}

/// An empty `command` means that no command makes the run again.
Result train_to_end(Run& run, Trainer& trainer, bool profiled, const std::string& command) {
  catch_interrupts();
  Progress progress(run.config.train.steps);
  std::optional<Profile> profile;
  if (profiled) profile.emplace();
  const TrainResult trained = train_run(run, trainer, track_heads(run, watch(progress)));
  const BenchTable times = profile_table(profile ? profile->rows() : std::vector<ProfileRow>());
  progress.clear();
  Result result = train_result(run, trained, command);
  if (profile) {
    result.json["profile"] = to_json(times).at("rows");
    result.text += "\n" + table_text(times);
  }
  return progress.interrupted_or(std::move(result), run.path.string());
}

Result train_new_run(Invocation& call) {
  TrainFlags flags;
  RunConfig config = base_config(call.value("config"), call.value("task"));
  call.read(flags.settings(), user_settings_of(config));
  const std::string task_given = config.task;
  std::unique_ptr<Task> task = fitted_task(config);
  if (flags.out.empty()) flags.out = std::string("runs/") + find_task(config.task).name;
  Transformer model = initial_model(config);
  Run run{flags.out, std::move(config), std::move(task), std::move(model)};
  Trainer trainer(run.model, *run.task, run.config.train);
  write_new_run(run, trainer, Existing{flags.force});
  const std::string seed = text(run.config.train.seed);
  note(text("training ", task_given, ": ", grouped(run.model.parameter_count()),
            " parameters, seed ", seed, " -> ", run.path.string()));
  return train_to_end(run, trainer, flags.profile,
                      call.again("out") + (call.given("seed") ? "" : " --seed " + seed));
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
void refuse_fixed_flags(const Invocation& call, const Settings& allowed) {
  TrainFlags flags;
  RunConfig config;
  Settings all = flags.settings();
  all.add(user_settings_of(config));
  for (const Setting& setting : all.all()) {
    if (call.given(setting.name) && allowed.find(setting.name) == nullptr) {
      throw UsageError(text(flag_of(setting.name), " cannot be given when a run is resumed"),
                       text("only ", join(resumable(config).names(), ", "),
                            " may change; for anything else train a new run"));
    }
  }
}

Result resume(Invocation& call) {
  TrainFlags flags;
  RunConfig config;
  Settings settings = resumable(config);
  settings.add(named_text("resume", "DIR", flags.resume, "the folder of the run"));
  settings.boolean("profile", flags.profile, "show where the time went");
  refuse_fixed_flags(call, settings);
  call.read(settings);
  Run run = open_run(flags.resume);
  const Index planned = run.config.train.steps;
  const Settings saved = resumable(run.config);
  for (const Setting& setting : saved.all())
    if (call.given(setting.name)) setting.set(settings.find(setting.name)->get());
  const Index steps = run.config.train.steps;
  Trainer trainer(run.model, *run.task, run.config.train);
  load_state(run, trainer);
  if (trainer.step() > steps) {
    throw UsageError(text("--steps ", steps, ": the run has done ", trainer.step(), " already"),
                     "give a larger number, or train a new run");
  }
  note(text("resuming ", flags.resume, " at step ", trainer.step(), " of ", steps));
  save_config(run);
  // With other steps the learning rate took another course, which no single command makes again.
  const std::string command = "headlab train --config " + shell_word(config_file(run).string());
  return train_to_end(run, trainer, flags.profile, steps == planned ? command : "");
}

}  // namespace

Result train(Invocation& call) {
  return call.given("resume") && !call.wants_help() ? resume(call) : train_new_run(call);
}

}  // namespace headlab::cli
