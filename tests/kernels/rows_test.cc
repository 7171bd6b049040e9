// Row kernels against their formulas in double, over ragged widths and numbers of rows and threads.
#include "kernels/rows.h"

#include <gtest/gtest.h>

#include "headlab/base/error.h"
#include "kernels/numbers.h"

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
  double at(const std::vector<Scalar>& values, Index row, Index j) const {
    return static_cast<double>(values[static_cast<std::size_t>(row * n + j)]);
  }
  double log_sum_exp(Index row) const {
    double sum = 0;
    for (Index j = 0; j < n; ++j) sum += std::exp(at(x, row, j));
    return std::log(sum);
  }
  /// Sum over j of f(j).
  template <class F>
  double sum(F f) const {
    double total = 0;
    for (Index j = 0; j < n; ++j) total += f(j);
    return total;
  }
  /// Every element is f(row, j) within 16 epsilon of numbers up to 16, for sums of n terms.
  template <class F>
  void expect_rows(const std::vector<Scalar>& values, F f, double factor = 1) const {
    const double bound = 16 * kEpsilon * factor * (4 + std::sqrt(static_cast<double>(n)));
    for (Index row = 0; row < rows; ++row)
      for (Index j = 0; j < n; ++j)
        ASSERT_NEAR(at(values, row, j), f(row, j), bound) << row << ' ' << j;
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

TEST_P(Rows, SoftmaxForward) {
  softmax_forward(rows, n, x.data(), y.data());
  expect_rows(y, [&](Index row, Index j) { return std::exp(at(x, row, j) - log_sum_exp(row)); });
}

TEST_P(Rows, SoftmaxBackwardSetsAndAdds) {
  softmax_forward(rows, n, x.data(), y.data());
  const auto slope = [&](Index row, Index j) {
    const double dot = sum([&](Index i) { return at(y, row, i) * at(dy, row, i); });
    return at(y, row, j) * (at(dy, row, j) - dot);
  };
  softmax_backward({rows, n, y.data(), dy.data(), {dx.data(), true}});
  expect_rows(dx, [&](Index row, Index j) { return at(old_dx, row, j) + slope(row, j); });
  softmax_backward({rows, n, y.data(), dy.data(), {dx.data(), false}});
  expect_rows(dx, slope);
}

TEST_P(Rows, LogSoftmaxForwardAndBackward) {
  log_softmax_forward(rows, n, x.data(), y.data());
  expect_rows(y, [&](Index row, Index j) { return at(x, row, j) - log_sum_exp(row); });
  const auto slope = [&](Index row, Index j) {
    return at(dy, row, j) - std::exp(at(y, row, j)) * sum([&](Index i) { return at(dy, row, i); });
  };
  log_softmax_backward({rows, n, y.data(), dy.data(), {dx.data(), true}});
  expect_rows(dx, [&](Index row, Index j) { return at(old_dx, row, j) + slope(row, j); });
  log_softmax_backward({rows, n, y.data(), dy.data(), {dx.data(), false}});
  expect_rows(dx, slope);
}

/// Layer norm of one shape, in double.
class LayerNormRows : public Rows {
 protected:
  static constexpr double kEps = 1e-5;
  std::vector<Scalar> gain = numbers(n, 4);
  std::vector<Scalar> bias = numbers(n, 5);
  std::vector<Scalar> mean = numbers(rows, 6);
  std::vector<Scalar> rstd = numbers(rows, 7);

  std::vector<double> true_mean;
  std::vector<double> true_rstd;

  void SetUp() override {
    for (Index row = 0; row < rows; ++row) {
      const double count = static_cast<double>(n);
      const double m = sum([&](Index j) { return at(x, row, j); }) / count;
      const double squares = sum([&](Index j) { return std::pow(at(x, row, j) - m, 2); });
      true_mean.push_back(m);
      true_rstd.push_back(1 / std::sqrt(squares / count + kEps));
    }
  }
  double h(Index row, Index j) const {
    return (at(x, row, j) - true_mean[static_cast<std::size_t>(row)]) *
           true_rstd[static_cast<std::size_t>(row)];
  }
  double g(Index row, Index j) const { return at(dy, row, j) * at(gain, 0, j); }
  void forward() {
    layer_norm_forward({rows, n, Scalar(kEps), x.data(), gain.data(), bias.data(), y.data(),
                        mean.data(), rstd.data()});
  }
};

INSTANTIATE_TEST_SUITE_P(Shapes, LayerNormRows,
                         testing::Values(Shape{1, 2}, Shape{3, 7}, Shape{33, 16}, Shape{31, 17},
                                         Shape{70, 65}, Shape{2, 1000}, Shape{300, 9}));

TEST_P(LayerNormRows, Forward) {
  forward();
  // Rows of two numbers may lie close together: then rstd is large, and so are the errors.
  expect_rows(
      y, [&](Index row, Index j) { return h(row, j) * at(gain, 0, j) + at(bias, 0, j); }, 4);
}

TEST_P(LayerNormRows, BackwardSetsOrAddsDxAndAddsTheParameters) {
  forward();
  std::vector<Scalar> dgain(gain.size(), 1);
  std::vector<Scalar> dbias(gain.size(), 2);
  LayerNormBackward problem{rows,        n,         x.data(),          gain.data(),  mean.data(),
                            rstd.data(), dy.data(), {dx.data(), true}, dgain.data(), dbias.data()};
  layer_norm_backward(problem);
  std::vector<double> mean_g;
  std::vector<double> mean_gh;
  for (Index row = 0; row < rows; ++row) {
    const double count = static_cast<double>(n);
    mean_g.push_back(sum([&](Index j) { return g(row, j); }) / count);
    mean_gh.push_back(sum([&](Index j) { return g(row, j) * h(row, j); }) / count);
  }
  const auto slope = [&](Index row, Index j) {
    const auto r = static_cast<std::size_t>(row);
    return true_rstd[r] * (g(row, j) - mean_g[r] - h(row, j) * mean_gh[r]);
  };
  expect_rows(
      dx, [&](Index row, Index j) { return at(old_dx, row, j) + slope(row, j); }, 4);
  for (Index j = 0; j < n; ++j) {
    double expected_gain = 1;
    double expected_bias = 2;
    for (Index row = 0; row < rows; ++row) {
      expected_gain += at(dy, row, j) * h(row, j);
      expected_bias += at(dy, row, j);
    }
    const double bound = 32 * kEpsilon * static_cast<double>(rows + 4);
    EXPECT_NEAR(at(dgain, 0, j), expected_gain, bound);
    EXPECT_NEAR(at(dbias, 0, j), expected_bias, bound);
  }
  problem.dx.accumulate = false;
  problem.dgain = problem.dbias = nullptr;
  layer_norm_backward(problem);
  expect_rows(dx, slope, 4);
}

TEST_P(Rows, CrossEntropyForwardAndBackwardIgnoreTargetMinusOne) {
  std::vector<std::int32_t> targets;
  for (Index row = 0; row < rows; ++row)
    targets.push_back(row % 5 == 2 ? -1 : static_cast<std::int32_t>(row % n));
  std::vector<Scalar> losses(targets.size(), 9);
  std::vector<Scalar> lse(targets.size(), 9);
  cross_entropy_forward({rows, n, x.data(), targets.data(), losses.data(), lse.data()});
  const double bound = 64 * kEpsilon;
  for (std::size_t row = 0; row < targets.size(); ++row) {
    const auto r = static_cast<Index>(row);
    const double loss = targets[row] < 0 ? 0 : log_sum_exp(r) - at(x, r, targets[row]);
    EXPECT_NEAR(static_cast<double>(losses[row]), loss, bound);
    EXPECT_NEAR(static_cast<double>(lse[row]), targets[row] < 0 ? 0 : log_sum_exp(r), bound);
  }
  const auto slope = [&](Index row, Index j) {
    const std::int32_t target = targets[static_cast<std::size_t>(row)];
    return target < 0 ? 0 : .5 * (std::exp(at(x, row, j) - log_sum_exp(row)) - (j == target));
  };
  CrossEntropyBackward problem{rows,       n,          x.data(),         targets.data(),
                               lse.data(), Scalar(.5), {dx.data(), true}};
  cross_entropy_backward(problem);
  expect_rows(dx, [&](Index row, Index j) { return at(old_dx, row, j) + slope(row, j); });
  problem.dx.accumulate = false;
  cross_entropy_backward(problem);
  expect_rows(dx, slope);
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
