// Pictures without a browser: a picture is a list of simple items (maps of weights, rectangles,
// lines, dots, texts), and two writers make it an SVG document or a PNG image. Colours are names of
// roles ("ink", "paper", "s0") from one palette. Whatever the program draws is such a list, so a
// figure is written once and looks the same in both. The page draws with the same items
// (src/report/page/draw.js). Read next: figures.h, which makes the lists; src/report/svg.cc.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "headlab/kernels/scalar.h"

namespace headlab {

/// Pixels from the top left corner.
struct Point {
  double x = 0, y = 0;
};
struct Box {
  double x = 0, y = 0, w = 0, h = 0;
};

/// How an area or a line looks. A colour is a role of the palette, or "#rrggbb"; "" is none.
struct Look {
  std::string fill{}, stroke{};
  double thick = 1;            // of the stroke, in pixels
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
/// UTF-8, with its vertical middle at `at`.
struct TextItem {
  Point at;
  std::string text;
  double size = 12;
  Anchor anchor = Anchor::start;
  std::string fill = "ink";
  bool bold = false, mono = false;
  int turn = 0;  // degrees, clockwise: 0, 90 or -90
};
using Item = std::variant<MapItem, RectItem, LineItem, DotItem, TextItem>;

struct Picture {
  double width = 0, height = 0;
  std::string title;     // what is shown
  std::string sentence;  // what there is to see, for those who do not see it
  std::vector<Item> items{};
};

/// A colour of the palette as "#rrggbb"; `role` itself if it is no role.
std::string color_of(std::string_view role);
/// The 256 colours of a map, "#rrggbb", from 0 to 1.
const std::vector<std::string>& map_colors();
/// The place of a value in map_colors(); -1 for NaN.
int map_level(double value);

/// The picture as an SVG 1.1 document: text stays text, and `about` (how it was made) is its
/// metadata. A map of at most 4,096 cells is a path for each of 64 colours; a larger one is an
/// image inside. Characters that XML does not allow become U+FFFD.
std::string svg(const Picture& picture, const std::string& about);

/// The picture as a PNG image of 8-bit RGB, `scale` pixels for one of the picture's, with title and
/// `about` as text in it. Letters come from a small font of ASCII characters; any other character
/// is drawn as a box. Error unless 0 < scale and the image has at most 64 million pixels.
std::string png(const Picture& picture, const std::string& about, double scale = 2);

}  // namespace headlab
