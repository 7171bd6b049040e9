// The Hungarian method against every assignment there is.
#include "headlab/lab/heads/weights/matrix.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "headlab/core/base/random.h"
#include "support/tensors.h"

namespace headlab { namespace {

/// The largest sum that any assignment reaches: all orders of the longer side are tried.
double best_by_force(Index rows, Index columns, const std::vector<double>& values) {
  const Index many = std::max(rows, columns), few = std::min(rows, columns);
  std::vector<Index> order(static_cast<std::size_t>(many));
  std::iota(order.begin(), order.end(), Index{0});
  double best = -1e300;
  do {
    double sum = 0;
    for (Index i = 0; i < few; ++i) {
      const Index other = order[static_cast<std::size_t>(i)];
      sum += values[static_cast<std::size_t>(rows <= columns ? i * columns + other
                                                             : other * columns + i)];
    }
    best = std::max(best, sum);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(BestAssignment, HasTheLargestSumOfAll) {
  Generator random(Key{1});
  for (int trial = 0; trial < 300; ++trial) {
    const Index rows = random.between(1, 6), columns = random.between(1, 6);
    std::vector<double> values;
    for (Index i = 0; i < rows * columns; ++i) {
      const double draw = random.uniform(-1, 1);
      values.push_back(trial % 2 == 0 ? draw : std::round(2 * draw));  // half of them with ties
    }
    const std::vector<Index> column_of = best_assignment(rows, columns, values);
    double sum = 0;
    std::vector<bool> taken(static_cast<std::size_t>(columns));
    Index assigned = 0;
    for (Index row = 0; row < rows; ++row) {
      const Index column = column_of[static_cast<std::size_t>(row)];
      if (column >= 0) {
        EXPECT_FALSE(taken[static_cast<std::size_t>(column)]);
        taken[static_cast<std::size_t>(column)] = true;
        sum += values[static_cast<std::size_t>(row * columns + column)];
        ++assigned;
      }
    }
    EXPECT_EQ(assigned, std::min(rows, columns));
    EXPECT_NEAR(sum, best_by_force(rows, columns, values), 1e-12) << rows << " x " << columns;
  }
}

TEST(BestAssignment, LeavesTheWorstRowsOverWhereColumnsAreFew) {
  EXPECT_EQ(best_assignment(3, 1, std::vector<double>{1, 3, 2}), (std::vector<Index>{-1, 0, -1}));
  EXPECT_EQ(best_assignment(2, 0, std::vector<double>{}), (std::vector<Index>{-1, -1}));
  EXPECT_TRUE(best_assignment(0, 2, std::vector<double>{}).empty());
}

TEST(BestAssignment, RefusesValuesWithoutASum) {
  expect_error([] { best_assignment(2, 2, std::vector<double>{1, 2, 3}); }, {"got 3"});
  expect_error([] { best_assignment(1, 2, std::vector<double>{1, std::nan("")}); }, {"finite"});
}

}  // namespace
}  // namespace headlab
