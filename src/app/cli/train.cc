// `headlab train`: creates a run from a task's recommended settings, a config file and flags, in
// this order; or resumes a run. Settings that do not fit together are a wrong command line, and
// nothing is written before all of them are checked. Read next: lab/runs/run.h.
#include <algorithm>
#include <functional>

#include "app/cli/commands.h"
#include "app/cli/usual_flags.h"
#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/results/words.h"

namespace headlab::cli {
namespace {

struct TrainFlags {
  std::string out, resume, config, from;
  bool force = false, profile = false;

  Flags settings() {
    Flags s;
    s.group("output");
    s.naming(ValueKind::folder, "out", out, "folder of the new run (default: runs/TASK)");
    s.boolean("force", force, "replace the run that --out names");
    s.boolean("profile", profile, "show the time of every op, forward and backward");
    s.group("what");
    s.naming(ValueKind::folder, "resume", resume, "continue this run, bit for bit");
    s.naming(ValueKind::run, "from", from,
             "begin with the weights of RUN; same vocabulary and targets");
    s.naming(ValueKind::file, "config", config, "config.json to start from; flags override it");
    s.usual = usual_flags_of_train();
    return s;
  }
};

/// Applies defaults, then the task's recommendation, then the config file; flags come last, with
/// all others.
RunConfig base_config(const std::string& file, const std::string& task, const std::string& from) {
  const Json settings = file.empty() ? Json::object() : Json::parse(read_file(file), file);
  require_known_version(settings, file);
  const auto apply_file = [&](RunConfig& config) {
    read_settings(config, settings, file);
    config.task = task.empty() ? config.task : task;
  };
  const bool follows_source = !from.empty() && file.empty();
  RunConfig named;
  if (follows_source) named.task = read_config(from).task;
  apply_file(named);
  const std::string parent = named.parent;
  RunConfig config = as_usage([&] { return recommended_config(named.task); });
  apply_file(config);
  for (std::string* origin :
       {&config.parent, &config.pruning, &config.imported, &config.from, &config.from_weights}) {
    origin->clear();  // the new run has its own
  }
  config.extended.clear();
  if (!from.empty()) config.model = read_config(from).model;
  if (!parent.empty()) {
    note(text("note: ", file, " was made by pruning ", parent,
              "; its heads are now trained from new initial values"));
  }
  return config;
}

/// Makes the task, fits the model to it, and checks all settings against each other. A mismatch is
/// a wrong command line, unless it is a data file that cannot be used.
std::unique_ptr<Task> fitted_task(RunConfig& config) {
  const std::string expected_hash = config.data_hash;
  as_usage([&] { check_task(config.task); });
  const bool reads_file = find_task(config.task).parameters().find("file") != nullptr;
  const auto fit = [&] { return fit_to_task(config); };
  fit_heads(config.model);
  std::unique_ptr<Task> task = reads_file ? fit() : as_usage(fit);
  as_usage([&] { config.validate(); });
  if (!expected_hash.empty() && expected_hash != config.data_hash) {
    note("warning: the data file is not the one that this config was written for");
  }
  return task;
}

/// Returns `notes` about a finished training, for stderr and JSON.
Json notes_of(const Run& run, const std::vector<std::string>& said) {
  Json notes = Json::array();
  for (const std::string& one : said) {
    if (!one.empty()) notes.push_back(one);
  }
  if (const std::string one = overfitting_text(run); !one.empty()) notes.push_back(one);
  return notes;
}

Output train_result(const Run& run, const TrainResult& trained, const std::string& command) {
  Json json = stamped(
      {{"loss", trained.held_out.loss},
       {"accuracy", trained.held_out.accuracy},
       {"targets", to_json(Result{.tables = {target_table(trained.held_out)}}).at("targets")},
       {"steps", trained.steps},
       {"seconds", trained.seconds},
       {"tokens_per_s", trained.tokens_per_s},
       {"seed", run.config.train.seed},
       {"run", run.path.string()},
       {"command", command.empty() ? Json() : Json(command)}});
  if (!trained.ended.empty()) json["ended"] = trained.ended;
  const std::string bits = add_bits(json, run, trained.held_out);
  const std::string data = run.task->about_data();
  if (!data.empty()) json["data"] = data;
  const std::string speed =  // there is none where nothing was left to do
      trained.tokens_per_s > 0
          ? text(", ", grouped(static_cast<Index>(trained.tokens_per_s)), " tokens/s")
          : "";
  TonedText shown =
      text(text_of(Result{.tables = {target_table(trained.held_out)}}, {.width = stdout_width()}),
           bits, "\n", run.path.string(), ": ", trained.steps, " steps, seed ",
           run.config.train.seed, speed, "\n",
           trained.ended.empty() ? "" : "ended early: " + trained.ended + "\n",
           data.empty() ? "" : "data: " + data + "\n");
  if (!command.empty()) shown += command_text(command, replaced_text(run.path));
  return {.json = std::move(json), .text = shown};
}

/// Returns the result. An empty `command` means that no command reproduces the run; `said` becomes
/// part of its notes.
Output train_to_end(Run& run, Trainer& trainer, bool profiled, const std::string& command,
                    const std::string& said) {
  catch_interrupts();
  Progress progress(run.config.train.steps);
  std::optional<Profile> profile;
  if (profiled) profile.emplace();
  TrainResult trained;
  try {
    trained = train_run(run, trainer, track_heads(run, watch(progress)));
  } catch (const Stopped&) {
    progress.clear();
    return progress.stopped_while_waiting(run.path.string(), run.config.task);
  }
  const Table times = profile_table(profile ? profile->rows() : std::vector<ProfileRow>());
  progress.clear();
  Output output = train_result(run, trained, command);
  output.json["notes"] = notes_of(run, {said});
  if (const std::string one = overfitting_text(run); !one.empty()) note("note: " + one);
  if (profile) {
    output.json["profile"] = to_json(Result{.tables = {times}}).at("profile");
    output.text += "\n" + text_of(times, stdout_width());
  }
  return progress.interrupted_or(std::move(output), run.path.string(), run.config.task);
}

/// Returns "layers=2 heads=4 lr=0.001": the settings in `names`, or all that the task recommends.
std::string values_text(const Settings& settings, const std::vector<std::string>& names) {
  return join(texts_of(names,
                       [&](const std::string& name) {
                         return name + "=" + value_text(settings.find(name)->get());
                       }),
              " ");
}

/// Prints the settings of the run, and which of them the task chose.
void note_settings(const Invocation& call, RunConfig& config) {
  const Settings settings = settings_of(config);
  RunConfig before, recommended = recommended_config(config.task);
  const Settings defaults = settings_of(before), advised = settings_of(recommended);
  std::vector<std::string> of_task, against;
  for (const Setting& setting : advised.all()) {
    if (setting.decided || setting.name == "task" || call.given(setting.name)) continue;
    const bool taken = settings.find(setting.name)->get() == setting.get();
    if (taken && setting.get() != defaults.find(setting.name)->get()) {
      of_task.push_back(setting.name);
    }
    if (!taken) against.push_back(setting.name);
  }
  note("with " +
       values_text(settings, {"layers", "heads", "d_model", "d_ff", "lr", "batch", "steps"}) +
       (of_task.empty() ? "" : "; the task chose " + join(of_task, ", ")));
  if (call.given("config") && call.given("task") && !against.empty()) {
    note(text("note: ", call.value("config"), " brought ", values_text(settings, against),
              ", where the task recommends ", values_text(advised, against)));
  }
}

/// Returns the settings of the named task.
std::string help_of(const Invocation& call) {
  const std::string spec = call.value("task");
  return spec.empty() ? "\n`headlab show TASK` explains the settings of a task\n"
                      : "\n" + task_help(spec);
}

/// Keeps scores and weights over training, which the page shows, unless the command line or the
/// config file decides. Small models alone, with at most 2.5 MB of weights. A score of all heads
/// costs up to 40 training steps, so that there are 16, at least 64 steps apart.
void follow_training(const Invocation& call, const Task& task, const Transformer& model,
                     RunConfig& config) {
  constexpr Index kMostParameters = 50'000, kScores = 16, kFewestSteps = 64, kSnapshots = 20;
  constexpr Index kMostNumbers = 2'500'000 / Index{sizeof(float)};
  const Index parameters = model.parameter_count();
  const bool is_short = config.train.steps < kFewestSteps;
  if (parameters > kMostParameters || is_short || all_heads(model).empty()) return;
  const std::string file = call.value("config");
  const Json settings = file.empty() ? Json::object() : Json::parse(read_file(file), file);
  const auto is_open = [&](const std::string& name) {
    return !call.given(name) && settings.find(name) == nullptr;
  };
  if (is_open("track_heads") && !task.relations().empty()) {
    config.track_heads = std::max((config.train.steps + kScores - 1) / kScores, kFewestSteps);
  }
  if (is_open("keep_weights")) {
    config.keep_weights = std::min(kSnapshots, kMostNumbers / parameters);
  }
}

/// Throws a UsageError for settings of the model if the weights of a run decide them.
void refuse_model_settings(const Invocation& call, RunConfig config) {
  if (!call.given("from")) return;
  for (const std::string& name : settings_of(config.model).names()) {
    if (call.given(name) || call.given("no_" + name)) {
      throw UsageError(text(flag_of(name), " cannot be combined with --from: the model is that of ",
                            call.value("from")),
                       "leave one of them out");
    }
  }
}

/// Returns the model before the first step: the weights of the run `from`, or initial values.
Transformer beginning_of(const std::string& from, RunConfig& config) {
  if (from.empty()) return initial_model(config);
  return model_from(open_run(from), config);
}

Output train_new_run(Invocation& call) {
  TrainFlags flags;
  const std::string from = call.wants_help() ? "" : call.value("from");
  RunConfig config = base_config(call.value("config"), call.value("task"), from);
  refuse_model_settings(call, config);
  call.read(flags.settings(), flags_of(config), call.wants_help() ? help_of(call) : "");
  const std::string task_given = config.task;
  std::unique_ptr<Task> task = fitted_task(config);
  if (flags.out.empty()) flags.out = std::string("runs/") + find_task(config.task).name;
  Transformer model = beginning_of(flags.from, config);
  follow_training(call, *task, model, config);
  Run run{flags.out, std::move(config), std::move(task), std::move(model)};
  Trainer trainer(run.model, *run.task, run.config.train);
  write_new_run(run, trainer, Existing{flags.force});
  const std::string seed = text(run.config.train.seed);
  note(text("training ", task_given, ": ", grouped(run.model.parameter_count()),
            " parameters, seed ", seed, " -> ", run.path.string()));
  note_settings(call, run.config);
  const std::string widths = head_width_note(run.config.model);
  if (!widths.empty()) note("note: " + widths);
  const std::string warmup = warmup_note(run.config.train);
  if (!warmup.empty()) note("note: " + warmup);
  return train_to_end(run, trainer, flags.profile,
                      call.again() + (call.given("seed") ? "" : " --seed " + seed) +
                          (call.given("out") ? "" : " --out " + run.path.string()),
                      warmup);
}

/// Returns the command that reproduces a run from its record, up to the steps first planned; "" if
/// the record does not contain it.
std::string command_of(const Run& run) {
  const std::string out = " --out " + shell_word(run.path.string());
  if (run.config.parent.empty()) {
    const std::string from =
        run.config.from.empty() ? "" : " --from " + shell_word(run.config.from);
    const std::vector<Extension>& extended = run.config.extended;
    const std::string steps = extended.empty() ? "" : text(" --steps ", extended[0].from);
    return program_call() + " train --config " + shell_word(config_file(run).string()) + from +
           steps + out;
  }
  if (run.config.pruning.empty()) return "";
  std::string command = program_call() + " prune " + shell_word(run.config.parent);
  for (const std::string_view setting : split(run.config.pruning, ' ')) {
    const std::size_t equals = setting.find('=');
    const std::string flag = flag_of(setting.substr(0, equals));
    const std::string value(setting.substr(std::min(equals, setting.size() - 1) + 1));
    command += text(" ", shell_word(flag), " ", shell_word(value));
  }
  return command + out;
}

/// Returns how often early stopping has ended the training of a run.
Index times_ended(const Run& run) {
  const std::vector<Json> log = read_log(metrics_file(run), identity_of(run.config));
  return std::ranges::count_if(log, [](const Json& line) { return line.find("ended") != nullptr; });
}

/// Returns the commands that reproduce a resumed run, perhaps extended beyond its plan: the one
/// that created it, and one for each time it was resumed.
std::string again_of(const Run& run) {
  const std::vector<Extension>& extended = run.config.extended;
  if (!std::ranges::all_of(extended, &Extension::is_planned)) return "";
  std::string command = command_of(run);
  const Index ended = times_ended(run);
  if (ended > 0 && !extended.empty()) return "";  // the record does not hold the order of the two
  for (Index time = 0; time < ended && !command.empty(); ++time) {
    command += text(" && ", program_call(), " train --resume ", shell_word(run.path.string()));
  }
  if (command.empty()) return command;
  for (const Extension& extension : extended) {
    command += text(" && ", program_call(), " train --resume ", shell_word(run.path.string()),
                    " --steps ", extension.to);
  }
  return command;
}

/// Returns the command that does with a new run what a resumed one refuses: it begins with the
/// trained weights, or from the start if the model is to change.
std::string command_of_new_run(const Invocation& call, const std::string& refused) {
  RunConfig config;
  const std::vector<std::string> of_model = settings_of(config.model).names();
  const std::string given = call.value("resume");
  const std::string run = given.empty() ? "RUN" : given;
  const std::string flags = call.flags_again({"resume"});
  const std::string setting = refused.starts_with("no_") ? refused.substr(3) : refused;
  const bool changes_model = std::ranges::count(of_model, setting) > 0;
  const std::string source =
      changes_model
          ? "--config " + shell_word((std::filesystem::path(run) / "config.json").string())
          : "--from " + shell_word(run);
  const std::string folder = run.substr(0, run.find_last_not_of('/') + 1) + "-new";
  const std::string out = call.given("out") ? "" : " --out " + shell_word(folder);
  return text(program_call(), " train ", source, flags, out);
}

/// Refuses flags that a resumed run cannot take: it keeps all its settings except those that change
/// none of its past steps.
void refuse_settings_of_new_runs(const Invocation& call, const Settings& settings) {
  const std::vector<std::string> other_beginnings = {"config", "force", "from"};
  std::vector<std::string> refused = other_beginnings;
  refused.emplace_back("out");
  for (const std::string& name : settings.names()) {
    if (std::ranges::count(resumable_settings(), name) == 0) {
      refused.insert(refused.end(), {name, "no_" + name});
    }
  }
  for (const std::string& name : refused) {
    if (call.given(name)) {
      const bool is_beginning = std::ranges::count(other_beginnings, name) > 0;
      throw UsageError(flag_of(name) + " cannot be combined with --resume",
                       is_beginning ? "leave one of them out" : command_of_new_run(call, name));
    }
  }
}

Output resume(Invocation& call) {
  TrainFlags flags;
  RunConfig given;
  refuse_settings_of_new_runs(call, user_settings_of(given));
  call.read(flags.settings(), flags_of(given));
  Run run = open_run(flags.resume, Access::write);
  const TrainConfig before = run.config.train;
  const Index planned = before.steps;
  const Settings saved = settings_of(run.config);
  for (const std::string& name : resumable_settings()) {
    if (call.given(name)) saved.set(name, call.settings().find(name)->get());
  }
  const Index steps = run.config.train.steps;
  Trainer trainer(run.model, *run.task, run.config.train);
  load_state(run, trainer);
  if (trainer.step() > steps) {
    throw UsageError(text("cannot train to --steps ", steps, ": the run has done ", trainer.step(),
                          " already"),
                     "give a larger number, or train a new run");
  }
  note(text("resuming ", flags.resume, " at step ", trainer.step(), " of ", steps));
  if (steps != planned) {
    run.config.extended.push_back({trainer.step(), steps, trainer.step() == planned});
  }
  std::string schedule = schedule_note(before, run.config.train, trainer.step());
  if (schedule.empty()) schedule = warmup_note(run.config.train);
  if (!schedule.empty()) note("note: " + schedule);
  save_config(run);
  Output output = train_to_end(run, trainer, flags.profile, again_of(run), schedule);
  update_prune_record(run);
  const std::vector<std::string> outdated = outdated_results(run);
  if (!outdated.empty()) {
    output.note += text(output.note.empty() ? "" : "\n", "note: ", join(outdated, ", "),
                        outdated.size() == 1 ? " describes" : " describe", " earlier weights");
  }
  return output;
}

}  // namespace

Output train(Invocation& call) {
  return call.given("resume") && !call.wants_help() ? resume(call) : train_new_run(call);
}

}  // namespace headlab::cli
