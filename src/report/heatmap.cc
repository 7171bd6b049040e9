// Two columns make a cell about square, and leave room between tokens that are written downwards.
// Long tokens are cut, with … in place of what is missing; long sequences get narrower cells. In
// half blocks a line holds two rows, whose labels and largest weights stand side by side. Read
// next: shades.h, the cells.
#include "headlab/report/heatmap.h"

#include <algorithm>
#include <string_view>

#include "headlab/base/error.h"
#include "headlab/base/text.h"
#include "report/shades.h"

namespace headlab {
namespace {

constexpr std::size_t kWidestLabel = 12;  // longer tokens are cut
constexpr std::size_t kFrame = 9;         // " │", "│ 0.87"

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

/// The characters of a token, as many as a label has room for.
std::vector<std::string> label_of(const std::string& token) {
  std::vector<std::string> characters = characters_of(token);
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
    columns.push_back(label_of(sources[s]));
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

/// A pattern with what is known of its cells.
struct Rows {
  std::span<const Scalar> weights;
  std::span<const char> gold;
  std::size_t columns;

  std::span<const Scalar> row(std::size_t t) const { return weights.subspan(t * columns, columns); }

  /// The cells of a row, each the largest of `pool` neighbours.
  std::vector<ShadedCell> cells(std::size_t t, std::size_t pool) const {
    std::vector<ShadedCell> cells((columns + pool - 1) / pool);
    const bool found = !gold.empty() && is_found(row(t), gold.subspan(t * columns, columns));
    for (std::size_t s = 0; s < columns; ++s) {
      ShadedCell& cell = cells[s / pool];
      cell.weight = std::max(cell.weight, static_cast<double>(row(t)[s]));
      if (!gold.empty() && gold[t * columns + s] != 0)
        cell.mark = found ? GoldMark::found : GoldMark::missed;
    }
    return cells;
  }
};

double largest_of(std::span<const Scalar> row) {
  return row.empty() ? 0 : static_cast<double>(std::ranges::max(row));
}

std::string joined(const std::vector<ShadedCell>& upper, const std::vector<ShadedCell>* lower,
                   std::size_t width, Shades shades) {
  std::string line;
  for (std::size_t i = 0; i < upper.size(); ++i)
    line += shades == Shades::cividis
                ? pair_text(upper[i], lower != nullptr ? &(*lower)[i] : nullptr, width)
                : cell_text(upper[i], width, shades);
  return line;
}

}  // namespace

bool is_found(std::span<const Scalar> weights, std::span<const char> gold) {
  double on_gold = 0;
  for (std::size_t s = 0; s < weights.size(); ++s)
    if (gold[s] != 0) on_gold += weights[s];
  return on_gold >= 0.5;
}

std::string heatmap(std::span<const Scalar> weights, const std::vector<std::string>& destinations,
                    const std::vector<std::string>& sources, const HeatmapOptions& options) {
  require(weights.size() == destinations.size() * sources.size(), "a heatmap of ",
          destinations.size(), " x ", sources.size(), " cells got ", weights.size(), " weights");
  require(options.gold.empty() || options.gold.size() == weights.size(), "a heatmap of ",
          weights.size(), " cells got gold of ", options.gold.size());
  const bool pairs = options.shades == Shades::cividis;
  std::size_t one = 0;
  for (const std::string& destination : destinations)
    one = std::max(one, label_of(destination).size());
  const Layout layout(pairs ? 2 * one + 1 : one, sources.size(), options.width);
  std::string out = layout.pool > 1 ? text("each cell is the largest weight of ", layout.pool,
                                           " neighbouring sources; the first is named\n\n")
                                    : "";
  out += column_labels(sources, layout);
  const Rows rows = {weights, options.gold, sources.size()};
  for (std::size_t t = 0; t < destinations.size(); t += pairs ? 2 : 1) {
    const bool second = pairs && t + 1 < destinations.size();
    const auto upper = rows.cells(t, layout.pool);
    const auto lower = second ? rows.cells(t + 1, layout.pool) : upper;
    out += padded(join(label_of(destinations[t]), ""), one, true);
    if (pairs) out += " " + padded(second ? join(label_of(destinations[t + 1]), "") : "", one);
    out += " │" + joined(upper, second ? &lower : nullptr, layout.cell, options.shades) + "│ " +
           fixed(largest_of(rows.row(t)), 2) +
           (second ? " " + fixed(largest_of(rows.row(t + 1)), 2) : "") + "\n";
  }
  return out + (options.gold.empty() ? "" : "\n" + gold_legend(layout.cell, options.shades));
}

// ---- many small ones ----------------------------------------------------------------------------

namespace {

constexpr std::size_t kScreenColumns = 80, kScreenLines = 24, kBetween = 2;

/// `pool` neighbours both ways become one: the largest.
std::vector<ShadedCell> pooled_row(const SmallMap& map, Index first, Index row_pool, Index pool) {
  std::vector<ShadedCell> cells((map.columns + pool - 1) / pool);
  for (Index r = first; r < std::min(first + row_pool, map.rows); ++r)
    for (Index c = 0; c < map.columns; ++c) {
      double& weight = cells[c / pool].weight;
      weight = std::max(weight, static_cast<double>(map.weights[r * map.columns + c]));
    }
  return cells;
}

/// A map as lines, all `width` columns wide, with its caption first.
std::vector<std::string> lines_of_map(const SmallMap& map, std::size_t width, Index pool,
                                      Shades shades) {
  std::vector<std::string> lines = {padded(map.caption, width)};
  const Index rows = shades == Shades::cividis ? pool : 2 * pool;  // in a row of cells
  if (map.weights.empty()) return lines;
  for (Index r = 0; r < map.rows; r += 2 * pool) {
    const auto upper = pooled_row(map, r, rows, pool);
    const auto lower = pooled_row(map, r + pool, rows, pool);
    const std::string blanks(width - upper.size(), ' ');
    lines.push_back(joined(upper, r + pool < map.rows ? &lower : nullptr, 1, shades) + blanks);
  }
  return lines;
}

using MapGroups = std::vector<std::pair<std::string, std::vector<SmallMap>>>;

/// The columns of one map, and the lines of all, at some pooling.
std::pair<std::size_t, std::size_t> extent_of(const MapGroups& groups, Index pool) {
  std::size_t width = 8, lines = 0;
  for (const auto& [title, maps] : groups)
    for (const SmallMap& map : maps)
      width = std::max({width, static_cast<std::size_t>((map.columns + pool - 1) / pool),
                        std::min<std::size_t>(16, display_width(map.caption))});
  const std::size_t across = std::max<std::size_t>(1, kScreenColumns / (width + kBetween));
  for (const auto& [title, maps] : groups) {
    Index rows = 0;
    for (const SmallMap& map : maps) rows = std::max(rows, map.rows);
    lines += 1 + (maps.size() + across - 1) / across *
                     static_cast<std::size_t>(2 + (rows + 2 * pool - 1) / (2 * pool));
  }
  return {width, lines};
}

/// Maps beside each other.
std::string side_by_side(std::span<const SmallMap> maps, std::size_t width, Index pool,
                         Shades shades) {
  std::vector<std::vector<std::string>> columns;
  std::size_t height = 0;
  for (const SmallMap& map : maps) {
    columns.push_back(lines_of_map(map, width, pool, shades));
    height = std::max(height, columns.back().size());
  }
  std::string out;
  for (std::size_t line = 0; line < height; ++line) {
    std::string row;
    for (const auto& lines : columns)
      row += (line < lines.size() ? lines[line] : std::string(width, ' ')) +
             std::string(kBetween, ' ');
    out += trimmed_line(std::move(row));
  }
  return out;
}

}  // namespace

std::string small_maps(const MapGroups& groups, Shades shades) {
  Index pool = 1, largest = 1;
  for (const auto& [title, maps] : groups)
    for (const SmallMap& map : maps) largest = std::max({largest, map.rows, map.columns});
  while (extent_of(groups, pool).second > kScreenLines && largest / pool > 8) pool *= 2;
  while (extent_of(groups, pool).first > kScreenColumns) pool *= 2;
  const std::size_t width = extent_of(groups, pool).first;
  const std::size_t across = std::max<std::size_t>(1, kScreenColumns / (width + kBetween));
  std::string out;
  for (const auto& [title, maps] : groups) {
    out += title + "\n";
    for (std::size_t first = 0; first < maps.size(); first += across)
      out += side_by_side(std::span(maps).subspan(first, std::min(across, maps.size() - first)),
                          width, pool, shades) +
             "\n";
  }
  const Index rows = shades == Shades::cividis ? pool : 2 * pool;
  if (rows * pool > 1)
    out += text("each cell is the largest weight of ", rows, " queries x ", pool, " keys\n");
  return out;
}

std::string token_matrix_text(const Tensor& matrix, const std::vector<std::string>& names, Index k,
                              const HeatmapOptions& options) {
  const auto V = static_cast<Index>(names.size()), W = matrix.size(1);
  require(matrix.size(0) == V && W % V == 0 && k >= 0 && k < W / V, "a matrix ", matrix.shape(),
          " has no block ", k, " over ", V, " tokens");
  std::vector<Scalar> shades;
  for (Index i = 0; i < V; ++i) {
    const Scalar* row = matrix.data() + i * W + k * V;
    const Scalar largest = *std::max_element(row, row + V);
    for (Index j = 0; j < V; ++j)
      shades.push_back(largest > 0 ? std::max(Scalar{0}, row[j] / largest) : 0);
  }
  return heatmap(shades, names, names, options);
}

}  // namespace headlab
