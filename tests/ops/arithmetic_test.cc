// Elementwise arithmetic against plain loops, for every way that two shapes can broadcast.
#include "headlab/core/ops/arithmetic.h"

#include "support/tensors.h"

namespace headlab { namespace {

struct Shapes {
  Shape a, b;
};

/// The element of x that broadcasts to place `at` of `output`.
Scalar broadcast_element(const Tensor& x, const Shape& output, Index at) {
  Index place = 0, step = 1;
  for (int axis = 1; axis <= output.rank(); ++axis) {
    const Index coordinate = at % output[-axis];
    at /= output[-axis];
    if (axis <= x.rank()) {
      place += (x.size(-axis) == 1 ? 0 : coordinate) * step;
      step *= x.size(-axis);
    }
  }
  return x.data()[place];
}

class Broadcasts : public testing::TestWithParam<Shapes> {};

TEST_P(Broadcasts, LikeNumPy) {
  // Numbers of its own: memory that is used again still holds the results of other shapes.
  const Key key = Key{1}.fold(text(GetParam().a, GetParam().b));
  const Tensor a = random_tensor(GetParam().a, key, 1, 2);
  const Tensor b = random_tensor(GetParam().b, key.fold(1), 1, 2);
  const Shape output = broadcast_shape("test", a.shape(), b.shape());
  const Tensor plus = a + b, minus = a - b, times = a * b, over = a / b;
  for (const Tensor* y : {&plus, &minus, &times, &over}) ASSERT_EQ(y->shape(), output);
  for (Index i = 0; i < output.count(); ++i) {
    const Scalar x = broadcast_element(a, output, i), y = broadcast_element(b, output, i);
    EXPECT_EQ(plus.data()[i], x + y);
    EXPECT_EQ(minus.data()[i], x - y);
    EXPECT_EQ(times.data()[i], x * y);
    EXPECT_EQ(over.data()[i], x / y);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Broadcasts,
                         testing::Values(Shapes{{2, 3}, {2, 3}}, Shapes{{2, 3}, {3}},
                                         Shapes{{3}, {2, 3}}, Shapes{{}, {2, 3}}, Shapes{{}, {}},
                                         Shapes{{4, 1}, {1, 5}}, Shapes{{2, 1, 3}, {4, 1}},
                                         Shapes{{2, 3, 4}, {2, 1, 1}}, Shapes{{1}, {1, 1}},
                                         Shapes{{2, 0, 3}, {3}}, Shapes{{0}, {1}},
                                         Shapes{{2, 3, 4, 5}, {3, 1, 5}},
                                         Shapes{{200, 200}, {200, 200}},
                                         Shapes{{40, 7, 90}, {7, 90}}, Shapes{{40, 7, 90}, {}}));

TEST(Arithmetic, AddsTheGradientOfPositionsOverTheBatch) {
  const Tensor x = random_leaf({40, 7, 90}, Key{1}), positions = random_leaf({7, 90}, Key{2});
  const Tensor dy = random_tensor(x.shape(), Key{3}, -1, 1);
  backward(x + positions, dy);
  for (Index i = 0; i < x.count(); ++i) ASSERT_EQ(x.grad().data()[i], dy.data()[i]);
  for (Index i = 0; i < positions.count(); ++i) {
    Scalar sum = 0;
    for (Index b = 0; b < 40; ++b) sum += dy.data()[b * positions.count() + i];
    ASSERT_EQ(positions.grad().data()[i], sum);
  }
}

TEST(Arithmetic, NamesTheOpAndBothShapesThatDoNotFit) {
  const Tensor a = Tensor::zeros({2, 3}), b = Tensor::zeros({2, 4});
  expect_error([&] { a + b; }, {"add", "[2, 3]", "[2, 4]", "axis -1"});
  expect_error([&] { a - b; }, {"sub", "[2, 3]", "[2, 4]"});
  expect_error([&] { a* b; }, {"mul", "[2, 3]", "[2, 4]"});
  expect_error([&] { a / b; }, {"div", "[2, 3]", "[2, 4]"});
}

TEST(Arithmetic, SumsTheGradientOfARepeatedInputBackToItsShape) {
  const Tensor a = random_leaf({2, 3, 4}, Key{1}), b = random_leaf({3, 1}, Key{2});
  backward(a * b, Tensor::full({2, 3, 4}, 1));
  ASSERT_EQ(b.grad().shape(), (Shape{3, 1}));
  for (Index row = 0; row < 3; ++row) {
    double sum = 0;
    for (Index i = 0; i < 2; ++i)
      for (Index j = 0; j < 4; ++j) sum += a.data()[(i * 3 + row) * 4 + j];
    EXPECT_NEAR(b.grad().data()[row], sum, 8 * 8 * kEpsilon);
  }
}

TEST(Arithmetic, GivesAQuotientTheSlopesOfItsParts) {
  const Tensor a = Tensor::of({2}, {3, -6}), b = Tensor::of({2}, {2, 4});
  for (Tensor x : {a, b}) x.set_requires_grad();
  backward(a / b, Tensor::full({2}, 1));
  EXPECT_EQ(numbers(a.grad()), (std::vector<double>{0.5, 0.25}));     // 1 / b
  EXPECT_EQ(numbers(b.grad()), (std::vector<double>{-0.75, 0.375}));  // -a / b^2
}

TEST(Arithmetic, GivesAnInputThatRepeatsNoTimesAGradientOfZero) {
  const Tensor a = random_leaf({0, 3}, Key{1}), b = random_leaf({3}, Key{2});
  backward(a + b, Tensor::zeros({0, 3}));
  EXPECT_EQ(numbers(b.grad()), std::vector<double>(3, 0));
}

TEST(Arithmetic, KnowsScalarsOnBothSides) {
  const Tensor x = Tensor::of({2}, {2, 4});
  const Scalar two = 2;
  EXPECT_EQ(numbers(x + two), (std::vector<double>{4, 6}));
  EXPECT_EQ(numbers(two + x), (std::vector<double>{4, 6}));
  EXPECT_EQ(numbers(x - two), (std::vector<double>{0, 2}));
  EXPECT_EQ(numbers(two - x), (std::vector<double>{0, -2}));
  EXPECT_EQ(numbers(x * two), (std::vector<double>{4, 8}));
  EXPECT_EQ(numbers(x / two), (std::vector<double>{1, 2}));
  EXPECT_EQ(numbers(-x), (std::vector<double>{-2, -4}));
  EXPECT_EQ(numbers(affine(x, 3, 1)), (std::vector<double>{7, 13}));
}

TEST(Arithmetic, LeavesItsInputsAlone) {
  const Tensor a = Tensor::of({2}, {1, 2}), b = Tensor::of({2}, {3, 4});
  const Tensor sum = a + b;
  EXPECT_EQ(numbers(a), (std::vector<double>{1, 2}));
  EXPECT_NE(sum.data(), a.data());
}

}  // namespace
}  // namespace headlab
