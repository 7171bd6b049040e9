// Cells: pieces of work that are done once. What came out of a cell is a JSON file, beside the
// settings that decide it and the hash of the weights that it describes. So going on after an
// interruption is finding cells that are there, a share of the work is a choice of cells, and any
// number of processes may be given the same ones: each takes the next that nobody makes, by a lock
// that ends with its process. Read next: src/lab/runs/cells.cc; lab/sweep.h, whose cells are runs.
#pragma once

#include <exception>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "headlab/base/members.h"
#include "headlab/base/progress.h"
#include "headlab/train/run.h"

namespace headlab {

struct Cell {
  std::string name;              // for people
  std::filesystem::path path{};  // what is locked while the cell is made (lock_run)
  std::filesystem::path file{};  // the result; empty: it is not kept
  /// The settings that decide it, kept in the result; or a file of its own that holds them, which
  /// whoever makes the cell compares, and without which the result does not count.
  Json decided_by{};
  std::filesystem::path settings{};
  std::function<Json()> make{};  // throws Stopped where it is told to stop
  double bytes = 0;              // of memory that making it takes, at least
};

/// How the parts of an analysis of a run are kept.
struct Keeping {
  bool in_run = false;  // as files in the run's folder `cells`
  /// Asked before each part and after each step of it, which Stopped then ends.
  std::function<bool()> should_stop{};
};
/// The cell of one part: `settings` and the weights of the run decide it.
Cell part_of_run(const Run& run, const Keeping& keeping, const std::string& name, Json settings,
                 std::function<Json()> make);

/// The cells of several runs. A run is opened when one of its cells is made, and closed when one of
/// another run is: Work(run, options) has its cells as `cells()`, in the same order each time.
template <class Work, class Options>
std::vector<Cell> cells_of_runs(const std::vector<std::filesystem::path>& paths,
                                const Options& options) {
  struct Opened {
    explicit Opened(const std::filesystem::path& path, const Options& options)
        : run(open_run(path)), work(run, options) {}
    Run run;
    Work work;
  };
  auto opened = std::make_shared<std::unique_ptr<Opened>>();
  std::vector<Cell> cells;
  for (const std::filesystem::path& path : paths) {
    *opened = std::make_unique<Opened>(path, options);
    for (std::size_t i = 0; i < (*opened)->work.cells().size(); ++i) {
      cells.push_back((*opened)->work.cells()[i]);
      cells.back().make = [=] {
        if ((*opened)->run.path != path) *opened = std::make_unique<Opened>(path, options);
        return (*opened)->work.cells()[i].make();
      };
    }
  }
  return cells;
}

/// What the cell's file holds; nothing if it is not there. Error for a damaged file.
std::optional<Json> kept_in(const Cell& cell);
/// The result of the cell: what is kept, or what another process makes just now, or made here. A
/// part of a run that cannot be kept is returned all the same. Throws Stopped if should_stop says
/// so before it is there.
Json once(const Cell& cell, const std::function<bool()>& should_stop);

/// Why a cell could not be made: kept in the folder `failed` beside cells until it is made.
struct CellFailure {
  std::string cell, error, hint{};
  bool diverged = false;  // its numbers were not finite any more

  void members(auto&& f) {
    f("cell", cell), f("error", error), f("hint", hint), f("diverged", diverged);
  }
};
std::optional<CellFailure> failure_of(const Cell& cell);

struct MakeOptions {
  /// Processes that work side by side, each on one thread; never more than there are cells to make,
  /// or than `memory` holds (bytes; 0: that of this machine).
  Index jobs = 1;
  double memory = 0;
  std::function<bool()> should_stop{};  // asked between cells
  /// After each cell that this process tried: "" if it was made, "failed: ...", "interrupted ...".
  std::function<void(std::size_t cell, const std::string& trouble)> after_cell{};
  /// The first that each process does if there are several.
  std::function<void()> in_worker{};
};
struct CellsMade {
  Index finished = 0;
  std::vector<CellFailure> failed{};
  std::vector<std::string> missing{};  // a worker died over them
  bool stopped = false;
};
/// Makes the cells that are not there. One that fails does not keep the others from being made;
/// what other processes make is waited for at the end, and made here if they die over it.
CellsMade make_cells(const std::vector<Cell>& cells, const MakeOptions& options = {});

}  // namespace headlab
