// A sweep's report as JSON: sweep.json, and what `--json` prints. Heads are [layer, head], the head
// by the number it was born with; a share of relations or a lift that does not exist is null.
// Read next: sweep_report.cc, where the numbers come from.
#include "headlab/base/version.h"
#include "headlab/lab/sweep_report.h"

namespace headlab {

Json to_json(const SweepRoles& roles) {
  Json json = Json::object();
  json["name"] = roles.relation;
  json["lift"] = to_json(roles.lift);
  json["owned"] = roles.owned;
  Json& heads = json["heads"] = Json::array();
  for (const HeadId& head : roles.heads) {
    heads.push_back(head.layer < 0 ? Json(nullptr)
                                   : Json(Json::Array{Json(head.layer), Json(head.head)}));
  }
  return json;
}

Json to_json(const SweepGroup& group) {
  RunConfig config = group.config;
  Json json = Json::object();
  json["name"] = group.name;
  json["task"] = config.task;
  json["model"] = settings_of(config.model).to_json();
  json["seeds"] = Json(group.seeds);
  json["parameters"] = group.parameters;
  json["losses"] = Json(group.losses);
  json["loss"] = to_json(group.loss);
  json["accuracy"] = to_json(group.accuracy);
  json["specialization"] = to_json(group.specialization);
  Json& relations = json["relations"] = Json::array();
  for (const SweepRoles& roles : group.roles) relations.push_back(to_json(roles));
  return json;
}

Json SweepReport::to_json() const {
  Json json = Json::object();
  json["headlab"] = version();
  json["cells"] = cells;
  json["missing"] = Json(missing);
  Json& list = json["groups"] = Json::array();
  for (const SweepGroup& group : groups) list.push_back(headlab::to_json(group));
  Json& gains = json["comparisons"] = Json::array();
  for (const SweepComparison& comparison : comparisons) {
    Json entry = Json::object();
    entry["one"] = groups[comparison.one].name;
    entry["best"] = groups[comparison.best].name;
    entry["enough"] = groups[comparison.enough].name;
    entry["loss_gain"] = headlab::to_json(comparison.loss_gain);
    entry["accuracy_gain"] = comparison.accuracy_gain;
    entry["equal_parameters"] = comparison.equal_parameters;
    entry["keys_at_once"] = comparison.keys;
    entry["several_win"] = comparison.several_win;
    gains.push_back(std::move(entry));
  }
  return json;
}

}  // namespace headlab
