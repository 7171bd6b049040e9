// Curves of several runs as one: losses become geometric means with intervals on logarithms,
// because they differ by factors, and methods are compared run by run. The runs must have been
// pruned by the same methods to the same sizes. Read next: curve_report.cc.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/prune/curve.h"
#include "headlab/lab/results/stored_json.h"

namespace headlab {
namespace {

/// Returns the properties that two points must share: their size, and the trainings done at it.
std::tuple<Index, bool, bool> kind_of(const CurvePoint& point) {
  return {point.kept, point.finetuned.has_value(), point.from_scratch.has_value()};
}

void check_alike(const Curve& first, const Curve& other) {
  require(first.task == other.task, "cannot average curves of different tasks: ", first.task,
          " and ", other.task);
  require(first.methods.size() == other.methods.size(),
          "cannot average curves of different methods");
  for (std::size_t m = 0; m < first.methods.size(); ++m) {
    const MethodCurve &a = first.methods[m], &b = other.methods[m];
    require(a.method == b.method, "cannot average curves of different methods: ", a.method, " and ",
            b.method);
    require(std::ranges::equal(a.points, b.points, {}, kind_of, kind_of),
            "cannot average curves of different sizes: runs have ", first.heads, " and ",
            other.heads, " heads");
  }
}

PointOverRuns point_over(std::span<const Curve> curves, std::size_t m, std::size_t p) {
  const CurvePoint& first = curves[0].methods[m].points[p];
  const auto losses = [&](const auto& judged) {
    return mapped(curves, [&](const Curve& c) { return judged(c.methods[m].points[p])->loss; });
  };
  const auto tuned = [](const CurvePoint& point) { return point.finetuned; };
  const auto scratch = [](const CurvePoint& point) { return point.from_scratch; };
  PointOverRuns result{.kept = first.kept};
  result.pruned = geometric_interval(losses([](const CurvePoint& point) { return &point.pruned; }));
  if (first.finetuned) result.finetuned = geometric_interval(losses(tuned));
  if (first.from_scratch) result.from_scratch = geometric_interval(losses(scratch));
  const auto all_have_unpruned = [&](const Curve& c) {
    return c.methods[m].points[p].unpruned.has_value();  // missing in older curves
  };
  const bool unpruned = std::ranges::all_of(curves, all_have_unpruned);
  const auto whole = [](const CurvePoint& point) { return point.unpruned; };
  if (unpruned) result.unpruned = geometric_interval(losses(whole));
  if (first.finetuned && first.from_scratch) {
    result.against_scratch = compared(log_ratios(losses(tuned), losses(scratch)));
  }
  if (first.finetuned && unpruned) {
    result.against_unpruned = compared(log_ratios(losses(tuned), losses(whole)));
  }
  return result;
}

/// Compares the methods at each size with the one whose mean loss is lowest there.
void compare_with_best(std::span<const Curve> curves, CurveOverRuns& all) {
  for (std::size_t p = 0; !all.methods.empty() && p < all.methods[0].points.size(); ++p) {
    const auto mean_loss = [p](const MethodOverRuns& m) { return m.points[p].pruned.mean; };
    const auto best = std::ranges::min_element(all.methods, {}, mean_loss) - all.methods.begin();
    std::vector<SeedValues> losses;
    for (std::size_t m = 0; m < all.methods.size(); ++m) {
      losses.push_back({all.methods[m].method, {}, mapped(curves, [&](const Curve& c) {
                          return c.methods[m].points[p].pruned.loss;
                        })});
    }
    for (const Compared& one : against_picked(losses, static_cast<std::size_t>(best))) {
      all.methods[one.arm].points[p].against_best = one;
    }
  }
}

/// Corrects p over all methods and sizes at which losses differ in some run: if methods chose the
/// same heads, nothing is tested.
template <class Pair>
void correct_all(CurveOverRuns& all, const Pair& pair) {
  std::vector<Test*> tests;
  for (MethodOverRuns& method : all.methods) {
    for (PointOverRuns& point : method.points) {
      std::optional<Compared>& one = point.*pair;
      if (one && !one->difference.is_same()) tests.push_back(&one->test);
    }
  }
  correct(tests);
}

}  // namespace

CurveOverRuns over_runs(std::span<const Curve> curves) {
  require(!curves.empty(), "cannot average curves: there is none");
  for (const Curve& curve : curves) check_alike(curves[0], curve);
  CurveOverRuns all{.runs = std::ssize(curves), .needed = curves[0].needed, .methods = {}};
  const auto is_at_guessing = [](const Curve& one) { return one.at_guessing.value_or(false); };
  if (std::ranges::any_of(curves, is_at_guessing)) all.needed.reset();
  for (std::size_t m = 0; m < curves[0].methods.size(); ++m) {
    const MethodCurve& first = curves[0].methods[m];
    MethodOverRuns& method = all.methods.emplace_back();
    method.method = first.method;
    method.runs = std::ssize(curves);
    method.steps = first.steps;
    for (std::size_t p = 0; p < first.points.size(); ++p) {
      method.points.push_back(point_over(curves, m, p));
    }
    method.area =
        geometric_interval(mapped(curves, [&](const auto& c) { return c.methods[m].area; }));
    const auto regret_of = [&](const Curve& c) { return c.methods[m].regret; };
    if (std::ranges::all_of(curves, [&](const Curve& c) { return regret_of(c).has_value(); })) {
      const auto regrets = mapped(curves, [&](const Curve& c) { return *regret_of(c); });
      method.regret = sign_flip_interval(regrets);
    }
    method.schedule = first.schedule;
    for (const Curve& curve : curves) {
      method.used.push_back(curve.methods[m].used);
      method.needed.push_back(curve.methods[m].needed);
    }
  }
  compare_with_best(curves, all);
  correct_all(all, &PointOverRuns::against_best);
  correct_all(all, &PointOverRuns::against_scratch);
  correct_all(all, &PointOverRuns::against_unpruned);
  return all;
}

Json to_json(const PointOverRuns& point) {
  Json json = Json::object({{"kept", point.kept},
                            {"loss", point.pruned},
                            {"finetuned", point.finetuned},
                            {"from_scratch", point.from_scratch},
                            {"unpruned", point.unpruned},
                            {"against_best", point.against_best},
                            {"against_scratch", point.against_scratch},
                            {"against_unpruned", point.against_unpruned}});
  std::erase_if(json.members(), [](const Json::Member& one) { return one.second.is_null(); });
  return json;
}

Json to_json(const MethodOverRuns& method) {
  return Json::object({{"method", method.method},
                       {"runs", method.runs},
                       {"area", method.area},
                       {"regret", method.regret},
                       {"used", method.used},
                       {"needed", method.needed},
                       {"steps", method.steps},
                       {"schedule", method.schedule},
                       {"points", method.points}});
}

Json to_json(const CurveOverRuns& curve) {
  return stamped({{"runs", curve.runs}, {"needed", curve.needed}, {"methods", curve.methods}});
}

}  // namespace headlab
