// Softmax, layer norm, dropout and cross-entropy: values, gradients where they are known in closed
// form, denominators, and rows at the edge.
#include "headlab/core/ops/ops.h"
#include "support/tensors.h"

namespace headlab { namespace {

using Values = std::vector<double>;
constexpr Scalar kInfinity = std::numeric_limits<Scalar>::infinity();

TEST(Softmax, IsTheShareOfEachExponential) {
  const Tensor x = random_tensor({3, 37}, Key{1}, -4, 4), y = softmax(x);
  for (Index r = 0; r < 3; ++r) {
    double total = 0;
    for (Index j = 0; j < 37; ++j) total += std::exp(static_cast<double>(x.data()[r * 37 + j]));
    for (Index j = 0; j < 37; ++j) {
      const double expected = std::exp(static_cast<double>(x.data()[r * 37 + j])) / total;
      EXPECT_NEAR(y.data()[r * 37 + j], expected, 16 * kEpsilon);
    }
  }
}

TEST(Softmax, RowsSumToOne) {
  const Tensor sums = sum(softmax(random_tensor({50, 19}, Key{2}, -30, 30)), -1);
  expect_near(numbers(sums), Values(50, 1.0), 19 * kEpsilon);
}

TEST(Softmax, DoesNotOverflow) {
  const Tensor y = softmax(Tensor::of({2, 2}, {500, 500, -500, 0}));
  expect_near(numbers(y), {0.5, 0.5, 0, 1}, kEpsilon);
}

TEST(Softmax, MaskedElementsGetZero) {
  const Tensor y = softmax(Tensor::of({2, 2}, {-kInfinity, 3, -kInfinity, -kInfinity}));
  EXPECT_EQ(numbers(y), (Values{0, 1, 0, 0}));
}

TEST(Softmax, PassesNoGradientThroughARowThatSeesNothing) {
  const Tensor x = Tensor::of({1, 2}, {-kInfinity, -kInfinity}).set_requires_grad();
  backward(sum(softmax(x) * Tensor::of({1, 2}, {1, 2})));
  EXPECT_EQ(numbers(x.grad()), (Values{0, 0}));
}

TEST(Softmax, NeedsAnAxis) {
  expect_error([] { softmax(Tensor::scalar(1)); }, {"softmax", "one axis"});
  EXPECT_EQ(softmax(Tensor::zeros({0, 3})).count(), 0);
  EXPECT_EQ(softmax(Tensor::zeros({3, 0})).count(), 0);
}

TEST(CrossEntropy, IsTheMeanOfMinusLogProbability) {
  const Tensor x = random_tensor({4, 5}, Key{3}, -2, 2);
  const Ids targets{1, -1, 4, 0};
  const Tensor log_p = log(softmax(x));
  const double expected =
      -(static_cast<double>(log_p.data()[1]) + static_cast<double>(log_p.data()[14]) +
        static_cast<double>(log_p.data()[15]));
  EXPECT_NEAR(cross_entropy(x, targets).item(), expected / 3, 16 * kEpsilon);
  EXPECT_NEAR(cross_entropy(x, targets, 10).item(), expected / 10, 16 * kEpsilon);
}

TEST(CrossEntropy, EqualLogitsGiveLogOfTheirCount) {
  EXPECT_NEAR(cross_entropy(Tensor::zeros({3, 7}), Ids{0, 3, 6}).item(), std::log(7.0),
              4 * kEpsilon);
}

TEST(CrossEntropy, GivesIgnoredRowsNoGradient) {
  const Tensor x = random_leaf({3, 4}, Key{4});
  backward(cross_entropy(x, Ids{2, -1, 0}, 8));
  const Tensor p = softmax(x);
  Values expected = numbers(p);
  expected[2] -= 1, expected[8] -= 1;
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = i / 4 == 1 ? 0 : expected[i] / 8;
  expect_near(numbers(x.grad()), expected, 4 * kEpsilon);
}

TEST(CrossEntropy, IsZeroWithoutTargets) {
  const Tensor x = random_leaf({2, 4}, Key{4});
  const Tensor loss = cross_entropy(x, Ids{-1, -1});
  EXPECT_EQ(loss.item(), 0);
  backward(loss);
  EXPECT_EQ(numbers(x.grad()), Values(8, 0));
  EXPECT_EQ(cross_entropy(Tensor::zeros({0, 4}), {}).item(), 0);
}

TEST(CrossEntropy, NamesTheFirstTargetThatCannotBe) {
  const Tensor x = Tensor::zeros({2, 4});
  expect_error(
      [&] {
        cross_entropy(x, Ids{3, 4});
      },
      {"cross_entropy", "target 4", "position 1", "[0, 4)"});
  expect_error([&] { cross_entropy(x, Ids{-2, 0}); }, {"target -2"});
  expect_error([&] { cross_entropy(x, Ids{1}); }, {"[2, 4]", "2 targets, got 1"});
}

TEST(LayerNorm, CentresAndScalesEachRow) {
  const Tensor x = random_tensor({3, 21}, Key{5}, -3, 9), gain = random_tensor({21}, Key{6});
  const Tensor bias = random_tensor({21}, Key{7}), y = layer_norm(x, gain, bias);
  for (Index r = 0; r < 3; ++r) {
    double mean = 0, variance = 0;
    for (Index j = 0; j < 21; ++j) mean += static_cast<double>(x.data()[r * 21 + j]) / 21;
    for (Index j = 0; j < 21; ++j)
      variance += std::pow(static_cast<double>(x.data()[r * 21 + j]) - mean, 2) / 21;
    for (Index j = 0; j < 21; ++j) {
      const double h =
          (static_cast<double>(x.data()[r * 21 + j]) - mean) / std::sqrt(variance + 1e-5);
      const double expected =
          h * static_cast<double>(gain.data()[j]) + static_cast<double>(bias.data()[j]);
      EXPECT_NEAR(y.data()[r * 21 + j], expected, 64 * kEpsilon);
    }
  }
}

TEST(LayerNorm, ConstantRowGivesTheBias) {
  const Tensor y = layer_norm(Tensor::full({2, 3}, 7), Tensor::full({3}, 5), Tensor::full({3}, 2));
  expect_near(numbers(y), Values(6, 2), kEpsilon);
}

TEST(LayerNorm, NamesTheShapesThatDoNotFit) {
  const Tensor x = Tensor::zeros({2, 3});
  expect_error([&] { layer_norm(x, Tensor::zeros({2}), Tensor::zeros({3})); },
               {"layer_norm", "[2, 3]", "[3]", "[2]"});
  expect_error([&] { layer_norm(Tensor::scalar(1), Tensor::scalar(1), Tensor::scalar(1)); },
               {"layer_norm", "one axis"});
}

TEST(Dropout, KeepsElementsScaledOrDropsThem) {
  const Tensor y = dropout(Tensor::full({100, 100}, 3), Scalar(0.25), Key{8});
  Index dropped = 0;
  for (Scalar value : y.values()) {
    EXPECT_TRUE(value == 0 || std::abs(value - 4) < 8 * kEpsilon) << value;
    dropped += value == 0;
  }
  // 10,000 draws with p = 1/4: standard deviation 43; six of them happen once in 10^9.
  EXPECT_NEAR(static_cast<double>(dropped), 2500, 260);
}

TEST(Dropout, DependsOnItsKeyAlone) {
  const Tensor x = Tensor::full({64}, 1);
  EXPECT_EQ(numbers(dropout(x, Scalar(0.5), Key{9})), numbers(dropout(x, Scalar(0.5), Key{9})));
  EXPECT_NE(numbers(dropout(x, Scalar(0.5), Key{9})), numbers(dropout(x, Scalar(0.5), Key{10})));
}

TEST(Dropout, ReturnsItsInputIfProbabilityIsZero) {
  const Tensor x = Tensor::full({4}, 1);
  EXPECT_EQ(dropout(x, 0, Key{}).data(), x.data());
  expect_error([&] { dropout(x, 1, Key{}); }, {"dropout", "[0, 1)", "got 1"});
  expect_error([&] { dropout(x, Scalar(-0.5), Key{}); }, {"dropout", "-0.5"});
}

}  // namespace
}  // namespace headlab
