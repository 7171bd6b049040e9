// Michel's and Voita's experiments as JSON, keys as in their headers.
// Read next: src/cli/reproduce.cc, which
// writes them beside the run.
#include "headlab/base/version.h"
#include "headlab/lab/michel.h"
#include "headlab/lab/voita.h"

namespace headlab {
namespace {

Json id_to_json(const HeadId& id) { return Json(Json::Array{id.layer, id.head}); }

Json judged_to_json(const Judged& judged) {
  Json json = Json::object();
  json["loss"] = judged.loss;
  json["accuracy"] = judged.accuracy;
  return json;
}

Json one_head_to_json(const OneHeadLeft& row) {
  Json json = Json::object();
  json["module"] = row.module;
  json["in_sample"] = id_to_json(row.in_sample);
  json["change_in_sample"] = row.change_in_sample;
  json["out_of_sample"] = id_to_json(row.out_of_sample);
  json["change_out_of_sample"] = row.change_out_of_sample;
  return json;
}

Json stage_to_json(const PrunedAtStep& stage) {
  Json json = Json::object();
  json["step"] = stage.step;
  Json& list = json["by_share"] = Json::array();
  for (const Judged& judged : stage.by_share) list.push_back(judged_to_json(judged));
  return json;
}

Json penalty_to_json(const PenaltyRow& row) {
  Json json = Json::object();
  json["lambda"] = row.penalty;
  Json& heads = json["survivors"] = Json::array();
  for (const HeadId& head : row.survivors) heads.push_back(id_to_json(head));
  json["self"] = row.by_kind[0];
  json["encoder"] = row.by_kind[1];
  json["cross"] = row.by_kind[2];
  json["pruned"] = judged_to_json(row.pruned);
  json["from_scratch"] = judged_to_json(row.from_scratch);
  return json;
}

Json drift_to_json(const RoleDrift& role) {
  Json json = Json::object();
  json["relation"] = role.relation;
  json["before"] = id_to_json(role.before);
  json["after"] = id_to_json(role.after);
  json["lift_before"] = role.lift_before;
  json["lift_after"] = role.lift_after;
  return json;
}

}  // namespace

Json MichelReport::to_json() const {
  Json json = Json::object();
  json["headlab"] = version();
  json["ablation"] = ablation;
  Json& one = json["one_head_per_layer"] = Json::array();
  for (const OneHeadLeft& row : one_head) one.push_back(one_head_to_json(row));
  json["curve"] = curve.to_json();
  Json& of_shares = json["shares"] = Json::array();
  for (const double share : shares) of_shares.push_back(share);
  Json& stages = json["by_step"] = Json::array();
  for (const PrunedAtStep& stage : by_step) stages.push_back(stage_to_json(stage));
  Json& times = json["timing"] = Json::array();
  for (const PruneTiming& row : timing) times.push_back(row.to_json());
  return json;
}

Json VoitaReport::to_json() const {
  Json json = Json::object();
  json["headlab"] = version();
  json["attention"] = Json(attention);
  json["heads"] = heads;
  json["needed"] = needed > 0 ? Json(needed) : Json();
  json["full"] = judged_to_json(full);
  json["none"] = judged_to_json(none);
  Json& list = json["rows"] = Json::array();
  for (const PenaltyRow& row : rows) list.push_back(penalty_to_json(row));
  json["chosen"] = static_cast<Index>(chosen);
  Json& roles = json["drift"] = Json::array();
  for (const RoleDrift& role : drift) roles.push_back(drift_to_json(role));
  return json;
}

}  // namespace headlab
