// Shortest augmenting paths: rows are added one by one, and each takes the way of least cost to a
// free column, on which earlier rows may have to move. Potentials keep all reduced costs from
// becoming negative, so the ways are found as by Dijkstra. Read next: scores.cc.
#include "headlab/heads/assignment.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "headlab/base/error.h"

namespace headlab {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Rows and columns count from 1; column 0 is where the row that is being added begins its way.
class Matching {
 public:
  Matching(std::size_t rows, std::size_t columns, std::span<const double> values, bool transposed)
      : columns_(columns),
        values_(values),
        row_step_(transposed ? 1 : columns),
        column_step_(transposed ? rows : 1),
        row_potential_(rows + 1),
        column_potential_(columns + 1),
        row_of_(columns + 1) {}

  void add(std::size_t row) {
    cost_.assign(columns_ + 1, kInfinity);
    before_.assign(columns_ + 1, 0);
    done_.assign(columns_ + 1, false);
    row_of_[0] = row;
    std::size_t column = 0;
    do {
      column = advance(column);
    } while (row_of_[column] != 0);
    for (; column != 0; column = before_[column]) row_of_[column] = row_of_[before_[column]];
  }
  std::size_t row_of(std::size_t column) const { return row_of_[column]; }

 private:
  double reduced(std::size_t row, std::size_t column) const {
    return -values_[(row - 1) * row_step_ + (column - 1) * column_step_] - row_potential_[row] -
           column_potential_[column];
  }

  /// Goes on from a column that has a row to the nearest one that is not done.
  std::size_t advance(std::size_t from) {
    done_[from] = true;
    std::size_t nearest = 0;
    double least = kInfinity;
    for (std::size_t column = 1; column <= columns_; ++column) {
      if (done_[column]) continue;
      if (const double cost = reduced(row_of_[from], column); cost < cost_[column])
        cost_[column] = cost, before_[column] = from;
      if (cost_[column] < least) least = cost_[column], nearest = column;
    }
    for (std::size_t column = 0; column <= columns_; ++column)
      if (done_[column])
        row_potential_[row_of_[column]] += least, column_potential_[column] -= least;
      else
        cost_[column] -= least;
    return nearest;
  }

  std::size_t columns_;
  std::span<const double> values_;
  std::size_t row_step_, column_step_;
  std::vector<double> row_potential_, column_potential_, cost_;
  std::vector<std::size_t> row_of_, before_;  // 0: free
  std::vector<bool> done_;
};

}  // namespace

std::vector<Index> best_assignment(Index rows, Index columns, std::span<const double> values) {
  require(rows >= 0 && columns >= 0 && std::ssize(values) == rows * columns, "an assignment of ",
          rows, " rows to ", columns, " columns needs as many values, got ", values.size());
  require(std::ranges::all_of(values, [](double v) { return std::isfinite(v); }),
          "an assignment needs finite values");
  std::vector<Index> column_of(rows, -1);
  const bool transposed = rows > columns;
  const std::size_t few = std::min(rows, columns), many = std::max(rows, columns);
  Matching matching(few, many, values, transposed);
  for (std::size_t row = 1; row <= few; ++row) matching.add(row);
  for (std::size_t column = 1; column <= many; ++column) {
    if (const std::size_t row = matching.row_of(column); row != 0) {
      const std::size_t other = transposed ? row : column;
      column_of[(transposed ? column : row) - 1] = static_cast<Index>(other) - 1;
    }
  }
  return column_of;
}

}  // namespace headlab
