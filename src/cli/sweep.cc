// `headlab sweep`: a grid of trainings, or one slice of it, or what came out. Every flag of `train`
// is here, with a list where a comma is given. Slices share nothing but the folder, so any
// scheduler that counts from 0 can run them. Read next: lab/sweep.h.
#include "headlab/lab/sweep.h"

#include <deque>
#include <optional>
#include <sstream>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "headlab/report/sweep_text.h"
#include "headlab/report/table.h"

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
  std::string out, shard;
  Index seeds = 0;
  bool collect = false;
  RunConfig config;                                       // for the names of its settings
  std::deque<std::pair<std::string, std::string>> lists;  // a setting of runs and its values

  Settings settings() {
    Settings s;
    s.add(named_text("out", "DIR", out, "folder of the sweep, a cell in each folder (required)"));
    s.integer("seeds", seeds, 0, 1 << 20, "seeds 0 ... N - 1 of every cell (or --seed 3,5,8)");
    s.add(
        named_text("shard", "I/N", shard, "make every Nth cell, beginning with the Ith (from 0)"));
    s.boolean("collect", collect, "make nothing; show what is there, and what is missing");
    return s;
  }
  Settings settings_of_runs() {
    Settings s;
    const Settings of_runs = user_settings_of(config);
    for (const Setting& setting : of_runs.all()) {
      auto& list = lists.emplace_back(setting.name, "");
      s.add(named_text(setting.name, setting.placeholder + "[,...]", list.second, setting.help));
    }
    return s;
  }
};

SweepSlice parse_slice(const std::string& shard) {
  if (shard.empty()) return {};
  SweepSlice slice;
  char slash = 0, rest = 0;
  std::istringstream in(shard);
  const bool read = (in >> slice.index >> slash >> slice.count) && slash == '/' && !(in >> rest);
  if (!read || slice.index < 0 || slice.index >= slice.count || slice.count > 1'000'000) {
    throw UsageError(text("--shard ", shard, ": a slice is I/N, with I from 0 to N - 1"),
                     "--shard 0/4, 1/4, 2/4 and 3/4 make all cells together");
  }
  return slice;
}

std::vector<SweepAxis> grid_of(const SweepFlags& flags) {
  std::vector<SweepAxis> grid;
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
              end == CellEnd::failed    ? ": " + error
              : end == CellEnd::stopped ? ": interrupted, and saved"
              : end == CellEnd::busy
                  ? ": another process is making it"
                  : text(": loss ", significant(read_cell(folder, cells[i]).loss))));
  };
  callbacks.should_stop = interrupted;
  return run_slice(folder, cells, slice, callbacks);
}

Result show(const Invocation& call, const SweepFlags& flags, const std::vector<SweepCell>& cells) {
  const SweepReport report = collect_sweep(flags.out, cells);
  return reproducible(call, to_json(report), sweep_text(report),
                      std::filesystem::path(flags.out) / "sweep.json");
}

Result make_and_show(const Invocation& call, const SweepFlags& flags,
                     const std::vector<SweepCell>& cells) {
  const SweepSlice slice = parse_slice(flags.shard);
  const SliceEnd end = make_cells(flags.out, cells, slice);
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
    result.text = text("slice ", flags.shard, ": ", end.finished, " cells finished, ", end.failed,
                       " failed\nto see what came out: headlab sweep --collect --out ",
                       shell_word(flags.out), "\n");
  }
  result.status = end.failed > 0 ? 1 : 0;
  return result;
}

}  // namespace

Result sweep(Invocation& call) {
  SweepFlags flags;
  call.read(flags.settings(), flags.settings_of_runs(), std::string(kSchedulers));
  if (flags.out.empty()) throw UsageError("missing --out, the folder of the sweep", call.example());
  parse_slice(flags.shard);
  std::vector<SweepAxis> grid = grid_of(flags);
  const bool from_folder = grid.empty() && flags.collect;
  if (from_folder) grid = read_grid(flags.out);
  const auto cells = from_folder ? sweep_cells(grid) : as_usage([&] { return sweep_cells(grid); });
  for (const SweepCell& cell : cells)
    cell_state(flags.out, cell);  // a cell with other settings is found before anything is made
  if (flags.collect) return show(call, flags, cells);
  write_grid(flags.out, grid);
  return make_and_show(call, flags, cells);
}

}  // namespace headlab::cli
