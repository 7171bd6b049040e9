// Methods compared over several runs: which differences are told apart from chance, and that only
// real ones are asked. Curves are made by hand. Read next: curve_test.cc.
#include <gtest/gtest.h>

#include <cmath>

#include "headlab/core/base/text.h"
#include "headlab/lab/prune/curve.h"
#include "headlab/lab/results/arms.h"

namespace headlab { namespace {

TEST(CurvesOverRuns, CompareMethodsRunByRun) {
  const auto curve_of = [](double level, double times) {
    Curve curve{};
    for (const auto& [name, loss] : std::vector<std::pair<std::string, double>>{
             {"low", level}, {"high", level * times}, {"other", level * (times > 2 ? .5 : 2.1)}}) {
      curve.methods.push_back({.method = name});
      curve.methods.back().points = {{.kept = 1, .heads = {}, .pruned = {loss, 0}}};
    }
    return curve;
  };
  // Runs differ by factors of 100, methods by 2 to 3: only the pairs show it.
  std::vector<Curve> curves;
  for (int run = 0; run < 8; ++run)
    curves.push_back(curve_of(std::pow(10, run - 4), 1.9 + run % 2));
  const CurveOverRuns all = over_runs(curves);
  EXPECT_FALSE(all.methods[0].points[0].against_best) << "it is the best";
  const Compared& high = *all.methods[1].points[0].against_best;
  EXPECT_NEAR(high.difference.difference.mean, (std::log(1.9) + std::log(2.9)) / 2, 1e-12);
  EXPECT_EQ(high.difference.wins, 0);
  EXPECT_LE(high.test.p, 4 / 256.0);
  std::vector<std::vector<double>> losses(3);
  for (const Curve& curve : curves)
    for (std::size_t m = 0; m < 3; ++m) losses[m].push_back(curve.methods[m].points[0].pruned.loss);
  EXPECT_EQ(high.test.p, p_of_picked(losses, 1, 0)) << "two-sided, the best picked from all";
  EXPECT_GE(high.test.p, compared(log_ratios(losses[1], losses[0])).test.p);
  const double other = p_of_picked(losses, 2, 0);
  EXPECT_EQ(high.test.corrected, holm({high.test.p, other})[0]);
  EXPECT_EQ(all.methods[2].points[0].against_best->test.corrected, holm({high.test.p, other})[1]);
  EXPECT_GE(high.test.corrected, 2 * high.test.p) << "two are asked";
  EXPECT_TRUE(high.test.is_significant());
  EXPECT_FALSE(all.methods[2].points[0].against_best->test.is_significant());
  EXPECT_FALSE(over_runs(std::span(curves).first(5))
                   .methods[1]
                   .points[0]
                   .against_best->test.is_significant())
      << "5 runs reach .0625";
}

/// A method is not told apart from the best because a third one is far worse, and where methods
/// chose the same heads nothing is tested.
TEST(CurvesOverRuns, CompareWithTheBestOnOneSide) {
  std::vector<Curve> curves;
  for (int run = 0; run < 8; ++run) {
    Curve& curve = curves.emplace_back();
    const double level = std::pow(10, run - 4), twin = run % 2 == 0 ? 1.02 : 0.99;
    for (const auto& [name, times] : std::vector<std::pair<std::string, double>>{
             {"best", 1}, {"same", 1}, {"twin", twin}, {"worst", 50 + run}}) {
      MethodCurve& method = curve.methods.emplace_back(MethodCurve{.method = name});
      for (const Index kept : {0, 1})  // all are the same without heads
        method.points.push_back(
            {.kept = kept, .heads = {}, .pruned = {kept == 0 ? level : level * times, 0}});
    }
  }
  const CurveOverRuns all = over_runs(curves);
  const auto against = [&](int m) { return *all.methods[m].points[1].against_best; };
  EXPECT_EQ(against(1).test.p, 1) << "every loss is that of the best";
  EXPECT_FALSE(against(1).test.is_significant() || against(2).test.is_significant());
  EXPECT_TRUE(against(3).test.is_significant());
  EXPECT_DOUBLE_EQ(against(3).test.corrected, 2 * against(3).test.p)
      << "two tests are real: of twin and worst";
}

TEST(CurvesOverRuns, ShowTheTableOfASingleRunOnly) {
  Curve curve{};
  curve.methods = {{.method = "greedy"}};
  curve.methods[0].points = {{.kept = 1, .heads = {}, .pruned = {2, 0}}};
  const auto is_shown = [&](std::size_t runs, const std::string& name) {
    const std::vector<Curve> curves(runs, curve);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < runs; ++i) names.push_back(text("run", i));
    for (const Table& table : curve_tables(curves, names))
      if (table.name == name) return table.shown;
    ADD_FAILURE() << "no table " << name;
    return false;
  };
  EXPECT_TRUE(is_shown(1, "choices"));
  EXPECT_FALSE(is_shown(2, "choices")) << "several runs have their means";
  EXPECT_FALSE(is_shown(1, "losses"));
  EXPECT_FALSE(is_shown(1, "methods"));
  EXPECT_TRUE(is_shown(2, "methods"));
}

}  // namespace
}  // namespace headlab
