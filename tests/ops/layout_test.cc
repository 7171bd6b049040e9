// Ops that move elements, and lookups: which element ends up where.
#include "headlab/core/ops/layout.h"

#include "core/tensor/gradient_storage.h"
#include "headlab/core/base/pool.h"
#include "headlab/core/ops/arithmetic.h"
#include "headlab/core/ops/rows.h"
#include "support/tensors.h"

namespace headlab { namespace {

using Values = std::vector<double>;

/// 0, 1, 2, ...
Tensor counting(const Shape& shape) {
  Tensor x = Tensor::empty(shape);
  for (Index i = 0; i < x.count(); ++i) x.data()[i] = static_cast<Scalar>(i);
  return x;
}

TEST(Permute, PutsAxisOrderOfIAtI) {
  const Tensor x = counting({2, 3, 4}), y = permute(x, {2, 0, 1});
  ASSERT_EQ(y.shape(), (Shape{4, 2, 3}));
  for (Index i = 0; i < 24; ++i)
    EXPECT_EQ(y.data()[i], x.data()[i / 3 % 2 * 12 + i % 3 * 4 + i / 6]);
}

TEST(Permute, IsUndoneByTheInverseOrder) {
  const Tensor x = random_tensor({2, 3, 4, 5}, Key{1});
  EXPECT_EQ(numbers(permute(permute(x, {3, 1, 0, 2}), {2, 1, 3, 0})), numbers(x));
}

TEST(Permute, NeedsEachAxisOnce) {
  const Tensor x = counting({2, 3});
  expect_error([&] { permute(x, {0, 0}); }, {"permute", "[2, 3]", "once"});
  expect_error([&] { permute(x, {0}); }, {"permute", "once"});
  expect_error([&] { permute(x, {0, 1, 0, 1, 0, 1, 0, 1, 0, 1}); }, {"permute", "once"});
  expect_error([&] { permute(x, {0, 2}); }, {"cannot use axis 2"});
}

TEST(Permute, KnowsEmptyAndRankZero) {
  EXPECT_EQ(permute(counting({0, 3}), {1, 0}).shape(), (Shape{3, 0}));
  EXPECT_EQ(permute(Tensor::scalar(4), {}).item(), 4);
}

TEST(Transpose, ExchangesTwoAxes) {
  EXPECT_EQ(numbers(transpose(counting({2, 3}))), (Values{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(transpose(counting({2, 3, 4}), 0, 2).shape(), (Shape{4, 3, 2}));
  EXPECT_EQ(numbers(transpose(counting({2, 3}), 1, 1)), (Values{0, 1, 2, 3, 4, 5}));
}

TEST(Reshape, NeedsAnEqualCount) {
  expect_error([] { reshape(counting({2, 3}), {5}); }, {"reshape", "[2, 3]", "[5]"});
}

TEST(Slice, TakesPartOfAnAxis) {
  const Tensor x = counting({2, 4, 2});
  EXPECT_EQ(numbers(slice(x, 1, 1, 3)), (Values{2, 3, 4, 5, 10, 11, 12, 13}));
  EXPECT_EQ(numbers(slice(x, -1, 1, 2)), (Values{1, 3, 5, 7, 9, 11, 13, 15}));
  EXPECT_EQ(slice(x, 1, 2, 2).shape(), (Shape{2, 0, 2}));
}

TEST(Slice, StaysInsideTheAxis) {
  const Tensor x = counting({2, 4});
  expect_error([&] { slice(x, 1, 2, 5); }, {"slice", "[2, 5)", "axis 1", "[2, 4]"});
  expect_error([&] { slice(x, 1, -1, 2); }, {"slice", "[-1, 2)"});
  expect_error([&] { slice(x, 1, 3, 2); }, {"slice", "[3, 2)"});
  expect_error([&] { slice(x, 2, 0, 1); }, {"cannot use axis 2"});
}

TEST(Slice, PutsItsGradientWhereItCameFrom) {
  const Tensor x = counting({5}).set_requires_grad();
  backward(sum(slice(x, 0, 1, 3)) + sum(slice(x, 0, 2, 4) * Scalar{10}));
  EXPECT_EQ(numbers(x.grad()), (Values{0, 1, 11, 10, 0}));
}

TEST(Concat, IsUndoneBySlices) {
  const Tensor a = random_tensor({2, 1, 3}, Key{1}), b = random_tensor({2, 4, 3}, Key{2});
  const Tensor none = Tensor::zeros({2, 0, 3});
  const Tensor y = concat({a, none, b}, 1);
  ASSERT_EQ(y.shape(), (Shape{2, 5, 3}));
  EXPECT_EQ(numbers(slice(y, 1, 0, 1)), numbers(a));
  EXPECT_EQ(numbers(slice(y, -2, 1, 5)), numbers(b));
}

TEST(Concat, NamesTheShapesThatDoNotFit) {
  const Tensor a = counting({2, 3});
  expect_error([&] { concat({a, counting({2, 3, 1})}, 0); }, {"concat", "[2, 3]", "[2, 3, 1]"});
  expect_error([&] { concat({a, counting({2, 4})}, 0); }, {"concat", "[2, 4]", "axis 0"});
  expect_error([&] { concat(std::span<const Tensor>{}, 0); }, {"concat", "at least one"});
}

TEST(Embedding, TakesTheRowOfEachId) {
  const Tensor table = counting({4, 2});
  const Tensor y = embedding(table, Ids{3, 0, 3, 1}, {2, 2});
  EXPECT_EQ(y.shape(), (Shape{2, 2, 2}));
  EXPECT_EQ(numbers(y), (Values{6, 7, 0, 1, 6, 7, 2, 3}));
}

TEST(Embedding, AddsTheGradientsOfAnIdThatComesTwice) {
  const Tensor table = counting({4, 2}).set_requires_grad();
  backward(embedding(table, Ids{3, 0, 3}, {3}), Tensor::of({3, 2}, {1, 2, 3, 4, 10, 20}));
  EXPECT_EQ(numbers(table.grad()), (Values{3, 4, 0, 0, 0, 0, 11, 22}));
}

/// A table of 2^20 elements, whose gradient is stored by rows if few are looked up.
constexpr Index kRows = Index{1} << 14, kWidth = 64;

Tensor large_table() { return Tensor::zeros({kRows, kWidth}).set_requires_grad(); }

std::size_t rows_stored(const Tensor& table) { return GradientStorage::of(table)->rows.size(); }

TEST(Embedding, StoresTheGradientOfALargeTableByRows) {
  const Tensor table = large_table();
  const Ids ids{16383, 5, 16383, 0};
  const Tensor dy = random_tensor({4, kWidth}, Key{8});
  const std::size_t before = pool_statistics().bytes_in_use;
  backward(embedding(table, ids, {4}), dy);
  EXPECT_EQ(rows_stored(table), 3u);
  EXPECT_LT(pool_statistics().bytes_in_use - before, 8 * kWidth * sizeof(Scalar));
  const Values all = numbers(table.grad());
  const Scalar* d = dy.data();
  for (Index j = 0; j < kWidth; ++j) {
    EXPECT_EQ(all[static_cast<std::size_t>(j)], d[3 * kWidth + j]);
    EXPECT_EQ(all[static_cast<std::size_t>(5 * kWidth + j)], d[kWidth + j]);
    EXPECT_EQ(all[static_cast<std::size_t>(16383 * kWidth + j)], d[j] + d[2 * kWidth + j]);
  }
  EXPECT_EQ(std::ranges::count(all, 0.0), std::ssize(all) - 3 * kWidth);
  EXPECT_EQ(rows_stored(table), 0u) << "grad() returns all rows";
}

TEST(Embedding, StoresAllRowsIfManyAreLookedUpOrATermExists) {
  const Tensor table = large_table();
  Ids many(5000);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<std::int32_t>(3 * i);
  backward(sum(embedding(table, many, {5000})));
  EXPECT_EQ(rows_stored(table), 0u) << "5,000 of 16,384";
  const Tensor other = large_table();
  const auto loss = [&] { return sum(embedding(other, Ids{7, 9}, {2})); };
  backward(loss() + loss());
  backward(loss());
  EXPECT_EQ(rows_stored(other), 0u);
  EXPECT_EQ(other.grad().data()[9 * kWidth], 3);
  EXPECT_EQ(other.grad().data()[8 * kWidth], 0);
  other.zero_grad();
  backward(loss() + sum(other));
  EXPECT_EQ(other.grad().data()[9 * kWidth], 2);
  EXPECT_EQ(other.grad().data()[8 * kWidth], 1);
}

TEST(Embedding, ComputedTableGetsTheGradientOfALeaf) {
  const Tensor table = large_table();
  backward(sum(embedding(table * Scalar{2}, Ids{7, 9, 7}, {3})));
  EXPECT_EQ(table.grad().data()[7 * kWidth], 4);
  EXPECT_EQ(table.grad().data()[9 * kWidth], 2);
}

TEST(Embedding, NamesTheFirstIdOutsideTheTable) {
  const Tensor table = counting({4, 2});
  expect_error(
      [&] {
        embedding(table, Ids{0, 4, -1}, {3});
      },
      {"embedding", "id 4", "position 1", "[0, 4)"});
  expect_error([&] { embedding(table, Ids{0, -1}, {2}); }, {"id -1"});
  expect_error([&] { embedding(table, Ids{0}, {2}); }, {"expected 2 ids, got 1"});
  expect_error([&] { embedding(counting({4}), Ids{0}, {1}); }, {"two axes", "[4]"});
  EXPECT_EQ(embedding(table, {}, {0}).shape(), (Shape{0, 2}));
}

}  // namespace
}  // namespace headlab
