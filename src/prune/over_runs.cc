// Curves of several runs as one: every number becomes a mean with its interval over the runs, which
// must have been pruned by the same methods to the same sizes.
// Read next: report/curve_text.cc.
#include "headlab/base/error.h"
#include "headlab/base/version.h"
#include "headlab/prune/curve.h"

namespace headlab {
namespace {

/// The interval of value(curve) over the curves.
template <class Value>
Interval over(std::span<const Curve> curves, const Value& value) {
  std::vector<double> values;
  for (const Curve& curve : curves) values.push_back(value(curve));
  return t_interval(values);
}

void check_alike(const Curve& first, const Curve& other) {
  require(first.methods.size() == other.methods.size(),
          "curves of different methods cannot be averaged");
  for (std::size_t m = 0; m < first.methods.size(); ++m) {
    const MethodCurve &a = first.methods[m], &b = other.methods[m];
    require(a.method == b.method, "curves of different methods cannot be averaged: ", a.method,
            " and ", b.method);
    bool alike = a.points.size() == b.points.size();
    for (std::size_t p = 0; alike && p < a.points.size(); ++p) {
      alike = a.points[p].kept == b.points[p].kept &&
              a.points[p].finetuned.has_value() == b.points[p].finetuned.has_value() &&
              a.points[p].from_scratch.has_value() == b.points[p].from_scratch.has_value();
    }
    require(alike, "curves of different sizes cannot be averaged: runs have ", first.heads, " and ",
            other.heads, " heads");
  }
}

PointOverRuns point_over(std::span<const Curve> curves, std::size_t m, std::size_t p) {
  const CurvePoint& first = curves[0].methods[m].points[p];
  const auto point = [&](const Curve& curve) -> const CurvePoint& {
    return curve.methods[m].points[p];
  };
  PointOverRuns result{.kept = first.kept};
  result.pruned = over(curves, [&](const Curve& c) { return point(c).pruned.loss; });
  if (first.finetuned)
    result.finetuned = over(curves, [&](const Curve& c) { return point(c).finetuned->loss; });
  if (first.from_scratch)
    result.from_scratch = over(curves, [&](const Curve& c) { return point(c).from_scratch->loss; });
  return result;
}

Json method_to_json(const MethodOverRuns& method) {
  Json json = Json::object();
  json["method"] = method.method;
  json["area"] = to_json(method.area);
  json["regret"] = method.regret ? to_json(*method.regret) : Json();
  Json& knees = json["knees"] = Json::array();
  for (const auto& knee : method.knees) knees.push_back(knee ? Json(*knee) : Json());
  Json& points = json["points"] = Json::array();
  for (const PointOverRuns& point : method.points) {
    Json entry = Json::object();
    entry["kept"] = point.kept;
    entry["loss"] = to_json(point.pruned);
    if (point.finetuned) entry["finetuned"] = to_json(*point.finetuned);
    if (point.from_scratch) entry["from_scratch"] = to_json(*point.from_scratch);
    points.push_back(std::move(entry));
  }
  return json;
}

}  // namespace

CurveOverRuns over_runs(std::span<const Curve> curves) {
  require(!curves.empty(), "there is no curve to average");
  for (const Curve& curve : curves) check_alike(curves[0], curve);
  CurveOverRuns all{.runs = std::ssize(curves), .needed = curves[0].needed, .methods = {}};
  for (std::size_t m = 0; m < curves[0].methods.size(); ++m) {
    const MethodCurve& first = curves[0].methods[m];
    MethodOverRuns& method = all.methods.emplace_back();
    method.method = first.method;
    for (std::size_t p = 0; p < first.points.size(); ++p)
      method.points.push_back(point_over(curves, m, p));
    method.area = over(curves, [&](const Curve& c) { return c.methods[m].area; });
    if (first.regret)
      method.regret = over(curves, [&](const Curve& c) { return *c.methods[m].regret; });
    for (const Curve& curve : curves) method.knees.push_back(curve.methods[m].knee);
  }
  return all;
}

Json CurveOverRuns::to_json() const {
  Json json = Json::object();
  json["headlab"] = version();
  json["runs"] = runs;
  json["needed"] = needed > 0 ? Json(needed) : Json();
  Json& list = json["methods"] = Json::array();
  for (const MethodOverRuns& method : methods) list.push_back(method_to_json(method));
  return json;
}

}  // namespace headlab
