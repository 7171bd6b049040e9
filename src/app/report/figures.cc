// Figures of results. Titles and sentences are generated from the results. Losses are drawn on
// logarithmic axes, because pruning and more heads change them by orders of magnitude. Read next:
// chart.h, which lays out matrices and plots; grid.cc, all heads.
#include "headlab/app/report/figures.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "app/report/chart.h"
#include "app/report/task_words.h"
#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"

namespace headlab {
namespace {

// ---- one head -----------------------------------------------------------------------------------

void outline_truth(Picture& picture, const MatrixPlaces& places, const HeadPattern& pattern,
                   const TruthCells& truth) {
  const auto keys = std::ssize(pattern.keys);
  for (Index i = 0; i < std::ssize(truth.cells); ++i) {
    if (truth.cells[i] == 0) continue;
    const Box cell = places.cell(i / keys, i % keys);
    const double pad = cell.w > 8 ? 2 : 0;
    const Box inner = {cell.x + pad, cell.y + pad, cell.w - 2 * pad, cell.h - 2 * pad};
    const bool hit = is_found(std::span(pattern.weights).subspan(i / keys * keys, keys),
                              std::span(truth.cells).subspan(i / keys * keys, keys));
    picture.items.push_back(RectItem{inner, {.stroke = "paper", .thick = pad > 0 ? 4.0 : 2.0}});
    picture.items.push_back(
        RectItem{inner,
                 {.stroke = hit ? "ink" : "bad",
                  .thick = pad > 0 ? 2.0 : 1.0,
                  .dash = hit ? std::vector<double>{} : std::vector<double>{4, 3}}});
  }
}

/// Returns tokens with their positions: "7 c".
std::vector<std::string> numbered(const std::vector<std::string>& tokens) {
  std::vector<std::string> names;
  for (const std::string& token : tokens) names.push_back(text(names.size(), " ", token));
  return names;
}

std::vector<bool> asked(const HeadPattern& pattern, const TruthCells& truth) {
  std::vector<bool> asks(pattern.queries.size());
  for (std::size_t i = 0; i < truth.cells.size(); ++i) {
    if (truth.cells[i] != 0) asks[i / pattern.keys.size()] = true;
  }
  return asks;
}

// ---- plots --------------------------------------------------------------------------------------

constexpr const char *kKept = "heads kept", *kLoss = "held-out loss, nats";

/// Returns the whole numbers from the smallest x of the series to the largest.
std::vector<double> whole_ticks(const std::vector<Series>& series) {
  double low = INFINITY;
  double high = -INFINITY;
  for (const Series& one : series) {
    for (const Sample& sample : one.samples) {
      low = std::min(low, sample.x);
      high = std::max(high, sample.x);
    }
  }
  std::vector<double> ticks;
  const double step = std::max(1.0, std::ceil((high - low) / 16));
  for (double x = low; x <= high; x += step) ticks.push_back(x);
  return ticks;
}

Plot curve_plot(std::vector<Series> series, std::optional<Index> needed, const std::string& loss) {
  Plot plot{.x = {.label = kKept, .ticks = whole_ticks(series)},
            .y = {.label = loss, .logarithmic = true},
            .series = std::move(series)};
  if (needed) plot.across.push_back({double(*needed), text("the task needs ", *needed)});
  return plot;
}

/// Lines of means with intervals, and a small dot for each seed.
struct SeedSeries {
  std::vector<Series> lines{}, seeds{};

  void add(const std::string& name, double x, const Interval& loss,
           const std::vector<double>& losses) {
    const auto line = std::ranges::find(lines, name, &Series::name) - lines.begin();
    if (line == std::ssize(lines)) {
      const auto place = static_cast<std::size_t>(line);
      lines.push_back({.name = name});
      seeds.push_back({.name = "", .line = false, .hollow = true, .radius = 2, .like = place});
    }
    lines[line].samples.push_back(with_interval(x, loss));
    for (const double one : losses) seeds[line].samples.push_back({x, one});
  }
  /// Returns both, with the meaning of the marks; a single line needs no name.
  std::vector<Series> all() {
    for (Series& line : lines) std::ranges::sort(line.samples, {}, &Sample::x);
    if (lines.size() == 1) lines[0].name = "";
    seeds.back().name = "one seed";
    std::vector<Series> both = lines;
    both.insert(both.end(), seeds.begin(), seeds.end());
    explain_bars(both);
    return both;
  }
};

/// Maximum number of methods in a picture; if there are more, it shows the typical ones, as the
/// page does.
constexpr std::size_t kMostMethods = 7;

/// Returns whether `method`, optionally prefixed by the name of a group of runs, is typical.
bool is_typical(const std::string& method) {
  return std::ranges::count(kTypicalMethods, method.substr(method.rfind(' ') + 1)) > 0;
}

/// Returns the losses of each method with this number of heads: "greedy 0.061, ...".
std::string losses_at(const CurveOverRuns& curve, Index kept) {
  std::vector<std::string> losses;
  for (const MethodOverRuns& method : curve.methods) {
    for (const PointOverRuns& point : method.points) {
      if (point.kept == kept &&
          (curve.methods.size() <= kMostMethods || is_typical(method.method))) {
        losses.push_back(text(method.method, " ", significant(point.pruned.mean)));
      }
    }
  }
  return join(losses, ", ");
}

/// Returns a series for each method with the values that `loss` takes from its points, if they have
/// them.
template <class Loss>
std::vector<Series> method_series(const CurveOverRuns& curve, const Loss& loss) {
  std::vector<Series> all;
  for (const MethodOverRuns& method : curve.methods) {
    if (curve.methods.size() > kMostMethods && !is_typical(method.method)) continue;
    Series& series = all.emplace_back(Series{.name = method.method});
    if (method.method == "exhaustive") {  // it lies under or on others: both must be seen
      series.hollow = true;
      series.thick = 1;
      series.radius = 6;
    }
    for (const PointOverRuns& point : method.points) {
      if (const std::optional<Interval> found = loss(point)) {
        series.samples.push_back(with_interval(double(point.kept), *found));
      }
    }
  }
  return all;
}

/// Returns the losses after fine-tuning, and of the same size from scratch: dots without a line.
std::vector<Series> finetuned_series(const CurveOverRuns& curve) {
  std::vector<Series> all =
      method_series(curve, [](const PointOverRuns& point) { return point.finetuned; });
  std::vector<Series> scratch =
      method_series(curve, [](const PointOverRuns& point) { return point.from_scratch; });
  const std::size_t methods = all.size();
  for (std::size_t m = 0; m < methods; ++m) {
    if (scratch[m].samples.empty()) continue;
    scratch[m].name = all.size() == methods ? "from scratch" : "";
    scratch[m].line = false;
    scratch[m].hollow = true;
    scratch[m].like = m;
    all.push_back(std::move(scratch[m]));
  }
  return all;
}

}  // namespace

Picture pattern_figure(const HeadPattern& pattern, std::string_view relation, double width) {
  const TruthCells* truth = pattern.truth_of(relation);
  Picture picture{.title = text("Head ", head_text(pattern.head), " on held-out example ",
                                pattern.example),
                  .sentence = text(pattern.queries.size(), " queries (rows), ", pattern.keys.size(),
                                   " keys (columns).")};
  MatrixChart matrix{.rows = numbered(pattern.queries),
                     .columns = numbered(pattern.keys),
                     .values = pattern.weights,
                     .width = width > 0 ? width : 640,
                     .axes = text("head ", head_text(pattern.head), ": queries down, keys across")};
  if (truth != nullptr && std::isfinite(truth->mass)) {
    matrix.row_on = asked(pattern, *truth);
    matrix.axes += text("; outlined: truth of ", truth->relation, ", mass ", fixed(truth->mass, 3),
                        "; in brackets: does not ask");
    picture.sentence +=
        text(" Mean weight on the truth of ", truth->relation, ": ", fixed(truth->mass, 3), ".");
  }
  const bool is_root =
      shaded(pattern.weights, std::ssize(matrix.rows), std::ssize(matrix.columns)).root;
  if (is_root) matrix.axes += "; shades: square root of attention";
  const MatrixPlaces places = draw_matrix(picture, matrix);
  if (truth != nullptr) outline_truth(picture, places, pattern, *truth);
  return picture;
}

/// Returns the sentence below the lifts over training.
static std::string emergence_sentence(const HeadsHistory& history,
                                      const std::vector<std::string>& emergences) {
  const auto is_scored = [](const RelationHistory& one) { return std::isfinite(one.lifts.back()); };
  if (std::ranges::none_of(history.relations, is_scored)) return "No relation could be scored.";
  if (emergences.empty()) return "No role emerges: no head has a lift of 0.3 at the last step.";
  return text(
      "Lift of the best head of each relation over training; Emergence steps (dashed "
      "lines): ",
      join(emergences, ", "), ".");
}

HeadsHistory for_reader(HeadsHistory history, std::string_view task) {
  for (RelationHistory& relation : history.relations) {
    relation.name = spoken_name(relation.name, task);
  }
  return history;
}

Picture history_figure(const HeadsHistory& history, double width) {
  Plot plot{.x = {.label = "step", .logarithmic = true}, .y = {.label = "lift", .high = 1.05}};
  std::vector<std::string> emergences;
  for (const RelationHistory& relation : history.relations) {
    Series series{.name = text(relation.name, " (head ", head_text(relation.best), ")"),
                  .radius = 0};
    for (std::size_t i = 0; i < history.steps.size(); ++i) {
      if (std::isfinite(relation.lifts[i]) && history.steps[i] > 0) {
        series.samples.push_back({double(history.steps[i]), relation.lifts[i]});
      }
    }
    plot.series.push_back(std::move(series));
    if (relation.emergence_step < 0) continue;
    plot.across.push_back({double(relation.emergence_step),
                           text(relation.name, " ", relation.emergence_step),
                           text("s", (plot.series.size() - 1) % 7)});
    emergences.push_back(text(relation.name, " at step ", relation.emergence_step));
  }
  std::ranges::sort(plot.across, {}, &Across::x);
  return plotted("When each role emerges", emergence_sentence(history, emergences), {plot}, width);
}

Picture curve_figure(const CurveOverRuns& curve, double width) {
  require(!curve.methods.empty() && !curve.methods[0].points.empty(),
          "cannot draw the curve: it has no points");
  std::vector<Series> pruned =
      method_series(curve, [](const PointOverRuns& point) { return std::optional(point.pruned); });
  std::vector<Series> tuned = finetuned_series(curve);
  const bool both =
      std::ranges::any_of(tuned, [](const Series& series) { return !series.samples.empty(); });
  explain_bars(pruned);
  explain_bars(tuned);
  std::vector<Plot> plots = {curve_plot(std::move(pruned), curve.needed, kLoss)};
  if (both) {
    plots.push_back(curve_plot(std::move(tuned), curve.needed, "loss after fine-tuning, nats"));
    plots.back().title = "Loss after fine-tuning against heads kept";
  }
  const std::vector<PointOverRuns>& points = curve.methods[0].points;
  const Index most = std::ranges::max(points, {}, &PointOverRuns::kept).kept;
  const auto off = [&, wanted = curve.needed.value_or(most / 2)](const PointOverRuns& point) {
    return std::abs(point.kept - wanted);
  };
  const Index shown = std::ranges::min(points, {}, off).kept;
  return plotted("Loss against heads kept",
                 text(curve.runs > 1 ? text("Geometric means over ", curve.runs, " runs; with ")
                                     : "With ",
                      shown, shown == 1 ? " head: " : " heads: ", losses_at(curve, shown), "."),
                 plots, width);
}

/// Adds a line over the steps to a plot, without values that are not known.
static void add_line(Plot& plot, const std::string& name, const std::vector<Index>& steps,
                     const std::vector<double>& values) {
  Series& series = plot.series.emplace_back(Series{.name = name, .radius = 0});
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) series.samples.push_back({double(steps[i]), values[i]});
  }
}

/// Adds plots of the accuracies and of the norm of the weights, if the log has them.
static void add_measure_plots(const RunLosses& run, std::vector<Plot>& plots) {
  const auto is_known = [](double value) { return std::isfinite(value); };
  if (std::ranges::any_of(run.training_accuracies, is_known)) {
    Plot& plot = plots.emplace_back();
    plot.title = "Accuracy over training";
    plot.x = {.label = "step", .low = 0};
    plot.y = {.label = "accuracy", .low = 0, .high = 1};
    add_line(plot, "held out", run.steps, run.accuracies);
    add_line(plot, "training", run.steps, run.training_accuracies);
  }
  if (std::ranges::any_of(run.weight_norms, is_known)) {
    Plot& plot = plots.emplace_back();
    plot.title = "Norm of the weights over training";
    plot.x = {.label = "step", .low = 0};
    plot.y = {.label = "norm of the weights", .low = 0};
    add_line(plot, "", run.steps, run.weight_norms);
  }
}

Picture losses_figure(const std::vector<RunLosses>& runs, double width) {
  Plot plot{.x = {.label = "step", .low = 0}, .y = {.label = kLoss, .logarithmic = true}};
  std::vector<std::string> last;
  const auto add = [&](const RunLosses& run, const std::string& name, const auto& losses) {
    Series& series = plot.series.emplace_back(Series{.name = name, .radius = 0});
    for (std::size_t i = 0; i < losses.size(); ++i) {
      if (std::isfinite(losses[i])) series.samples.push_back({double(run.steps[i]), losses[i]});
    }
    if (!series.samples.empty()) {
      last.push_back(text(name, " ", significant(series.samples.back().y)));
    }
  };
  for (const RunLosses& run : runs) {
    add(run, runs.size() > 1 ? run.name : "held out", run.losses);
    require(!plot.series.back().samples.empty(), "cannot draw the training: ", run.name,
            " has no evaluation, so there is no loss to draw");
  }
  const bool one = runs.size() == 1;
  if (one) add(runs[0], "training", runs[0].training);
  std::vector<Plot> plots;
  if (one) plot.y.label = "loss, nats";
  plots.push_back(std::move(plot));
  if (one) add_measure_plots(runs[0], plots);
  return plotted(one ? "Loss over training" : "Held-out loss over training",
                 text("At the end: ", join(last, ", "),
                      one ? "; that of training is the mean over the steps before." : "."),
                 plots, width);
}

bool differs_in_heads(const SweepReport& report) {
  std::map<std::string, std::set<Index>> heads;  // by family
  for (const SweepGroup& group : report.groups) {
    if (group.config.model.heads.size() == 1) {
      heads[group.family].insert(group.config.model.heads[0]);
    }
  }
  return std::ranges::any_of(heads, [](const auto& one) { return one.second.size() > 1; });
}

Picture sweep_figure(const SweepReport& report, double width) {
  SeedSeries series;
  std::vector<std::string> said;
  for (const SweepGroup& group : report.groups) {
    if (group.config.model.heads.size() != 1) {
      continue;  // layers with different numbers of heads have no position on the axis
    }
    series.add(group.family, double(group.config.model.heads[0]), group.loss, group.losses);
    const Interval& loss = group.loss;
    said.push_back(text(group.name, " ", significant(loss.mean),
                        std::isfinite(loss.low)
                            ? text(" (", significant(loss.low), " to ", significant(loss.high), ")")
                            : std::string()));
  }
  require(differs_in_heads(report),
          "cannot draw the sweep: its picture shows loss against heads, and it has no finished "
          "trials that differ in heads");
  const std::vector<Series> all = series.all();
  Plot plot{.x = {.label = "heads", .ticks = whole_ticks(all)},
            .y = {.label = kLoss, .logarithmic = true},
            .series = all};
  return plotted("Loss against heads",
                 text("Geometric means with 95% intervals: ", join(said, "; "), "."), {plot},
                 width);
}

}  // namespace headlab
