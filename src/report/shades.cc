// Cells as text. Escape sequences are those of ECMA-48: 38;2;r;g;b is the colour of a character,
// 48;2;r;g;b that behind it, 48;5;n one of 256. Half blocks are the upper half of a character: its
// own colour is the upper cell's, that behind it the lower one's. Read next: heatmap.cc.
#include "report/shades.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "headlab/base/error.h"
#include "headlab/report/picture.h"
#include "report/colors.h"

namespace headlab {
namespace {

constexpr std::array<std::string_view, 6> kShades = {" ", "·", "░", "▒", "▓", "█"};
constexpr const char* kNoColor = "\033[0m";

/// 232 black ... 255 white.
std::string gray_text(const ShadedCell& cell, std::size_t width) {
  const int gray = 232 + static_cast<int>(std::clamp(cell.weight, 0.0, 1.0) * 23);
  std::string inside(width, ' ');
  if (cell.mark != GoldMark::none) inside = width > 1 ? "[]" : "+";
  if (cell.weight == 0) return inside;
  const std::string ink = cell.mark == GoldMark::none ? "" : gray < 244 ? "38;5;255;" : "38;5;232;";
  return text("\033[", ink, "48;5;", gray, "m", inside, kNoColor);
}

std::string color_text(const Rgb& color) {
  return text("2;", int{color[0]}, ";", int{color[1]}, ";", int{color[2]});
}

/// The colour of a column of a cell: of gold cells the last one is a mark.
Rgb color_in(const ShadedCell& cell, bool marks) {
  const int level = std::max(0, map_level(cell.weight));
  if (!marks || cell.mark == GoldMark::none) return dark_map_colors()[level];
  return level < 128 ? Rgb{255, 255, 255} : Rgb{0, 0, 0};
}

}  // namespace

std::string cell_text(const ShadedCell& cell, std::size_t width, Shades shades) {
  if (shades == Shades::gray) return gray_text(cell, width);
  const std::string mark = cell.mark == GoldMark::found ? "■" : "□";
  if (cell.mark != GoldMark::none && width == 1) return mark;
  const std::array<double, 5> limits = {1e-6, 0.05, 0.25, 0.5, 0.75};
  const auto shade = std::ranges::upper_bound(limits, cell.weight) - limits.begin();
  std::string out(kShades[shade]);
  if (cell.mark != GoldMark::none) return out + mark;
  for (std::size_t i = 1; i < width; ++i)
    out += shade < 2 ? " " : kShades[shade];  // a dot stays small
  return out;
}

std::string pair_text(const ShadedCell& upper, const ShadedCell* lower, std::size_t width) {
  std::string out;
  for (std::size_t column = 0; column < width; ++column) {
    const bool marks = column == 1;
    out += text("\033[38;", color_text(color_in(upper, marks)), ";",
                lower != nullptr ? "48;" + color_text(color_in(*lower, marks)) : "49", "m▀");
  }
  return out + kNoColor;
}

std::string gold_legend(std::size_t width, Shades shades) {
  switch (shades) {
    case Shades::characters:
      return "■ gold, found  □ gold, missed\n";
    case Shades::gray:
      return width > 1 ? "[] gold\n" : "+ gold\n";
    case Shades::cividis:
      return width > 1 ? "cells with a white or black half: gold\n"
                       : "gold is not marked: the cells are too narrow\n";
  }
  return "";
}

}  // namespace headlab
