// The log of heads: one object for each tracked step, with every head's score on every relation, so
// that readers can examine any head and not only the best ones at the end. It contains no times, so
// repeating the run gives the same bytes. Read next: scores.cc.
#include "headlab/lab/heads/scores/tracking.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "headlab/core/base/error.h"
#include "headlab/core/base/files.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/heads/scores/scores.h"
#include "headlab/lab/results/fields.h"
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
      const HeadsReport report =
          score_heads(run.model, *run.task,
                      {.examples = kExamples, .without_truth = false, .patterns_only = true});
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

/// Returns a line on the relations for which `is_meant` holds; "" if there are none.
template <class IsMeant>
static std::string line_on(const char* what, const HeadsHistory& history, const IsMeant& is_meant) {
  std::vector<std::string> names;
  for (const RelationHistory& one : history.relations) {
    if (is_meant(one)) names.push_back(one.name);
  }
  return names.empty() ? "" : text("\n", what, ": ", join(names, ", "));
}

/// Returns why relations have no emergence step: no head has a role, or no head was scored.
static std::string reasons_text(const HeadsHistory& history) {
  const auto is_scored = [](const RelationHistory& one) { return std::isfinite(one.lifts.back()); };
  const auto has_no_role = [&](const RelationHistory& one) {
    return is_scored(one) && one.emergence_step < 0;
  };
  return line_on("no head has a role at the last step (lift below 0.3)", history, has_no_role) +
         line_on("not scored: no query asks for the keys, or every sequence has the same keys",
                 history, std::not_fn(is_scored));
}

/// Returns a step, null if it never came.
static Json step_or_null(Index step) { return step < 0 ? Json() : Json(step); }

static Table emergences_table(const HeadsHistory& history) {
  using Row = RelationHistory;
  Fields<Row> fields;
  fields.add(Column("name", "relation", "the keys to attend to").no_legend(), &Row::name);
  fields.add(kHeadColumn, &Row::best);
  fields.add({"emergence_step", "emerges",
              "the first scored step at which the lift of the "
              "relation's head reaches half of its last value"},
             [](const Row& row) { return step_or_null(row.emergence_step); });
  fields.add(Column("lift", "lift", "at the last step").fixed(3).mean_over("queries").no_legend(),
             [](const Row& row) { return row.lifts.back(); });
  fields.add(Column("queries", "queries", "number of scored queries").hidden().no_legend(),
             &Row::queries);
  fields.add({"by", "split by", "classes that decide which head attends, at the last step"},
             [](const Row& row) { return row.by.empty() ? Json() : Json(row.by); });
  fields.add({"parted", "parted", "first scored step with this split"},
             [](const Row& row) { return step_or_null(row.parted); });
  fields.add(Column("lifts", "lift over training", "at evenly spaced steps, from 0 to 1")
                 .of(CellKind::sparkline)
                 .no_legend(),
             &Row::lifts);
  return fields.table({.name = "relations",
                       .note = "step by step: --csv --table lifts" + reasons_text(history)},
                      history.relations);
}

/// Returns the lift of each relation's head at each scored step.
static Table lifts_table(const HeadsHistory& history) {
  Fields<std::size_t> fields;  // a row is the index of a step
  fields.add(Column("step", "step", "training step").hidden(),
             [&](std::size_t i) { return history.steps[i]; });
  for (const RelationHistory& one : history.relations) {
    fields.add(Column("lift." + one.name, one.name).hidden(),
               [&one](std::size_t i) { return one.lifts[i]; });
  }
  return fields.table({.name = "lifts"}, indices(history.steps.size()));
}

Result result_of(const HeadsHistory& history) {
  return {.about = stamped({{"attention", history.attention}, {"steps", history.steps}}),
          .tables = {emergences_table(history), lifts_table(history)}};
}

}  // namespace headlab
