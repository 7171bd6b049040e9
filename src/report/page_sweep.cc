// A sweep on a page: what it measured, and for each combination of settings one of its models, that
// of the first seed, to be looked at side by side. A cell is a run like any other.
// Read next: headlab/lab/sweep.h.
#include <algorithm>
#include <system_error>

#include "headlab/base/files.h"
#include "headlab/lab/sweep.h"
#include "report/page_parts.h"

namespace headlab {
namespace {

constexpr std::size_t kMostModels = 12;  // of a sweep that are shown

/// The command that makes the sweep, if its report says so.
Json sweep_command(const std::filesystem::path& folder) {
  std::error_code ignored;
  const std::filesystem::path file = folder / "sweep.json";
  if (!std::filesystem::exists(file, ignored)) return {};
  const Json report = Json::parse(read_file(file), file.string());
  const Json* command = report.is_object() ? report.find("command") : nullptr;
  return command != nullptr ? *command : Json();
}

}  // namespace

bool is_sweep(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder / "grid.json", ignored) &&
         !std::filesystem::exists(folder / "config.json", ignored);
}

PageSweep read_sweep(const std::filesystem::path& folder) {
  const std::vector<SweepCell> cells = cells_of_grids(read_grids(folder));
  PageSweep sweep;
  sweep.facts = to_json(collect_sweep(folder, cells));
  sweep.facts["command"] = sweep_command(folder);
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
    throw Error(text("no cell of the sweep in ", folder.string(), " is finished"),
                "go on with it first");
  }
  return sweep;
}

}  // namespace headlab
