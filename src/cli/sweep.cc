// `headlab sweep`: a grid of trainings, or one slice of it, or what came out. Every flag of `train`
// is here, with a list where a comma is given. Slices share nothing but the folder, so any
// scheduler that counts from 0 can run them. Read next: lab/sweep.h.
#include "headlab/lab/sweep.h"

#include <deque>
#include <functional>
#include <optional>

#include "cli/commands.h"
#include "cli/pictures.h"
#include "cli/slices.h"
#include "headlab/base/files.h"
#include "headlab/base/text.h"
#include "headlab/lab/prune_sweep.h"
#include "headlab/report/figures.h"
#include "headlab/report/runs_text.h"

namespace headlab::cli {
namespace {

constexpr std::string_view kSchedulers = R"(
one slice for each machine or process, then --collect; with 4 slices:
  Slurm         sbatch --array=0-3 --wrap 'headlab sweep ... --shard $SLURM_ARRAY_TASK_ID/4'
  Kubernetes    an Indexed Job that runs headlab sweep ... --shard $JOB_COMPLETION_INDEX/4
  GNU parallel  parallel headlab sweep ... --threads 1 --shard {}/4 ::: 0 1 2 3
  make -j4      a rule  slice-%: ; headlab sweep ... --threads 1 --shard $*/4
)";

struct SweepFlags {
  std::string out, shard, base;
  Index seeds = 0;
  bool collect = false;
  std::string prune;  // methods
  PruneGrid prunings;
  PictureFlags picture;
  RunConfig config;                                       // for the names of its settings
  std::deque<std::pair<std::string, std::string>> lists;  // a setting of runs and its values

  Settings settings() {
    Settings s;
    s.string("out", out, "folder of the sweep, a cell in each folder (required)", "DIR");
    s.integer("seeds", seeds, 0, 1 << 20, "seeds 0 ... N - 1 of every cell (or --seed 3,5,8)");
    s.string("shard", shard, "make every Nth cell, beginning with the Ith (from 0)", "I/N");
    s.string("config", base, "a config.json: what it says holds for all cells", "FILE");
    s.string("prune", prune, "also prune every cell by these methods: see `headlab list methods`",
             "A,B,...");
    s.integers("keep", prunings.keep, 0, 1 << 20, "heads to keep in each pruning");
    s.integer("finetune", prunings.finetune, 0, 1 << 30, "steps of training after each pruning");
    s.boolean("from_scratch", prunings.from_scratch,
              "also train what the first method keeps from initial values");
    s.boolean("collect", collect, "make nothing; show what is there, and what is missing");
    Settings shared = settings_of(prunings.settings);
    s.add(*shared.find("gate_steps"));
    picture.add_to(s);
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
  Settings settings_of_runs() {
    Settings s;
    const Settings of_runs = user_settings_of(config);
    for (const Setting& setting : of_runs.all()) {
      auto& list = lists.emplace_back(setting.name, "");
      if (setting.get().is_bool())
        s.add(switches(setting, list.second));
      else
        s.string(setting.name, list.second, setting.help, setting.placeholder + "[,...]");
    }
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
  for (const auto& [name, list] : flags.lists) {
    if (list.empty()) continue;
    grid.push_back({name, sweep_values(list)});
    if (flags.seeds > 0 && name == "seed")
      throw UsageError("--seed and --seeds both name the seeds", "give one of them");
  }
  if (flags.seeds > 0) {
    grid.push_back({"seed", {}});
    for (Index seed = 0; seed < flags.seeds; ++seed)
      grid.back().values.push_back(std::to_string(seed));
  }
  return grid;
}

/// Makes the cells of a slice, with a line for each.
SliceEnd make_cells(const std::string& folder, const std::vector<SweepCell>& cells,
                    const SweepSlice& slice) {
  catch_interrupts();
  std::optional<Progress> progress;
  SliceCallbacks callbacks;
  callbacks.of_cell = [&](const SweepCell& cell) {
    progress.emplace(cell.config.train.steps);
    RunCallbacks watching = watch(*progress);
    watching.on_evaluation = {};  // of many runs, a line for each is enough
    return watching;
  };
  callbacks.after_cell = [&](Index i, CellEnd end, const std::string& error) {
    progress.reset();
    note(text("cell ", i + 1, " of ", cells.size(), ", ", cells[i].name,
              end == CellEnd::failed    ? ": error: " + error
              : end == CellEnd::stopped ? ": interrupted, and saved"
              : end == CellEnd::busy
                  ? ": another process is making it"
                  : text(": loss ", significant(read_cell(folder, cells[i]).loss))));
  };
  callbacks.should_stop = interrupted;
  return run_slice(folder, cells, slice, callbacks);
}

/// Makes the prunings of a slice, with a line for each.
SliceEnd make_prunings(const std::string& folder, const std::vector<PruneCell>& cells,
                       const PruneGrid& grid, const SweepSlice& slice) {
  SliceEnd end;
  for (Index i = slice.index; i < std::ssize(cells) && !end.stopped; i += slice.count) {
    if (is_finished(folder, cells[i], grid)) {
      ++end.finished;
      continue;
    }
    CellEnd result = CellEnd::failed;
    std::string said;
    try {
      result = run_prune_cell(folder, cells[i], grid, {{.should_stop = interrupted}});
      if (result == CellEnd::finished) forget_failure(folder, cells[i].name);
    } catch (const Error& error) {
      said = error.what();
      keep_failure(folder, cells[i].name, error);
    }
    end.finished += result == CellEnd::finished;
    end.failed += result == CellEnd::failed;
    end.busy += result == CellEnd::busy;
    end.stopped = result == CellEnd::stopped || interrupted();
    note(text("pruning ", i + 1, " of ", cells.size(), ", ", cells[i].name,
              result == CellEnd::failed    ? ": error: " + said
              : result == CellEnd::stopped ? ": interrupted"
              : result == CellEnd::busy    ? ": another process is making it"
                                           : ""));
  }
  return end;
}

Result show(const Invocation& call, const SweepFlags& flags, const std::vector<SweepCell>& cells) {
  const RunLock lock = lock_sweep(flags.out);
  const std::filesystem::path folder = flags.out;
  if (!flags.prune.empty()) {
    const PruneSweepReport report =
        collect_prunings(flags.out, prune_cells(cells, flags.prunings), flags.prunings);
    Result result = reproducible(call, to_json(report), prune_sweep_text(report));
    keep_as(folder / "prunings.json", result);
    return flags.picture.wanted()
               ? with_picture(call, flags.picture,
                              prune_sweep_figure(report, flags.picture.units()), result)
               : result;
  }
  const SweepReport report = collect_sweep(flags.out, cells);
  Result result = reproducible(call, to_json(report), sweep_text(report));
  keep_as(folder / "sweep.json", result);
  return flags.picture.wanted() ? with_picture(call, flags.picture,
                                               sweep_figure(report, flags.picture.units()), result)
                                : result;
}

Result make_and_show(const Invocation& call, const SweepFlags& flags,
                     const std::vector<SweepCell>& cells) {
  const SweepSlice slice = parse_slice(call);
  SliceEnd end = make_cells(flags.out, cells, slice);
  if (!flags.prune.empty() && !end.stopped) {
    const SliceEnd pruned =
        make_prunings(flags.out, prune_cells(cells, flags.prunings), flags.prunings, slice);
    end = {end.finished + pruned.finished, end.failed + pruned.failed, end.busy + pruned.busy,
           pruned.stopped};
  }
  if (end.stopped)
    return {.note = "hint: to go on, give the same command again: " + call.again(), .status = 130};
  Result result;
  if (slice.count == 1) {
    result = show(call, flags, cells);
  } else {
    result.json = Json::object({{"shard", flags.shard},
                                {"finished", end.finished},
                                {"failed", end.failed},
                                {"busy", end.busy}});
    const std::string collect = flags.prune.empty()
                                    ? "headlab sweep --collect --out " + shell_word(flags.out)
                                    : call.again("shard") + " --collect";
    result.text = text("slice ", flags.shard, ": ", end.finished, " cells finished, ", end.failed,
                       " failed\nto see what came out: ", collect, "\n");
  }
  result.status = end.failed > 0 ? 1 : 0;
  return result;
}

}  // namespace

Result sweep(Invocation& call) {
  SweepFlags flags;
  call.read(flags.settings(), flags.settings_of_runs(), std::string(kSchedulers));
  flags.picture.units();
  if (flags.out.empty()) throw UsageError("missing --out, the folder of the sweep", call.example());
  parse_slice(call);
  if (std::filesystem::exists(flags.out + "/config.json"))
    throw Error(text(flags.out, " is a run"), "give the sweep a folder of its own");
  if (flags.prune.empty()) {
    call.refuse({"keep", "finetune", "from_scratch", "gate_steps"}, "is for --prune",
                "add --prune greedy");
  } else {
    if (flags.prunings.keep.empty())
      throw UsageError("missing --keep, the numbers of heads that stay",
                       "for example --keep 2,3,4");
    flags.prunings.methods = texts_of(split(flags.prune, ','), std::identity());
    for (const std::string& method : flags.prunings.methods)
      as_usage([&] { return &find_prune_method(method); });
  }
  const SweepGrid grid = grid_of(flags);
  const bool from_folder = grid.empty() && flags.collect;
  const auto cells = from_folder ? cells_of_grids(read_grids(flags.out))
                                 : as_usage([&] { return sweep_cells(grid); });
  for (const SweepCell& cell : cells)
    cell_state(flags.out, cell);  // a cell with other settings is found before anything is made
  if (flags.collect) return show(call, flags, cells);
  add_grid(flags.out, grid);
  return make_and_show(call, flags, cells);
}

}  // namespace headlab::cli
