// The columns of a table together with the functions that return their cells, typed by the row. A
// column and its cell are one line, so they cannot disagree by position; text, CSV, LaTeX, JSON and
// the page are made from the same list. A struct that is read from a file has `members` instead
// (members.h). Read next: src/lab/heads/causes/rollout.cc, a short analysis.
#pragma once

#include <concepts>
#include <functional>
#include <numeric>
#include <optional>
#include <ranges>
#include <utility>
#include <vector>

#include "headlab/core/base/mean.h"
#include "headlab/lab/results/statistics.h"
#include "headlab/lab/results/table.h"

namespace headlab {

/// Converts a value to a cell. An interval becomes the array of its mean and its ends, a mean over
/// nothing and an empty optional become null.
template <class T>
Json cell_of(const T& value) {
  return Json(value);
}
inline Json cell_of(const Interval& value) {
  return Json::Array{value.mean, value.low, value.high};
}
inline Json cell_of(const Mean& value) { return Json(value.value()); }
inline Toned cell_of(Toned value) { return value; }
template <class T>
Json cell_of(const std::optional<T>& value) {
  return value ? cell_of(*value) : Json();
}

/// Columns of a table, each with the function that returns its cell for a row.
template <class Row>
class Fields {
 public:
  using Cell = std::function<Toned(const Row&)>;

  /// Adds a column. `get` is a member of Row, or a function of a row.
  template <class Get>
  requires std::invocable<const Get&, const Row&>
  void add(Column column, Get get) {
    columns_.push_back(std::move(column));
    cells_.push_back([get](const Row& row) -> Toned { return cell_of(std::invoke(get, row)); });
  }

  /// Adds the columns of a part of each row, which `get` returns: a Part, or an optional one. The
  /// cells of an empty optional are null.
  template <class Part, class Get>
  requires std::invocable<const Get&, const Row&>
  void add_part(const Fields<Part>& part, Get get) {
    for (std::size_t i = 0; i < part.columns().size(); ++i) {
      columns_.push_back(part.columns()[i]);
      cells_.push_back([cell = part.cells()[i], get](const Row& row) {
        const std::optional<Part> found(std::invoke(get, row));
        return found ? cell(*found) : Toned(Json());
      });
    }
  }

  /// Returns `table` with these columns and a row of cells for each of `rows`.
  template <std::ranges::input_range Rows>
  Table table(Table table, const Rows& rows) const {
    table.columns = columns_;
    for (const Row& row : rows) {
      TableRow& cells = table.rows.emplace_back();
      for (const Cell& cell : cells_) cells.add(cell(row));
    }
    return table;
  }

  const std::vector<Column>& columns() const { return columns_; }
  const std::vector<Cell>& cells() const { return cells_; }

 private:
  std::vector<Column> columns_;
  std::vector<Cell> cells_;
};

/// Returns the indices 0 to count - 1, the rows of a table whose cells are at an index of several
/// lists.
inline std::vector<std::size_t> indices(std::size_t count) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

}  // namespace headlab
