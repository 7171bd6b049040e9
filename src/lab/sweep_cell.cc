// One cell of a sweep: trained, its heads scored and matched with the relations, and the result
// kept beside the run. cell.json is written last, so that a cell which has one is finished.
// Read next: sweep_report.cc.
#include <algorithm>
#include <set>

#include "headlab/base/error.h"
#include "headlab/base/files.h"
#include "headlab/heads/tracking.h"
#include "headlab/lab/sweep.h"
#include "headlab/train/streams.h"

namespace headlab {
namespace {

namespace fs = std::filesystem;

constexpr Index kScoredExamples = 512;  // as HeadsOptions has it

/// The most gold sets, all different, that the relations of a task have at one query.
double keys_at_once(const Task& task) {
  constexpr Index kLooked = 64;
  const Example example = task.make(streams::scored(), kLooked, Split::validation);
  std::size_t most = 0;
  for (Index b = 0; b < kLooked; ++b) {
    for (Index t = 0; t < example.batch.length; ++t) {
      std::set<std::vector<std::int32_t>> sets;
      for (const Gold& gold : example.gold) {
        const auto keys = gold.keys(b, t);
        if (!keys.empty()) sets.emplace(keys.begin(), keys.end());
      }
      most = std::max(most, sets.size());
    }
  }
  return static_cast<double>(most);
}

/// The head of each relation: its one-to-one assignment.
std::vector<SweepRole> roles_of(const HeadsReport& report) {
  std::vector<SweepRole> roles;
  for (const RelationWinner& winner : report.relations) {
    SweepRole role{winner.relation.name, {}, kUndefined, winner.assigned_owns};
    if (winner.assigned) {
      const HeadScores& head = report.heads[*winner.assigned];
      role.head = HeadId{head.module, head.head};
      role.lift = head.relations[roles.size()].lift;
    }
    roles.push_back(std::move(role));
  }
  return roles;
}

CellResult result_of(const Run& run, const Evaluation& held_out) {
  const HeadsReport report = score_heads(run.model, *run.task, {.examples = kScoredExamples});
  return {held_out.loss,           held_out.accuracy, run.model.parameter_count(),
          keys_at_once(*run.task), roles_of(report),  diversity_of(report)};
}

/// The first setting in which two configs differ, as a sentence; "" if they are the same.
std::string first_difference(RunConfig there, RunConfig wanted) {
  if (there == wanted) return "";
  const Settings found = settings_of(there), asked = settings_of(wanted);
  for (const Setting& setting : asked.all()) {
    const Json have = found.find(setting.name)->get(), want = setting.get();
    if (have != want)
      return text(setting.name, " is ", have.dump(), " there and ", want.dump(), " here");
  }
  return "";
}

}  // namespace

Json to_json(const SweepRole& role) {
  return Json::object({{"relation", role.relation},
                       {"head", role.head},
                       {"lift", role.lift},
                       {"owned", role.owned}});
}

Json to_json(const CellResult& result) {
  return stamped({{"loss", result.loss},
                  {"accuracy", result.accuracy},
                  {"parameters", result.parameters},
                  {"keys", result.keys},
                  {"roles", result.roles},
                  {"diversity", result.diversity}});
}

CellState cell_state(const fs::path& folder, const SweepCell& cell) {
  const fs::path path = folder / cell.name;
  if (!is_there(path / "config.json")) return CellState::missing;
  const std::string difference = first_difference(read_config(path), cell.config);
  if (!difference.empty()) {
    throw Error(text(path.string(), " holds a run with other settings: ", difference),
                "give the sweep another folder, or delete this one to make the cell anew");
  }
  return is_there(path / "cell.json") ? CellState::finished : CellState::started;
}

CellResult read_cell(const fs::path& cell) {
  const fs::path file = cell / "cell.json";
  return in_context(file.string(), [&] {
    const Json json = read_json(file);
    CellResult result;
    result.loss = json.at("loss").number();
    result.accuracy = json.at("accuracy").number();
    result.parameters = json.at("parameters").integer();
    result.keys = json.at("keys").number();
    if (const Json* found = json.find("diversity"); found != nullptr && !found->is_null())
      result.diversity = found->number();
    for (const Json& entry : json.at("roles").items()) {
      SweepRole role{entry.at("relation").string(), {}, kUndefined, entry.at("owned").boolean()};
      if (const Json& head = entry.at("head"); !head.is_null()) role.head = head_of(head);
      if (const Json& lift = entry.at("lift"); !lift.is_null()) role.lift = lift.number();
      result.roles.push_back(std::move(role));
    }
    return result;
  });
}

Cell training_cell(const fs::path& folder, const SweepCell& cell, const WatchCell& watch) {
  const fs::path path = folder / cell.name;
  const auto make = [=] {
    const bool begun = cell_state(folder, cell) == CellState::started;
    Run run = begun ? open_run(path) : create_run(path, cell.config, Existing::replace);
    const TrainResult trained =
        train_run(run, track_heads(run, watch ? watch(cell) : RunCallbacks{}));
    if (!trained.finished) throw Stopped();
    return to_json(result_of(run, trained.held_out));
  };
  return {.name = cell.name,
          .path = path,
          .file = path / "cell.json",
          .settings = path / "config.json",
          .make = make,
          .bytes = training_bytes(cell.config)};
}

}  // namespace headlab
