// Layout of patterns as text. Two columns make an approximately square cell and leave space between
// tokens, which are written downwards. Long tokens are cut and end in …; long sequences get
// narrower cells.
// Read next: grid.cc, whose small maps are side by side.
#include "headlab/app/report/heatmap.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/results/words.h"

namespace headlab {
namespace {

constexpr std::size_t kWidestLabel = 12;  // longer tokens are cut
constexpr std::size_t kFrame = 9;         // " │", "│ 0.87"

/// Colours of a cell. `missed`: ground-truth cell of a query with less than half of its attention
/// on the ground truth.
enum class TruthMark { none, found, missed };
struct ShadedCell {
  double weight = 0;
  TruthMark mark = TruthMark::none;
};
/// Returns a cell of `width` columns, 1 or 2. Ground truth is marked by a sign in it.
std::string cell_text(const ShadedCell& cell, std::size_t width) {
  constexpr const char* kShades[] = {" ", "·", "░", "▒", "▓", "█"};
  const std::string mark = cell.mark == TruthMark::found ? "■" : "□";
  if (cell.mark != TruthMark::none && width == 1) return mark;
  const std::array<double, 5> limits = {1e-6, 0.05, 0.25, 0.5, 0.75};
  const auto shade = std::ranges::upper_bound(limits, cell.weight) - limits.begin();
  const std::string one = kShades[shade];
  if (width == 1) return one;
  if (cell.mark != TruthMark::none) return one + mark;
  return one + (shade < 2 ? " " : one);  // a dot stays small
}

/// Division of the width among the sources.
struct Layout {
  std::size_t label;     // columns of the row labels
  std::size_t cell = 2;  // columns of a cell
  std::size_t pool = 1;  // sources in a cell

  /// Computes the layout; a cell is at least `least` columns wide, the width of the widest
  /// character of its label.
  Layout(std::size_t label_width, std::size_t sources, std::size_t width, std::size_t least)
      : label(label_width) {
    const std::size_t room = width > label + kFrame ? width - label - kFrame : 1;
    if (sources * cell > room) {
      cell = least;
      pool = (sources * cell + room - 1) / room;
    }
  }
};

/// Returns the characters of a token that fit in a label, each with its combining marks.
std::vector<std::string> label_of(const std::string& token) {
  std::vector<std::string> characters;
  for (std::string& character : characters_of(token)) {
    if (character_width(character) == 0 && !characters.empty()) {
      characters.back() += character;
    } else {
      characters.push_back(std::move(character));
    }
  }
  if (characters.size() > kWidestLabel) {
    characters.resize(kWidestLabel);
    characters.back() = "…";
  }
  return characters;
}

/// Returns the columns of the widest of all labels, and of their widest character.
std::pair<std::size_t, std::size_t> widths_of(const std::vector<std::string>& tokens) {
  std::size_t label = 0;
  std::size_t widest = 1;
  for (const std::string& token : tokens) {
    const std::vector<std::string> characters = label_of(token);
    label = std::max(label, display_width(join(characters, "")));
    for (const std::string& character : characters) {
      widest = std::max(widest, display_width(character));
    }
  }
  return {label, widest};
}

/// Returns the tokens of the columns, written downwards, one line for each of their characters.
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

/// Pattern with the properties of its cells.
struct Rows {
  std::span<const Scalar> weights;
  std::span<const char> truth;
  std::size_t columns;

  std::span<const Scalar> row(std::size_t t) const { return weights.subspan(t * columns, columns); }

  /// Returns the cells of a row, each the largest of `pool` neighbours.
  std::vector<ShadedCell> cells(std::size_t t, std::size_t pool) const {
    std::vector<ShadedCell> cells((columns + pool - 1) / pool);
    const bool found = !truth.empty() && is_found(row(t), truth.subspan(t * columns, columns));
    for (std::size_t s = 0; s < columns; ++s) {
      ShadedCell& cell = cells[s / pool];
      cell.weight = std::max(cell.weight, static_cast<double>(row(t)[s]));
      if (!truth.empty() && truth[t * columns + s] != 0) {
        cell.mark = found ? TruthMark::found : TruthMark::missed;
      }
    }
    return cells;
  }
};

double largest_of(std::span<const Scalar> row) {
  return row.empty() ? 0 : static_cast<double>(std::ranges::max(row));
}

std::string joined(const std::vector<ShadedCell>& cells, std::size_t width) {
  return join(texts_of(cells, [&](const ShadedCell& cell) { return cell_text(cell, width); }), "");
}

}  // namespace

bool is_found(std::span<const Scalar> weights, std::span<const char> truth) {
  double on_truth = 0;
  for (std::size_t s = 0; s < weights.size(); ++s) {
    if (truth[s] != 0) on_truth += weights[s];
  }
  return on_truth >= 0.5;
}

std::string heatmap(std::span<const Scalar> weights, const std::vector<std::string>& destinations,
                    const std::vector<std::string>& sources, const HeatmapOptions& options) {
  require(weights.size() == destinations.size() * sources.size(), "cannot draw a heatmap of ",
          destinations.size(), " x ", sources.size(), " cells: it got ", weights.size(),
          " weights");
  require(options.truth.empty() || options.truth.size() == weights.size(),
          "cannot draw a heatmap of ", weights.size(), " cells: its ground truth has ",
          options.truth.size());
  const std::size_t labels = widths_of(destinations).first;
  const Layout layout(labels, sources.size(), options.width, widths_of(sources).second);
  std::string out = layout.pool > 1 ? text("each cell is the largest weight of ", layout.pool,
                                           " neighbouring sources; the first is named\n\n")
                                    : "";
  out += column_labels(sources, layout);
  const Rows rows = {weights, options.truth, sources.size()};
  for (std::size_t t = 0; t < destinations.size(); ++t) {
    out += padded(join(label_of(destinations[t]), ""), labels, true) + " │" +
           joined(rows.cells(t, layout.pool), layout.cell) + "│ " +
           fixed(largest_of(rows.row(t)), 2) + "\n";
  }
  return out + (options.truth.empty() ? "" : "\n■ ground truth, found  □ ground truth, missed\n");
}

// ---- many small ones ----------------------------------------------------------------------------

namespace {

constexpr std::size_t kScreenColumns = 80, kScreenLines = 24, kBetween = 2;

constexpr Index kFewQueries = 8;  // that have a line each, whatever the number of maps

/// How a map becomes lines: a cell shows the largest weight of its queries and keys.
struct MapScale {
  Index queries = 2, keys = 1;  // of a cell
  std::size_t cell = 1;         // columns of a cell
  std::size_t label = 0;        // columns of a query's token and a space before it; 0: none
};

/// Returns the cells of the queries from `first` on that share a line.
std::vector<ShadedCell> pooled_row(const SmallMap& map, Index first, const MapScale& scale) {
  std::vector<ShadedCell> cells((map.columns + scale.keys - 1) / scale.keys);
  for (Index r = first; r < std::min(first + scale.queries, map.rows); ++r) {
    for (Index c = 0; c < map.columns; ++c) {
      double& weight = cells[c / scale.keys].weight;
      weight = std::max(weight, static_cast<double>(map.weights[r * map.columns + c]));
    }
  }
  return cells;
}

/// Returns a map as lines, all `width` columns wide, with its caption first.
std::vector<std::string> lines_of_map(const SmallMap& map, std::size_t width,
                                      const MapScale& scale) {
  std::vector<std::string> lines = {padded(map.caption, width)};
  for (Index r = 0; r < map.rows && !map.weights.empty(); r += scale.queries) {
    std::string line;
    if (scale.label > 0) {
      line = padded(join(label_of(map.queries[r]), ""), scale.label - 1, true) + " ";
    }
    lines.push_back(padded(line + joined(pooled_row(map, r, scale), scale.cell), width));
  }
  return lines;
}

using MapGroups = std::vector<std::pair<std::string, std::vector<SmallMap>>>;

/// Columns of one map and lines of all maps.
struct Extent {
  std::size_t width = 8, lines = 0;

  std::size_t across() const {
    return std::max<std::size_t>(1, kScreenColumns / (width + kBetween));
  }
};

Extent extent_of(const MapGroups& groups, const MapScale& scale) {
  Extent extent;
  for (const auto& [title, maps] : groups) {
    for (const SmallMap& map : maps) {
      const auto cells = static_cast<std::size_t>((map.columns + scale.keys - 1) / scale.keys);
      extent.width = std::max({extent.width, scale.label + cells * scale.cell,
                               std::min<std::size_t>(16, display_width(map.caption))});
    }
  }
  for (const auto& [title, maps] : groups) {
    Index rows = 0;
    for (const SmallMap& map : maps) rows = std::max(rows, map.rows);
    const Index lines = (rows + scale.queries - 1) / scale.queries;
    const std::size_t blocks = (maps.size() + extent.across() - 1) / extent.across();
    extent.lines += 1 + blocks * static_cast<std::size_t>(2 + lines);
  }
  return extent;
}

/// Returns the number of queries or keys of the largest map.
Index largest_side(const MapGroups& groups) {
  Index largest = 1;
  for (const auto& [title, maps] : groups) {
    for (const SmallMap& map : maps) largest = std::max({largest, map.rows, map.columns});
  }
  return largest;
}

/// Returns the scale that gives each query a line with its token; none if the maps do not name
/// their queries, or if there are too many of them for the screen.
std::optional<MapScale> named_scale(const MapGroups& groups) {
  MapScale scale{.queries = 1, .keys = 1, .cell = 2};
  for (const auto& [title, maps] : groups) {
    for (const SmallMap& map : maps) {
      if (std::ssize(map.queries) != map.rows) return std::nullopt;
      scale.label = std::max(scale.label, widths_of(map.queries).first + 1);
    }
  }
  if (extent_of(groups, scale).width > kScreenColumns) scale.cell = 1;
  const Extent extent = extent_of(groups, scale);
  const bool is_short = largest_side(groups) <= kFewQueries || extent.lines <= kScreenLines;
  if (scale.label <= 1 || extent.width > kScreenColumns || !is_short) return std::nullopt;
  return scale;
}

/// Returns a scale that fits on the screen.
MapScale pooled_scale(const MapGroups& groups) {
  Index pool = 1;
  const auto extent = [&] { return extent_of(groups, {.queries = 2 * pool, .keys = pool}); };
  const Index largest = largest_side(groups);
  while (extent().lines > kScreenLines && largest / pool > 8) pool *= 2;
  while (extent().width > kScreenColumns) pool *= 2;
  return {.queries = 2 * pool, .keys = pool};
}

/// Returns the lines of the maps next to each other, `width` columns for each map. A map that is
/// lower than the highest one ends in blank lines.
std::string side_by_side(std::span<const SmallMap> maps, std::size_t width, const MapScale& scale) {
  std::vector<std::vector<std::string>> columns;
  std::size_t height = 0;
  for (const SmallMap& map : maps) {
    columns.push_back(lines_of_map(map, width, scale));
    height = std::max(height, columns.back().size());
  }
  std::string out;
  for (std::size_t line = 0; line < height; ++line) {
    std::string row;
    for (const auto& lines : columns) {
      row += (line < lines.size() ? lines[line] : std::string(width, ' ')) +
             std::string(kBetween, ' ');
    }
    out += trimmed_line(std::move(row));
  }
  return out;
}

}  // namespace

std::string small_maps(const MapGroups& groups) {
  const std::optional<MapScale> named = named_scale(groups);
  const MapScale scale = named ? *named : pooled_scale(groups);
  const Extent extent = extent_of(groups, scale);
  const std::size_t across = extent.across();
  std::string out;
  for (const auto& [title, maps] : groups) {
    out += title + "\n";
    for (std::size_t first = 0; first < maps.size(); first += across) {
      const auto row = std::span(maps).subspan(first, std::min(across, maps.size() - first));
      out += side_by_side(row, extent.width, scale) + "\n";
    }
  }
  if (named) return out + "a row for each query, with its token; a column for each key\n";
  return out + text("each cell is the largest weight of ", scale.queries, " queries x ", scale.keys,
                    " keys\n");
}

std::string token_matrix_text(const Tensor& matrix, const std::vector<std::string>& rows,
                              const std::vector<std::string>& columns, Index k,
                              const HeatmapOptions& options) {
  const Index V = std::ssize(rows);
  const Index N = std::ssize(columns);
  const Index W = matrix.size(1);
  require(matrix.size(0) == V && W % N == 0 && k >= 0 && k < W / N,
          "cannot draw a heatmap: a matrix ", matrix.shape(), " has no block ", k, " of ", V,
          " rows and ", N, " columns");
  std::vector<Scalar> shades;
  for (Index i = 0; i < V; ++i) {
    const Scalar* row = matrix.data() + i * W + k * N;
    const Scalar largest = *std::max_element(row, row + N);
    for (Index j = 0; j < N; ++j) {
      shades.push_back(largest > 0 ? std::max(Scalar{0}, row[j] / largest) : 0);
    }
  }
  return heatmap(shades, rows, columns, options);
}

}  // namespace headlab
