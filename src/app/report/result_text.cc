// Results as text: each table with its title, the meanings of its columns and its note, then the
// figures as shades.
// Read next: text_table.cc, which lays out a table.
#include "headlab/app/report/result_text.h"

#include <algorithm>

#include "app/report/shown_columns.h"
#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/results/words.h"

namespace headlab {
namespace {

/// Returns whether text has the column: in the rows, or in one of the grids that are shown instead.
bool is_seen(const Table& table, std::size_t c) {
  const bool in_grids = std::ranges::count(table.grids, table.columns[c].key, &Grid::cell) > 0;
  return (table.grids.empty() || in_grids) && !is_hidden(table, c);
}

/// Returns titles and meanings of the columns, each as "lift: how far ...".
std::vector<std::string> legend_of(const Table& table) {
  std::vector<std::string> parts;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const Column& column = table.columns[c];
    if (column.in_legend && !column.meaning.empty() && is_seen(table, c)) {
      parts.push_back(column.title + ": " + column.meaning);
    }
  }
  return parts;
}

/// Returns each line of `words`, folded; each line after the first begins with `indent`.
std::string folded(const std::string& words, std::size_t width, const std::string& indent = "") {
  if (words.empty()) {
    return "";
  }
  std::string out;
  for (const std::string_view line : split(words, '\n')) {
    out += wrapped(std::string(line), indent, width);
  }
  return out;
}

std::string legend_text(const Table& table, Legend legend, std::size_t width) {
  if (legend == Legend::none) {
    return "";
  }
  return folded(join(legend_of(table), "\n"), width, "  ");
}

std::string figure_text(const Figure& figure, const HeatmapOptions& options) {
  std::size_t columns = 0;
  double most = 0;
  for (const std::vector<double>& row : figure.values) {
    columns = std::max(columns, row.size());
    for (const double value : row) {
      most = std::max(most, value);
    }
  }
  if (!(most > 0)) {
    return "";
  }
  std::vector<Scalar> shades;
  for (const std::vector<double>& row : figure.values) {
    for (const double value : row) {
      shades.push_back(static_cast<Scalar>(std::max(0.0, value) / most));
    }
    shades.resize(shades.size() + columns - row.size());
  }
  const std::string title = text(figure.title, "; 1.00 is ", significant(most));
  return "\n" + folded(title, options.width) + "\n" +
         heatmap(shades, counted(figure.values.size()), counted(columns), options);
}

/// Collects tables, with an empty line between them.
class TablesText {
 public:
  TablesText(std::size_t width, Legend legend) : width_(width), legend_(legend) {}

  void add(const Table& table) {
    const std::string explained = legend_text(table, legend_, width_) + folded(table.note, width_);
    if (table.grids.empty()) {
      add_rows(table);
    } else {
      begin(table.title);
      for (const Grid& grid : table.grids) {
        add_grid(grid_table(table, grid));
      }
    }
    if (!explained.empty()) {
      text_ += "\n" + explained;
    }
  }

  const TonedText& text() const { return text_; }

 private:
  void begin(const std::string& title) {
    text_ += text_.empty() ? "" : "\n";
    text_ += folded(title, width_);
  }

  void add_rows(const Table& table) {
    begin(table.title);
    text_ += table.title.empty() ? "" : "\n";
    text_ += table.rows.empty() ? "none\n" : toned_text_of(table, width_);
  }

  void add_grid(const Table& grid) {
    if (!grid.rows.empty()) {
      add_rows(grid);
    }
  }

  std::size_t width_;
  Legend legend_;
  TonedText text_;
};

}  // namespace

TonedText toned_text_of(const Result& result, const HeatmapOptions& options, Legend legend) {
  TablesText tables(options.width, legend);
  for (const Table& table : result.tables) {
    if (table.shown && !std::ranges::all_of(table.columns, &Column::is_hidden)) {
      tables.add(table);
    }
  }
  TonedText out = tables.text();
  for (const Figure& figure : result.figures) {
    out += figure_text(figure, options);
  }
  return out;
}

std::string text_of(const Result& result, const HeatmapOptions& options, Legend legend) {
  return toned_text_of(result, options, legend).words();
}

}  // namespace headlab
