// The curve of a cell is that of any run, so its parts lie in the run's folder; a group has its
// curve once all parts of a seed are there.
// Read next: sweep_report.cc.
#include "headlab/lab/prune_sweep.h"

#include <algorithm>

#include "headlab/base/files.h"

namespace headlab {
namespace {

namespace fs = std::filesystem;

CurveOptions kept(CurveOptions options) {
  require(!options.methods.empty() && !options.sizes.empty(),
          "a sweep of prunings needs methods and numbers of heads to keep");
  options.keeping.in_run = true;
  return options;
}

Json json_of(const CurveOptions& curve) {
  CurveOptions options = curve;
  Json json = settings_of(options).to_json();
  json["methods"] = options.methods;
  return json;
}

}  // namespace

void add_pruning(const fs::path& folder, SweepPruning pruning) {
  add_to_grids(folder, "prunings",
               Json::object({{"grid", to_json(pruning.grid)}, {"curve", json_of(pruning.curve)}}));
}

std::vector<SweepPruning> read_prunings(const fs::path& folder) {
  std::vector<SweepPruning> prunings;
  for (const Json& one : read_from_grids(folder, "prunings")) {
    SweepPruning& pruning = prunings.emplace_back(SweepPruning{grid_of(one.at("grid"))});
    const Json& curve = one.at("curve");
    settings_of(pruning.curve).set_all(curve, (folder / "grid.json").string(), {"methods"});
    pruning.curve.methods = texts_of(curve.at("methods").items(), &Json::string);
  }
  return prunings;
}

std::vector<Cell> pruning_cells(const fs::path& folder, const std::vector<SweepCell>& cells,
                                const CurveOptions& options) {
  std::vector<fs::path> runs;
  for (const SweepCell& cell : cells)
    if (cell_state(folder, cell) == CellState::finished) runs.push_back(folder / cell.name);
  return curve_cells(runs, kept(options));
}

PruneSweepReport collect_prunings(const fs::path& folder, const std::vector<SweepCell>& cells,
                                  const CurveOptions& options) {
  PruneSweepReport report{.curve = kept(options), .groups = {}, .missing = {}};
  report.cells = cells.size();
  for (const SweepCell& cell : cells) {
    const std::size_t missing = report.missing.size();
    if (cell_state(folder, cell) != CellState::finished) report.missing.push_back(cell.name);
    for (const Cell& part : pruning_cells(folder, {cell}, options)) {
      if (kept_in(part)) continue;
      report.missing.push_back(part.name);
      if (const auto failure = failure_of(part)) report.failed.push_back(*failure);
    }
    if (report.missing.size() > missing) continue;
    if (report.groups.empty() || report.groups.back().name != cell.group)
      report.groups.push_back({cell.group, {}});
    report.groups.back().seeds.push_back(cell.config.train.seed);
    report.groups.back().curves.push_back(prune_curve(open_run(folder / cell.name), report.curve));
  }
  return report;
}

Json to_json(const PruneSweepReport& report) {
  Json groups = Json::array();
  for (const PruneGroup& group : report.groups) {
    const CurveOverRuns all = over_runs(group.curves);
    groups.push_back(Json::object({{"cells", group.name},
                                   {"seeds", group.seeds},
                                   {"needed", all.needed > 0 ? Json(all.needed) : Json()},
                                   {"methods", all.methods},
                                   {"curves", group.curves}}));
  }
  return Json::object({{"curve", json_of(report.curve)},
                       {"cells", report.cells},
                       {"missing", report.missing},
                       {"failed", report.failed},
                       {"groups", std::move(groups)}});
}

}  // namespace headlab
