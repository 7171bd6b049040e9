// Curves of several runs as one: every number becomes a mean with its interval over the runs, which
// must have been pruned by the same methods to the same sizes.
// Read next: report/prune_text.cc.
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
  require(first.task == other.task, "curves of different tasks cannot be averaged: ", first.task,
          " and ", other.task);
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

/// The difference of two values of each curve.
template <class Value, class Other>
PairedRuns paired_over(std::span<const Curve> curves, const Value& value, const Other& other) {
  std::vector<double> differences;
  for (const Curve& curve : curves) differences.push_back(value(curve) - other(curve));
  return {t_interval(differences), mean(differences) / standard_deviation(differences)};
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
  if (first.finetuned && first.from_scratch) {
    result.against_scratch = paired_over(
        curves, [&](const Curve& c) { return point(c).finetuned->loss; },
        [&](const Curve& c) { return point(c).from_scratch->loss; });
  }
  return result;
}

/// Compares the methods at each size with the one whose mean loss is lowest there.
void compare_with_best(std::span<const Curve> curves, CurveOverRuns& all) {
  for (std::size_t p = 0; !all.methods.empty() && p < all.methods[0].points.size(); ++p) {
    const auto mean_loss = [p](const MethodOverRuns& m) { return m.points[p].pruned.mean; };
    const auto best = std::ranges::min_element(all.methods, {}, mean_loss) - all.methods.begin();
    for (std::size_t m = 0; m < all.methods.size(); ++m) {
      const auto loss_of = [p](std::size_t method) {
        return [=](const Curve& c) { return c.methods[method].points[p].pruned.loss; };
      };
      all.methods[m].points[p].against_best =
          paired_over(curves, loss_of(m), loss_of(static_cast<std::size_t>(best)));
    }
  }
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
    method.steps = first.steps;
    for (std::size_t p = 0; p < first.points.size(); ++p)
      method.points.push_back(point_over(curves, m, p));
    method.area = over(curves, [&](const Curve& c) { return c.methods[m].area; });
    if (first.regret)
      method.regret = over(curves, [&](const Curve& c) { return c.methods[m].regret.value(); });
    for (const Curve& curve : curves) method.knees.push_back(curve.methods[m].knee);
  }
  compare_with_best(curves, all);
  return all;
}

Json to_json(const PairedRuns& paired) {
  return Json::object({{"difference", paired.difference},
                       {"effect_size", paired.effect},
                       {"tie", paired.is_tie()}});
}

Json to_json(const PointOverRuns& point) {
  Json json = Json::object({{"kept", point.kept}, {"loss", point.pruned}});
  if (point.finetuned) json["finetuned"] = *point.finetuned;
  if (point.from_scratch) json["from_scratch"] = *point.from_scratch;
  json["against_best"] = point.against_best;
  if (point.against_scratch) json["against_scratch"] = *point.against_scratch;
  return json;
}

Json to_json(const MethodOverRuns& method) {
  return Json::object({{"method", method.method},
                       {"area", method.area},
                       {"regret", method.regret},
                       {"knees", method.knees},
                       {"steps", method.steps},
                       {"points", method.points}});
}

Json to_json(const CurveOverRuns& curve) {
  return stamped({{"runs", curve.runs},
                  {"needed", curve.needed > 0 ? Json(curve.needed) : Json()},
                  {"methods", curve.methods}});
}

}  // namespace headlab
