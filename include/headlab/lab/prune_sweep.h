// Pruning at the scale of a sweep: every trained cell pruned by several methods to several sizes,
// each a run in a folder of its own, so that what is finished is never made twice and any number of
// processes share the work, as with training. Methods are compared on the same cells, seed by seed.
// Read next: src/lab/prune_sweep.cc.
#pragma once

#include "headlab/base/statistics.h"
#include "headlab/lab/sweep.h"
#include "headlab/prune/prune.h"

namespace headlab {

/// What is done to each cell: every method with every number of heads kept.
struct PruneGrid {
  std::vector<std::string> methods;
  std::vector<Index> keep;
  PruneSettings settings{};
  Index finetune = 0;         // steps of training after the removal
  bool from_scratch = false;  // also train what the first method keeps from initial values
};

struct PruneCell {
  std::string name;    // of its folder: "heads=8,seed=0,prune=greedy,keep=4"
  std::string method;  // "from_scratch" for models that are trained anew
  Index keep = 0;
  const SweepCell* parent = nullptr;
};
/// All prunings of the cells, which must outlive them. Errors: an unknown method, none, no size.
std::vector<PruneCell> prune_cells(const std::vector<SweepCell>& cells, const PruneGrid& grid);

/// Whether its record says that it is done. Error if it was made with other settings.
bool is_finished(const std::filesystem::path& folder, const PruneCell& cell, const PruneGrid& grid);
/// Makes a pruning, anew if it was begun and not finished; trains the cell first if that is
/// missing. Errors: those of run_cell, is_finished and prune_run.
CellEnd run_prune_cell(const std::filesystem::path& folder, const PruneCell& cell,
                       const PruneGrid& grid, const RunCallbacks& callbacks = {});

/// One method at one size over the seeds of a group of cells.
struct PruneGroup {
  std::string group, method;
  Index keep = 0;
  Index steps = 0;  // of training behind each model: the cell's, of gates and of fine-tuning
  std::vector<std::int64_t> seeds;
  std::vector<double> losses;  // by seed, held out, after fine-tuning
  Interval loss, accuracy;
  /// Loss of this method minus that of the first method, seed by seed: mean +- 95% (Student's t).
  /// None for the first method itself.
  std::optional<Interval> against_first;
  double effect = 0;  // that mean / the standard deviation of the differences
};
struct PruneSweepReport {
  PruneGrid grid;
  std::vector<PruneGroup> groups;
  std::vector<std::string> missing;   // prunings that are not finished
  std::vector<CellFailure> failed{};  // of these
  std::size_t cells = 0;
};
Json to_json(const PruneSweepReport& report);
PruneSweepReport collect_prunings(const std::filesystem::path& folder,
                                  const std::vector<PruneCell>& cells, const PruneGrid& grid);

}  // namespace headlab
