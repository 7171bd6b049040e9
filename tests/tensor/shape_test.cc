// Shapes: sizes, axes from both ends, broadcasting, and what their errors say.
#include "headlab/core/tensor/tensor.h"

#include "support/tensors.h"

namespace headlab { namespace {

std::string printed(const Shape& shape) { return text(shape); }

TEST(Shape, RankZeroHoldsOneElement) {
  EXPECT_EQ(Shape().count(), 1);
  EXPECT_EQ(Shape().rank(), 0);
  EXPECT_EQ(printed(Shape()), "[]");
}

TEST(Shape, CountsItsElements) {
  EXPECT_EQ((Shape{2, 3, 4}).count(), 24);
  EXPECT_EQ((Shape{2, 0, 4}).count(), 0);
  EXPECT_EQ((Shape{2, 3, 4}).count(1, 3), 12);
  EXPECT_EQ((Shape{2, 3, 4}).count(1, 1), 1);
}

TEST(Shape, NumbersItsAxesFromBothEnds) {
  const Shape shape{2, 3, 4};
  EXPECT_EQ(shape[0], 2);
  EXPECT_EQ(shape[-1], 4);
  EXPECT_EQ(shape.axis_of(-3), 0);
  expect_error([&] { shape.axis_of(3); }, {"cannot use axis 3", "[2, 3, 4]"});
  expect_error([&] { shape.axis_of(-4); }, {"cannot use axis -4"});
}

TEST(Shape, MakesNewShapesFromItself) {
  const Shape shape{2, 3, 4};
  EXPECT_EQ(shape.with(1, 7), (Shape{2, 7, 4}));
  EXPECT_EQ(shape.without(-1), (Shape{2, 3}));
  EXPECT_EQ(shape.without(0), (Shape{3, 4}));
  EXPECT_EQ(shape.then(5), (Shape{2, 3, 4, 5}));
  EXPECT_EQ((Shape{2, 0}).without(1).count(), 2);
}

TEST(Shape, DiffersFromOneWithAnAxisOfSizeOneMore) { EXPECT_FALSE((Shape{2}) == (Shape{2, 1})); }

TEST(Shape, RefusesImpossibleSizes) {
  expect_error([] { Shape{2, -1}; }, {"negative size -1"});
  expect_error([] { Shape{1, 1, 1, 1, 1, 1, 1, 1, 1}; }, {"at most 8 axes", "got 9"});
  expect_error([] { Shape{Index{1} << 40, Index{1} << 40}; }, {"do not fit into memory"});
  EXPECT_EQ((Shape{0, Index{1} << 40}).count(), 0);
  expect_error([] { (Shape{1, 1, 1, 1, 1, 1, 1, 1}).then(2); }, {"at most 8 axes"});
}

TEST(Broadcasting, AlignsShapesAtTheLastAxis) {
  EXPECT_EQ(broadcast_shape("op", {2, 3}, {3}), (Shape{2, 3}));
  EXPECT_EQ(broadcast_shape("op", {}, {2, 3}), (Shape{2, 3}));
  EXPECT_EQ(broadcast_shape("op", {4, 1, 3}, {5, 1}), (Shape{4, 5, 3}));
  EXPECT_EQ(broadcast_shape("op", {1}, {0, 2}), (Shape{0, 2}));
  EXPECT_EQ(broadcast_shape("op", {1, 2}, {0, 2}), (Shape{0, 2}));
}

TEST(Broadcasting, NamesTheOpBothShapesAndTheAxis) {
  expect_error(
      [] {
        broadcast_shape("add", {2, 3}, {2, 4});
      },
      {"add", "[2, 3]", "[2, 4]", "axis -1", "3", "4"});
  expect_error([] { broadcast_shape("mul", {0}, {2}); }, {"mul", "do not broadcast"});
}

}  // namespace
}  // namespace headlab
