// A sweep on a page: its results, and for each combination of settings the model of the first seed,
// shown side by side. A trial is a run like any other.
// Read next: headlab/lab/sweep.h.
#include <algorithm>

#include "headlab/base/files.h"
#include "headlab/lab/sweep.h"
#include "headlab/report/figures.h"
#include "report/page_parts.h"

namespace headlab {
namespace {

constexpr std::size_t kMostModels = 12;  // maximum number of models of a sweep

/// Adds facts of the sweep's report that its trials do not have: the command that makes the sweep,
/// and the controls of a textbook; null if the report has none.
void add_report(const std::filesystem::path& folder, Json& facts) {
  const std::filesystem::path file = folder / "sweep.json";
  const bool there = is_there(file);
  const Json report = there ? read_json(file) : Json();
  for (const char* key : {"command", "controls"}) {
    facts[key] = report.is_object() && report.find(key) ? *report.find(key) : Json();
  }
}

}  // namespace

bool is_sweep(const std::filesystem::path& folder) {
  return is_there(folder / "grid.json") && !is_there(folder / "config.json");
}

PageSweep read_sweep(const std::filesystem::path& folder) {
  const std::vector<SweepCell> cells = kept_cells(folder);
  PageSweep sweep;
  const SweepReport report = collect_sweep(folder, cells);
  sweep.facts = finding_of(report);
  if (differs_in_heads(report)) sweep.facts["figure"] = sweep_figure(report).data;
  add_report(folder, sweep.facts);
  Json& list = sweep.facts["runs"] = Json::array();
  std::vector<std::string> groups;
  for (const SweepCell& cell : cells) {
    Json run = Json::object({{"name", cell.name}, {"group", cell.group}, {"run", Json()}});
    const bool known = std::ranges::find(groups, cell.group) != groups.end();
    if (!known && groups.size() < kMostModels && cell_state(folder, cell) == CellState::finished) {
      run["run"] = groups.size();
      groups.push_back(cell.group);
      sweep.runs.push_back(folder / cell.name);
    }
    list.push_back(std::move(run));
  }
  if (sweep.runs.empty()) {
    throw Error(text("no trial of the sweep in ", folder.string(), " is finished"),
                "go on with it first");
  }
  return sweep;
}

}  // namespace headlab
