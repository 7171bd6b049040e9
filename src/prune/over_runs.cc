// Curves of several runs as one: every number becomes a mean with its interval over the runs, which
// must have been pruned by the same methods to the same sizes.
// Read next: report/curve_text.cc.
#include <algorithm>
#include <tuple>

#include "headlab/base/error.h"
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

/// What two points must have in common: their size, and what was done at it.
std::tuple<Index, bool, bool> kind_of(const CurvePoint& point) {
  return {point.kept, point.finetuned.has_value(), point.from_scratch.has_value()};
}

void check_alike(const Curve& first, const Curve& other) {
  require(first.methods.size() == other.methods.size(),
          "curves of different methods cannot be averaged");
  for (std::size_t m = 0; m < first.methods.size(); ++m) {
    const MethodCurve &a = first.methods[m], &b = other.methods[m];
    require(a.method == b.method, "curves of different methods cannot be averaged: ", a.method,
            " and ", b.method);
    require(std::ranges::equal(a.points, b.points, {}, kind_of, kind_of),
            "curves of different sizes cannot be averaged: runs have ", first.heads, " and ",
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

Json to_json(const PointOverRuns& point) {
  Json json = Json::object({{"kept", point.kept}, {"loss", point.pruned}});
  if (point.finetuned) json["finetuned"] = *point.finetuned;
  if (point.from_scratch) json["from_scratch"] = *point.from_scratch;
  return json;
}

Json to_json(const MethodOverRuns& method) {
  return Json::object({{"method", method.method},
                       {"area", method.area},
                       {"regret", method.regret},
                       {"knees", method.knees},
                       {"points", method.points}});
}

Json to_json(const CurveOverRuns& curve) {
  return stamped({{"runs", curve.runs},
                  {"needed", curve.needed > 0 ? Json(curve.needed) : Json()},
                  {"methods", curve.methods}});
}

}  // namespace headlab
