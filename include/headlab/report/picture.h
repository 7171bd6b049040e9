// Pictures without a browser: a picture is a list of simple items (maps of weights, rectangles,
// lines, dots, texts), and two writers make it an SVG or a PDF document. Colours are names of roles
// ("ink", "paper", "s0") from one palette. Whatever the program draws is such a list, so a figure
// is written once and looks the same in both. The page draws with the same items
// (src/app/report/page/draw.js). Read next: figures.h, which makes the lists;
// src/app/report/svg.cc.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "headlab/base/json.h"
#include "headlab/kernels/scalar.h"

namespace headlab {

/// Units from the top left corner: pixels on a screen; in print see kPrintedUnit.
struct Point {
  double x = 0, y = 0;
};
struct Box {
  double x = 0, y = 0, w = 0, h = 0;
};

/// How an area or a line looks. A colour is a role of the palette, or "#rrggbb"; "" is none.
struct Look {
  std::string fill{}, stroke{};
  double thick = 1;            // of the stroke, in units
  std::vector<double> dash{};  // lengths drawn and left out in turn; empty: a whole line
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
/// Points of a unit in print: there a text of the usual size has 7.
constexpr double kPrintedUnit = 7 / kTextSize;
/// UTF-8, with its vertical middle at `at`.
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
  bool printed = false;  // whether its size is that of print
  std::string title;     // what is shown
  std::string sentence;  // what there is to see, for those who do not see it
  std::vector<Item> items{};
  /// What it was drawn from, {title, sentence, plots}, of which the page draws the same at a width
  /// of its own (src/app/report/page/plot.js); null where it is no plot.
  Json data{};
};

/// A colour of the palette as "#rrggbb"; `role` itself if it is no role.
std::string color_of(std::string_view role);
/// The 256 colours of a map, "#rrggbb", from 0 to 1.
const std::vector<std::string>& map_colors();
/// The place of a value in map_colors(); -1 for NaN.
int map_level(double value);

/// The width of a text in Helvetica, exact for ASCII.
double text_width(std::string_view text, double size = kTextSize, bool bold = false);

/// The picture as an SVG 1.1 document: text stays text, and `about` (how it was made) is its
/// metadata. A map is a path for each of 64 colours. Characters that XML does not allow become
/// U+FFFD.
std::string svg(const Picture& picture, const std::string& about);

/// The picture as a PDF document of one page, a unit as large as in print, whose texts are set in
/// Helvetica, a font that each reader of PDF has. It has the characters of Windows-1252, and the
/// mark of a blank is drawn; others become ?, and a star an asterisk.
std::string pdf(const Picture& picture, const std::string& about);
/// The characters of the picture's texts that become ? in its PDF, each once, in order.
std::vector<std::string> lacking_in_pdf(const Picture& picture);

}  // namespace headlab
