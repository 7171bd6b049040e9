// Figures say what is in the results: titles, names, marks for gold and for chance, what is
// missing. How items become SVG or PNG is tested in picture_test.cc.
#include "headlab/report/figures.h"

#include <algorithm>

#include "headlab/tasks/table.h"
#include "support/hand_built.h"
#include "support/tensors.h"

namespace headlab { namespace {

template <class Kind>
std::vector<Kind> all_of(const Picture& picture) {
  std::vector<Kind> found;
  for (const Item& item : picture.items)
    if (const Kind* one = std::get_if<Kind>(&item)) found.push_back(*one);
  return found;
}

std::string words_of(const Picture& picture) {
  std::string words;
  for (const TextItem& item : all_of<TextItem>(picture)) words += item.text + "\n";
  return words;
}

bool says(const Picture& picture, const std::string& words) {
  return words_of(picture).find(words) != std::string::npos ||
         picture.sentence.find(words) != std::string::npos;
}

/// Everything lies inside the picture.
void expect_inside(const Picture& picture) {
  const auto inside = [&](const Point& p) {
    EXPECT_GE(p.x, -1e-9);
    EXPECT_LE(p.x, picture.width + 1e-9);
    EXPECT_GE(p.y, -1e-9);
    EXPECT_LE(p.y, picture.height + 1e-9);
  };
  for (const TextItem& item : all_of<TextItem>(picture)) inside(item.at);
  for (const LineItem& item : all_of<LineItem>(picture))
    for (const Point& point : item.points) inside(point);
  for (const DotItem& item : all_of<DotItem>(picture)) inside(item.at);
  for (const MapItem& item : all_of<MapItem>(picture)) {
    inside({item.box.x, item.box.y});
    inside({item.box.x + item.box.w, item.box.y + item.box.h});
  }
}

HeadPattern a_pattern() {
  HeadPattern pattern{.head = {0, 2},
                      .weights = {1, 0, 0.75f, 0.25f},
                      .queries = {"a", "b"},
                      .keys = {"a", "b"}};
  pattern.gold = {{"back1", {0, 0, 1, 0}, 0.75}, {"same", {0, 0, 0, 1}, 0.25}};
  return pattern;
}

TEST(PatternFigure, OutlinesTheTruthThatThePatternFitsBest) {
  const Picture picture = pattern_figure(a_pattern());
  EXPECT_TRUE(says(picture, "outlined: truth of back1, mass 0.750")) << words_of(picture);
  EXPECT_EQ(all_of<MapItem>(picture)[0].values, a_pattern().weights);
  const auto rects = all_of<RectItem>(picture);
  const auto outlines =
      std::ranges::count(rects, "ink", [](const auto& r) { return r.look.stroke; });
  EXPECT_EQ(outlines, 1);
  EXPECT_TRUE(says(picture, "(0 a)\n")) << "no question at the first query";
  expect_inside(picture);
}

TEST(PatternFigure, DashesWhatIsMissed) {
  const auto rects = all_of<RectItem>(pattern_figure(a_pattern(), "same"));
  EXPECT_EQ(rects.back().look.dash.size(), 2u);
  EXPECT_TRUE(all_of<RectItem>(pattern_figure(a_pattern(), "back1")).back().look.dash.empty());
}

TEST(PatternFigure, NeedsNoTruth) {
  HeadPattern pattern = a_pattern();
  pattern.gold.clear();
  const Picture picture = pattern_figure(pattern);
  EXPECT_FALSE(says(picture, "outlined"));
  expect_inside(picture);
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
  expect_inside(picture);
}

/// Two heads of which one looks one back; the third was removed.
struct Pruned {
  std::unique_ptr<Task> task = make_task("relations:length=8,vocab=6,classes=3,relations=1+same");
  Transformer model = hand_built(task->shape(), 3, {1, kUniform});
  HeadsReport report = score_heads(model, *task, {.examples = 64, .without_gold = false});
  std::vector<HeadPattern> patterns = patterns_of(model, *task);
  TransformerConfig config = model.config();

  Pruned() { config.heads = {3}; }
};

TEST(GridFigure, ShowsWhoOwnsWhatAndWhatWasRemoved) {
  const Pruned pruned;
  const Picture picture = grid_figure(pruned.config, pruned.patterns, pruned.report);
  EXPECT_TRUE(says(picture, "0.0 ★ back1\n")) << words_of(picture);
  EXPECT_TRUE(says(picture, "own a relation: 0.0 back1")) << picture.sentence;
  EXPECT_FALSE(says(picture, "0.1 ★")) << words_of(picture);
  EXPECT_TRUE(says(picture, "0.2 removed\n")) << words_of(picture);
  EXPECT_EQ(all_of<MapItem>(picture).size(), 3u) << "two heads and the scale";
  expect_inside(picture);
}

TEST(GridFigure, NamesNoOwnerWhereThereIsNone) {
  const auto task = make_task("memoryless");
  const Transformer model = hand_built(task->shape(), 1, {kUniform, kUniform});
  const HeadsReport report = score_heads(model, *task, {.examples = 64, .without_gold = false});
  const auto patterns = patterns_of(model, *task);
  EXPECT_FALSE(says(grid_figure(model.config(), patterns, report), "0.0 ★"));
  const std::string shown = grid_text(model.config(), patterns, report, Shades::characters);
  EXPECT_EQ(shown.find("*"), shown.rfind("* owns")) << shown;
}

TEST(GridText, ShowsTheSame) {
  const Pruned pruned;
  const std::string shown =
      grid_text(pruned.config, pruned.patterns, pruned.report, Shades::characters);
  EXPECT_NE(shown.find("\n0.0 back1* 1.00  0.1              0.2 removed\n"), std::string::npos)
      << shown;
}

TEST(HistoryFigure, NamesBirthsInRowsThatDoNotMeet) {
  HeadsHistory history;
  history.steps = {50, 60, 1000};
  history.relations = {{"same", {0, 3}, {0.1, 0.9, 1}, 50},
                       {"back1", {0, 1}, {-0.2, 0.8, 1}, 60},
                       {"other", {0, 1}, {0.1, 0.1, 0.1}, -1}};
  const Picture picture = history_figure(history);
  EXPECT_EQ(picture.sentence, "Born: same at step 50, back1 at step 60.");
  EXPECT_FALSE(says(picture, "other -1"));
  const auto texts = all_of<TextItem>(picture);
  const auto named = [&](const char* words) {
    return std::ranges::find(texts, words, &TextItem::text)->at.y;
  };
  EXPECT_NE(named("same 50"), named("back1 60"));
  EXPECT_FALSE(says(picture, "-0\n"));
  expect_inside(picture);
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

TEST(CurveFigure, HasALineForEachMethodAndMarksWhatTheTaskNeeds) {
  const Picture picture = curve_figure(a_curve());
  EXPECT_TRUE(says(picture, "greedy\n") && says(picture, "random\n"));
  EXPECT_TRUE(says(picture, "the task needs 1"));
  EXPECT_TRUE(says(picture, "with 1: greedy 0.1, random 0.1")) << picture.sentence;
  expect_inside(picture);
}

TEST(CurveFigure, HoldsFineTunedLossesToo) {
  Curve curve = a_curve();
  const std::size_t dots = all_of<DotItem>(curve_figure(curve)).size();
  for (MethodCurve& method : curve.methods) method.points[1].finetuned = Judged{.loss = 0.01};
  EXPECT_EQ(all_of<DotItem>(curve_figure(curve)).size(), dots + 2);
}

TEST(CurveFigure, ShowsIntervalsOverRuns) {
  const std::vector<Curve> curves = {a_curve(), a_curve()};
  const Picture picture = curve_figure(over_runs(curves));
  EXPECT_TRUE(says(picture, "over 2 runs"));
  expect_inside(picture);
}

SweepReport a_sweep() {
  SweepReport report;
  for (const Index heads : {1, 2}) {
    SweepGroup group;
    group.name = "heads";
    group.family = "all";
    group.losses = {0.1, 0.2};
    group.loss = {0.15, 0.2};
    group.config.model.heads = {heads};
    report.groups.push_back(group);
  }
  return report;
}

TEST(SweepFigure, ShowsEverySeed) {
  const Picture picture = sweep_figure(a_sweep());
  EXPECT_EQ(all_of<DotItem>(picture).size(), 6u) << "two means and four seeds";
  EXPECT_TRUE(says(picture, "0.15 ± 0.2")) << picture.sentence;
  expect_inside(picture);
}

TEST(SweepFigure, LeavesOutModelsWhoseLayersDiffer) {
  SweepReport report = a_sweep();
  report.groups.push_back(report.groups[0]);
  report.groups.back().config.model.heads = {2, 1};
  EXPECT_EQ(all_of<DotItem>(sweep_figure(report)).size(), 6u);
}

TEST(SweepFigure, NeedsCellsThatDifferInHeads) {
  SweepReport report = a_sweep();
  report.groups.pop_back();
  expect_error([&] { sweep_figure(report); }, {"differ in heads"});
  expect_error([] { sweep_figure({}); }, {"differ in heads"});
}

}  // namespace
}  // namespace headlab
