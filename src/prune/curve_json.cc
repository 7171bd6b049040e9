// A curve as JSON: what curve.json holds and other programs read. Keys as in
// include/headlab/prune/curve.h; a regret or knee that does not exist is null.
// Read next: src/cli/curve.cc.
#include "headlab/base/version.h"
#include "headlab/prune/curve.h"

namespace headlab {
namespace {

Json judged_to_json(const Judged& judged) {
  Json json = Json::object();
  json["loss"] = judged.loss;
  json["accuracy"] = judged.accuracy;
  return json;
}

Json point_to_json(const CurvePoint& point) {
  Json json = judged_to_json(point.pruned);
  json["kept"] = point.kept;
  json["heads"] = Json(point.heads);
  json["recall"] = point.recall;
  json["precision"] = point.precision;
  if (point.finetuned) json["finetuned"] = judged_to_json(*point.finetuned);
  if (point.from_scratch) json["from_scratch"] = judged_to_json(*point.from_scratch);
  return json;
}

Json method_to_json(const MethodCurve& method) {
  Json json = Json::object();
  json["method"] = method.method;
  json["area"] = method.area;
  json["regret"] = method.regret ? Json(*method.regret) : Json();
  json["rank_correlation"] = method.rank_correlation;
  json["knee"] = method.knee ? Json(*method.knee) : Json();
  json["sequences_forward"] = method.cost.forward;
  json["sequences_backward"] = method.cost.backward;
  json["seconds"] = method.seconds;
  Json& points = json["points"] = Json::array();
  for (const CurvePoint& point : method.points) points.push_back(point_to_json(point));
  return json;
}

}  // namespace

Json Curve::to_json() const {
  Json json = Json::object();
  json["headlab"] = version();
  json["attention"] = Json(attention);
  json["heads"] = heads;
  json["needed"] = needed > 0 ? Json(needed) : Json();
  json["full"] = judged_to_json(full);
  json["none"] = judged_to_json(none);
  Json& all = json["owners"] = Json::object();
  for (const auto& [relation, list] : owners) all[relation] = Json(list);
  Json& rises = json["ablation"] = Json::array();
  for (const double rise : ablation) rises.push_back(rise);
  Json& list = json["methods"] = Json::array();
  for (const MethodCurve& method : methods) list.push_back(method_to_json(method));
  return json;
}

}  // namespace headlab
