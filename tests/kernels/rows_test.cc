// Row kernels against their plain versions, over ragged widths and numbers of rows and threads.
#include "core/kernels/rows.h"

#include <gtest/gtest.h>

#include "headlab/core/base/error.h"
#include "kernels/numbers.h"
#include "kernels/plain.h"

namespace headlab { namespace {

/// Shapes around vectors, blocks of 32 rows and tasks of many rows.
struct Shape {
  Index rows, n;
};
class Rows : public testing::TestWithParam<Shape> {
 protected:
  Index rows = GetParam().rows;
  Index n = GetParam().n;
  std::vector<Scalar> x = scaled(numbers(rows * n, 1), 5);
  std::vector<Scalar> dy = numbers(rows * n, 2);
  std::vector<Scalar> y = std::vector<Scalar>(x.size());
  std::vector<Scalar> dx = numbers(rows * n, 3);
  std::vector<Scalar> old_dx = dx;

  static std::vector<Scalar> scaled(std::vector<Scalar> values, Scalar factor) {
    for (Scalar& value : values) value *= factor;
    return values;
  }
  Row row_of(const std::vector<Scalar>& values, Index row) const {
    return {values.begin() + row * n, values.begin() + (row + 1) * n};
  }
  /// Every row is f(row), on top of `before` if that is given, within 16 epsilon of numbers up to
  /// 16, for sums of n terms.
  template <class F>
  void expect_rows(const std::vector<Scalar>& values, F f, double factor = 1,
                   const std::vector<Scalar>* before = nullptr) const {
    const double bound = 16 * kEpsilon * factor * (4 + std::sqrt(static_cast<double>(n)));
    for (Index row = 0; row < rows; ++row) {
      const Row got = row_of(values, row), expected = f(row);
      for (std::size_t j = 0; j < got.size(); ++j)
        ASSERT_NEAR(got[j], expected[j] + (before ? row_of(*before, row)[j] : 0), bound)
            << row << ' ' << j;
    }
  }
  /// A backward kernel, which sets dx or adds to it, gives the slopes f(row).
  template <class Problem, class F>
  void expect_slopes(void (*backward)(const Problem&), Problem problem, F f, double factor = 1) {
    problem.dx = {dx.data(), true};
    backward(problem);
    expect_rows(dx, f, factor, &old_dx);
    problem.dx.accumulate = false;
    backward(problem);
    expect_rows(dx, f, factor);
  }
};

INSTANTIATE_TEST_SUITE_P(Shapes, Rows,
                         testing::Values(Shape{0, 5}, Shape{1, 1}, Shape{3, 2}, Shape{5, 7},
                                         Shape{4, 15}, Shape{33, 16}, Shape{31, 17}, Shape{32, 31},
                                         Shape{65, 32}, Shape{3, 33}, Shape{70, 65}, Shape{2, 1000},
                                         Shape{3000, 9}),
                         [](const auto& shape) {
                           return std::to_string(shape.param.rows) + "x" +
                                  std::to_string(shape.param.n);
                         });

TEST_P(Rows, Softmax) {
  softmax_forward(rows, n, x.data(), y.data());
  expect_rows(y, [&](Index row) { return softmax_plain(row_of(x, row)); });
  expect_slopes(softmax_backward, {rows, n, y.data(), dy.data(), {}},
                [&](Index row) { return softmax_backward_plain(row_of(y, row), row_of(dy, row)); });
}

class LayerNormRows : public Rows {
 protected:
  static constexpr double kEps = 1e-5;
  std::vector<Scalar> gain = numbers(n, 4), bias = numbers(n, 5);
  std::vector<Scalar> mean = numbers(rows, 6), rstd = numbers(rows, 7);

  LayerNormRow plain(Index row) const {
    return {row_of(x, row), row_of(gain, 0), row_of(bias, 0), kEps};
  }
};

INSTANTIATE_TEST_SUITE_P(Shapes, LayerNormRows,
                         testing::Values(Shape{1, 2}, Shape{3, 7}, Shape{33, 16}, Shape{31, 17},
                                         Shape{70, 65}, Shape{2, 1000}, Shape{300, 9}));

TEST_P(LayerNormRows, ForwardAndBackward) {
  layer_norm_forward({rows, n, Scalar(kEps), x.data(), gain.data(), bias.data(), y.data(),
                      mean.data(), rstd.data()});
  // Rows of two numbers may lie close together: then rstd is large, and so are the errors.
  expect_rows(
      y, [&](Index row) { return plain(row).y; }, 4);
  LayerNormBackward problem{rows,        n,         x.data(), gain.data(), mean.data(),
                            rstd.data(), dy.data(), {},       nullptr,     nullptr};
  Row all_dgain(n, 1), all_dbias(n, 2);
  expect_slopes(
      layer_norm_backward, problem,
      [&](Index row) {
        Row dgain(n), dbias(n);
        return plain(row).backward(row_of(dy, row), dgain, dbias);
      },
      4);
  for (Index row = 0; row < rows; ++row) plain(row).backward(row_of(dy, row), all_dgain, all_dbias);
  std::vector<Scalar> dgain(n, 1), dbias(n, 2);
  problem.dgain = dgain.data(), problem.dbias = dbias.data();
  layer_norm_backward(problem);
  for (Index j = 0; j < n; ++j) {
    const double bound = 32 * kEpsilon * static_cast<double>(rows + 4);
    EXPECT_NEAR(static_cast<double>(dgain[j]), all_dgain[j], bound);
    EXPECT_NEAR(static_cast<double>(dbias[j]), all_dbias[j], bound);
  }
}

/// The squares of these rows are beyond Scalar, and with the second factor their sums too. eps does
/// not count there, so the result is that of the small rows without eps.
TEST_P(LayerNormRows, RowsWhoseSquaresOverflowGetTheirRightResult) {
  const auto largest = static_cast<double>(std::numeric_limits<Scalar>::max());
  for (const double factor : {std::sqrt(largest), largest / 16}) {
    const std::vector<Scalar> large = scaled(x, static_cast<Scalar>(factor));
    for (const bool centred : {true, false}) {
      layer_norm_forward({rows, n, Scalar(kEps), large.data(), gain.data(), bias.data(), y.data(),
                          mean.data(), rstd.data(), centred});
      expect_rows(
          y,
          [&](Index row) {
            const Row exact = row_of(x, row);
            double middle = 0, squares = 0;
            for (const double value : exact) middle += centred ? value / double(n) : 0;
            for (const double value : exact)
              squares += (value - middle) * (value - middle) / double(n);
            Row result;
            for (Index j = 0; j < n; ++j)
              result.push_back((exact[j] - middle) / std::sqrt(squares) * double(gain[j]) +
                               double(bias[j]));
            return result;
          },
          16);
      for (Index row = 0; row < rows; ++row) EXPECT_GT(rstd[row], 0);
    }
  }
}

TEST(LayerNormForward, ARowWithAnInfinityIsNaN) {
  const std::vector<Scalar> x{1, kInfinity, 2, 1, 2, 4}, gain(3, 1);
  for (const bool centred : {true, false}) {
    std::vector<Scalar> y(6), mean(2), rstd(2);
    layer_norm_forward({2, 3, Scalar(1e-5), x.data(), gain.data(), nullptr, y.data(), mean.data(),
                        rstd.data(), centred});
    for (Index j = 0; j < 3; ++j) EXPECT_TRUE(std::isnan(y[j])) << j;
    for (Index j = 3; j < 6; ++j) EXPECT_FALSE(std::isnan(y[j])) << j;
  }
}

TEST_P(Rows, CrossEntropyIgnoresTargetMinusOne) {
  std::vector<std::int32_t> targets;
  for (Index row = 0; row < rows; ++row)
    targets.push_back(row % 5 == 2 ? -1 : static_cast<std::int32_t>(row % n));
  std::vector<Scalar> losses(targets.size(), 9), lse(targets.size(), 9);
  cross_entropy_forward({rows, n, x.data(), targets.data(), losses.data(), lse.data()});
  for (Index row = 0; row < rows; ++row) {
    const std::int32_t target = targets[row];
    const double loss = cross_entropy_plain(row_of(x, row), target);
    const double log_sum_exp = target < 0 ? 0 : loss + row_of(x, row)[target];
    EXPECT_NEAR(static_cast<double>(losses[row]), loss, 64 * kEpsilon);
    EXPECT_NEAR(static_cast<double>(lse[row]), log_sum_exp, 64 * kEpsilon);
  }
  expect_slopes(cross_entropy_backward,
                CrossEntropyBackward{rows, n, x.data(), targets.data(), lse.data(), Scalar(.5), {}},
                [&](Index row) {
                  return cross_entropy_backward_plain(row_of(x, row), targets[row], .5);
                });
}

TEST(SoftmaxForward, RowsSumToOneAndHiddenNumbersGetNothing) {
  const std::vector<Scalar> x{1, -kInfinity, 3, -kInfinity, -kInfinity, -kInfinity};
  std::vector<Scalar> y(6);
  softmax_forward(2, 3, x.data(), y.data());
  EXPECT_NEAR(static_cast<double>(y[0] + y[2]), 1, 2 * kEpsilon);
  EXPECT_EQ(y[1], 0);
  EXPECT_EQ(std::vector<Scalar>(y.begin() + 3, y.end()), std::vector<Scalar>(3));
}

TEST(SoftmaxForward, KeepsTheNaNOfARowThatHoldsNoOtherNumber) {
  const Scalar nan = std::numeric_limits<Scalar>::quiet_NaN();
  const std::vector<Scalar> x{nan, nan, -kInfinity, nan, 1, nan};
  std::vector<Scalar> y(6);
  softmax_forward(3, 2, x.data(), y.data());
  EXPECT_EQ(y[2], 0);
  for (std::size_t i : {0, 1, 3, 4, 5}) EXPECT_TRUE(std::isnan(y[i])) << i;
}

TEST(SoftmaxForward, DoesNotOverflow) {
  const std::vector<Scalar> x{1000, 1000, -1000};
  std::vector<Scalar> y(3);
  softmax_forward(1, 3, x.data(), y.data());
  EXPECT_EQ(y, (std::vector<Scalar>{Scalar(.5), Scalar(.5), 0}));
}

TEST(CrossEntropy, ANaNReachesTheLoss) {
  const std::vector<Scalar> x{1, std::numeric_limits<Scalar>::quiet_NaN(), 2};
  const std::int32_t target = 0;
  Scalar loss = 0;
  Scalar lse = 0;
  cross_entropy_forward({1, 3, x.data(), &target, &loss, &lse});
  EXPECT_TRUE(std::isnan(loss));
}

TEST(ReductionsOverRows, GiveTheSameBitsForAnyNumberOfThreads) {
  const Index rows = 5000;
  const Index n = 70;
  const std::vector<Scalar> x = numbers(rows * n, 1);
  const std::vector<Scalar> rstd = numbers(rows, 2);
  const auto reduce = [&](int count) {
    const Threads threads(count);
    std::vector<Scalar> sums(2 * n);
    layer_norm_backward({rows,
                         n,
                         x.data(),
                         x.data(),
                         rstd.data(),
                         rstd.data(),
                         x.data(),
                         {},
                         sums.data(),
                         sums.data() + n});
    return sums;
  };
  const std::vector<Scalar> one = reduce(1);
  for (int count : {2, 3, 8}) EXPECT_EQ(reduce(count), one);
}

TEST(RowKernels, GiveTheSameBitsForAnyNumberOfThreads) {
  const Index rows = 700;
  const Index n = 65;
  const std::vector<Scalar> x = numbers(rows * n, 1);
  const std::vector<std::int32_t> targets(static_cast<std::size_t>(rows), 3);
  const auto run = [&](int count) {
    const Threads threads(count);
    std::vector<Scalar> y(x.size()), dx(x.size()), mean(targets.size()), rstd(targets.size());
    layer_norm_forward(
        {rows, n, Scalar(1e-5), x.data(), x.data(), x.data(), y.data(), mean.data(), rstd.data()});
    layer_norm_backward({rows,
                         n,
                         x.data(),
                         x.data(),
                         mean.data(),
                         rstd.data(),
                         y.data(),
                         {dx.data(), false},
                         nullptr,
                         nullptr});
    std::vector<Scalar> losses(targets.size()), lse(targets.size()), slopes(x.size());
    cross_entropy_forward({rows, n, x.data(), targets.data(), losses.data(), lse.data()});
    cross_entropy_backward(
        {rows, n, x.data(), targets.data(), lse.data(), 1, {slopes.data(), false}});
    return std::vector{y, dx, mean, rstd, losses, lse, slopes};
  };
  const auto one = run(1);
  for (int count : {2, 3, 8}) EXPECT_EQ(run(count), one);
}

TEST(ScatterAddRows, AddsInTheOrderOfTheRowsForAnyNumberOfThreads) {
  const Index count = 900;
  for (Index n : {1, 17, 64, 200}) {
    const std::vector<Scalar> x = numbers(count * n, 1);
    std::vector<std::int32_t> ids;
    for (Index i = 0; i < count; ++i) ids.push_back(static_cast<std::int32_t>(i * i % 7));
    std::vector<Scalar> expected(static_cast<std::size_t>(7 * n), 1);
    for (Index i = 0; i < count * n; ++i) {
      const Index row = ids[static_cast<std::size_t>(i / n)];
      expected[static_cast<std::size_t>(row * n + i % n)] += x[static_cast<std::size_t>(i)];
    }
    for (int threads_count : {1, 3}) {
      const Threads threads(threads_count);
      std::vector<Scalar> table(expected.size(), 1);
      scatter_add_rows({count, n, ids.data(), x.data(), 7, table.data()});
      EXPECT_EQ(table, expected);
    }
  }
}

TEST(ScatterAddRows, RefusesAnIdOutsideTheTable) {
  const std::vector<Scalar> x(4);
  std::vector<Scalar> table(6);
  for (std::int32_t bad : {-1, 3}) {
    const std::vector<std::int32_t> ids{0, bad};
    EXPECT_THROW(scatter_add_rows({2, 2, ids.data(), x.data(), 3, table.data()}), Error);
  }
}

}  // namespace
}  // namespace headlab
