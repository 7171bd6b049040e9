// The log of heads: one object for each tracked step, with every head's score on every relation, so
// that readers can examine any head and not only the best ones at the end. It contains no times, so
// repeating the run gives the same bytes. Read next: scores.cc.
#include "headlab/lab/heads/scores/tracking.h"

#include <algorithm>

#include "headlab/core/base/error.h"
#include "headlab/core/base/files.h"
#include "headlab/lab/heads/scores/scores.h"
#include "headlab/lab/results/stored_json.h"

namespace headlab {
namespace {

constexpr Index kExamples = 128;  // see RunConfig::track_heads

Json head_to_json(const HeadScores& head, const std::vector<RelationWinner>& relations) {
  Json::Object lift, mass;
  for (std::size_t r = 0; r < relations.size(); ++r) {
    lift.emplace_back(relations[r].relation.name, head.relations[r].lift);
    mass.emplace_back(relations[r].relation.name, head.relations[r].mass);
  }
  return head_json(head, {{"entropy", head.value("entropy")}, {"lift", lift}, {"mass", mass}});
}

Json line_of(Index step, const HeadsReport& report) {
  Json::Object best, queries;
  Json::Array heads, divisions;
  for (std::size_t r = 0; r < report.relations.size(); ++r) {
    const RelationWinner& winner = report.relations[r];
    best.emplace_back(winner.relation.name, HeadId(report.heads[winner.best]));
    queries.emplace_back(winner.relation.name, report.best_score(r).queries);
  }
  for (const HeadScores& head : report.heads) heads.push_back(head_to_json(head, report.relations));
  for (const Division& one : report.divisions) {
    divisions.push_back(Json::object({{"relation", report.relations[one.relation].relation.name},
                                      {"by", one.by()},
                                      {"explained", one.kinds[one.best].explained}}));
  }
  return stamped({{"step", step},
                  {"examples", report.examples},
                  {"attention", report.attention},
                  {"best", best},
                  {"queries", queries},
                  {"heads", heads},
                  {"divisions", divisions}});
}

/// Returns the lift of one head on one relation in a line; NaN if the line has none.
double lift_in(const Json& line, const HeadId& id, const std::string& relation) {
  for (const Json& head : line.at("heads").items()) {
    if (head.at("layer").integer() != id.attention_layer || head.at("head").integer() != id.head) {
      continue;
    }
    return number_or_nan(head.at("lift"), relation);
  }
  return kUndefined;
}

/// Returns the number of queries of a relation in a line; nothing for older logs.
std::optional<Index> queries_in(const Json& line, const std::string& relation) {
  const Json* queries = line.find("queries");
  return queries == nullptr ? std::nullopt : std::optional(queries->at(relation).integer());
}

/// Returns the kind of class by which heads split a relation in a line; "" if they do not share it.
std::string division_in(const Json& line, const std::string& relation) {
  const Json* divisions = line.find("divisions");  // older logs have none
  for (const Json& one : divisions != nullptr ? divisions->items() : Json::Array()) {
    if (one.at("relation").string() == relation) return one.at("by").string();
  }
  return "";
}

RelationHistory history_of(const std::string& relation, const Json& best,
                           const std::vector<Json>& lines) {
  RelationHistory history{.name = relation, .best = head_of(best)};
  history.by = division_in(lines.back(), relation);
  history.queries = queries_in(lines.back(), relation);
  for (const Json& line : lines) {
    if (history.parted < 0 && !history.by.empty() && division_in(line, relation) == history.by) {
      history.parted = line.at("step").integer();
    }
  }
  for (const Json& line : lines) history.lifts.push_back(lift_in(line, history.best, relation));
  const double last = history.lifts.back();
  const auto emergence_step =
      std::ranges::find_if(history.lifts, [&](double x) { return x >= last / 2; });
  if (last >= kOwnerLift) {
    history.emergence_step = lines[emergence_step - history.lifts.begin()].at("step").integer();
  }
  return history;
}

}  // namespace

std::filesystem::path heads_log_file(const Run& run) { return run.path / "heads.jsonl"; }

RunCallbacks track_heads(const Run& run, RunCallbacks callbacks) {
  const Index every = run.config.track_heads;
  if (every == 0) return callbacks;
  callbacks.after_step = [&run, every, inner = callbacks.after_step](Index step) {
    if (inner) inner(step);
    if (step % every == 0 || step == run.config.train.steps) {
      const HeadsReport report = score_heads(run.model, *run.task, {.examples = kExamples});
      append_log(run, heads_log_file(run), line_of(step, report));
    }
  };
  return callbacks;
}

HeadsHistory read_heads_history(const Run& run) {
  const std::vector<Json> lines = read_log(heads_log_file(run), identity_of(run.config));
  if (lines.empty()) {
    throw Error(text("no scores of heads over training found in '", run.path.string(),
                     "' (heads.jsonl is missing)"),
                "train with --track-heads 50, which scores all heads every 50 steps");
  }
  HeadsHistory history;
  try {
    for (const Json& name : lines.back().at("attention").items()) {
      history.attention.push_back(name.string());
    }
    for (const Json& line : lines) history.steps.push_back(line.at("step").integer());
    for (const auto& [relation, best] : lines.back().at("best").members()) {
      history.relations.push_back(history_of(relation, best, lines));
    }
  } catch (const Error& error) {
    throw Error(text("cannot read ", heads_log_file(run).string(), ": ", error.what()),
                "train the run again: the file is damaged");
  }
  return history;
}

Result result_of(const HeadsHistory& history) {
  Table emergences{
      .name = "relations",
      .columns =
          {Column("name", "relation", "the keys to attend to").no_legend(),
           kHeadColumn,
           {"emergence_step", "emerges",
            "the first scored step at which the lift of the "
            "relation's head reaches half of its last value"},
           Column("lift", "lift", "at the last step").fixed(3).mean_over("queries").no_legend(),
           Column("queries", "queries", "number of scored queries").hidden().no_legend(),
           {"by", "split by", "classes that decide which head attends, at the last step"},
           {"parted", "parted", "first scored step with this split"},
           Column("lifts", "lift over training", "at evenly spaced steps, from 0 to 1")
               .of(CellKind::sparkline)
               .no_legend()},
      .note = "step by step: --csv --table lifts"};
  Table lifts{"lifts", {Column("step", "step", "training step").hidden()}};
  for (const Index step : history.steps) lifts.rows.emplace_back(1, Json(step));
  for (const RelationHistory& one : history.relations) {
    emergences.rows.push_back(
        {one.name, one.best,
         one.emergence_step < 0 ? kUndefined : static_cast<double>(one.emergence_step),
         one.lifts.back(), one.queries, one.by.empty() ? Json() : Json(one.by),
         one.parted < 0 ? Json() : Json(one.parted), one.lifts});
    lifts.columns.push_back(Column("lift." + one.name, one.name).hidden());
    for (std::size_t i = 0; i < lifts.rows.size(); ++i) lifts.rows[i].emplace_back(one.lifts[i]);
  }
  return {.about = stamped({{"attention", history.attention}, {"steps", history.steps}}),
          .tables = {emergences, lifts}};
}

}  // namespace headlab
