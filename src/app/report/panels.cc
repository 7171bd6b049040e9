// Pictures of several plots: their places side by side or below one another, and the marks of
// intervals that all plots share.
// Read next: figures.cc and compare_figure.cc, which make the plots; plot.cc, which draws one.
#include <algorithm>
#include <cmath>

#include "app/report/chart.h"
#include "headlab/core/base/text.h"

namespace headlab {

static Item moved(Item item, const Point& by) {
  const auto move = [&](Point& at) { at = {at.x + by.x, at.y + by.y}; };
  if (auto* line = std::get_if<LineItem>(&item)) std::ranges::for_each(line->points, move);
  if (auto* dot = std::get_if<DotItem>(&item)) move(dot->at);
  if (auto* words = std::get_if<TextItem>(&item)) move(words->at);
  return item;
}

Picture plotted(std::string title, std::string sentence, std::vector<Plot> plots, double width) {
  constexpr double kNarrow = 600;
  constexpr double kHigh = 0.62;
  Picture picture{.title = std::move(title), .sentence = std::move(sentence)};
  std::ranges::for_each(plots, end_intervals);
  picture.data =
      Json::object({{"title", picture.title}, {"sentence", picture.sentence}, {"plots", plots}});
  const double whole = width > 0 ? width : 720;
  const bool beside = plots.size() > 1 && whole > kNarrow;
  for (std::size_t i = 0; i < plots.size(); ++i) {
    Plot plot = plots[i];
    plot.width = beside ? whole / double(plots.size()) : whole;
    plot.height = std::min(360.0, kHigh * plot.width) + 20;
    Picture panel;
    draw_plot(panel, plot);
    const Point at = beside ? Point{plot.width * double(i), 0} : Point{0, picture.height};
    if (plots.size() > 1) {
      panel.items.push_back(TextItem{.at = {2, 8}, .text = panel_tag(i), .bold = true});
    }
    for (const Item& item : panel.items) picture.items.push_back(moved(item, at));
    picture.height = beside ? std::max(picture.height, plot.height) : at.y + plot.height;
  }
  picture.width = whole;
  return picture;
}

Sample with_interval(double x, const Interval& loss) {
  if (!std::isfinite(loss.low)) return {x, loss.mean};
  return {x, loss.mean, loss.low, loss.high};
}

void explain_bars(std::vector<Series>& all) {
  const auto drawn = [](const Series& series) {
    return std::ranges::any_of(series.samples, [](const Sample& s) { return s.low.has_value(); });
  };
  if (std::ranges::any_of(all, drawn)) {
    all.push_back({.name = "mean, 95% interval", .line = false, .radius = 0, .bar = true});
  }
}

}  // namespace headlab
