// Lines over two axes. A series is distinguished by its colour, its dashes and the shape of its
// dots, and named in the legend above the frame, which explains every mark.
// Read next: figures.cc.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "app/report/chart.h"
#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"

namespace headlab {
namespace {

constexpr std::array<const char*, 7> kSeriesColors = {"s0", "s1", "s2", "s3", "s4", "s5", "s6"};
const std::array<std::vector<double>, 5> kDashes = {{{}, {6, 3}, {2, 3}, {8, 3, 2, 3}, {1, 3}}};
constexpr Index kDotShapes = 5;

constexpr double kPad = 0.04;  // of an axis, beyond its data

/// Scale from values to positions along one axis.
class AxisScale {
 public:
  AxisScale(const Axis& axis, const std::vector<double>& values, double from, double to)
      : logarithmic_(axis.logarithmic), from_(from), to_(to), ticks_(axis.ticks) {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (const double value : values) {
      if (std::isfinite(value) && (!logarithmic_ || value > 0)) {
        low = std::min(low, value);
        high = std::max(high, value);
      }
    }
    if (low > high) {  // no data
      low = logarithmic_ ? 0.1 : 0;
      high = 1;
    }
    a_ = measure(axis.low.value_or(low));
    b_ = measure(axis.high.value_or(high));
    if (b_ - a_ < 1e-12) {
      a_ -= 0.5;
      b_ += 0.5;
    }
    const double pad = kPad * (b_ - a_);
    if (!axis.low) a_ -= pad;
    if (!axis.high) b_ += pad;
    if (ticks_.empty()) {
      ticks_ = logarithmic_ ? log_ticks(std::pow(10, a_), std::pow(10, b_)) : round_ticks(a_, b_);
    }
  }
  /// Returns the position of a value; zero and less are at the beginning of a logarithmic axis.
  double at(double value) const {
    const double place = logarithmic_ && value <= 0 ? a_ : measure(value);
    return from_ + (place - a_) / (b_ - a_) * (to_ - from_);
  }
  const std::vector<double>& ticks() const { return ticks_; }
  /// Returns the ticks that are numbered if one takes `room`: of too many the powers of ten.
  std::vector<double> numbered(double room) const {
    std::vector<double> some = ticks_;
    if (logarithmic_ && double(ticks_.size()) * room > std::abs(to_ - from_)) {
      std::erase_if(some, [](double tick) {
        const double power = std::log10(tick);
        return std::abs(power - std::round(power)) > 1e-9;
      });
    }
    return some.size() < 2 ? ticks_ : some;
  }
  bool spans_zero() const { return !logarithmic_ && a_ < 0 && b_ > 0; }

 private:
  double measure(double value) const { return logarithmic_ ? std::log10(value) : value; }

  bool logarithmic_;
  double from_, to_, a_ = 0, b_ = 1;
  std::vector<double> ticks_;
};

/// Name above the frame: the start of its text, and its row.
struct NamePlace {
  double x;
  std::size_t row;
};

/// Position of a plot's frame, its scales, and the positions of the names above it.
struct PlotPlaces {
  Box frame;
  AxisScale x, y;
  std::vector<NamePlace> across, legend;
};

constexpr double kLeft = 56, kRight = 12, kBottom = 40, kSampleWide = 26;

/// Places names from right to left, each above those to its right that it overlaps, so that no line
/// crosses a name. plot.across ascends in x.
std::vector<NamePlace> places_across(const Plot& plot, const AxisScale& x) {
  std::vector<NamePlace> places(plot.across.size());
  for (std::size_t i = places.size(); i-- > 0;) {
    const double wide = text_width(plot.across[i].name);
    const double from = x.at(plot.across[i].x) + 3;
    places[i].x = std::min(from, plot.width - wide);
    for (std::size_t other = i + 1; other < places.size(); ++other) {
      if (x.at(plot.across[other].x) < places[i].x + wide + 8) {
        places[i].row = std::max(places[i].row, places[other].row + 1);
      }
    }
  }
  return places;
}

/// Places the names of the series one after the other, in as many rows as they need.
std::vector<NamePlace> places_in_legend(const Plot& plot) {
  std::vector<NamePlace> places;
  double x = kLeft;
  std::size_t row = 0;
  for (const Series& series : plot.series) {
    const double wide = series.name.empty() ? 0 : kSampleWide + 6 + text_width(series.name) + 14;
    if (x > kLeft && x + wide > plot.width) {
      x = kLeft;
      ++row;
    }
    places.push_back({x, row});
    x += wide;
  }
  return places;
}

std::vector<double> values_of(const Plot& plot, bool of_x) {
  std::vector<double> values;
  for (const Series& series : plot.series) {
    for (const Sample& sample : series.samples) {
      values.push_back(of_x ? sample.x : sample.y);
      if (!of_x && sample.low) values.insert(values.end(), {*sample.low, *sample.high});
    }
  }
  return values;
}

double rows_high(const std::vector<NamePlace>& places) {
  std::size_t rows = 0;
  for (const NamePlace& place : places) rows = std::max(rows, place.row + 1);
  return kTextRow * double(rows);
}

PlotPlaces places_of(const Plot& plot) {
  const double w = plot.width - kLeft - kRight;
  const AxisScale x(plot.x, values_of(plot, true), kLeft, kLeft + w);
  const auto across = places_across(plot, x);
  const bool named =
      std::ranges::any_of(plot.series, [](const Series& series) { return !series.name.empty(); });
  const auto legend = named ? places_in_legend(plot) : std::vector<NamePlace>();
  const double top = 10 + rows_high(legend) + rows_high(across);
  const double h = plot.height - top - kBottom;
  return {{kLeft, top, w, h},
          x,
          AxisScale(plot.y, values_of(plot, false), top + h, top),
          across,
          legend};
}

/// Returns whole numbers in full: 10000, not 1e+04.
std::string tick_text(double value) {
  return value == std::round(value) && std::abs(value) < 1e6 ? text(std::int64_t(value))
                                                             : significant(value);
}

/// Returns the width for each name below an axis; ticks with an empty name need none.
double room_of_names(const std::vector<std::string>& names, double width) {
  const auto named = std::ranges::count_if(names, std::not_fn(&std::string::empty));
  return width / static_cast<double>(std::max<Index>(1, named)) - 6;
}

void draw_axes(Picture& picture, const Plot& plot, const PlotPlaces& places) {
  const auto [left, top, w, h] = places.frame;
  const auto add = [&](Point at, std::string label, Anchor anchor, int turn = 0) {
    picture.items.push_back(
        TextItem{.at = at, .text = std::move(label), .anchor = anchor, .turn = turn});
  };
  const auto rule = [&](Point from, Point to, const char* color) {
    picture.items.push_back(LineItem{{from, to}, {.stroke = color}});
  };
  for (const double value : places.y.numbered(kTextRow)) {
    const double y = places.y.at(value);
    rule({left, y}, {left + w, y}, "rule");
    add({left - 7, y}, tick_text(value), Anchor::end);
  }
  for (const double value : places.y.ticks()) {
    rule({left - 4, places.y.at(value)}, {left, places.y.at(value)}, "ink");
  }
  const double widest_tick = text_width(tick_text(places.x.ticks().back())) + 8;
  for (const double value : places.x.numbered(widest_tick)) {
    if (!plot.x.names.empty()) break;
    add({places.x.at(value), top + h + 13}, tick_text(value), Anchor::middle);
  }
  const double room = room_of_names(plot.x.names, w);
  for (std::size_t i = 0; i < plot.x.names.size(); ++i) {
    const std::string name = shortened(plot.x.names[i], room);
    add({places.x.at(plot.x.ticks[i]), top + h + 13}, name, Anchor::middle);
  }
  for (const double value : places.x.ticks()) {
    rule({places.x.at(value), top + h}, {places.x.at(value), top + h + 4}, "ink");
  }
  if (places.y.spans_zero()) rule({left, places.y.at(0)}, {left + w, places.y.at(0)}, "edge");
  picture.items.push_back(
      LineItem{{{left, top}, {left, top + h}, {left + w, top + h}}, {.stroke = "ink"}});
  const auto label = [](const Axis& axis) {
    return axis.label + (axis.logarithmic ? " (log scale)" : "");
  };
  add({left + w / 2, plot.height - 9}, label(plot.x), Anchor::middle);
  add({9, top + h / 2}, label(plot.y), Anchor::middle, -90);
}

void draw_across(Picture& picture, const Plot& plot, const PlotPlaces& places) {
  const auto [left, top, w, h] = places.frame;
  for (std::size_t i = 0; i < plot.across.size(); ++i) {
    const Across& across = plot.across[i];
    const double x = places.x.at(across.x);
    const double y = top - 8 - kTextRow * double(places.across[i].row);
    picture.items.push_back(
        LineItem{{{x, y - 5}, {x, top + h}}, {.stroke = across.color, .dash = {2, 3}}});
    picture.items.push_back(
        TextItem{.at = {places.across[i].x, y}, .text = across.name, .fill = across.color});
  }
}

DotItem dot_of(const Series& series, std::size_t kind, const Point& at) {
  const std::string color = kSeriesColors[kind % kSeriesColors.size()];
  const auto shape = static_cast<DotShape>(kind % kDotShapes);
  const bool drawn_as_line = series.hollow || shape == DotShape::cross;
  return {at, series.radius, shape,
          drawn_as_line ? Look{.stroke = color, .thick = 1.6} : Look{.fill = color}};
}

LineItem line_of(const Series& series, std::size_t kind, std::vector<Point> points) {
  return {std::move(points),
          {.stroke = kSeriesColors[kind % kSeriesColors.size()],
           .thick = series.thick,
           .dash = kDashes[kind % kDashes.size()]}};
}

/// Draws an interval from its lower end up, with an arrow there if it continues below the axis.
void draw_interval(Picture& picture, const Point& low, double high, bool goes_on,
                   const std::string& color) {
  const Look look = {.stroke = color, .thick = 1.5};
  const auto [x, y] = low;
  picture.items.push_back(LineItem{{low, {x, high}}, look});
  if (goes_on) picture.items.push_back(LineItem{{{x - 3, y - 5}, low, {x + 3, y - 5}}, look});
}

/// Returns the horizontal shift of a series, so that intervals of several can be distinguished.
double beside(const Plot& plot, std::size_t kind) {
  const auto with_bars = std::ranges::count_if(plot.series, [](const Series& series) {
    return !series.like && std::ranges::any_of(series.samples, [](const Sample& sample) {
      return sample.low.has_value();
    });
  });
  constexpr double kApart = 4;
  return with_bars < 2 ? 0 : kApart * (double(kind) - double(with_bars - 1) / 2);
}

void draw_series(Picture& picture, const Plot& plot, std::size_t place, const PlotPlaces& places) {
  const Series& series = plot.series[place];
  const std::size_t kind = series.like.value_or(place);
  std::vector<Point> points;
  for (const Sample& sample : series.samples) {
    points.push_back({places.x.at(sample.x) + beside(plot, kind), places.y.at(sample.y)});
  }
  const LineItem line = line_of(series, kind, points);
  if (series.line && points.size() > 1) picture.items.push_back(line);
  const double floor = places.frame.y + places.frame.h;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Sample& sample = series.samples[i];
    if (sample.low) {
      const double low = places.y.at(*sample.low);
      draw_interval(picture, {points[i].x, std::min(low, floor)}, places.y.at(*sample.high),
                    low >= floor - 1e-9, line.look.stroke);
    }
    if (series.radius > 0) picture.items.push_back(dot_of(series, kind, points[i]));
  }
}

void draw_legend(Picture& picture, const Plot& plot, const PlotPlaces& places) {
  for (std::size_t i = 0; i < places.legend.size(); ++i) {
    const Series& series = plot.series[i];
    if (series.name.empty()) continue;
    const auto [x, row] = places.legend[i];
    const double y = 8 + kTextRow * double(row);
    const double middle = x + kSampleWide / 2;
    const std::size_t kind = series.like.value_or(i);
    if (series.line) picture.items.push_back(line_of(series, kind, {{x, y}, {x + kSampleWide, y}}));
    if (series.bar) draw_interval(picture, {middle, y + 6}, y - 6, series.hollow, "ink");
    if (series.radius > 0) picture.items.push_back(dot_of(series, kind, {middle, y}));
    picture.items.push_back(TextItem{.at = {x + kSampleWide + 6, y}, .text = series.name});
  }
}

}  // namespace

Json to_json(const Sample& sample) {
  const auto& [x, y, low, high] = sample;
  return low ? Json::Array{x, y, low, high} : Json::Array{x, y};
}

/// Ends intervals at half the smallest value; those that would continue are drawn as arrows, which
/// the legend explains.
void end_intervals(Plot& plot) {
  if (!plot.y.logarithmic) return;
  double floor = std::numeric_limits<double>::infinity();
  for (const Series& series : plot.series) {
    for (const Sample& sample : series.samples) {
      if (sample.y > 0) floor = std::min(floor, sample.y / 2);
    }
  }
  bool go_on = false;
  for (Series& series : plot.series) {
    for (Sample& sample : series.samples) {
      if (sample.low && *sample.low < floor) {
        sample.low = floor;
        go_on = true;
      }
    }
  }
  if (!go_on) return;
  plot.y.low = floor;
  plot.series.push_back({.name = "an interval that goes on below",
                         .line = false,
                         .hollow = true,
                         .radius = 0,
                         .bar = true});
}

void draw_plot(Picture& picture, const Plot& plot) {
  picture.width = plot.width;
  picture.height = plot.height;
  const PlotPlaces places = places_of(plot);
  draw_legend(picture, plot, places);
  draw_axes(picture, plot, places);
  draw_across(picture, plot, places);
  for (std::size_t i = 0; i < plot.series.size(); ++i) draw_series(picture, plot, i, places);
}

}  // namespace headlab
