// `headlab sweep`: a grid of trainings, or one slice of it, or what came out. Every flag of `train`
// is here, with a list where a comma is given. Slices share nothing but the folder, so any
// scheduler that counts from 0 can run them. Read next: lab/sweep.h.
#include "headlab/lab/sweep.h"

#include <algorithm>
#include <cmath>
#include <deque>

#include "cli/all_commands.h"
#include "cli/terminal.h"
#include "headlab/base/files.h"
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
  Index seeds = 0, index = 0, slices = 1;
  bool collect = false;
  CommonFlags common;
  RunConfig config;                                       // for the names of its settings
  std::deque<std::pair<std::string, std::string>> lists;  // a setting of runs and its values

  Settings settings() {
    Settings s;
    s.add(named_text("out", "DIR", out, "folder of the sweep, a cell in each folder (required)"));
    s.integer("seeds", seeds, 0, 1 << 20, "seeds 0 ... N - 1 of every cell (or --seed 3,5,8)");
    s.add(
        named_text("shard", "I/N", shard, "make every Nth cell, beginning with the Ith (from 0)"));
    s.boolean("collect", collect, "make nothing; show what is there, and what is missing");
    s.add(common.settings());
    const Settings of_runs = user_settings_of(config);
    for (const Setting& setting : of_runs.all()) {
      auto& list = lists.emplace_back(setting.name, "");
      s.add(named_text(setting.name, setting.placeholder + "[,...]", list.second, setting.help));
    }
    return s;
  }
};

void parse_shard(SweepFlags& flags) {
  if (flags.shard.empty()) return;
  const std::size_t slash = flags.shard.find('/');
  double index = -1, slices = 0;
  const bool read = slash != std::string::npos &&
                    parse_number(flags.shard.substr(0, slash), index) &&
                    parse_number(flags.shard.substr(slash + 1), slices);
  const bool whole = index == std::floor(index) && slices == std::floor(slices);
  if (!read || !whole || index < 0 || index >= slices || slices > 1e6) {
    throw UsageError(text("--shard ", flags.shard, ": a slice is I/N, with I from 0 to N - 1"),
                     "--shard 0/4, 1/4, 2/4 and 3/4 make all cells together");
  }
  flags.index = static_cast<Index>(index);
  flags.slices = static_cast<Index>(slices);
}

std::vector<SweepAxis> grid_of(const SweepFlags& flags) {
  std::vector<SweepAxis> grid;
  for (const auto& [name, list] : flags.lists)
    if (!list.empty()) grid.push_back({name, sweep_values(list)});
  const bool has_seed =
      !grid.empty() &&
      std::any_of(grid.begin(), grid.end(), [](const auto& axis) { return axis.name == "seed"; });
  if (flags.seeds > 0 && has_seed)
    throw UsageError("--seed and --seeds both name the seeds", "give one of them");
  if (flags.seeds > 0) {
    grid.push_back({"seed", {}});
    for (Index seed = 0; seed < flags.seeds; ++seed)
      grid.back().values.push_back(std::to_string(seed));
  }
  return grid;
}

/// How the cells of a slice ended.
struct SliceEnd {
  std::size_t finished = 0, failed = 0, busy = 0;
  bool stopped = false;
};

CellEnd make_cell(const std::string& folder, const SweepCell& cell) {
  Progress progress(cell.config.train.steps);
  RunCallbacks callbacks = watch(progress);
  callbacks.on_evaluation = {};  // of many runs, a line for each is enough
  return run_cell(folder, cell, callbacks);
}

SliceEnd make_cells(const SweepFlags& flags, const std::vector<SweepCell>& cells) {
  SliceEnd end;
  for (std::size_t i = 0; i < cells.size() && !end.stopped; ++i) {
    if (static_cast<Index>(i) % flags.slices != flags.index) continue;
    const std::string where = text("cell ", i + 1, " of ", cells.size(), ", ", cells[i].name);
    if (cell_state(flags.out, cells[i]) == CellState::finished) {
      ++end.finished;
      continue;
    }
    try {
      const CellEnd cell = make_cell(flags.out, cells[i]);
      end.stopped = cell == CellEnd::stopped;
      end.busy += cell == CellEnd::busy;
      end.finished += cell == CellEnd::finished;
      note(where + (end.stopped ? ": interrupted, and saved"
                    : cell == CellEnd::busy
                        ? ": another process is making it"
                        : text(": loss ", significant(read_cell(flags.out, cells[i]).loss))));
    } catch (const Error& error) {
      ++end.failed;
      note(text(where, ": ", error.what()));
    }
    end.stopped = end.stopped || (interrupted() && i + 1 < cells.size());
  }
  return end;
}

int show(const SweepFlags& flags, const std::vector<SweepCell>& cells, Arguments arguments) {
  const SweepReport report = collect_sweep(flags.out, cells);
  const std::string command = again("sweep", arguments);
  Json json = to_json(report);
  json["command"] = command;
  write_file(std::filesystem::path(flags.out) / "sweep.json", json.dump(2) + "\n");
  if (flags.common.json)
    print(json);
  else
    print(text(sweep_text(report), "again: ", command, "\n"));
  return 0;
}

int make_and_show(const SweepFlags& flags, const std::vector<SweepCell>& cells,
                  Arguments arguments) {
  catch_interrupts();
  const SliceEnd end = make_cells(flags, cells);
  if (end.stopped) {
    note("hint: to go on, give the same command again: " + again("sweep", arguments));
    return 130;
  }
  if (flags.slices == 1) {
    show(flags, cells, arguments);
  } else if (flags.common.json) {
    Json json = Json::object();
    json["shard"] = flags.shard;
    json["finished"] = end.finished;
    json["failed"] = end.failed;
    json["busy"] = end.busy;
    print(json);
  } else {
    print(text("slice ", flags.shard, ": ", end.finished, " cells finished, ", end.failed,
               " failed\nto see what came out: headlab sweep --collect --out ",
               shell_word(flags.out), "\n"));
  }
  return end.failed > 0 ? 1 : 0;
}

}  // namespace

int sweep_command(Arguments arguments) {
  SweepFlags flags;
  const Settings settings = flags.settings();
  if (wants_help(arguments)) {
    print_help("sweep", "", settings);
    print(std::string(kSchedulers));
    return 0;
  }
  parse_arguments(arguments, signature_of("sweep", {}), settings);
  if (flags.out.empty()) {
    throw UsageError("missing --out, the folder of the sweep",
                     "for example: " + signature_of("sweep", {}).example);
  }
  parse_shard(flags);
  std::vector<SweepAxis> grid = grid_of(flags);
  const bool from_folder = grid.empty() && flags.collect;
  if (from_folder) grid = read_grid(flags.out);
  const auto cells = from_folder ? sweep_cells(grid) : as_usage([&] { return sweep_cells(grid); });
  flags.common.apply();
  for (const SweepCell& cell : cells)
    cell_state(flags.out, cell);  // a cell with other settings is found before anything is made
  if (flags.collect) return show(flags, cells, arguments);
  write_grid(flags.out, grid);
  return make_and_show(flags, cells, arguments);
}

}  // namespace headlab::cli
