// The settings of curves, curves as JSON, and back from there the parts that are kept: what is true
// of the run, each method, and all subsets. A cell that was damaged is an error, never a crash.
// Read next: over_runs.cc.
#include <limits>

#include "headlab/base/error.h"
#include "headlab/heads/ablation.h"
#include "headlab/prune/curve.h"

namespace headlab {
namespace {

double number_of(const Json& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.number();
}

std::optional<Judged> judged_if(const Json* json) {
  return json == nullptr ? std::nullopt : std::optional(judged_of(*json));
}

std::optional<double> number_if(const Json* json) {
  return json == nullptr || json->is_null() ? std::nullopt : std::optional(json->number());
}

CurvePoint point_of(const Json& json) {
  return {.kept = json.at("kept").integer(),
          .heads = heads_of(json.at("heads")),
          .pruned = judged_of(json),
          .chosen_on = number_if(json.find("choosing_loss")),
          .finetuned = judged_if(json.find("finetuned")),
          .from_scratch = judged_if(json.find("from_scratch")),
          .recall = number_of(json.at("recall")),
          .precision = number_of(json.at("precision"))};
}

}  // namespace

Settings settings_of(CurveOptions& options) {
  Settings s;
  s.integers("sizes", options.sizes, 0, 1 << 20,
             "numbers of heads to keep; empty: all from 0 (or `per_layer_min`) on");
  s.integer("finetune", options.finetune, 0, 1 << 30, "steps of training after each removal");
  s.boolean("from_scratch", options.from_scratch,
            "also train models that have as many heads in each layer from the start");
  s.boolean("test_split", options.test_split,
            "judge on examples that nothing else has seen, not on the held-out ones");
  const Settings shared = settings_of(options.settings);
  s.add(*shared.find("examples"));
  s.integer("judged", options.judged, 0, 1 << 24,
            "examples on which models are judged (0: as many as the run's evaluations)");
  s.integer("draws", options.draws, 1, 1000, "of the method random, averaged");
  s.add(shared);
  return s;
}

Judged judged_of(const Json& json) {
  return {number_of(json.at("loss")), number_of(json.at("accuracy"))};
}

MethodCurve method_curve_of(const Json& json) {
  MethodCurve method{.method = json.at("method").string()};
  for (const Json& point : json.at("points").items()) method.points.push_back(point_of(point));
  method.area = number_of(json.at("area"));
  if (const Json& regret = json.at("regret"); !regret.is_null()) method.regret = regret.number();
  method.rank_correlation = number_of(json.at("rank_correlation"));
  if (const Json& knee = json.at("knee"); !knee.is_null()) method.knee = knee.integer();
  if (const Json* steps = json.find("steps")) method.steps = steps->integer();
  method.cost = {json.at("sequences_forward").integer(), json.at("sequences_backward").integer()};
  method.seconds = number_of(json.at("seconds"));
  return method;
}

Curve curve_without_methods(const Json& json) {
  Curve curve;
  curve.task = json.at("task").string();
  for (const Json& name : json.at("attention").items()) curve.attention.push_back(name.string());
  curve.heads = json.at("heads").integer();
  curve.needed = json.at("needed").is_null() ? 0 : json.at("needed").integer();
  curve.full = judged_of(json.at("full"));
  curve.none = judged_of(json.at("none"));
  for (const auto& [relation, heads] : json.at("owners").members())
    curve.owners.emplace_back(relation, heads_of(heads));
  for (const Json& rise : json.at("ablation").items()) curve.ablation.push_back(number_of(rise));
  return curve;
}

SubsetTable subsets_of(const Json& json) {
  SubsetTable table{.heads = heads_of(json.at("heads")),
                    .examples = json.at("examples").integer(),
                    .losses = {}};
  for (const Json& loss : json.at("losses").items()) table.losses.push_back(number_of(loss));
  return table;
}

Json to_json(const CurvePoint& point) {
  Json json = to_json(point.pruned);
  json["kept"] = point.kept;
  json["heads"] = point.heads;
  json["choosing_loss"] = point.chosen_on;
  json["recall"] = point.recall;
  json["precision"] = point.precision;
  if (point.finetuned) json["finetuned"] = *point.finetuned;
  if (point.from_scratch) json["from_scratch"] = *point.from_scratch;
  return json;
}

Json to_json(const MethodCurve& method) {
  return Json::object({{"method", method.method},
                       {"area", method.area},
                       {"regret", method.regret},
                       {"rank_correlation", method.rank_correlation},
                       {"knee", method.knee},
                       {"steps", method.steps},
                       {"sequences_forward", method.cost.forward},
                       {"sequences_backward", method.cost.backward},
                       {"seconds", method.seconds},
                       {"points", method.points}});
}

Json to_json(const SubsetTable& table) {
  return Json::object({{"heads", table.heads},
                       {"examples", table.examples},
                       {"kind", name_of(AblationKind::zero)},
                       {"losses", table.losses}});
}

Finding finding_of(const Curve& curve) {
  Json json = stamped({{"task", curve.task},
                       {"attention", curve.attention},
                       {"heads", curve.heads},
                       {"needed", curve.needed > 0 ? Json(curve.needed) : Json()},
                       {"full", curve.full},
                       {"none", curve.none},
                       {"owners", Json::Object(curve.owners.begin(), curve.owners.end())},
                       {"ablation", curve.ablation},
                       {"methods", curve.methods}});
  if (curve.subsets) json["subsets"] = *curve.subsets;
  std::vector<Table> tables = {choices_table(), points_table()};
  for (Table& table : tables) table.name = "methods";
  return {.about = std::move(json), .tables = std::move(tables)};
}

Json to_json(const Curve& curve) { return finding_of(curve); }

}  // namespace headlab
