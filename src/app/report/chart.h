// Charts as lists of items: a matrix of weights with tokens on its sides, and lines over two axes.
// Sizes and positions equal those of the page's charts (charts.js and plot.js in
// src/app/report/page), so that figures of the program and of the page look alike. Read next:
// figures.cc, which fills them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headlab/app/report/picture.h"
#include "headlab/lab/results/members.h"
#include "headlab/lab/results/statistics.h"

namespace headlab {

/// Distance between two lines of text, in units.
constexpr double kTextRow = 14;
/// Returns a text cut to `room` units, with … in place of the missing part.
std::string shortened(const std::string& text, double room, double size = kTextSize);
/// Adds text folded to lines of at most `room` units, the middle of the first at `at`, and returns
/// its height.
double draw_words(Picture& picture, const Point& at, const std::string& words, double room);
/// Returns about `wanted` round numbers from `low` to `high`.
std::vector<double> round_ticks(double low, double high, int wanted = 5);
/// Returns 1, 2 and 5 times the powers of ten from `low` to `high`.
std::vector<double> log_ticks(double low, double high);

/// Matrix with a value for each row and column.
struct MatrixChart {
  std::vector<std::string> rows{}, columns{};  // their names
  std::vector<Scalar> values{};
  double width = 640;            // maximum width of the whole picture
  std::string axes{};            // the meaning of rows and columns
  std::vector<bool> row_on{};    // rows with a query; the names of others are in brackets
  std::string value = "weight";  // the meaning of the values
  double side = 40;              // largest side of a cell
  double name_room = 90;         // longest name of a column
};

/// Returns "(a)", "(b)" ...
std::string panel_tag(std::size_t i);

/// Positions of a drawn matrix.
struct MatrixPlaces {
  double left, top, width, height;  // the first cell
  Box cell(Index row, Index column) const {
    return {left + double(column) * width, top + double(row) * height, width, height};
  }
};
/// Weights as shown in a map. Maps of 32 tokens and more have small weights: these are shaded by
/// their square root, up to the largest of the second half of the rows, in which queries see many
/// keys.
struct ShadedWeights {
  std::vector<Scalar> values;
  std::string top = "1";  // the value of the darkest colour
  bool root = false;
};
ShadedWeights shaded(std::vector<Scalar> weights, Index rows, Index columns);
/// Adds the legend of the colours of a map of values, 18 units high.
void draw_scale(Picture& picture, const Point& at, const std::string& top, bool root,
                const std::string& value = "weight");
/// Adds a matrix with its scale, and sets the picture's size.
MatrixPlaces draw_matrix(Picture& picture, const MatrixChart& matrix);

struct Sample {
  double x, y;
  std::optional<double> low{}, high{};  // ends of an interval of y
};
/// Returns [x, y], or [x, y, low, high].
Json to_json(const Sample& sample);
/// Series drawn as a line with dots, or as one of them. A series without samples appears only in
/// the legend, to explain a mark of the others.
struct Series {
  std::string name;  // "": not in the legend
  std::vector<Sample> samples{};
  bool line = true, hollow = false;
  double thick = 1.8, radius = 3.2;
  std::optional<std::size_t> like{};  // index of the series whose colour and shape it has
  bool bar = false;                   // in the legend: an interval

  void members(auto&& f) {
    f("name", name), f("points", samples), f("line", line), f("hollow", hollow);
    f("thick", thick), f("r", radius), f("like", like), f("bar", bar);
  }
};
struct Axis {
  std::string label;
  bool logarithmic = false;             // its label says so
  std::optional<double> low{}, high{};  // ends of the axis; default: those of the data
  std::vector<double> ticks{};          // default: round numbers
  std::vector<std::string> names{};     // names of the ticks, of x only; default: their numbers

  void members(auto&& f) {
    f("label", label), f("log", logarithmic), f("low", low), f("high", high), f("ticks", ticks);
  }
};
/// Line across the chart, named above it.
struct Across {
  double x;
  std::string name;
  std::string color = "muted";

  void members(auto&& f) { f("x", x), f("name", name), f("color", color); }
};
/// Plot of series over two axes. A logarithmic y axis begins at half the smallest value: an
/// interval that continues below ends there in an arrow, which the legend explains.
struct Plot {
  Axis x, y;
  std::string title{};  // of one of several plots, for the page
  std::vector<Series> series{};
  std::vector<Across> across{};  // ascending
  double width = 720, height = 360;

  void members(auto&& f) {
    f("x", x), f("y", y), f("title", title), f("series", series), f("lines", across);
  }
};
/// Cuts intervals on a logarithmic axis that continue below the plot at its lower edge.
void end_intervals(Plot& plot);
/// Returns a sample with its interval, if it has one.
Sample with_interval(double x, const Interval& value);
/// Adds the meaning of error bars to the legend.
void explain_bars(std::vector<Series>& all);
/// Returns a picture of plots, one below the other if they do not fit side by side, each with its
/// letter if there are several.
Picture plotted(std::string title, std::string sentence, std::vector<Plot> plots, double width);
/// Adds a plot and sets the picture's size.
void draw_plot(Picture& picture, const Plot& plot);

}  // namespace headlab
