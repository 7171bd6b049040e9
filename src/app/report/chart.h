// Charts as lists of items: a matrix of weights with tokens on its sides, and lines over two axes.
// Sizes and places are those of the page's charts (charts.js and plot.js in src/app/report/page),
// so that a figure from the program and one from the page look alike. Read next: figures.cc, which
// fills them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headlab/base/members.h"
#include "headlab/report/picture.h"

namespace headlab {

/// From one line of text to the next, in units.
constexpr double kTextRow = 14;
/// A text cut to `room` units, with … in place of what is missing.
std::string shortened(const std::string& text, double room, double size = kTextSize);
/// Adds words in lines of at most `room` units, the middle of the first at `at`, and returns the
/// height that they take.
double draw_words(Picture& picture, const Point& at, const std::string& words, double room);
/// About `wanted` round numbers from `low` to `high`.
std::vector<double> round_ticks(double low, double high, int wanted = 5);
/// 1, 2 and 5 times the powers of ten from `low` to `high`.
std::vector<double> log_ticks(double low, double high);

/// A value for each row and column.
struct MatrixChart {
  std::vector<std::string> rows, columns;  // their names
  std::vector<Scalar> values;
  double width = 640;          // of the whole picture, at most
  std::string axes{};          // what rows and columns are
  std::vector<bool> row_on{};  // rows that ask something; the names of others stand in brackets
};

/// "(a)", "(b)" ...
std::string panel_tag(std::size_t i);

/// The places of a matrix that was drawn.
struct MatrixPlaces {
  double left, top, width, height;  // of a cell, the first one
  Box cell(Index row, Index column) const {
    return {left + double(column) * width, top + double(row) * height, width, height};
  }
};
/// Weights as a map has them. Those of 32 tokens and more are small: they are shaded by their root,
/// up to the largest of the second half of the rows, in which queries see many keys.
struct ShadedWeights {
  std::vector<Scalar> values;
  std::string top = "1";  // what the darkest colour stands for
  bool root = false;
};
ShadedWeights shaded(std::vector<Scalar> weights, Index rows, Index columns);
/// Adds what the colours of a map say, 18 units high.
void draw_scale(Picture& picture, const Point& at, const std::string& top, bool root);
/// Adds a matrix with its scale, and sets the picture's size.
MatrixPlaces draw_matrix(Picture& picture, const MatrixChart& matrix);

struct Sample {
  double x, y;
  std::optional<double> low{}, high{};  // ends of an interval of y
};
/// [x, y], or [x, y, low, high].
Json to_json(const Sample& sample);
/// A line with dots, or one of them. What has no samples stands in the legend alone: it says what a
/// mark of the others means.
struct Series {
  std::string name;  // "": not in the legend
  std::vector<Sample> samples{};
  bool line = true, hollow = false;
  double thick = 1.8, radius = 3.2;
  std::optional<std::size_t> like{};  // the series whose colour and shape it has, by number
  bool bar = false;                   // in the legend: an interval

  void members(auto&& f) {
    f("name", name), f("points", samples), f("line", line), f("hollow", hollow);
    f("thick", thick), f("r", radius), f("like", like), f("bar", bar);
  }
};
struct Axis {
  std::string label;
  bool logarithmic = false;             // its label says so
  std::optional<double> low{}, high{};  // else those of the data
  std::vector<double> ticks{};          // else round numbers

  void members(auto&& f) {
    f("label", label), f("log", logarithmic), f("low", low), f("high", high), f("ticks", ticks);
  }
};
/// A line across the chart, named above it.
struct Across {
  double x;
  std::string name;
  std::string color = "muted";

  void members(auto&& f) { f("x", x), f("name", name), f("color", color); }
};
/// A logarithmic y axis begins at half the smallest value: an interval that goes on below ends
/// there in an arrow, and the legend says so.
struct Plot {
  Axis x, y;
  std::vector<Series> series{};
  std::vector<Across> across{};  // ascending
  double width = 720, height = 360;

  void members(auto&& f) { f("x", x), f("y", y), f("series", series), f("lines", across); }
};
/// Cuts intervals on a logarithmic axis that go on below the plot at its lower edge.
void end_intervals(Plot& plot);
/// Adds a plot and sets the picture's size.
void draw_plot(Picture& picture, const Plot& plot);

}  // namespace headlab
