// Shortest augmenting paths: rows are added one by one, and each takes the path of least cost to a
// free column, on which earlier rows may have to move. Potentials keep all reduced costs from
// becoming negative, so the paths are found as by Dijkstra. Read next: scores.cc.
#include "headlab/heads/assignment.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "headlab/base/error.h"

namespace headlab {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The row of each column, where there are at least as many columns as rows. Both count from 1; 0:
/// no row. cost(row, column) is to be small.
template <class Cost>
std::vector<Index> rows_of_columns(Index rows, Index columns, const Cost& cost) {
  std::vector<double> row_potential(rows + 1), column_potential(columns + 1);
  std::vector<Index> row_of(columns + 1), before(columns + 1);
  for (Index row = 1; row <= rows; ++row) {
    std::vector<double> least(columns + 1, kInfinity);  // cost of the best path to each column
    std::vector<bool> done(columns + 1);
    row_of[0] = row;  // column 0 is where the new row's path begins
    Index column = 0;
    while (row_of[column] != 0) {
      done[column] = true;
      Index nearest = 0;
      double step = kInfinity;
      for (Index c = 1; c <= columns; ++c) {
        if (done[c]) continue;
        const Index r = row_of[column];
        const double reduced = cost(r, c) - row_potential[r] - column_potential[c];
        if (reduced < least[c]) least[c] = reduced, before[c] = column;
        if (least[c] < step) step = least[c], nearest = c;
      }
      for (Index c = 0; c <= columns; ++c)
        if (done[c])
          row_potential[row_of[c]] += step, column_potential[c] -= step;
        else
          least[c] -= step;
      column = nearest;
    }
    for (; column != 0; column = before[column]) row_of[column] = row_of[before[column]];
  }
  return row_of;
}

}  // namespace

std::vector<Index> best_assignment(Index rows, Index columns, std::span<const double> values) {
  require(rows >= 0 && columns >= 0 && std::ssize(values) == rows * columns, "an assignment of ",
          rows, " rows to ", columns, " columns needs as many values, got ", values.size());
  require(std::ranges::all_of(values, [](double v) { return std::isfinite(v); }),
          "an assignment needs finite values");
  std::vector<Index> column_of(rows, -1);
  const auto cost = [&](Index row, Index column) {
    return -values[(row - 1) * columns + column - 1];
  };
  if (rows <= columns) {
    const std::vector<Index> row_of = rows_of_columns(rows, columns, cost);
    for (Index column = 1; column <= columns; ++column)
      if (row_of[column] != 0) column_of[row_of[column] - 1] = column - 1;
  } else {
    const std::vector<Index> found =
        rows_of_columns(columns, rows, [&](Index column, Index row) { return cost(row, column); });
    for (Index row = 1; row <= rows; ++row) column_of[row - 1] = found[row] - 1;
  }
  return column_of;
}

}  // namespace headlab
