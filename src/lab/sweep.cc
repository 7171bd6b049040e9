// The grid of a sweep: from lists of values to cells with names. Names hold what changes, and
// heads and seed always, so that a grid can grow; and the order of cells is that of the axes with
// the seed last, so that a slice i of n gets cells of every kind. Read next: sweep_cell.cc.
#include "headlab/lab/sweep.h"

#include <algorithm>
#include <set>

#include "headlab/base/error.h"
#include "headlab/base/files.h"
#include "headlab/base/version.h"

namespace headlab {
namespace {

namespace fs = std::filesystem;

using Value = std::pair<std::string, std::string>;  // a setting and its value

const std::string* find_value(const std::vector<Value>& values, std::string_view name) {
  const auto found = std::find_if(values.begin(), values.end(),
                                  [&](const Value& value) { return value.first == name; });
  return found == values.end() ? nullptr : &found->second;
}

/// Letters that every file system and shell takes as they are; others become '_'.
std::string folder_name(std::string name) {
  std::replace_if(
      name.begin(), name.end(),
      [](char c) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        const bool digit = c >= '0' && c <= '9';
        return !letter && !digit && std::string_view("=,.+-_:").find(c) == std::string_view::npos;
      },
      '_');
  return name;
}

/// "heads=4,seed=2": the values of `shown`, without the settings in `hidden`.
std::string name_of(const std::vector<Value>& values, const std::set<std::string>& shown,
                    const std::set<std::string>& hidden) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : values)
    if (shown.contains(name) && !hidden.contains(name)) parts.push_back(name + "=" + value);
  return folder_name(parts.empty() ? "all" : join(parts, ","));
}

RunConfig config_of(const std::vector<Value>& values) {
  const std::string* task = find_value(values, "task");
  RunConfig config = recommended_config(task == nullptr ? RunConfig().task : *task);
  const Settings settings = user_settings_of(config);
  for (const auto& [name, value] : values) settings.set_text(name, value);
  const auto& heads = config.model.heads;
  if (heads.size() == 1 && heads[0] > 0 && heads[0] <= config.model.d_model &&
      config.model.d_head == 0 && config.model.d_model % heads[0] != 0)
    config.model.d_head = config.model.d_model / heads[0];
  fit_to_task(config);
  config.model.validate();
  config.train.validate();
  return config;
}

/// The axes with the seed last.
std::vector<SweepAxis> completed(std::vector<SweepAxis> grid) {
  const auto seed = std::stable_partition(
      grid.begin(), grid.end(), [](const SweepAxis& axis) { return axis.name != "seed"; });
  if (seed == grid.end()) grid.push_back({"seed", {"0"}});
  return grid;
}

/// Every combination, the last axis fastest.
std::vector<std::vector<Value>> combinations(const std::vector<SweepAxis>& grid) {
  std::vector<std::vector<Value>> all = {{}};
  for (const SweepAxis& axis : grid) {
    std::vector<std::vector<Value>> longer;
    for (const std::vector<Value>& values : all) {
      for (const std::string& value : axis.values) {
        longer.push_back(values);
        longer.back().emplace_back(axis.name, value);
      }
    }
    all = std::move(longer);
  }
  return all;
}

}  // namespace

std::vector<std::string> sweep_values(const std::string& list) {
  std::vector<std::string> values;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string part = list.substr(begin, end - begin);
    const bool parameter = part.substr(0, part.find(':')).find('=') != std::string::npos;
    if (parameter && !values.empty())
      values.back() += "," + part;
    else
      values.push_back(part);
    begin = end + 1;
  }
  return values;
}

std::vector<SweepCell> sweep_cells(const std::vector<SweepAxis>& given) {
  const std::vector<SweepAxis> grid = completed(given);
  std::set<std::string> shown = {"heads", "seed"};
  for (const SweepAxis& axis : grid)
    if (axis.values.size() > 1) shown.insert(axis.name);
  std::vector<SweepCell> cells;
  std::set<std::string> names;
  for (const std::vector<Value>& values : combinations(grid)) {
    SweepCell cell{name_of(values, shown, {}),
                   name_of(values, shown, {"seed"}),
                   name_of(values, shown, {"seed", "heads"}),
                   {}};
    try {
      cell.config = config_of(values);
    } catch (const Error& error) {
      throw Error(text("cell ", cell.name, ": ", error.what()), error.hint());
    }
    require(names.insert(cell.name).second, "the grid has the cell ", cell.name, " twice");
    cells.push_back(std::move(cell));
  }
  return cells;
}

void write_grid(const fs::path& folder, const std::vector<SweepAxis>& grid) {
  Json json = Json::object();
  json["headlab"] = version();
  Json& axes = json["grid"] = Json::object();
  for (const SweepAxis& axis : grid) axes[axis.name] = Json(axis.values);
  make_directories(folder);
  write_file(folder / "grid.json", json.dump(2) + "\n");
}

std::vector<SweepAxis> read_grid(const fs::path& folder) {
  const fs::path file = folder / "grid.json";
  std::error_code ignored;
  if (!fs::exists(file, ignored)) {
    throw Error(text("there is no sweep at ", folder.string(), " (no grid.json)"),
                "give the folder that `headlab sweep --out` wrote");
  }
  std::vector<SweepAxis> grid;
  const Json json = Json::parse(read_file(file), file.string());
  for (const auto& [name, values] : json.at("grid").members()) {
    SweepAxis axis{name, {}};
    for (const Json& value : values.items()) axis.values.push_back(value.string());
    grid.push_back(std::move(axis));
  }
  return grid;
}

}  // namespace headlab
