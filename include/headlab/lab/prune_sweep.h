// Pruning at the scale of a sweep: the curves of its cells, which any number of processes make as
// they make the cells, and over the seeds of each group their means. A sweep keeps which prunings
// were asked for, so that whoever collects it need not say them again. Read next: prune/curve.h;
// src/lab/prune_sweep.cc.
#pragma once

#include "headlab/lab/sweep.h"
#include "headlab/prune/curve.h"

namespace headlab {

/// The cells of a grid, and what is done to each.
struct SweepPruning {
  SweepGrid grid;
  CurveOptions curve{};  // with methods and sizes
};
/// Kept in grid.json as the grids are: adds one unless it is there already; reads all.
void add_pruning(const std::filesystem::path& folder, SweepPruning pruning);
std::vector<SweepPruning> read_prunings(const std::filesystem::path& folder);

/// The parts of the curves of those cells that are finished. Errors: no method, no size.
std::vector<Cell> pruning_cells(const std::filesystem::path& folder,
                                const std::vector<SweepCell>& cells, const CurveOptions& options);

/// The cells that differ by the seed alone, of which all parts are there.
struct PruneGroup {
  std::string name;
  std::vector<std::int64_t> seeds;
  std::vector<Curve> curves{};  // by seed
};
struct PruneSweepReport {
  CurveOptions curve;
  std::vector<PruneGroup> groups;
  std::vector<std::string> missing;   // cells that are not trained, and parts that are not there
  std::vector<CellFailure> failed{};  // of these
  std::size_t cells = 0;
};
Json to_json(const PruneSweepReport& report);
/// What is there; makes nothing.
PruneSweepReport collect_prunings(const std::filesystem::path& folder,
                                  const std::vector<SweepCell>& cells, const CurveOptions& options);

}  // namespace headlab
