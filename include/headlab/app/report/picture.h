// Pictures without a browser: a picture is a list of simple items (maps of weights, rectangles,
// lines, dots, texts), which svg() writes as a document. Colours are names of roles ("ink",
// "paper", "s0") from one palette. The page draws the same items
// (src/app/report/page/draw/draw.js). Read next: figures.h, which makes the lists;
// src/app/report/svg.cc.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "headlab/core/base/json.h"
#include "headlab/core/kernels/scalar.h"

namespace headlab {

/// Units from the top left corner: pixels on a screen; in print see kPrintedUnit.
struct Point {
  double x = 0, y = 0;
};
struct Box {
  double x = 0, y = 0, w = 0, h = 0;
};

/// Style of an area or a line. A colour is a role of the palette or "#rrggbb"; "" is none.
struct Look {
  std::string fill{}, stroke{};
  double thick = 1;            // thickness of the stroke, in units
  std::vector<double> dash{};  // lengths drawn and left out in turn; empty: a solid line
};

/// Values [rows, columns] as colours from 0 (the paper) to 1 (the far end of cividis); values
/// outside are drawn as 0 or 1, NaN not at all. Source of the colours: Nunez, Anderton, Renslow
/// 2018.
struct MapItem {
  Box box;
  Index rows = 0, columns = 0;
  std::vector<Scalar> values{};
};
struct RectItem {
  Box box;
  Look look{};
};
struct LineItem {
  std::vector<Point> points;
  Look look{};
};
enum class DotShape { circle, square, diamond, triangle, cross };
struct DotItem {
  Point at;
  double radius = 3;
  DotShape shape = DotShape::circle;
  Look look{};
};
enum class Anchor { start, middle, end };
constexpr double kTextSize = 11;
/// Points per unit in print: text of the usual size has 7 points.
constexpr double kPrintedUnit = 7 / kTextSize;
/// Text in UTF-8, with its vertical middle at `at`.
struct TextItem {
  Point at;
  std::string text;
  double size = kTextSize;
  Anchor anchor = Anchor::start;
  std::string fill = "ink";
  bool bold = false;
  int turn = 0;  // degrees, clockwise: 0, 90 or -90
};
using Item = std::variant<MapItem, RectItem, LineItem, DotItem, TextItem>;

struct Picture {
  double width = 0, height = 0;
  bool printed = false;  // whether it has the size for print
  std::string title;     // the subject of the picture
  std::string sentence;  // a description, for readers who cannot see it
  std::vector<Item> items{};
  /// Source data {title, sentence, plots}, from which the page draws the same plot at its own width
  /// (src/app/report/page/draw/plot.js); null if it is no plot.
  Json data{};
};

/// Returns a colour of the palette as "#rrggbb"; `role` itself if it is no role.
std::string color_of(std::string_view role);
/// Returns the 256 colours of a map, "#rrggbb", from 0 to 1.
const std::vector<std::string>& map_colors();
/// Returns the index of a value in map_colors(); -1 for NaN.
int map_level(double value);

/// Returns the width of a text in Helvetica, exact for ASCII.
double text_width(std::string_view text, double size = kTextSize, bool bold = false);

/// Returns the picture as an SVG 1.1 document: text stays text, and `about` (the command that made
/// it) is its metadata. A map is a path for each of 64 colours. Characters that XML does not allow
/// become U+FFFD.
std::string svg(const Picture& picture, const std::string& about);

}  // namespace headlab
