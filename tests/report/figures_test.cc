// Figures say what is in the results: titles, names, marks for the ground truth and for the
// baseline, what is missing. picture_test.cc tests how items become SVG.
#include "headlab/app/report/figures.h"

#include <algorithm>

#include "headlab/core/tasks/table.h"
#include "report/drawn.h"
#include "support/errors.h"
#include "support/golden_text.h"
#include "support/hand_built.h"
#include "support/tensors.h"

namespace headlab { namespace {

using drawn::all_of;
using drawn::expect_drawn;
using drawn::words_of;

HeadPattern a_pattern() {
  HeadPattern pattern{.head = {0, 2},
                      .weights = {1, 0, 0.75f, 0.25f},
                      .queries = {"a", "b"},
                      .keys = {"a", "b"}};
  pattern.truth = {{"back1", {0, 0, 1, 0}, 0.75}, {"same", {0, 0, 0, 1}, 0.25}};
  return pattern;
}

TEST(PatternFigure, OutlinesTheTruthThatThePatternFitsBest) {
  const Picture picture = pattern_figure(a_pattern());
  EXPECT_EQ(all_of<MapItem>(picture)[0].values, a_pattern().weights);
  const auto rects = all_of<RectItem>(picture);
  const auto outlines =
      std::ranges::count(rects, "ink", [](const auto& r) { return r.look.stroke; });
  EXPECT_EQ(outlines, 1);
  EXPECT_TRUE(drawn::says(picture, "(0 a)\n")) << "no question at the first query";
  expect_drawn(picture, "report/figure_pattern");
}

TEST(PatternFigure, DashesMissedKeys) {
  const auto rects = all_of<RectItem>(pattern_figure(a_pattern(), "same"));
  EXPECT_EQ(rects.back().look.dash.size(), 2u);
  EXPECT_TRUE(all_of<RectItem>(pattern_figure(a_pattern(), "back1")).back().look.dash.empty());
}

TEST(PatternFigure, NeedsNoTruth) {
  HeadPattern pattern = a_pattern();
  pattern.truth.clear();
  const Picture picture = pattern_figure(pattern);
  expect_drawn(picture, "report/figure_pattern_without_truth");
}

TEST(PatternFigure, FitsManyTokensAndLongOnes) {
  const Index n = 300;
  HeadPattern pattern{.head = {0, 0},
                      .weights = std::vector<Scalar>(n * n, 0.5f),
                      .queries = std::vector<std::string>(n, "überaus_langes_wort_ohne_ende"),
                      .keys = std::vector<std::string>(n, "überaus_langes_wort_ohne_ende")};
  const Picture picture = pattern_figure(pattern);
  EXPECT_LE(picture.width, 660);
  EXPECT_LT(all_of<TextItem>(picture).size(), 100u);
  expect_drawn(picture, "report/figure_pattern_of_300_tokens");
}

/// As the page shades them: by the root, up to the largest that a query of many keys gives.
TEST(PatternFigure, ShadesSmallWeightsByTheirRoot) {
  const Index n = 32;
  HeadPattern pattern{.head = {0, 0},
                      .weights = std::vector<Scalar>(n * n, 0),
                      .queries = std::vector<std::string>(n, "a"),
                      .keys = std::vector<std::string>(n, "a")};
  pattern.weights[0] = 1;
  pattern.weights[n * n - 1] = 0.25f;
  pattern.weights[n * n - 2] = 0.01f;
  const Picture picture = pattern_figure(pattern);
  const std::vector<Scalar> shades = all_of<MapItem>(picture)[0].values;
  EXPECT_FLOAT_EQ(shades[n * n - 1], 1);
  EXPECT_FLOAT_EQ(shades[n * n - 2], 0.2f);
  EXPECT_TRUE(drawn::says(picture, "0.25, by the root")) << words_of(picture);
  EXPECT_TRUE(drawn::says(picture, "square root of attention")) << words_of(picture);
}

/// Two heads of which one looks one back; the third was removed.
struct Pruned {
  std::unique_ptr<Task> task = make_task("relations:length=8,vocab=6,classes=3,relations=1+same");
  Transformer model = hand_built(task->shape(), 3, {1, kUniform});
  HeadsReport report =
      score_heads(model, *task, {.examples = 64, .without_truth = false, .patterns_only = true});
  std::vector<HeadPattern> patterns = patterns_of(model, *task);
  TransformerConfig config = model.config();

  Pruned() { config.heads = {3}; }
};

TEST(GridFigure, MarksOwnersAndRemovedHeads) {
  const Pruned pruned;
  const Picture picture = grid_figure(pruned.config, pruned.patterns, pruned.report);
  EXPECT_TRUE(drawn::says(picture, "0.0 ★ back1\n") && drawn::says(picture, "0.2 removed\n"));
  expect_drawn(picture, "report/figure_grid");
}

TEST(GridFigure, NamesNoOwnerWhereThereIsNone) {
  const auto task = make_task("memoryless");
  const Transformer model = hand_built(task->shape(), 1, {kUniform, kUniform});
  const HeadsReport report =
      score_heads(model, *task, {.examples = 64, .without_truth = false, .patterns_only = true});
  const auto patterns = patterns_of(model, *task);
  EXPECT_FALSE(drawn::says(grid_figure(model.config(), patterns, report), "0.0 ★"));
  const std::string shown = grid_text(model.config(), patterns, report);
  EXPECT_EQ(shown.find("*"), shown.rfind("* owns")) << shown;
}

TEST(GridText, ShowsTheSame) {
  const Pruned pruned;
  const std::string shown = grid_text(pruned.config, pruned.patterns, pruned.report);
  EXPECT_NE(shown.find("\n0.0 back1* 1.00     0.1                 0.2 removed\nb ██ "),
            std::string::npos)
      << shown;
}

TEST(HistoryFigure, EmergenceLabelsDoNotOverlap) {
  HeadsHistory history;
  history.steps = {50, 60, 1000};
  history.relations = {{"same", {0, 3}, {0.1, 0.9, 1}, 50},
                       {"back1", {0, 1}, {-0.2, 0.8, 1}, 60},
                       {"other", {0, 1}, {0.1, 0.1, 0.1}, -1}};
  const Picture picture = history_figure(history);
  const auto texts = all_of<TextItem>(picture);
  const auto named = [&](const char* words) {
    return std::ranges::find(texts, words, &TextItem::text)->at.y;
  };
  EXPECT_NE(named("same 50"), named("back1 60"));
  expect_drawn(picture, "report/figure_history");
}

TEST(HistoryFigure, TellsRelationsWithoutAHeadFromThoseNotScored) {
  HeadsHistory history;
  history.steps = {50, 60};
  history.relations = {{"same", {0, 3}, {0.1, 0.2}, -1}};
  EXPECT_TRUE(history_figure(history).sentence.starts_with("No role emerges: no head has a lift"));
  history.relations[0].lifts = {NAN, NAN};
  EXPECT_EQ(history_figure(history).sentence, "No relation could be scored.");
}

TEST(DivisionsFigure, MirrorsTheMassOfTwoHeads) {
  HeadsReport report{.heads = {{{0, 0}}, {{0, 1}}}, .relations = {{.relation = {"larger", ""}}}};
  EXPECT_THROW(divisions_figure(report), Error);
  report.divisions = {{.heads = {0, 1},
                       .spread = 0.4,
                       .kinds = {{"token of the key", 0.81, 0.005}},
                       .classes = {{"a", 30, {1, 0.5}}, {"b", 10, {0, 1}}}}};
  const Picture picture = divisions_figure(report);
  const auto bars = all_of<RectItem>(picture);
  ASSERT_EQ(bars.size(), 4u);
  EXPECT_EQ(bars[0].box.x, 0);  // to the left, all of it
  EXPECT_EQ(bars[2].box.x, bars[0].box.w);
  EXPECT_EQ(bars[0].box.w, 2 * bars[1].box.w);
  expect_drawn(picture, "report/figure_divisions");
}

TEST(HistoryFigure, ShowsLiftsBelowZeroWhereTheyAre) {
  HeadsHistory history;
  history.steps = {0, 50, 1000};  // 0 has no place on a log scale
  history.relations = {{"same", {0, 3}, {5, -0.7, 0.9}, -1}};
  const auto lines = all_of<LineItem>(history_figure(history));
  const auto zero = std::ranges::find(lines, "edge", [](const auto& l) { return l.look.stroke; });
  const auto same = std::ranges::find(lines, "s0", [](const auto& l) { return l.look.stroke; });
  ASSERT_TRUE(zero != lines.end() && same != lines.end());
  const double at_zero = zero->points[0].y;
  const auto curve = std::ranges::find_if(lines, [](const auto& l) {
    return l.look.stroke == "s0" && l.points[0].y != l.points[1].y;
  });
  EXPECT_NEAR((curve->points[0].y - at_zero) / (at_zero - curve->points[1].y), .7 / .9, 1e-9);
}

Curve a_curve() {
  Curve curve;
  curve.heads = 2;
  curve.needed = 1;
  curve.full.loss = 0.001;
  curve.none.loss = 4;
  for (const char* name : {"greedy", "random"}) {
    MethodCurve method{.method = name};
    for (const double loss : {4.0, 0.1, 0.001}) {
      CurvePoint point;
      point.kept = std::ssize(method.points);
      point.pruned.loss = loss;
      method.points.push_back(point);
    }
    curve.methods.push_back(method);
  }
  return curve;
}

Picture figure_of(const Curve& curve, double width = 0) {
  return curve_figure(over_runs(std::span(&curve, 1)), width);
}

TEST(CurveFigure, HasALineForEachMethodAndMarksWhatTheTaskNeeds) {
  const Picture picture = figure_of(a_curve());
  EXPECT_TRUE(drawn::says(picture, "the task needs 1"));
  EXPECT_TRUE(drawn::says(picture, "With 1 head: greedy 0.1, random 0.1")) << picture.sentence;
  expect_drawn(picture, "report/figure_curve");
}

TEST(CurveFigure, HasAPanelOfFineTunedLossesAndThoseFromScratch) {
  Curve curve = a_curve();
  const std::size_t dots = all_of<DotItem>(figure_of(curve)).size();
  for (MethodCurve& method : curve.methods) {
    method.points[1].finetuned = Judged{.loss = 0.01};
    method.points[1].from_scratch = Judged{.loss = 0.02};
  }
  for (const auto& [width, golden] : {std::pair(0.0, "report/figure_curve_of_three_losses"),
                                      {374.0, "report/figure_curve_of_three_losses_narrow"},
                                      {775.0, "report/figure_curve_of_three_losses_wide"}}) {
    const Picture picture = figure_of(curve, width);
    EXPECT_EQ(all_of<DotItem>(picture).size(), dots + 4 + 3) << "two of each, three in the legend";
    expect_drawn(picture, golden);
  }
}

TEST(CurveFigure, ShowsIntervalsOverRuns) {
  std::vector<Curve> curves = {a_curve(), a_curve()};
  curves[1].methods[0].points[1].pruned.loss = 0.2;
  curves[0].methods[1].method = curves[1].methods[1].method = "exhaustive";
  const Picture picture = curve_figure(over_runs(curves));
  expect_drawn(picture, "report/figure_curve_over_runs");
}

/// Both losses, held out and of training, and whole numbers in full.
TEST(LossesFigure, SingleRunAlsoShowsTheTrainingLoss) {
  const std::vector<Json> log = {
      Json::parse(R"({"step":5000,"loss":0.5,"train_loss":null})"),
      Json::parse(R"({"step":10000,"loss":0.25,"train_loss":0.125})"),
  };
  const Picture picture = losses_figure({losses_of("one", log)});
  EXPECT_TRUE(drawn::says(picture, "At the end: held out 0.25, training 0.125; that of training"));
  const Json& training = picture.data.at("plots").items()[0].at("series").items()[1];
  EXPECT_EQ(training.at("points").dump(), "[[10000,0.125]]");
  expect_drawn(picture, "report/figure_losses");
}

TEST(LossesFigure, HasALineForEachRun) {
  const Picture picture =
      losses_figure({{"one", {10, 20}, {1, 0.5}}, {"two", {10, 20}, {2, 0.25}}});
  EXPECT_TRUE(drawn::says(picture, "one\n") &&
              drawn::says(picture, "At the end: one 0.5, two 0.25."));
  expect_drawn(picture, "report/figure_losses_of_two_runs");
  expect_error([] { losses_figure({{"one", {}, {}}}); }, {"one has no evaluation"});
}

SweepReport a_sweep() {
  SweepReport report;
  for (const Index heads : {1, 2}) {
    SweepGroup group;
    group.name = "heads";
    group.family = "all";
    group.losses = {0.1, 0.2};
    group.loss = {0.15, -0.05, 0.35};
    group.config.model.heads = {heads};
    report.groups.push_back(group);
  }
  return report;
}

TEST(SweepFigure, ShowsEverySeed) {
  const Picture picture = sweep_figure(a_sweep());
  EXPECT_EQ(all_of<DotItem>(picture).size(), 7u) << "two means, four seeds, one in the legend";
  expect_drawn(picture, "report/figure_sweep");
}

TEST(SweepFigure, LeavesOutModelsWhoseLayersDiffer) {
  SweepReport report = a_sweep();
  report.groups.push_back(report.groups[0]);
  report.groups.back().config.model.heads = {2, 1};
  EXPECT_EQ(all_of<DotItem>(sweep_figure(report)).size(), 7u);
}

TEST(SweepFigure, NeedsCellsThatDifferInHeads) {
  SweepReport report = a_sweep();
  report.groups.pop_back();
  expect_error([&] { sweep_figure(report); }, {"differ in heads"});
  expect_error([] { sweep_figure({}); }, {"differ in heads"});
}

}  // namespace
}  // namespace headlab
