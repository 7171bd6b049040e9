// Two columns make a cell about square, and leave room between tokens that are written downwards.
// Long tokens are cut, with … in place of what is missing; long sequences get narrower cells. Read
// next: heatmap.h, which says what the shades mean.
#include "headlab/report/heatmap.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "headlab/base/error.h"
#include "headlab/report/table.h"

namespace headlab {
namespace {

constexpr std::size_t kWidestLabel = 12;  // longer tokens are cut
constexpr std::size_t kFrame = 9;         // " │", "│ 0.87"
constexpr std::array<std::string_view, 6> kShades = {" ", "·", "░", "▒", "▓", "█"};

/// How the sources share the width.
struct Layout {
  std::size_t label;     // columns of the row labels
  std::size_t cell = 2;  // columns of a cell
  std::size_t pool = 1;  // sources in a cell

  Layout(std::size_t label_width, std::size_t sources, std::size_t width) : label(label_width) {
    const std::size_t room = width > label + kFrame ? width - label - kFrame : 1;
    if (sources * cell > room) {
      cell = 1;
      pool = (sources + room - 1) / room;
    }
  }
};

std::string cell_text(double weight, std::size_t width, bool color) {
  if (color) {  // 232 black ... 255 white
    const int gray = 232 + static_cast<int>(std::clamp(weight, 0.0, 1.0) * 23);
    const std::string blanks(width, ' ');
    return weight == 0 ? blanks : text("\033[48;5;", gray, "m", blanks, "\033[0m");
  }
  const std::array<double, 5> limits = {1e-6, 0.05, 0.25, 0.5, 0.75};
  const auto shade = std::ranges::upper_bound(limits, weight) - limits.begin();
  std::string out(kShades[shade]);
  for (std::size_t i = 1; i < width; ++i)
    out += shade < 2 ? " " : kShades[shade];  // a dot stays small
  return out;
}

std::vector<std::string> characters_of(const std::string& token) {
  std::vector<std::string> characters;
  for (const char byte : token)
    if ((static_cast<unsigned char>(byte) & 0xC0) == 0x80 && !characters.empty())
      characters.back() += byte;
    else
      characters.emplace_back(1, byte);
  if (characters.size() > kWidestLabel) {
    characters.resize(kWidestLabel);
    characters.back() = "…";
  }
  return characters;
}

/// The tokens of the columns, written downwards, one line for each of their characters.
std::string column_labels(const std::vector<std::string>& sources, const Layout& layout) {
  std::vector<std::vector<std::string>> columns;
  std::size_t height = 1;
  for (std::size_t s = 0; s < sources.size(); s += layout.pool) {
    columns.push_back(characters_of(sources[s]));
    height = std::max(height, columns.back().size());
  }
  std::string out;
  for (std::size_t line = 0; line < height; ++line) {
    std::string row(layout.label + 2, ' ');
    for (const auto& characters : columns) {
      const std::size_t skipped = height - characters.size();
      row += padded(line >= skipped ? characters[line - skipped] : "", layout.cell);
    }
    out += trimmed_line(std::move(row));
  }
  return out;
}

}  // namespace

std::string heatmap(std::span<const Scalar> weights, const std::vector<std::string>& destinations,
                    const std::vector<std::string>& sources, const HeatmapOptions& options) {
  require(weights.size() == destinations.size() * sources.size(), "a heatmap of ",
          destinations.size(), " x ", sources.size(), " cells got ", weights.size(), " weights");
  std::size_t label = 0;
  for (const std::string& destination : destinations)
    label = std::max(label, characters_of(destination).size());
  const Layout layout(label, sources.size(), options.width);
  std::string out = layout.pool > 1 ? text("each cell is the largest weight of ", layout.pool,
                                           " neighbouring sources; the first is named\n\n")
                                    : "";
  out += column_labels(sources, layout);
  const auto largest = [](std::span<const Scalar> some) {
    return some.empty() ? 0 : static_cast<double>(std::ranges::max(some));
  };
  for (std::size_t t = 0; t < destinations.size(); ++t) {
    const auto row = weights.subspan(t * sources.size(), sources.size());
    out += padded(join(characters_of(destinations[t]), ""), label, true) + " │";
    for (std::size_t s = 0; s < row.size(); s += layout.pool) {
      const double weight = largest(row.subspan(s, std::min(layout.pool, row.size() - s)));
      out += cell_text(weight, layout.cell, options.color);
    }
    out += "│ " + fixed(largest(row), 2) + "\n";
  }
  return out;
}

}  // namespace headlab
