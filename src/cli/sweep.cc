// `headlab sweep`: a grid of trainings, or what came out. Every flag of `train` is here, with a
// list where a comma is given. Processes share nothing but the folder, so any scheduler can run
// them. Read next: lab/sweep.h.

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>

#include "cli/commands.h"
#include "cli/pictures.h"
#include "cli/work.h"

namespace headlab::cli {
namespace {

constexpr std::string_view kSchedulers = R"(
give the same command to any number of processes that share the folder; each
takes the next cell that nobody makes. Four of them:
  Slurm         sbatch --array=0-3 --wrap 'headlab sweep ...'
  Kubernetes    a Job with completions: 4, parallelism: 4
  GNU parallel  parallel -N0 headlab sweep ... --threads 1 ::: 0 1 2 3
  make -j4      a rule  worker-%: ; headlab sweep ... --threads 1
)";

struct SweepFlags {
  std::string out, base;
  Index seeds = 0;
  bool collect = false;
  std::string prune;  // methods
  CurveOptions curve;
  WorkFlags work;
  PictureFlags picture;
  RunConfig config;                                       // for the names of its settings
  std::deque<std::pair<std::string, std::string>> lists;  // a setting of runs and its values

  Flags settings() {
    Flags s;
    s.string("out", out, "folder of the sweep, a cell in each folder (default: sweeps/TASK)",
             "DIR");
    s.integer("seeds", seeds, 0, 1 << 20, "seeds 0 ... N - 1 of every cell (or --seed 3,5,8)");
    work.add_to(s);
    s.string("config", base, "a config.json: what it says holds for all cells", "FILE");
    s.string("prune", prune, "also prune every cell by these methods: see `headlab list methods`",
             "A,B,...");
    s.integers("keep", curve.sizes, 0, 1 << 20, "heads to keep in each pruning");
    const Settings of_curve = settings_of(curve);
    for (const char* name : {"finetune", "from_scratch", "gate_steps"}) s.add(*of_curve.find(name));
    s.boolean("collect", collect, "make nothing; show what is there, and what is missing");
    picture.add_to(s);
    s.only({"seeds"}, {"!seed"});
    s.only({"keep", "finetune", "from_scratch"}, {"prune"});
    s.only({"jobs"}, {"!collect"});
    for_methods(s, "prune");
    return s;
  }
  /// As in `train`, or both: --tied, --no-tied, --tied true,false.
  static Setting switches(const Setting& setting, std::string& list) {
    const auto set = [&list, setting](const Json& json) {
      const std::string given = value_text(json);
      for (const std::string& value : sweep_values(given)) setting.set(Json::parse(value, given));
      list = given;
    };
    return {setting.name, "true|false[,...]", setting.help, set, [] { return Json(false); }};
  }
  Flags settings_of_runs() {
    Flags s;
    Flags of_runs = flags_of(config);
    for (const Setting& setting : of_runs.all()) {
      auto& list = lists.emplace_back(setting.name, "");
      if (setting.get().is_bool())
        s.add(switches(setting, list.second));
      else
        s.string(setting.name, list.second, setting.help, setting.placeholder + "[,...]");
      s.only({setting.name}, of_runs.modes[setting.name]);
    }
    s.only({"momentum"}, {"config"});  // which may name sgd
    return s;
  }
};

/// What a config file says, one value each, of the settings that no flag gives.
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
  for (const auto& [name, list] : flags.lists)
    if (!list.empty()) grid.push_back({name, sweep_values(list)});
  if (flags.seeds > 0) {
    grid.push_back({"seed", {}});
    for (Index seed = 0; seed < flags.seeds; ++seed)
      grid.back().values.push_back(std::to_string(seed));
  }
  return grid;
}

/// Trains what is not there; where this process alone works, with a line of progress.
CellsMade train_cells(const SweepFlags& flags, const std::vector<SweepCell>& cells) {
  std::optional<Progress> progress;
  const auto watching = [&](const SweepCell& cell) {
    if (is_worker()) return RunCallbacks{{.should_stop = interrupted}};
    progress.emplace(cell.config.train.steps);
    RunCallbacks callbacks = watch(*progress);
    callbacks.on_evaluation = {};  // of many runs, a line for each is enough
    return callbacks;
  };
  std::vector<Cell> trainings;
  for (const SweepCell& cell : cells) trainings.push_back(training_cell(flags.out, cell, watching));
  return make_shown(flags.work, trainings);
}

/// Trains cells and prunes them.
CellsMade make(const SweepFlags& flags, const std::vector<SweepCell>& cells) {
  CellsMade made = train_cells(flags, cells);
  if (flags.prune.empty() || made.stopped) return made;
  CurveOptions curve = flags.curve;
  curve.keeping = {true, interrupted};
  CellsMade pruned = make_shown(flags.work, pruning_cells(flags.out, cells, curve));
  pruned.finished += made.finished;
  pruned.failed.insert(pruned.failed.begin(), made.failed.begin(), made.failed.end());
  pruned.missing.insert(pruned.missing.begin(), made.missing.begin(), made.missing.end());
  return pruned;
}

/// Which cells are not there, and why those that failed did.
std::string missing_text(std::vector<std::string> names, const std::vector<CellFailure>& failures,
                         std::size_t cells) {
  if (names.empty()) return "";
  constexpr std::size_t kShown = 8;
  const std::size_t missing = names.size();
  if (names.size() > kShown) names.resize(kShown), names.emplace_back("...");
  std::string said =
      text("\nmissing: ", missing, " of ", cells, " cells: ", join(names, " "), "\n");
  if (failures.empty()) return said;
  const auto diverged = std::ranges::count(failures, true, &CellFailure::diverged);
  said += text("failed: ", failures.size(), " of these, ", diverged, " because they diverged\n");
  for (const CellFailure& failure : failures)
    said += text("  ", failure.cell, ": ", failure.error, "\n");
  return said;
}

/// What is shown of a sweep and its prunings.
struct Shown {
  Finding found;
  Json prunings = Json::array();
  std::vector<Table> tables{};
  std::string words;

  explicit Shown(const SweepReport& report) : found(finding_of(report)), tables(found.tables) {
    words = (report.groups.empty() ? "no cell is finished yet\n" : "") +
            missing_text(report.missing, report.failed, report.cells);
    if (report.groups.empty()) tables.clear();
  }
  /// The tables of the groups bear their names where there are several.
  void add(const PruneSweepReport& pruned) {
    prunings.push_back(to_json(pruned));
    if (pruned.groups.empty()) words += "\nno pruning is finished yet\n";
    for (const PruneGroup& group : pruned.groups) {
      const std::vector<std::string> names =
          texts_of(group.seeds, [](std::int64_t seed) { return text("seed=", seed); });
      for (Table& table : curve_tables(group.curves, names)) {
        if (table.name == "points") table.title = group.name + " pruned: " + table.title;
        if (pruned.groups.size() > 1) table.name = group.name + " " + table.name;
        tables.push_back(std::move(table));
      }
    }
    words += missing_text(pruned.missing, pruned.failed, pruned.cells);
  }
};

/// What is there of the cells and of their prunings: those that flags name, else all that the
/// sweep was asked for.
Result show(const Invocation& call, const SweepFlags& flags, const std::vector<SweepCell>& cells) {
  const SweepReport report = collect_sweep(flags.out, cells);
  Shown shown(report);
  std::vector<SweepPruning> asked;
  if (flags.prune.empty() && std::filesystem::exists(flags.out + "/grid.json"))
    asked = read_prunings(flags.out);
  std::optional<Picture> picture;
  if (!flags.prune.empty()) {
    const PruneSweepReport pruned = collect_prunings(flags.out, cells, flags.curve);
    shown.add(pruned);
    if (flags.picture.wanted()) picture = prune_sweep_figure(pruned, flags.picture.units());
  }
  for (const SweepPruning& one : asked)
    shown.add(collect_prunings(flags.out, sweep_cells(one.grid), one.curve));
  Json json = shown.found;
  if (!shown.prunings.items().empty()) json["prunings"] = std::move(shown.prunings);
  Result result = reproducible(call, std::move(json), std::move(shown.tables), shown.words + "\n");
  const RunLock lock = lock_sweep(flags.out);  // a hundred processes may end at once
  keep_as(std::filesystem::path(flags.out) / "sweep.json", result);
  if (!flags.picture.wanted()) return result;
  if (!picture) picture = sweep_figure(report, flags.picture.units());
  return with_picture(call, flags.picture, *picture, result);
}

Result make_and_show(const Invocation& call, const SweepFlags& flags,
                     const std::vector<SweepCell>& cells) {
  const CellsMade made = make(flags, cells);
  if (made.stopped) return stopped_result(call);
  Result result = show(call, flags, cells);
  result.status = made.failed.empty() && made.missing.empty() ? 0 : 1;
  return result;
}

}  // namespace

Result sweep(Invocation& call) {
  SweepFlags flags;
  call.read(flags.settings(), flags.settings_of_runs(), std::string(kSchedulers));
  flags.picture.units();
  const SweepGrid grid = grid_of(flags);
  if (flags.out.empty()) {
    const auto task = std::ranges::find(grid, "task", &SweepAxis::name);
    const std::string spec = task == grid.end() ? flags.config.task : task->values[0];
    flags.out = "sweeps/" + spec.substr(0, spec.find(':'));
  }
  if (std::filesystem::exists(flags.out + "/config.json"))
    throw Error(text(flags.out, " is a run"), "give the sweep a folder of its own");
  if (!flags.prune.empty()) {
    if (flags.curve.sizes.empty())
      throw UsageError("missing --keep, the numbers of heads that stay",
                       "for example --keep 2,3,4");
    flags.curve.methods = texts_of(split(flags.prune, ','), std::identity());
    for (const std::string& method : flags.curve.methods)
      as_usage([&] { return &find_prune_method(method); });
  }
  const bool from_folder = grid.empty() && flags.collect;
  const auto cells = from_folder ? cells_of_grids(read_grids(flags.out))
                                 : as_usage([&] { return sweep_cells(grid); });
  if (flags.collect) return show(call, flags, cells);
  for (const SweepCell& cell : cells)
    cell_state(flags.out, cell);  // a cell with other settings is found before anything is made
  add_grid(flags.out, grid);
  if (!flags.prune.empty()) add_pruning(flags.out, {grid, flags.curve});
  return make_and_show(call, flags, cells);
}

}  // namespace headlab::cli
