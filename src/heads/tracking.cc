// The log of heads: one object for each tracked step, with every head's score for every relation,
// so that whoever reads it may ask after any head, not only after those that won in the end. Holds
// no times: it is the same, bit for bit, each time the run is made. Read next: scores.cc.
#include "headlab/heads/tracking.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "headlab/base/error.h"
#include "headlab/base/files.h"
#include "headlab/base/version.h"
#include "headlab/heads/scores.h"

namespace headlab {
namespace {

constexpr Index kExamples = 128;  // enough to see a birth, few enough to look often

Json head_to_json(const HeadScores& head, const std::vector<RelationWinner>& relations) {
  Json json = Json::object(), lift = Json::object(), mass = Json::object();
  for (std::size_t r = 0; r < relations.size(); ++r) {
    lift[relations[r].relation.name] = head.relations[r].lift;
    mass[relations[r].relation.name] = head.relations[r].mass;
  }
  json["layer"] = head.layer;
  json["head"] = head.head;
  json["entropy"] = head.entropy;
  json["lift"] = std::move(lift);
  json["mass"] = std::move(mass);
  return json;
}

Json line_of(Index step, const HeadsReport& report) {
  Json line = Json::object();
  line["headlab"] = version();
  line["step"] = step;
  line["examples"] = report.examples;
  line["attention"] = Json(report.attention);
  Json& best = line["best"] = Json::object();
  for (const RelationWinner& relation : report.relations) {
    const HeadScores& head = report.heads[relation.best];
    best[relation.relation.name] =
        Json(Json::Array{Json(head.layer), Json(static_cast<Index>(head.head))});
  }
  Json& heads = line["heads"] = Json::array();
  for (const HeadScores& head : report.heads) heads.push_back(head_to_json(head, report.relations));
  return line;
}

/// The lift of one head for one relation in a line; NaN if the line has none.
double lift_in(const Json& line, const HeadId& id, const std::string& relation) {
  for (const Json& head : line.at("heads").items()) {
    if (head.at("layer").integer() == id.layer && head.at("head").integer() == id.head) {
      const Json* lift = head.at("lift").find(relation);
      return lift != nullptr && lift->is_number() ? lift->number()
                                                  : std::numeric_limits<double>::quiet_NaN();
    }
  }
  return std::numeric_limits<double>::quiet_NaN();
}

/// The place of the first lift that reaches half of the last one; -1 if the last is too small.
Index birth(const std::vector<double>& lifts) {
  if (!(lifts.back() >= kOwnerLift)) return -1;
  return std::find_if(lifts.begin(), lifts.end(),
                      [&](double lift) { return lift >= lifts.back() / 2; }) -
         lifts.begin();
}

RelationHistory history_of(const std::string& relation, const Json& best,
                           const std::vector<Json>& lines) {
  RelationHistory history;
  history.name = relation;
  history.best = {best.items()[0].integer(), static_cast<std::int32_t>(best.items()[1].integer())};
  for (const Json& line : lines) history.lifts.push_back(lift_in(line, history.best, relation));
  const Index place = birth(history.lifts);
  history.born = place < 0 ? -1 : lines[place].at("step").integer();
  return history;
}

}  // namespace

std::filesystem::path heads_log_file(const Run& run) { return run.path / "heads.jsonl"; }

RunCallbacks track_heads(Run& run, RunCallbacks callbacks) {
  const Index every = run.config.track_heads;
  if (every == 0) return callbacks;
  callbacks.after_step = [&run, every, inner = callbacks.after_step](Index step) {
    if (inner) inner(step);
    if (step % every == 0 || step == run.config.train.steps) {
      const HeadsReport report = score_heads(run.model, *run.task, {.examples = kExamples});
      append_line(heads_log_file(run), line_of(step, report).dump());
    }
  };
  return callbacks;
}

HeadsHistory read_heads_history(const Run& run) {
  const std::vector<Json> lines = read_log(heads_log_file(run));
  if (lines.empty()) {
    throw Error(text(run.path.string(), " holds no scores of heads over training (heads.jsonl)"),
                "train with --track-heads 50, which scores all heads every 50 steps");
  }
  HeadsHistory history;
  try {
    for (const Json& name : lines.back().at("attention").items())
      history.attention.push_back(name.string());
    for (const Json& line : lines) history.steps.push_back(line.at("step").integer());
    for (const auto& [relation, best] : lines.back().at("best").members())
      history.relations.push_back(history_of(relation, best, lines));
  } catch (const Error& error) {
    throw Error(text(heads_log_file(run).string(), ": ", error.what()),
                "the file is damaged: train the run again");
  }
  return history;
}

Json HeadsHistory::to_json() const {
  Json json = Json::object();
  json["headlab"] = version();
  json["attention"] = Json(attention);
  json["steps"] = Json(steps);
  Json& list = json["relations"] = Json::array();
  for (const RelationHistory& relation : relations) {
    Json entry = Json::object();
    entry["name"] = relation.name;
    entry["layer"] = relation.best.layer;
    entry["head"] = relation.best.head;
    entry["born"] = relation.born < 0 ? Json(nullptr) : Json(relation.born);
    entry["lifts"] = Json(relation.lifts);
    list.push_back(std::move(entry));
  }
  return json;
}

}  // namespace headlab
