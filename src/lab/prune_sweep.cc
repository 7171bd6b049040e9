// A pruning of a cell is a run in the sweep's folder like any other, with its prune.json; the steps
// of fine-tuning that this file counts say whether the pruning is finished. The lock of a pruning
// is a file in the folder `locks`. Read next: sweep_cell.cc.
#include "headlab/lab/prune_sweep.h"

#include <algorithm>
#include <system_error>

#include "headlab/base/files.h"
#include "headlab/heads/tracking.h"
#include "headlab/model/initial.h"
#include "headlab/train/streams.h"

namespace headlab {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFromScratch = "from_scratch";

PruneOptions options_of(const PruneCell& cell, const PruneGrid& grid) {
  PruneOptions options{.method = cell.method, .keep = cell.keep, .settings = grid.settings};
  options.finetune = grid.finetune;
  options.force = true;  // what was begun and not finished is made anew
  return options;
}

/// The settings under which a pruning stands in its record.
std::string record_of(const PruneCell& cell, const PruneGrid& grid) {
  return pruning_text(options_of(cell, grid));
}

/// The heads that the first method keeps, in a model that is trained from initial values.
CellEnd train_anew(const Run& parent, const fs::path& path, const PruneCell& cell,
                   const PruneGrid& grid, const RunCallbacks& callbacks) {
  PruneOptions options = options_of(cell, grid);
  options.method = grid.methods[0];
  const Choice choice = choose_heads(problem_of(parent, grid.settings), options);
  Transformer model = remove_heads(parent.model, choice.kept);
  initialize(model, streams::initial_values(parent.config.train.seed));
  RunConfig config = parent.config;
  config.model = model.config();
  config.train.steps = trained_steps(parent) + choice.steps + grid.finetune;
  const Index config_steps = config.train.steps;
  Run run = create_run(path, std::move(config), model, Existing::replace);
  const TrainResult trained = train_run(run, callbacks);
  if (!trained.finished) return CellEnd::stopped;
  const Judged judged{trained.held_out.loss, trained.held_out.accuracy};
  const Json record = stamped({{"kept", choice.kept},
                               {"after", judged},
                               {"pruning", record_of(cell, grid)},
                               {"steps", config_steps},
                               {"weights", weights_hash(run.model)}});
  write_json(path / "prune.json", record);
  return CellEnd::finished;
}

/// The losses of one method less those of another, where both have the seed.
std::vector<double> differences(const PruneGroup& a, const PruneGroup& b) {
  std::vector<double> all;
  for (std::size_t i = 0; i < a.seeds.size(); ++i) {
    const auto same = std::ranges::find(b.seeds, a.seeds[i]);
    if (same != b.seeds.end()) all.push_back(a.losses[i] - b.losses[same - b.seeds.begin()]);
  }
  return all;
}

void compare_with_first(std::vector<PruneGroup>& groups, const std::string& first) {
  for (PruneGroup& group : groups) {
    const auto base = std::ranges::find_if(groups, [&](const PruneGroup& other) {
      return other.group == group.group && other.keep == group.keep && other.method == first;
    });
    if (group.method == first || base == groups.end()) continue;
    const std::vector<double> gaps = differences(group, *base);
    group.against_first = t_interval(gaps);
    group.effect = group.against_first->mean / standard_deviation(gaps);
  }
}

}  // namespace

std::vector<PruneCell> prune_cells(const std::vector<SweepCell>& cells, const PruneGrid& grid) {
  require(!grid.methods.empty() && !grid.keep.empty(),
          "a sweep of prunings needs methods and numbers of heads to keep");
  std::vector<std::string> methods = grid.methods;
  for (const std::string& method : methods) find_prune_method(method);
  if (grid.from_scratch) methods.emplace_back(kFromScratch);
  std::vector<PruneCell> all;
  for (const Index keep : grid.keep)
    for (const std::string& method : methods)
      for (const SweepCell& cell : cells)
        all.push_back({text(cell.name, ",prune=", method, ",keep=", keep), method, keep, &cell});
  return all;
}

bool is_finished(const fs::path& folder, const PruneCell& cell, const PruneGrid& grid) {
  const fs::path file = folder / cell.name / "prune.json";
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return false;
  const Json record = read_json(file);
  if (cell.method == kFromScratch && record.find("steps") == nullptr) return false;  // too few
  if (record.at("pruning").string() != record_of(cell, grid)) {
    throw Error(text(file.string(),
                     " was made with other settings: ", record.at("pruning").string()),
                "give the sweep another folder, or delete this one");
  }
  const Json* done = record.find("finetuned");
  return done == nullptr || done->integer() >= grid.finetune;
}

CellEnd run_prune_cell(const fs::path& folder, const PruneCell& cell, const PruneGrid& grid,
                       const RunCallbacks& callbacks) {
  if (cell_state(folder, *cell.parent) != CellState::finished) {
    const CellEnd end = run_cell(folder, *cell.parent, callbacks);
    if (end != CellEnd::finished) return end;
  }
  make_directories(folder / "locks");
  const FileLock lock(folder / "locks" / cell.name);
  if (!lock.held()) return CellEnd::busy;
  if (is_finished(folder, cell, grid)) return CellEnd::finished;
  const Run parent = open_run(folder / cell.parent->name);
  const fs::path path = folder / cell.name;
  if (cell.method == kFromScratch) return train_anew(parent, path, cell, grid, callbacks);
  const PruneResult result = prune_run(parent, path, options_of(cell, grid), callbacks);
  if (result.unwritten) throw Error(*result.unwritten);
  return result.finetuned >= grid.finetune ? CellEnd::finished : CellEnd::stopped;
}

PruneSweepReport collect_prunings(const fs::path& folder, const std::vector<PruneCell>& cells,
                                  const PruneGrid& grid) {
  PruneSweepReport report{.grid = grid, .groups = {}, .missing = {}, .cells = cells.size()};
  std::vector<std::vector<double>> accuracies;
  for (const PruneCell& cell : cells) {
    if (!is_finished(folder, cell, grid)) {
      report.missing.push_back(cell.name);
      continue;
    }
    const fs::path file = folder / cell.name / "prune.json";
    const Json record = read_json(file), &after = record.at("after");
    Index steps = 0;
    for (const char* part : {"steps", "gate_steps", "finetuned"})
      if (const Json* found = record.find(part)) steps += found->integer();
    const bool same = !report.groups.empty() && report.groups.back().group == cell.parent->group &&
                      report.groups.back().method == cell.method &&
                      report.groups.back().keep == cell.keep;
    if (!same) {
      report.groups.push_back(
          {cell.parent->group, cell.method, cell.keep, steps, {}, {}, {}, {}, {}, 0});
      accuracies.emplace_back();
    }
    report.groups.back().seeds.push_back(cell.parent->config.train.seed);
    report.groups.back().losses.push_back(after.at("loss").number());
    accuracies.back().push_back(after.at("accuracy").number());
  }
  for (std::size_t i = 0; i < report.groups.size(); ++i) {
    report.groups[i].loss = t_interval(report.groups[i].losses);
    report.groups[i].accuracy = t_interval(accuracies[i]);
  }
  compare_with_first(report.groups, grid.methods[0]);
  report.failed = failures_of(folder, report.missing);
  return report;
}

Json to_json(const PruneSweepReport& report) {
  Json groups = Json::array();
  for (const PruneGroup& group : report.groups) {
    groups.push_back(Json::object({{"cells", group.group},
                                   {"method", group.method},
                                   {"keep", group.keep},
                                   {"steps", group.steps},
                                   {"seeds", group.seeds},
                                   {"losses", group.losses},
                                   {"loss", group.loss},
                                   {"accuracy", group.accuracy},
                                   {"against_first", group.against_first},
                                   {"effect", group.against_first ? Json(group.effect) : Json()}}));
  }
  return stamped({{"methods", report.grid.methods},
                  {"finetune", report.grid.finetune},
                  {"cells", report.cells},
                  {"missing", report.missing},
                  {"failed", report.failed},
                  {"groups", std::move(groups)}});
}

}  // namespace headlab
