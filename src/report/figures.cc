// What the figures say: titles and sentences are made from the results, never typed in. Losses
// stand on logarithmic axes, because pruning and more heads change them by orders of magnitude.
// Read next: chart.h, which lays out matrices and plots; grid.cc, all heads.
#include "headlab/report/figures.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "headlab/base/error.h"
#include "headlab/report/table.h"
#include "report/chart.h"

namespace headlab {
namespace {

// ---- one head -----------------------------------------------------------------------------------

/// Whether at least half of what a query looks at is gold.
bool found(const HeadPattern& pattern, const GoldCells& gold, Index query) {
  const std::size_t keys = pattern.keys.size();
  double on_gold = 0;
  for (std::size_t i = query * keys; i < (query + 1) * keys; ++i)
    if (gold.cells[i] != 0) on_gold += pattern.weights[i];
  return on_gold >= 0.5;
}

void outline_gold(Picture& picture, const MatrixPlaces& places, const HeadPattern& pattern,
                  const GoldCells& gold) {
  const auto keys = std::ssize(pattern.keys);
  for (Index i = 0; i < std::ssize(gold.cells); ++i) {
    if (gold.cells[i] == 0) continue;
    const Box cell = places.cell(i / keys, i % keys);
    const double pad = cell.w > 8 ? 2 : 0;
    const Box inner = {cell.x + pad, cell.y + pad, cell.w - 2 * pad, cell.h - 2 * pad};
    const bool hit = found(pattern, gold, i / keys);
    picture.items.push_back(RectItem{inner, {.stroke = "paper", .thick = pad > 0 ? 4.0 : 2.0}});
    picture.items.push_back(
        RectItem{inner,
                 {.stroke = hit ? "ink" : "bad",
                  .thick = pad > 0 ? 2.0 : 1.0,
                  .dash = hit ? std::vector<double>{} : std::vector<double>{4, 3}}});
  }
}

/// Tokens with their places: "7 c".
std::vector<std::string> numbered(const std::vector<std::string>& tokens) {
  std::vector<std::string> names;
  for (const std::string& token : tokens) names.push_back(text(names.size(), " ", token));
  return names;
}

std::vector<bool> asked(const HeadPattern& pattern, const GoldCells& gold) {
  std::vector<bool> asks(pattern.queries.size());
  for (std::size_t i = 0; i < gold.cells.size(); ++i)
    if (gold.cells[i] != 0) asks[i / pattern.keys.size()] = true;
  return asks;
}

// ---- plots --------------------------------------------------------------------------------------

constexpr const char* kKept = "heads kept";

/// Whole numbers from the smallest x of the series to the largest.
std::vector<double> whole_ticks(const std::vector<Series>& series) {
  double low = INFINITY, high = -INFINITY;
  for (const Series& one : series)
    for (const Sample& sample : one.samples) {
      low = std::min(low, sample.x);
      high = std::max(high, sample.x);
    }
  std::vector<double> ticks;
  const double step = std::max(1.0, std::ceil((high - low) / 16));
  for (double x = low; x <= high; x += step) ticks.push_back(x);
  return ticks;
}

Picture plotted(std::string title, std::string sentence, const Plot& plot) {
  Picture picture{.title = std::move(title), .sentence = std::move(sentence)};
  draw_plot(picture, plot);
  return picture;
}

Plot curve_plot(std::vector<Series> series, Index needed) {
  Plot plot{.x = {.label = kKept, .ticks = whole_ticks(series)},
            .y = {.label = "held-out loss, nats", .logarithmic = true},
            .series = std::move(series)};
  if (needed > 0) plot.across.push_back({double(needed), text("the task needs ", needed)});
  return plot;
}

/// A logarithmic axis has no place for what reaches below zero: an interval ends at `floor`.
Sample with_interval(double x, const Interval& loss, double floor) {
  if (!std::isfinite(loss.half_width)) return {x, loss.mean};
  return {x, loss.mean, std::max(loss.mean - loss.half_width, std::min(floor, loss.mean)),
          loss.mean + loss.half_width};
}

/// Of more methods than this, a picture shows the typical ones, as the page does.
constexpr std::size_t kMostMethods = 7;

bool is_typical(std::string_view method) {
  constexpr std::array<std::string_view, 6> kTypical = {"random",   "magnitude", "importance",
                                                        "ablation", "greedy",    "exhaustive"};
  return std::ranges::find(kTypical, method) != kTypical.end();
}

/// "greedy 0.061, ...": the losses of each method at a number of heads.
std::string losses_at(const Curve& curve, Index kept) {
  std::vector<std::string> losses;
  for (const MethodCurve& method : curve.methods)
    for (const CurvePoint& point : method.points)
      if (point.kept == kept && (curve.methods.size() <= kMostMethods || is_typical(method.method)))
        losses.push_back(text(method.method, " ", significant(point.pruned.loss)));
  return join(losses, ", ");
}

}  // namespace

Picture pattern_figure(const HeadPattern& pattern, std::string_view relation) {
  const GoldCells* gold = pattern.gold_of(relation);
  Picture picture{.title = text("Head ", head_text(pattern.head), " on held-out example ",
                                pattern.example),
                  .sentence = text(pattern.queries.size(), " queries (rows), ", pattern.keys.size(),
                                   " keys (columns).")};
  MatrixChart matrix{.rows = numbered(pattern.queries),
                     .columns = numbered(pattern.keys),
                     .values = pattern.weights,
                     .axes = text("head ", head_text(pattern.head), ": queries down, keys across")};
  if (gold != nullptr && std::isfinite(gold->mass)) {
    matrix.row_on = asked(pattern, *gold);
    matrix.axes += text("; outlined: truth of ", gold->relation, ", mass ", fixed(gold->mass, 3));
    picture.sentence +=
        text(" Mean weight on the truth of ", gold->relation, ": ", fixed(gold->mass, 3), ".");
  }
  const MatrixPlaces places = draw_matrix(picture, matrix);
  if (gold != nullptr) outline_gold(picture, places, pattern, *gold);
  return picture;
}

Picture history_figure(const HeadsHistory& history) {
  Plot plot{.x = {.label = "step", .low = 0}, .y = {.label = "lift", .low = 0, .high = 1}};
  std::vector<std::string> births;
  for (const RelationHistory& relation : history.relations) {
    Series series{.name = text(relation.name, " (", head_text(relation.best), ")"), .radius = 0};
    for (std::size_t i = 0; i < history.steps.size(); ++i)
      if (std::isfinite(relation.lifts[i]))
        series.samples.push_back(
            {double(history.steps[i]), std::clamp(relation.lifts[i], 0.0, 1.0)});
    plot.series.push_back(std::move(series));
    if (relation.born < 0) continue;
    plot.across.push_back({double(relation.born), text(relation.name, " ", relation.born),
                           text("s", (plot.series.size() - 1) % 7)});
    births.push_back(text(relation.name, " at step ", relation.born));
  }
  return plotted("When each role was born",
                 births.empty() ? "No role was born." : text("Born: ", join(births, ", "), "."),
                 plot);
}

Picture curve_figure(const Curve& curve) {
  std::vector<Series> all;
  for (const MethodCurve& method : curve.methods) {
    if (curve.methods.size() > kMostMethods && !is_typical(method.method)) continue;
    Series pruned{.name = method.method}, tuned{.name = "", .hollow = true, .named = false};
    if (method.method == "exhaustive") {  // it lies under or on others: both must be seen
      pruned.hollow = true;
      pruned.thick = 1;
      pruned.radius = 6;
    }
    for (const CurvePoint& point : method.points) {
      pruned.samples.push_back({double(point.kept), point.pruned.loss});
      if (point.finetuned) tuned.samples.push_back({double(point.kept), point.finetuned->loss});
    }
    tuned.like = all.size();
    if (tuned.samples.empty())
      all.push_back(std::move(pruned));
    else
      all.insert(all.end(), {pruned, tuned});
  }
  const Plot plot = curve_plot(std::move(all), curve.needed);
  const Index shown = curve.needed > 0 ? curve.needed : curve.heads / 2;
  return plotted("Loss against heads kept",
                 text("Loss with all ", curve.heads, " heads ", significant(curve.full.loss),
                      "; with ", shown, ": ", losses_at(curve, shown), "."),
                 plot);
}

Picture curve_figure(const CurveOverRuns& curve) {
  std::vector<Series> all;
  for (const MethodOverRuns& method : curve.methods) {
    if (curve.methods.size() > kMostMethods && !is_typical(method.method)) continue;
    Series series{.name = method.method};
    for (const PointOverRuns& point : method.points) {
      const Interval loss = point.finetuned.value_or(point.pruned);
      series.samples.push_back(with_interval(double(point.kept), loss, loss.mean / 2));
    }
    all.push_back(std::move(series));
  }
  return plotted("Loss against heads kept",
                 text("Means over ", curve.runs, " runs with 95% intervals."),
                 curve_plot(std::move(all), curve.needed));
}

Picture sweep_figure(const SweepReport& report) {
  std::vector<Series> all;
  std::vector<std::string> said;
  for (std::size_t g = 0; g < report.groups.size(); ++g) {
    const SweepGroup& group = report.groups[g];
    if (group.config.model.heads.size() != 1) continue;  // its layers differ: no place on the axis
    auto series = std::ranges::find(all, group.family, &Series::name);
    if (series == all.end()) {
      const std::size_t place = all.size();
      all.push_back({.name = group.family});
      all.push_back(
          {.name = "", .line = false, .hollow = true, .radius = 2, .named = false, .like = place});
      series = all.begin() + static_cast<std::ptrdiff_t>(place);
    }
    const auto heads = double(group.config.model.heads[0]);
    series->samples.push_back(with_interval(heads, group.loss, std::ranges::min(group.losses) / 2));
    for (const double loss : group.losses) (series + 1)->samples.push_back({heads, loss});
    said.push_back(text(group.name, " ", interval_text(group.loss)));
  }
  const bool varied = std::ranges::any_of(all, [](const Series& series) {
    return series.line && series.samples.size() > 1 &&
           series.samples.front().x != series.samples.back().x;
  });
  require(varied,
          "a picture of a sweep shows loss against heads, and this one has no finished "
          "cells that differ in heads");
  for (Series& series : all) std::ranges::sort(series.samples, {}, &Sample::x);
  if (all.size() == 2) all[0].named = false;
  Plot plot{.x = {.label = "heads", .ticks = whole_ticks(all)},
            .y = {.label = "held-out loss, nats", .logarithmic = true},
            .series = std::move(all)};
  return plotted("Loss against heads", text("Mean ± 95% interval: ", join(said, "; "), "."), plot);
}

}  // namespace headlab
