// A report of heads as JSON: what heads.json holds and `headlab heads --json` prints. Each relation
// names its best head once more beside its numbers, so that a reader need not search. A number that
// is not defined is null. Read next: src/cli/heads.cc.
#include <cmath>

#include "headlab/base/version.h"
#include "headlab/heads/scores.h"

namespace headlab {
namespace {

Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json score_to_json(const RelationScore& score) {
  Json json = Json::object();
  json["mass"] = score.mass;
  json["top1"] = score.top1;
  json["lift"] = finite_or_null(score.lift);
  json["p"] = finite_or_null(score.p);
  json["mass_all"] = score.mass_all;
  json["null"] = score.null;
  json["queries"] = score.queries;
  return json;
}

Json baseline_to_json(const Baseline& baseline) {
  Json json = Json::object();
  json["top1"] = finite_or_null(baseline.top1);
  json["wrong"] = baseline.wrong;
  json["best_top1_where_wrong"] = finite_or_null(baseline.head_top1_where_wrong);
  return json;
}

Json head_name(const HeadScores& head) { return Json(Json::Array{head.layer, head.head}); }

Json relation_to_json(const HeadsReport& report, std::size_t r) {
  const RelationWinner& winner = report.relations[r];
  const HeadScores& head = report.heads[winner.best];
  Json best = score_to_json(head.relations[r]);
  best["layer"] = head.layer;
  best["head"] = head.head;
  best["mass_untrained"] = finite_or_null(winner.mass_untrained);
  best["lift_untrained"] = finite_or_null(winner.lift_untrained);
  Json json = Json::object();
  json["name"] = winner.relation.name;
  json["positional"] = winner.relation.positional;
  json["owner"] = winner.owned ? head_name(head) : Json(nullptr);
  json["best"] = winner.candidates > 0 ? std::move(best) : Json(nullptr);
  json["assigned"] = winner.assigned ? head_name(report.heads[*winner.assigned]) : Json(nullptr);
  json["assigned_owns"] = winner.assigned_owns;
  json["mass_any_head"] = winner.mass_any;
  json["exchanges"] = winner.exchanges;
  Json& baselines = json["baselines"] = Json::object();
  baselines["best_offset"] = winner.best_offset;
  baselines["offset"] = baseline_to_json(winner.offset);
  const bool named = std::isfinite(winner.nearest.top1);
  baselines["nearest"] = named ? baseline_to_json(winner.nearest) : Json(nullptr);
  return json;
}

/// What needs no gold, beside entropy and focus.
void add_patterns(Json& json, const HeadScores& head) {
  json["confidence"] = head.confidence;
  json["distance"] = head.distance;
  json["rank"] = head.rank;
  Json& patterns = json["patterns"] = Json::object();
  for (std::size_t i = 0; i < head.patterns.size(); ++i)
    patterns[pattern_scores()[i].name] = finite_or_null(head.patterns[i]);
  Json& offsets = json["offsets"] = Json::array();
  for (const HeadScores::Offset& offset : head.offsets)
    offsets.push_back(Json::Array{offset.offset, offset.share});
  json["labels"] = Json(head.labels);
  json["map"] = Json(Json::Array{head.map[0], head.map[1]});
}

Json head_to_json(const HeadsReport& report, const HeadScores& head) {
  Json json = Json::object();
  json["layer"] = head.layer;
  json["head"] = head.head;
  json["entropy"] = head.entropy;
  json["focus"] = head.focus;
  Json scores = Json::object();
  for (std::size_t r = 0; r < report.relations.size(); ++r)
    scores[report.relations[r].relation.name] = score_to_json(head.relations[r]);
  json["scores"] = std::move(scores);
  if (!head.patterns.empty()) add_patterns(json, head);
  return json;
}

Json distances_to_json(const HeadsReport& report) {
  Json rows = Json::array();
  const auto count = report.heads.size();
  for (std::size_t a = 0; a < count; ++a) {
    Json::Array row;
    for (std::size_t b = 0; b < count; ++b)
      row.push_back(finite_or_null(report.distances[a * count + b]));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

Json HeadsReport::to_json() const {
  Json json = Json::object();
  json["headlab"] = version();
  json["attention"] = Json(attention);
  json["examples"] = examples;
  json["permutations"] = permutations;
  json["specialization"] = finite_or_null(specialization);
  Json& list = json["relations"] = Json::array();
  for (std::size_t r = 0; r < relations.size(); ++r) list.push_back(relation_to_json(*this, r));
  Json& rows = json["heads"] = Json::array();
  for (const HeadScores& head : heads) rows.push_back(head_to_json(*this, head));
  if (!distances.empty()) json["distances"] = distances_to_json(*this);
  return json;
}

}  // namespace headlab
