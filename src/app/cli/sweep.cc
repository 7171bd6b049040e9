// `headlab sweep`: trains a grid of runs, or shows the results. It has every flag of `train`; a
// value with commas is a list. Processes share nothing but the folder, so any scheduler can run
// them. Read next: lab/studies/sweep.h.

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "app/cli/commands.h"
#include "app/cli/usual_flags.h"

namespace headlab::cli {
namespace {

constexpr std::string_view kSchedulers = R"(
run the same command in any number of processes that share the folder; each
takes the next free trial. Four processes:
  Slurm         sbatch --array=0-3 --wrap 'headlab sweep ...'
  Kubernetes    a Job with completions: 4, parallelism: 4
  GNU parallel  parallel -N0 headlab sweep ... --threads 1 ::: 0 1 2 3
  make -j4      a rule  worker-%: ; headlab sweep ... --threads 1
)";

struct SweepFlags {
  std::string out, base;
  Index seeds = 0;
  bool collect = false;
  Index jobs = 0;
  PictureFlags picture;
  RunConfig config;                                       // provides the names of its settings
  std::deque<std::pair<std::string, std::string>> lists;  // a setting of runs and its values

  Flags settings() {
    Flags s;
    s.group("output");
    s.naming(ValueKind::folder, "out", out, "folder of the sweep (default: sweeps/TASK)");
    picture.add_to(s);
    s.group("what");
    s.integer("seeds", seeds, 0, 1 << 20, "seeds 0 to N-1 of every trial (or --seed 3,5,8)");
    s.naming(ValueKind::file, "config", base, "config.json with settings of all trials");
    s.boolean("collect", collect, "train nothing; list finished and missing trials");
    s.group("how");
    add_jobs(s, jobs);
    s.excludes({"seeds"}, {flag_given("seed")});
    s.excludes({"jobs"}, {flag_given("collect")});
    s.usual = usual_flags_of_sweep();
    return s;
  }
  /// Handles a boolean as `train` does, or both values: --tied, --no-tied, --tied true,false.
  static Setting switches(const Setting& setting, std::string& list) {
    const auto set = [&list, setting](const Json& json) {
      const std::string given = value_text(json);
      for (const std::string& value : sweep_values(given)) setting.set(Json::parse(value, given));
      list = given;
    };
    return {.name = setting.name,
            .placeholder = "",
            .help = setting.help,
            .set = set,
            .get = [] { return Json(false); },
            .choices = setting.choices,
            .separator = ','};
  }
  /// How help writes a list of values of a setting. Values by layer are joined by + in each.
  static ValueForm list_of(const Setting& setting) {
    const bool is_by_layer = setting.separator != 0;
    const std::string one = is_by_layer ? value_form(setting) : setting.placeholder;
    return {.placeholder = one, .choices = setting.choices, .several = true};
  }
  Flags settings_of_runs() {
    Flags s;
    Flags of_runs = flags_of(config);
    for (const Setting& setting : of_runs.all()) {
      auto& list = lists.emplace_back(setting.name, "");
      if (setting.get().is_bool()) {
        s.add(switches(setting, list.second));
        s.kinds[setting.name] = ValueKind::other;  // it may have a list as its value
      } else {
        s.naming(of_runs.kind_of(setting), setting.name, list.second, setting.help,
                 list_of(setting));
      }
    }
    s.groups = of_runs.groups;
    s.rules = of_runs.rules;
    s.needs({"momentum"}, {flag_given("config")});  // which may name sgd
    return s;
  }
};

/// Returns the values in a config file of the settings that no flag gives, one value each.
SweepGrid axes_of_file(const SweepFlags& flags) {
  SweepGrid grid;
  if (flags.base.empty()) return grid;
  const Json json = Json::parse(read_file(flags.base), flags.base);
  for (const auto& [name, list] : flags.lists) {
    const Json* value = json.find(name);
    if (value == nullptr || !list.empty() || (name == "seed" && flags.seeds > 0)) continue;
    grid.push_back({name, {value_text(*value)}});
  }
  return grid;
}

SweepGrid grid_of(const SweepFlags& flags) {
  SweepGrid grid = axes_of_file(flags);
  for (const auto& [name, list] : flags.lists) {
    if (!list.empty()) grid.push_back({name, sweep_values(list)});
  }
  if (flags.seeds > 0) grid.push_back({"seed", counted(flags.seeds)});
  return grid;
}

/// Trains missing trials; shows a line of progress if this process works alone.
JobsDone train_trials(const SweepFlags& flags, const std::vector<SweepTrial>& trials) {
  std::optional<Progress> progress;
  const auto watching = [&](const SweepTrial& trial) {
    if (is_worker()) return RunCallbacks{{.should_stop = interrupted}};
    progress.emplace(trial.config.train.steps);
    RunCallbacks callbacks = watch(*progress);
    callbacks.on_evaluation = {};  // of many runs, a line for each is enough
    return callbacks;
  };
  std::vector<Job> trainings;
  for (const SweepTrial& trial : trials) {
    trainings.push_back(training_job(flags.out, trial, watching));
  }
  return make_shown(flags.jobs, trainings);
}

/// Reports once for each kind of trial that the warm-up is longer than the training, or that heads
/// leave columns of d_model out.
void note_settings(const std::vector<SweepTrial>& trials) {
  std::set<std::string> said;
  for (const SweepTrial& trial : trials) {
    for (const std::string& one :
         {warmup_note(trial.config.train), head_width_note(trial.config.model)}) {
      if (!one.empty() && said.insert(one).second) note(text("note: ", trial.group, ": ", one));
    }
  }
}

/// Returns the number of comparisons of settings other than the heads: groups that differ only in
/// one of them are compared with the best of these.
std::size_t comparisons_of_settings(const std::vector<SweepTrial>& trials) {
  std::map<std::string, std::set<std::string>> groups;  // by the setting and all other settings
  for (const SweepTrial& trial : trials) {
    for (const auto& one : trial.settings) {
      if (one.first == "heads" || one.first == "task") continue;
      std::string shared = one.first;
      for (const auto& other : trial.settings) {
        if (other.first != one.first) shared += text(",", other.first, "=", other.second);
      }
      groups[shared].insert(trial.group);
    }
  }
  std::size_t comparisons = 0;
  for (const auto& [shared, members] : groups) comparisons += members.size() - 1;
  return comparisons;
}

/// Returns the differences that this many seeds can detect, before training. The loss of each group
/// of a family is compared with that of its best group. Numbers of heads and other settings have
/// corrections of their own, so the larger number of comparisons decides.
std::string plan_of(const std::vector<SweepTrial>& trials) {
  std::map<std::string, std::set<std::string>> groups;  // by family
  std::map<std::string, std::size_t> seeds;             // by group
  for (const SweepTrial& trial : trials) {
    groups[trial.family].insert(trial.group);
    ++seeds[trial.group];
  }
  std::size_t comparisons = 0;
  for (const auto& [family, members] : groups) comparisons += members.size() - 1;
  std::size_t fewest = trials.size();
  for (const auto& [group, count] : seeds) fewest = std::min(fewest, count);
  return seeds_plan(fewest, std::max(comparisons, comparisons_of_settings(trials)));
}

/// Returns the missing trials and the reasons of those that failed.
std::string missing_text(std::vector<std::string> names, const std::vector<JobFailure>& failures,
                         std::size_t trials) {
  if (names.empty()) return "";
  constexpr std::size_t kShown = 8;
  const std::size_t missing = names.size();
  if (names.size() > kShown) {
    names.resize(kShown);
    names.emplace_back("...");
  }
  std::string said =
      text("\nmissing: ", missing, " of ", trials, " trials: ", join(names, " "), "\n");
  if (failures.empty()) return said;
  const auto diverged = std::ranges::count(failures, true, &JobFailure::diverged);
  said += text("failed: ", failures.size(), " of these, ", diverged, " because they diverged\n");
  for (const JobFailure& failure : failures) {
    said += text("  ", failure.job, ": ", failure.error, "\n");
  }
  return said;
}

/// Returns the result of the finished trials.
Output show(const Invocation& call, const SweepFlags& flags,
            const std::vector<SweepTrial>& trials) {
  const SweepReport report = collect_sweep(flags.out, trials);
  const Result found = result_of(report);
  const bool none = report.groups.empty();
  Output output =
      reproducible(call, found, none ? std::vector<Table>() : found.tables,
                   (none ? "no trial is finished yet\n" : "") +
                       missing_text(report.missing, report.failed, report.trials) + "\n");
  const RunLock lock = lock_sweep(flags.out);  // a hundred processes may end at once
  keep_as(std::filesystem::path(flags.out) / "sweep.json", output);
  return with_picture(call, flags.picture, std::move(output),
                      [&](double units) { return sweep_figure(report, units); });
}

}  // namespace

Output sweep(Invocation& call) {
  SweepFlags flags;
  call.read(flags.settings(), flags.settings_of_runs(),
            call.wants_full_help() ? std::string(kSchedulers) : "");
  flags.picture.units();
  const SweepGrid grid = grid_of(flags);
  if (flags.out.empty()) {
    const auto task = std::ranges::find(grid, "task", &SweepAxis::name);
    const std::string spec = task == grid.end() ? flags.config.task : task->values[0];
    flags.out = "sweeps/" + spec.substr(0, spec.find(':'));
  }
  if (std::filesystem::exists(flags.out + "/config.json")) {
    throw Error(text("cannot write a sweep to ", flags.out, ": it is a run"),
                "name another folder");
  }
  const bool from_folder = grid.empty() && flags.collect;
  const auto trials =
      from_folder ? kept_trials(flags.out) : as_usage([&] { return sweep_trials(grid); });
  if (flags.collect) return show(call, flags, trials);
  add_grid(flags.out, grid);
  if (!is_worker()) {
    note_settings(trials);
    note("plan: " + plan_of(trials));
  }
  const JobsDone made = train_trials(flags, trials);
  if (made.stopped) return stopped_result(call);
  Output output = show(call, flags, trials);
  output.status = made.failed.empty() && made.missing.empty() ? 0 : 1;
  return output;
}

}  // namespace headlab::cli
