// Layout without a font: letters are taken to be three fifths of their size wide, those of wide
// scripts nearly twice as much. A series is told by its colour, its dashes and the shape of its
// dots. Read next: figures.cc.
#include "report/chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "headlab/base/error.h"
#include "headlab/report/table.h"

namespace headlab {
namespace {

constexpr double kLetter = 0.6;  // of a letter's width, in sizes
constexpr std::array<const char*, 7> kSeriesColors = {"s0", "s1", "s2", "s3", "s4", "s5", "s6"};
const std::array<std::vector<double>, 5> kDashes = {{{}, {6, 3}, {2, 3}, {8, 3, 2, 3}, {1, 3}}};
constexpr Index kDotShapes = 5;

double widest(const std::vector<std::string>& names, double most) {
  double width = 10;
  for (const std::string& name : names) width = std::max(width, text_width(name));
  return std::min(width, most);
}

// ---- matrices -----------------------------------------------------------------------------------

constexpr double kSmallestNamed = 11;  // cells below this many pixels are numbered now and then

Index every(double side) {
  return side >= kSmallestNamed ? 1 : 5 * std::max<Index>(1, Index(std::ceil(12 / side)));
}

void name_columns(Picture& picture, const MatrixChart& matrix, const MatrixPlaces& at,
                  bool turned) {
  const bool named = at.width >= kSmallestNamed;
  for (Index c = 0; c < std::ssize(matrix.columns); c += every(at.width)) {
    const Point place = {at.left + (double(c) + .5) * at.width, at.top - 8};
    TextItem name{.at = place, .text = std::to_string(c), .anchor = Anchor::middle, .mono = true};
    if (named) name.text = shortened(matrix.columns[c], turned ? 90 : at.width + 8);
    if (named && turned) {
      name.turn = -90;
      name.anchor = Anchor::start;
    }
    picture.items.push_back(name);
  }
}

void name_rows(Picture& picture, const MatrixChart& matrix, const MatrixPlaces& at) {
  for (Index r = 0; r < std::ssize(matrix.rows); r += every(at.height)) {
    std::string name =
        at.height >= kSmallestNamed ? shortened(matrix.rows[r], at.left - 10) : std::to_string(r);
    const bool asks = matrix.row_on.empty() || matrix.row_on[r];
    picture.items.push_back(TextItem{.at = {at.left - 6, at.top + (double(r) + .5) * at.height},
                                     .text = asks ? name : text("(", name, ")"),
                                     .anchor = Anchor::end,
                                     .fill = asks ? "ink" : "muted",
                                     .mono = true});
  }
}

// ---- axes ---------------------------------------------------------------------------------------

/// From values to pixels along one axis.
class AxisScale {
 public:
  AxisScale(const Axis& axis, const std::vector<double>& values, double from, double to)
      : logarithmic_(axis.logarithmic), from_(from), to_(to) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const double value : values)
      if (std::isfinite(value) && (!logarithmic_ || value > 0)) {
        low = std::min(low, value);
        high = std::max(high, value);
      }
    if (low > high) low = logarithmic_ ? 0.1 : 0, high = 1;
    a_ = measure(axis.low.value_or(low));
    b_ = measure(axis.high.value_or(high));
    if (b_ - a_ < 1e-12) a_ -= 0.5, b_ += 0.5;
    ticks_ = axis.ticks;
    if (axis.ticks.empty() && logarithmic_)
      for (double power = std::ceil(a_ - .05); power <= b_ + .05; ++power)
        ticks_.push_back(std::pow(10, power));
    if (ticks_.empty()) ticks_ = round_ticks(a_, b_);
  }
  /// What lies below a logarithmic axis is drawn at its end.
  double at(double value) const {
    const double place = logarithmic_ && value <= 0 ? a_ : measure(value);
    return from_ + (std::max(place, logarithmic_ ? a_ : place) - a_) / (b_ - a_) * (to_ - from_);
  }
  const std::vector<double>& ticks() const { return ticks_; }

 private:
  double measure(double value) const { return logarithmic_ ? std::log10(value) : value; }

  bool logarithmic_;
  double from_, to_, a_, b_;
  std::vector<double> ticks_;
};

/// Where a plot's frame lies, and its scales.
struct PlotPlaces {
  Box frame;
  AxisScale x, y;
  std::vector<std::size_t> across_rows;  // the row of each name above the frame
};

constexpr double kAcrossRow = 13;

/// The lowest row for each name in which it meets no other.
std::vector<std::size_t> rows_of_names(const Plot& plot, const AxisScale& x) {
  std::vector<std::size_t> rows;
  std::vector<double> ends;  // of the last name in each row
  for (const Across& across : plot.across) {
    const double start = x.at(across.x);
    std::size_t row = 0;
    while (row < ends.size() && ends[row] > start) ++row;
    if (row == ends.size()) ends.push_back(0);
    ends[row] = start + text_width(across.name, 11) + 8;
    rows.push_back(row);
  }
  return rows;
}

std::vector<double> values_of(const Plot& plot, bool of_x) {
  std::vector<double> values;
  for (const Series& series : plot.series)
    for (const Sample& sample : series.samples) {
      values.push_back(of_x ? sample.x : sample.y);
      if (!of_x && sample.low) values.insert(values.end(), {*sample.low, *sample.high});
    }
  return values;
}

constexpr double kSampleWide = 26;  // of a line beside its name

PlotPlaces places_of(const Plot& plot) {
  double names = 0;
  for (const Series& series : plot.series)
    if (series.named) names = std::max(names, text_width(series.name, 11.5) + kSampleWide + 20);
  constexpr double kLeft = 58, kBottom = 40;
  const double right = names > 0 ? std::min(names, 200.0) : 14, w = plot.width - kLeft - right;
  const AxisScale x(plot.x, values_of(plot, true), kLeft, kLeft + w);
  const auto rows = rows_of_names(plot, x);
  const std::size_t most = rows.empty() ? 0 : 1 + std::ranges::max(rows);
  const double top = 14 + kAcrossRow * double(most), h = plot.height - top - kBottom;
  return {{kLeft, top, w, h}, x, AxisScale(plot.y, values_of(plot, false), top + h, top), rows};
}

void draw_axes(Picture& picture, const Plot& plot, const PlotPlaces& places) {
  const auto [left, top, w, h] = places.frame;
  const auto add = [&](Point at, std::string label, Anchor anchor, std::string fill, int turn) {
    picture.items.push_back(
        TextItem{at, std::move(label), 11, anchor, std::move(fill), false, false, turn});
  };
  for (const double value : places.y.ticks()) {
    const double y = places.y.at(value);
    picture.items.push_back(LineItem{{{left, y}, {left + w, y}}, {.stroke = "rule"}});
    add({left - 6, y}, significant(value), Anchor::end, "muted", 0);
  }
  for (const double value : places.x.ticks())
    add({places.x.at(value), top + h + 14}, significant(value), Anchor::middle, "muted", 0);
  add({left + w / 2, plot.height - 9}, plot.x.label, Anchor::middle, "ink", 0);
  add({10, top + h / 2}, plot.y.label, Anchor::middle, "ink", -90);
  for (std::size_t i = 0; i < plot.across.size(); ++i) {
    const Across& across = plot.across[i];
    const double x = places.x.at(across.x);
    const double y = top - 10 - kAcrossRow * double(places.across_rows[i]);
    picture.items.push_back(
        LineItem{{{x, y - 5}, {x, top + h}}, {.stroke = across.color, .dash = {2, 3}}});
    add({x + 3, y}, across.name, Anchor::start, across.color, 0);
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

void draw_series(Picture& picture, const Series& series, std::size_t kind,
                 const PlotPlaces& places) {
  std::vector<Point> points;
  for (const Sample& sample : series.samples)
    points.push_back({places.x.at(sample.x), places.y.at(sample.y)});
  const LineItem line = line_of(series, kind, points);
  if (series.line) picture.items.push_back(line);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Sample& sample = series.samples[i];
    const double x = points[i].x;
    if (sample.low)
      picture.items.push_back(
          LineItem{{{x, places.y.at(*sample.low)}, {x, places.y.at(*sample.high)}},
                   {.stroke = line.look.stroke, .thick = 1.5}});
    if (series.radius > 0) picture.items.push_back(dot_of(series, kind, points[i]));
  }
}

/// Names at the ends of their lines, pushed apart where they would meet.
void name_series(Picture& picture, const Plot& plot, const PlotPlaces& places) {
  struct End {
    double y;
    std::size_t series;
  };
  std::vector<End> ends;
  for (std::size_t i = 0; i < plot.series.size(); ++i)
    if (plot.series[i].named && !plot.series[i].samples.empty())
      ends.push_back({places.y.at(plot.series[i].samples.back().y), i});
  std::ranges::sort(ends, [](const End& a, const End& b) {
    return std::pair(a.y, a.series) < std::pair(b.y, b.series);
  });
  constexpr double kApart = 14;
  double floor = places.frame.y, ceiling = places.frame.y + places.frame.h;
  for (End& end : ends) floor = (end.y = std::max(end.y, floor)) + kApart;
  for (std::size_t i = ends.size(); i-- > 0;)
    ceiling = (ends[i].y = std::min(ends[i].y, ceiling)) - kApart;
  const double x = places.frame.x + places.frame.w + 10;
  for (const End& end : ends) {
    const Series& series = plot.series[end.series];
    const std::size_t kind = series.like.value_or(end.series);
    const LineItem sample = line_of(series, kind, {{x, end.y}, {x + kSampleWide, end.y}});
    picture.items.push_back(sample);
    if (series.radius > 0)
      picture.items.push_back(dot_of(series, kind, {x + kSampleWide / 2, end.y}));
    picture.items.push_back(TextItem{.at = {x + kSampleWide + 6, end.y},
                                     .text = series.name,
                                     .size = 11.5,
                                     .fill = sample.look.stroke});
  }
}

}  // namespace

double text_width(std::string_view text, double size) {
  double letters = 0;
  for (const std::string& character : characters_of(text))
    letters += static_cast<unsigned char>(character[0]) >= 0xE1 ? 1.7 : 1;  // from U+1000 on
  return letters * size * kLetter;
}

std::string shortened(const std::string& text, double room, double size) {
  std::vector<std::string> characters = characters_of(text);
  while (characters.size() > 1 && text_width(join(characters, ""), size) > room) {
    characters.pop_back();
    characters.back() = "…";
  }
  return join(characters, "");
}

std::vector<double> round_ticks(double low, double high, int wanted) {
  const double span = high > low ? high - low : 1;
  const double unit = std::pow(10, std::floor(std::log10(span / wanted)));
  double step = 10 * unit;
  for (const double some : {5 * unit, 2 * unit, unit})
    if (span / some <= wanted) step = some;
  std::vector<double> ticks;
  for (double i = std::ceil(low / step - 1e-9); i * step <= high + step * 1e-6; ++i)
    ticks.push_back(i == 0 ? 0 : i * step);  // never -0
  return ticks;
}

double draw_scale(Picture& picture, const Point& at) {
  constexpr double kWide = 128, kHigh = 8, kWords = 50;
  MapItem map{{at.x + kWords, at.y + 5, kWide, kHigh}, 1, 64};
  for (int i = 0; i < 64; ++i) map.values.push_back(static_cast<Scalar>(i) / 63);
  picture.items.push_back(map);
  const Box edge = {map.box.x - .5, map.box.y - .5, kWide + 1, kHigh + 1};
  picture.items.push_back(RectItem{edge, {.stroke = "edge"}});
  const auto add = [&](double x, const char* words, Anchor anchor) {
    picture.items.push_back(TextItem{
        .at = {x, at.y + 9}, .text = words, .size = 11, .anchor = anchor, .fill = "muted"});
  };
  add(at.x + kWords - 5, "weight 0", Anchor::end);
  add(at.x + kWords + kWide + 5, "1", Anchor::start);
  return kWords + kWide + 14;
}

MatrixPlaces draw_matrix(Picture& picture, const MatrixChart& matrix) {
  const auto rows = std::ssize(matrix.rows), columns = std::ssize(matrix.columns);
  MatrixPlaces at{};
  at.left = widest(matrix.rows, std::min(150.0, matrix.width * .3)) + 12 +
            (matrix.row_on.empty() ? 0 : text_width("()"));
  const double room = (matrix.width - at.left - 8) / double(std::max<Index>(columns, 1));
  at.width = at.height = std::min(40.0, room);
  const bool turned = std::ranges::any_of(matrix.columns, [&](const std::string& name) {
    return text_width(name) > at.width - 2;
  });
  const bool named = at.width >= kSmallestNamed;
  at.top =
      (turned && named ? widest(matrix.columns, 90) : 14) + 10 + (matrix.axes.empty() ? 0 : 16);
  const Box all = {at.left, at.top, at.width * double(columns), at.height * double(rows)};
  picture.items.push_back(MapItem{all, rows, columns, matrix.values});
  picture.items.push_back(
      RectItem{{all.x - .5, all.y - .5, all.w + 1, all.h + 1}, {.stroke = "edge"}});
  name_columns(picture, matrix, at, turned);
  name_rows(picture, matrix, at);
  if (!matrix.axes.empty())
    picture.items.push_back(
        TextItem{.at = {8, 8}, .text = matrix.axes, .size = 11, .fill = "muted"});
  const double scale = draw_scale(picture, {all.x, all.y + all.h + 6});
  picture.width = std::max({all.x + all.w, all.x + scale, text_width(matrix.axes, 11) + 8}) + 8;
  picture.height = all.y + all.h + 30;
  return at;
}

void draw_plot(Picture& picture, const Plot& plot) {
  picture.width = plot.width;
  picture.height = plot.height;
  const PlotPlaces places = places_of(plot);
  draw_axes(picture, plot, places);
  for (std::size_t i = 0; i < plot.series.size(); ++i)
    draw_series(picture, plot.series[i], plot.series[i].like.value_or(i), places);
  name_series(picture, plot, places);
}

}  // namespace headlab
