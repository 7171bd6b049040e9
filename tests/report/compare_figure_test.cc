// The figure of a comparison: a place for each arm, a line for each seed, and means with intervals.
#include "headlab/app/report/figures.h"
#include "headlab/core/base/error.h"
#include "support/errors.h"
#include "support/golden_text.h"

namespace headlab { namespace {

Arm arm(const std::string& name, const std::vector<double>& values, const std::string& role = "") {
  Arm made{.name = name, .seeds = {}, .values = values, .role = role};
  for (std::size_t i = 0; i < values.size(); ++i) {
    made.seeds.push_back(static_cast<std::int64_t>(i));
  }
  return made;
}

TEST(CompareFigure, JoinsTheValuesOfASeed) {
  const std::vector<Arm> arms = {arm("sweep/heads=1", {1, 2, 4}),
                                 arm("sweep/heads=4", {0.1, 0.2, 0.4})};
  const Picture picture = compare_figure(arms, {.measure = "loss"});
  EXPECT_EQ(picture.title, "Comparison of loss");
  EXPECT_NE(picture.sentence.find("heads=1 2 ("), std::string::npos) << picture.sentence;
  EXPECT_NE(picture.sentence.find("heads=4 0.2 ("), std::string::npos) << "geometric means";
  const Json& plot = picture.data.at("plots").items()[0];
  EXPECT_EQ(plot.at("y").at("log"), Json(true));
  Index lines = 0;
  for (const Json& series : plot.at("series").items()) {
    const bool is_seed = series.at("line").boolean();
    lines += is_seed && series.at("points").items().size() == 2 ? 1 : 0;
  }
  EXPECT_EQ(lines, 3) << "one for each seed";
  expect_golden("report/compare_figure.svg", svg(picture, "headlab compare"));
}

TEST(CompareFigure, ZerosAreDrawnOnALinearAxis) {
  const std::vector<Arm> arms = {arm("a", {0, 1}), arm("b", {1, 2})};
  const Picture picture = compare_figure(arms, {.measure = "loss"});
  EXPECT_EQ(picture.data.at("plots").items()[0].at("y").at("log"), Json(false));
}

TEST(CompareFigure, RolesHaveSeriesOfTheirOwn) {
  const std::vector<Arm> arms = {arm("a", {10, 20}, "back1"), arm("a", {30, 40}, "same"),
                                 arm("b", {15, 25}, "back1"), arm("b", {35, 45}, "same")};
  const Json data = compare_figure(arms, {.measure = "emergence_step"}).data;
  const auto& series = data.at("plots").items()[0].at("series").items();
  EXPECT_EQ(series[0].at("name"), Json("back1"));
  EXPECT_EQ(series[1].at("name"), Json("same"));
}

TEST(CompareFigure, NeedsAValue) {
  const std::vector<Arm> arms = {arm("a", {}), arm("b", {})};
  expect_error([&] { compare_figure(arms, {}); },
               {"cannot draw the comparison: no arm has a value"});
}

}}  // namespace headlab
