// Matrices of weights, and the parts that all charts share: folded text, ticks, the scale of a map.
// The layout uses the widths of letters in Helvetica.
// Read next: plot.cc, lines over two axes.
#include "app/report/chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <sstream>
#include <string_view>
#include <utility>

#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/results/words.h"

namespace headlab {
namespace {

double widest(const std::vector<std::string>& names, double most) {
  double width = 10;
  for (const std::string& name : names) width = std::max(width, text_width(name));
  return std::min(width, most);
}

constexpr double kSmallestNamed = 11;  // if cells have fewer pixels, only some are numbered

/// Returns the number of rows or columns per label.
Index name_step(double side) {
  return side >= kSmallestNamed ? 1 : 5 * std::max<Index>(1, Index(std::ceil(12 / side)));
}

void name_columns(Picture& picture, const MatrixChart& matrix, const MatrixPlaces& at,
                  bool rotated) {
  const bool named = at.width >= kSmallestNamed;
  for (Index c = 0; c < std::ssize(matrix.columns); c += name_step(at.width)) {
    const Point place = {at.left + (double(c) + .5) * at.width, at.top - 8};
    TextItem name{.at = place, .text = std::to_string(c), .anchor = Anchor::middle};
    if (named) name.text = shortened(matrix.columns[c], rotated ? matrix.name_room : at.width + 8);
    if (named && rotated) {
      name.turn = -90;
      name.anchor = Anchor::start;
    }
    picture.items.push_back(name);
  }
}

void name_rows(Picture& picture, const MatrixChart& matrix, const MatrixPlaces& at) {
  for (Index r = 0; r < std::ssize(matrix.rows); r += name_step(at.height)) {
    std::string name =
        at.height >= kSmallestNamed ? shortened(matrix.rows[r], at.left - 10) : std::to_string(r);
    const bool asks = matrix.row_on.empty() || matrix.row_on[r];
    picture.items.push_back(TextItem{.at = {at.left - 6, at.top + (double(r) + .5) * at.height},
                                     .text = asks ? name : text("(", name, ")"),
                                     .anchor = Anchor::end,
                                     .fill = asks ? "ink" : "muted"});
  }
}

}  // namespace

std::string panel_tag(std::size_t i) { return text("(", static_cast<char>('a' + i % 26), ")"); }

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
  for (const double some : {5 * unit, 2 * unit, unit}) {
    if (span / some <= wanted) step = some;
  }
  std::vector<double> ticks;
  for (double i = std::ceil(low / step - 1e-9); i * step <= high + step * 1e-6; ++i) {
    ticks.push_back(i == 0 ? 0 : i * step);  // never -0
  }
  return ticks;
}

std::vector<double> log_ticks(double low, double high) {
  std::vector<double> ticks;
  for (double power = std::floor(std::log10(low)); power <= std::log10(high); ++power) {
    for (const double some : {1, 2, 5}) {
      if (const double tick = some * std::pow(10, power);
          tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) {
        ticks.push_back(tick);
      }
    }
  }
  return ticks.empty() ? std::vector<double>{low, high} : ticks;
}

double draw_words(Picture& picture, const Point& at, const std::string& words, double room) {
  std::vector<std::string> lines = {""};
  std::istringstream stream(words);
  for (std::string word; stream >> word;) {
    std::string& line = lines.back();
    if (line.empty() || text_width(line + " " + word) <= room) {
      line += (line.empty() ? "" : " ") + word;
    } else {
      lines.push_back(word);
    }
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    picture.items.push_back(
        TextItem{.at = {at.x, at.y + kTextRow * double(i)}, .text = lines[i], .fill = "muted"});
  }
  return kTextRow * double(lines.size());
}

ShadedWeights shaded(std::vector<Scalar> weights, Index rows, Index columns) {
  if (std::max(rows, columns) < 32) return {std::move(weights)};
  const Scalar largest = *std::max_element(weights.begin() + rows / 2 * columns, weights.end());
  const Scalar top = largest > 0 ? largest : 1;
  for (Scalar& weight : weights) weight = std::sqrt(std::max<Scalar>(weight, 0) / top);
  return {std::move(weights), significant(top), true};
}

void draw_scale(Picture& picture, const Point& at, const std::string& top, bool root,
                const std::string& value) {
  constexpr double kWide = 96;
  constexpr double kHigh = 8;
  constexpr double kWords = 50;
  MapItem map{{at.x + kWords, at.y + 5, kWide, kHigh}, 1, 64};
  for (int i = 0; i < 64; ++i) {
    map.values.push_back(static_cast<Scalar>(root ? std::sqrt(i / 63.0) : i / 63.0));
  }
  picture.items.push_back(map);
  const Box edge = {map.box.x - .5, map.box.y - .5, kWide + 1, kHigh + 1};
  picture.items.push_back(RectItem{edge, {.stroke = "edge"}});
  const auto add = [&](double x, const std::string& words, Anchor anchor) {
    picture.items.push_back(
        TextItem{.at = {x, at.y + 9}, .text = words, .anchor = anchor, .fill = "muted"});
  };
  add(at.x + kWords - 5, value + " 0", Anchor::end);
  add(at.x + kWords + kWide + 5, root ? top + ", by the root" : top, Anchor::start);
}

MatrixPlaces draw_matrix(Picture& picture, const MatrixChart& matrix) {
  const auto rows = std::ssize(matrix.rows);
  const auto columns = std::ssize(matrix.columns);
  MatrixPlaces at{};
  at.left = widest(matrix.rows, std::min(150.0, matrix.width * .3)) + 12 +
            (matrix.row_on.empty() ? 0 : text_width("()"));
  const double room = (matrix.width - at.left - 8) / double(std::max<Index>(columns, 1));
  at.width = at.height = std::min(matrix.side, room);
  const bool rotated = std::ranges::any_of(matrix.columns, [&](const std::string& name) {
    return text_width(name) > at.width - 2;
  });
  const bool named = at.width >= kSmallestNamed;
  const double right = at.left + at.width * double(columns) + 8;
  picture.width = std::max(right, std::min(matrix.width, 300.0));
  at.top = 24;
  if (!matrix.axes.empty()) {
    at.top += draw_words(picture, {8, at.top + 4}, matrix.axes, picture.width - 8) + 4;
  }
  at.top += (rotated && named ? widest(matrix.columns, matrix.name_room) : 14) + 6;
  const Box all = {at.left, at.top, at.width * double(columns), at.height * double(rows)};
  const bool is_weight = matrix.value == "weight";
  ShadedWeights map =
      is_weight ? shaded(matrix.values, rows, columns) : ShadedWeights{matrix.values};
  picture.items.push_back(MapItem{all, rows, columns, std::move(map.values)});
  draw_scale(picture, {at.left, 0}, map.top, map.root, matrix.value);
  picture.items.push_back(
      RectItem{{all.x - .5, all.y - .5, all.w + 1, all.h + 1}, {.stroke = "edge"}});
  name_columns(picture, matrix, at, rotated);
  name_rows(picture, matrix, at);
  picture.height = all.y + all.h + 8;
  return at;
}

}  // namespace headlab
