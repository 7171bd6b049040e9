// A report of heads as JSON: what heads.json holds and `headlab heads --json` prints. Each relation
// names its best head once more beside its numbers, so that a reader need not search. A number that
// is not defined is null. Read next: src/cli/heads.cc.
#include <cmath>

#include "headlab/base/version.h"
#include "headlab/heads/scores.h"

namespace headlab::inline HEADLAB_SCALAR {
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

Json relation_to_json(const HeadsReport& report, std::size_t r) {
  const RelationWinner& winner = report.relations[r];
  const HeadScores& head = report.heads[winner.best];
  Json best = score_to_json(head.relations[r]);
  best["layer"] = head.layer;
  best["head"] = head.head;
  Json json = Json::object();
  json["name"] = winner.relation.name;
  json["positional"] = winner.relation.positional;
  json["owner"] = winner.owned ? Json(Json::Array{head.layer, head.head}) : Json(nullptr);
  json["best"] = winner.candidates > 0 ? std::move(best) : Json(nullptr);
  json["exchanges"] = winner.exchanges;
  return json;
}

Json head_to_json(const HeadsReport& report, const HeadScores& head) {
  Json json = Json::object();
  json["layer"] = head.layer;
  json["head"] = head.head;
  json["entropy"] = head.entropy;
  json["focus"] = head.focus;
  Json scores = Json::object();
  for (std::size_t r = 0; r < report.relations.size(); ++r) {
    scores[report.relations[r].relation.name] = score_to_json(head.relations[r]);
  }
  json["scores"] = std::move(scores);
  return json;
}

}  // namespace

Json HeadsReport::to_json() const {
  Json json = Json::object();
  json["headlab"] = version();
  json["attention"] = Json(attention);
  json["examples"] = examples;
  json["permutations"] = permutations;
  Json& list = json["relations"] = Json::array();
  for (std::size_t r = 0; r < relations.size(); ++r) {
    list.push_back(relation_to_json(*this, r));
  }
  Json& rows = json["heads"] = Json::array();
  for (const HeadScores& head : heads) {
    rows.push_back(head_to_json(*this, head));
  }
  return json;
}

}  // namespace headlab::inline HEADLAB_SCALAR
