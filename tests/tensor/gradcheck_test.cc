// The gradient check itself: it passes what is right, names what is wrong, and leaves inputs as
// they were.
#include "headlab/lab/checks/gradcheck.h"

#include "headlab/core/ops/ops.h"
#include "support/tensors.h"

namespace headlab { namespace {

/// x^2 with a derivative that is wrong at one element.
Tensor wrong_square(const Tensor& x) {
  return record("wrong_square", (x * x).detach(), {x}, [](Node& node) {
    Scalar* dx = node.sum_into(0);
    for (Index i = 0; i < node.count(); ++i)
      dx[i] += node.gradient()[i] * node.input(0).data()[i] * Scalar(i == 2 ? 3 : 2);
  });
}

TEST(Gradcheck, PassesARightGradient) {
  const auto result = gradcheck([](const auto& x) { return x[0] * x[1]; },
                                {random_tensor({2, 3}, Key{1}), random_tensor({3}, Key{2})});
  EXPECT_TRUE(result.passed) << result.sentence();
  EXPECT_EQ(result.elements, 9);
  EXPECT_EQ(result.op, "mul");
}

/// A step that is lost in the rounding of a large number measures nothing.
TEST(Gradcheck, TakesLongerStepsFromLargeNumbers) {
  const auto result = gradcheck([](const auto& x) { return x[0] * x[0]; },
                                {Tensor::of({2}, {Scalar(1e6), Scalar(-1e6)})});
  EXPECT_TRUE(result.passed) << result.sentence();
}

TEST(Gradcheck, NamesTheElementThatIsWrong) {
  const auto result = gradcheck([](const auto& x) { return wrong_square(x[0] * Scalar{1}) + x[1]; },
                                {random_tensor({4}, Key{1}, 1, 2), random_tensor({4}, Key{2})});
  EXPECT_FALSE(result.passed);
  EXPECT_EQ(result.input, 0);
  EXPECT_EQ(result.index, 2);
  EXPECT_NEAR(result.analytic, 1.5 * result.numeric, 0.1);
  EXPECT_EQ(result.sentence().find("add: input 0, index 2: numeric "), 0u) << result.sentence();
}

TEST(Gradcheck, ChecksOnlyInputsThatRequireAGradientIfAnyDoes) {
  const auto result = gradcheck([](const auto& x) { return x[0] * x[1]; },
                                {random_leaf({3}, Key{1}), random_tensor({3}, Key{2})});
  EXPECT_EQ(result.elements, 3);
}

TEST(Gradcheck, LeavesTheInputsAsTheyWere) {
  const Tensor x = random_leaf({5}, Key{1});
  const std::vector<double> before = numbers(x);
  gradcheck([](const auto& inputs) { return exp(inputs[0]); }, {x});
  EXPECT_EQ(numbers(x), before);
}

TEST(Gradcheck, FailsWhereAGradientIsNoNumber) {
  const auto result = gradcheck(
      [](const auto& x) {
        return record("nan", (x[0] * Scalar{2}).detach(), {x[0]}, [](Node& node) {
          std::fill_n(node.sum_into(0), node.count(), std::numeric_limits<Scalar>::quiet_NaN());
        });
      },
      {random_tensor({2}, Key{1})});
  EXPECT_FALSE(result.passed);
}

}  // namespace
}  // namespace headlab
