// Functions of one element, against the standard library in double. Sizes straddle the lanes of
// vectors and the pieces that threads take. The float kernels err by a few units in the last place.
#include "headlab/core/ops/arithmetic.h"

#include "headlab/core/ops/rows.h"
#include "support/tensors.h"

namespace headlab { namespace {

struct Function {
  const char* name;
  Tensor (*op)(const Tensor&);
  double (*reference)(double);
  double low, high;
};

double gelu_reference(double x) {
  return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

class Elementwise : public testing::TestWithParam<Function> {};

TEST_P(Elementwise, IsTheFunctionOfEachElement) {
  for (Index n : {0, 1, 3, 7, 8, 9, 15, 16, 17, 33, 40000}) {
    const Tensor x = random_tensor({n}, Key{5}.fold(n), GetParam().low, GetParam().high);
    const Tensor y = GetParam().op(x);
    ASSERT_EQ(y.shape(), x.shape());
    for (Index i = 0; i < n; ++i) {
      const double expected = GetParam().reference(static_cast<double>(x.data()[i]));
      ASSERT_NEAR(y.data()[i], expected, 4 * kEpsilon * std::max(1.0, std::abs(expected)))
          << GetParam().name << "(" << x.data()[i] << ")";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Functions, Elementwise,
    testing::Values(Function{"exp", exp, std::exp, -20, 5}, Function{"log", log, std::log, 0.01, 9},
                    Function{"sqrt", sqrt, std::sqrt, 0, 9},
                    Function{"tanh", tanh, std::tanh, -6, 6},
                    Function{"relu", relu, [](double x) { return std::max(x, 0.0); }, -2, 2},
                    Function{"gelu", gelu, gelu_reference, -6, 6}),
    [](const auto& test) { return test.param.name; });

TEST(Relu, HasNoSlopeAtZero) {
  const Tensor x = Tensor::of({3}, {-1, 0, 2}).set_requires_grad();
  backward(sum(relu(x)));
  EXPECT_EQ(numbers(x.grad()), (std::vector<double>{0, 0, 1}));
}

TEST(Math, KeepsNaN) {
  const Tensor x = Tensor::of({1}, {std::numeric_limits<Scalar>::quiet_NaN()});
  EXPECT_TRUE(std::isnan(exp(x).item()));
  EXPECT_TRUE(std::isnan(tanh(x).item()));
  EXPECT_TRUE(std::isnan(gelu(x).item()));
}

TEST(Reduce, SumsAnyAxis) {
  const Tensor x = random_tensor({2, 3, 4}, Key{6});
  for (int axis = -3; axis < 3; ++axis) {
    const Tensor y = sum(x, axis);
    const int positive = axis < 0 ? axis + 3 : axis;
    ASSERT_EQ(y.shape(), x.shape().without(axis));
    std::vector<double> expected(static_cast<std::size_t>(y.count()), 0);
    for (Index i = 0; i < 24; ++i) {
      const Index at[3] = {i / 12, i / 4 % 3, i % 4};
      Index place = 0;
      for (int other = 0; other < 3; ++other)
        place = other == positive ? place : place * x.size(other) + at[other];
      expected[static_cast<std::size_t>(place)] += static_cast<double>(x.data()[i]);
    }
    expect_near(numbers(y), expected, 4 * 4 * kEpsilon);
  }
}

TEST(Reduce, KeepsTheAxisOnRequest) {
  const Tensor x = Tensor::of({2, 3}, {1, 2, 3, 4, 5, 9});
  EXPECT_EQ(sum(x, 1, true).shape(), (Shape{2, 1}));
  EXPECT_EQ(numbers(mean(x, 1, true)), (std::vector<double>{2, 6}));
}

TEST(Reduce, ReducesEverythingToRankZero) {
  const Tensor x = Tensor::of({2, 2}, {1, 2, 3, 6});
  EXPECT_EQ(sum(x).shape(), Shape{});
  EXPECT_EQ(sum(x).item(), 12);
  EXPECT_EQ(mean(x).item(), 3);
}

TEST(Reduce, KnowsEmptyAxes) {
  EXPECT_EQ(numbers(sum(Tensor::zeros({2, 0}), 1)), (std::vector<double>{0, 0}));
  EXPECT_EQ(sum(Tensor::zeros({0})).item(), 0);
  expect_error([] { mean(Tensor::zeros({2, 0}), 1); }, {"mean", "axis 1", "[2, 0]", "empty"});
  expect_error([] { sum(Tensor::zeros({2}), 1); }, {"cannot use axis 1", "[2]"});
}

}  // namespace
}  // namespace headlab
