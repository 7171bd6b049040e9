// Charts as lists of items: a matrix of weights with tokens on its sides, and lines over two axes.
// Sizes and places are those of the page's charts (src/report/page/charts.js), so that a figure
// from the program and one from the page look alike. Read next: figures.cc, which fills them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headlab/report/picture.h"

namespace headlab {

/// The width of a text in pixels, near enough without a font.
double text_width(std::string_view text, double size = 12);
/// A text cut to `room` pixels, with … in place of what is missing.
std::string shortened(const std::string& text, double room, double size = 12);
/// About `wanted` round numbers from `low` to `high`.
std::vector<double> round_ticks(double low, double high, int wanted = 5);

/// A value for each row and column.
struct MatrixChart {
  std::vector<std::string> rows, columns;  // their names
  std::vector<Scalar> values;
  double width = 640;          // of the whole picture, at most
  std::string axes{};          // what rows and columns are
  std::vector<bool> row_on{};  // rows that ask something; the names of others stand in brackets
};

/// The places of a matrix that was drawn.
struct MatrixPlaces {
  double left, top, width, height;  // of a cell, the first one
  Box cell(Index row, Index column) const {
    return {left + double(column) * width, top + double(row) * height, width, height};
  }
};
/// Adds what the colours of a map say, 18 pixels high, and returns its width.
double draw_scale(Picture& picture, const Point& at);
/// Adds a matrix with its scale, and sets the picture's size.
MatrixPlaces draw_matrix(Picture& picture, const MatrixChart& matrix);

struct Sample {
  double x, y;
  std::optional<double> low{}, high{};  // ends of an interval of y
};
struct Series {
  std::string name;
  std::vector<Sample> samples{};
  bool line = true, hollow = false;
  double thick = 1.8, radius = 3.2;
  bool named = true;                  // at its end
  std::optional<std::size_t> like{};  // the series whose colour and shape it has, by number
};
struct Axis {
  std::string label;
  bool logarithmic = false;
  std::optional<double> low{}, high{};  // else those of the data
  std::vector<double> ticks{};          // else round numbers
};
/// A line across the chart, named above it.
struct Across {
  double x;
  std::string name;
  std::string color = "muted";
};
struct Plot {
  Axis x, y;
  std::vector<Series> series{};
  std::vector<Across> across{};
  double width = 720, height = 360;
};
/// Adds a plot and sets the picture's size.
void draw_plot(Picture& picture, const Plot& plot);

}  // namespace headlab
