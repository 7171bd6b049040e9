// One cell of a sweep: trained, its heads scored and matched with the relations, and the result
// kept beside the run. cell.json is written last, so that a cell which has one is finished; a lock
// that ends with its process keeps two of them off one cell. Read next: sweep_report.cc.
#include <algorithm>

#include "headlab/base/error.h"
#include "headlab/base/files.h"
#include "headlab/base/version.h"
#include "headlab/heads/tracking.h"
#include "headlab/lab/sweep.h"

namespace headlab {
namespace {

namespace fs = std::filesystem;

constexpr Index kScoredExamples = 512;  // as `headlab heads` takes

/// The most gold sets, all different, that the relations of a task have at one query.
double keys_at_once(const Task& task) {
  constexpr Index kLooked = 64;
  const Example example = task.make(Key{}.fold("heads"), kLooked, Split::validation);
  std::size_t most = 0;
  for (Index b = 0; b < kLooked; ++b) {
    for (Index t = 0; t < example.batch.length; ++t) {
      std::vector<std::vector<std::int32_t>> sets;
      for (const Gold& gold : example.gold) {
        const auto keys = gold.keys(b, t);
        const std::vector<std::int32_t> set(keys.begin(), keys.end());
        if (!set.empty() && std::find(sets.begin(), sets.end(), set) == sets.end())
          sets.push_back(set);
      }
      most = std::max(most, sets.size());
    }
  }
  return static_cast<double>(most);
}

Json to_json(const CellResult& result) {
  Json json = Json::object();
  json["headlab"] = version();
  json["loss"] = result.loss;
  json["accuracy"] = result.accuracy;
  json["parameters"] = result.parameters;
  json["keys"] = result.keys;
  Json& roles = json["roles"] = Json::array();
  for (const SweepRole& role : result.roles) {
    Json entry = Json::object();
    entry["relation"] = role.relation;
    entry["head"] = role.head.layer < 0
                        ? Json(nullptr)
                        : Json(Json::Array{Json(role.head.layer), Json(role.head.head)});
    entry["lift"] = role.lift;
    entry["owned"] = role.owned;
    roles.push_back(std::move(entry));
  }
  return json;
}

/// The head of each relation: its one-to-one assignment.
std::vector<SweepRole> roles_of(const HeadsReport& report) {
  std::vector<SweepRole> roles;
  for (const RelationWinner& winner : report.relations) {
    SweepRole role{winner.relation.name, {-1, 0}, kUndefined, winner.assigned_owns};
    if (winner.assigned) {
      const HeadScores& head = report.heads[*winner.assigned];
      role.head = {head.layer, head.head};
      role.lift = head.relations[roles.size()].lift;
    }
    roles.push_back(std::move(role));
  }
  return roles;
}

CellResult result_of(Run& run, const Evaluation& held_out) {
  CellResult result;
  result.loss = held_out.loss;
  result.accuracy = held_out.accuracy;
  result.parameters = run.model.parameter_count();
  result.keys = keys_at_once(*run.task);
  result.roles = roles_of(score_heads(run.model, *run.task, {.examples = kScoredExamples}));
  return result;
}

/// The first setting in which two configs differ, as a sentence; "" if they are the same.
std::string first_difference(RunConfig there, RunConfig wanted) {
  const Settings found = settings_of(there), asked = settings_of(wanted);
  for (const Setting& setting : asked.all()) {
    const Json have = found.find(setting.name)->get(), want = setting.get();
    if (have != want)
      return text(setting.name, " is ", have.dump(), " there and ", want.dump(), " here");
  }
  return "";
}

}  // namespace

CellState cell_state(const fs::path& folder, const SweepCell& cell) {
  const fs::path path = folder / cell.name;
  std::error_code ignored;
  if (!fs::exists(path / "config.json", ignored)) return CellState::missing;
  const std::string difference = first_difference(read_config(path), cell.config);
  if (!difference.empty()) {
    throw Error(text(path.string(), " holds a run with other settings: ", difference),
                "use another --out, or delete that folder to make the cell anew");
  }
  return fs::exists(path / "cell.json", ignored) ? CellState::finished : CellState::started;
}

CellResult read_cell(const fs::path& folder, const SweepCell& cell) {
  const fs::path file = folder / cell.name / "cell.json";
  const Json json = Json::parse(read_file(file), file.string());
  CellResult result;
  result.loss = json.at("loss").number();
  result.accuracy = json.at("accuracy").number();
  result.parameters = json.at("parameters").integer();
  result.keys = json.at("keys").number();
  for (const Json& entry : json.at("roles").items()) {
    SweepRole role{entry.at("relation").string(), {-1, 0}, 0, entry.at("owned").boolean()};
    const Json &head = entry.at("head"), &lift = entry.at("lift");
    if (!head.is_null()) {
      role.head = {head.items().at(0).integer(),
                   static_cast<std::int32_t>(head.items().at(1).integer())};
    }
    role.lift = lift.is_null() ? kUndefined : lift.number();
    result.roles.push_back(std::move(role));
  }
  return result;
}

CellEnd run_cell(const fs::path& folder, const SweepCell& cell, const RunCallbacks& callbacks) {
  make_directories(folder / "locks");
  const FileLock lock(folder / "locks" / cell.name);
  if (!lock.held()) return CellEnd::busy;
  const CellState state = cell_state(folder, cell);
  if (state == CellState::finished) return CellEnd::finished;
  const fs::path path = folder / cell.name;
  Run run = state == CellState::started ? open_run(path)
                                        : create_run(path, cell.config, Existing::replace);
  const TrainResult trained = train_run(run, track_heads(run, callbacks));
  if (!trained.finished) return CellEnd::stopped;
  write_file(path / "cell.json", to_json(result_of(run, trained.held_out)).dump(2) + "\n");
  return CellEnd::finished;
}

}  // namespace headlab
