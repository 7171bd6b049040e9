// Tensors: handles, shared storage, what may be asked of one that is not there, and the pool.
#include "headlab/core/tensor/tensor.h"

#include "headlab/core/base/pool.h"
#include "headlab/core/ops/ops.h"
#include "support/tensors.h"

namespace headlab { namespace {

TEST(Tensor, IsAHandleThatCopiesShare) {
  Tensor a = Tensor::of({2}, {1, 2});
  const Tensor b = a;
  a.data()[0] = 5;
  EXPECT_EQ(b.data()[0], 5);
  a = Tensor::zeros({3});
  EXPECT_EQ(b.count(), 2);
}

TEST(Tensor, CanBeMovedFrom) {
  Tensor a = Tensor::of({2}, {1, 2});
  const Tensor b = std::move(a);
  EXPECT_EQ(b.data()[1], 2);
  EXPECT_FALSE(a.defined());  // NOLINT: what a move leaves is part of the contract
}

TEST(Tensor, ViewsShareTheirStorage) {
  const Tensor a = Tensor::of({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(a.viewed_as({3, 2}).data(), a.data());
  EXPECT_EQ(a.detach().data(), a.data());
  EXPECT_EQ(reshape(a, {6}).data(), a.data());
  expect_error([&] { a.viewed_as({4}); }, {"[2, 3] has 6 elements", "[4] has 4"});
}

TEST(Tensor, ClonesShareNothing) {
  const Tensor a = Tensor::of({2}, {1, 2});
  const Tensor b = a.clone();
  a.data()[0] = 7;
  EXPECT_EQ(b.data()[0], 1);
}

TEST(Tensor, OutlivesTheTensorItWasViewedFrom) {
  Tensor view;
  {
    const Tensor a = Tensor::of({2}, {1, 2});
    view = a.viewed_as({2, 1});
  }
  EXPECT_EQ(view.data()[1], 2);
}

TEST(Tensor, RefusesValuesThatDoNotFillItsShape) {
  expect_error([] { Tensor::of({2, 2}, {1, 2, 3}); }, {"[2, 2]: it needs 4 values, got 3"});
}

TEST(Tensor, HasAnItemOnlyIfItHasOneElement) {
  EXPECT_EQ(Tensor::scalar(3).item(), 3);
  EXPECT_EQ(Tensor::full({1, 1}, 4).item(), 4);
  expect_error([] { Tensor::zeros({2}).item(); }, {"one element", "[2]"});
  expect_error([] { Tensor::zeros({0}).item(); }, {"one element"});
}

TEST(Tensor, UndefinedTensorIsAnError) {
  const Tensor none;
  EXPECT_FALSE(none.defined());
  EXPECT_FALSE(none.requires_grad());
  EXPECT_FALSE(none.grad().defined());
  expect_error([&] { none.shape(); }, {"tensor is undefined"});
  expect_error([&] { none.data(); }, {"tensor is undefined"});
}

TEST(Tensor, CanBeEmpty) {
  const Tensor empty = Tensor::zeros({2, 0, 3});
  EXPECT_EQ(empty.count(), 0);
  EXPECT_EQ(empty.clone().shape(), (Shape{2, 0, 3}));
}

TEST(Tensor, MadeByAnOpIsNoLeaf) {
  Tensor x = random_leaf({2}, Key{1});
  Tensor y = exp(x);
  expect_error([&] { y.set_requires_grad(false); }, {"no leaf", "exp"});
}

TEST(Tensor, KeepsItsElementsAlignedToCacheLines) {
  for (Index n : {1, 7, 1000})
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(Tensor::empty({n}).data()) % 64, 0u);
}

TEST(Pool, HandsOutFreedBlocksAgain) {
  { const Tensor warm = Tensor::empty({1000}); }
  const PoolStatistics before = pool_statistics();
  for (int i = 0; i < 100; ++i) const Tensor again = Tensor::empty({1000});
  EXPECT_EQ(pool_statistics().system_allocations, before.system_allocations);
  EXPECT_EQ(pool_statistics().bytes_in_use, before.bytes_in_use);
}

TEST(Pool, CountsBytesInUse) {
  const PoolStatistics before = pool_statistics();
  const Tensor held = Tensor::empty({100000});
  const std::size_t grown = pool_statistics().bytes_in_use - before.bytes_in_use;
  EXPECT_GE(grown, 100000 * sizeof(Scalar));
  EXPECT_LE(grown, 100000 * sizeof(Scalar) * 9 / 8);  // blocks are 1/8 too large at most
}

TEST(Pool, GivesUnusedRegionsBack) {
  const std::size_t bytes = (std::size_t{80} << 20) * sizeof(Scalar);  // a region of its own
  { const Tensor large = Tensor::empty({80 << 20}); }
  const std::size_t held = pool_statistics().bytes_held;
  EXPECT_GE(held, bytes);
  pool_release();
  EXPECT_LE(pool_statistics().bytes_held, held - bytes);
  EXPECT_GE(pool_statistics().bytes_held, pool_statistics().bytes_in_use);
}

TEST(Pool, KeepsBlocksApart) {
  Generator random(Key{1});
  std::vector<Tensor> held(40);
  for (int round = 0; round < 4000; ++round) {
    const auto i = static_cast<std::size_t>(random.below(std::ssize(held)));
    held[i] = {};
    held[i] = Tensor::full({static_cast<Index>(random.below(3000))}, static_cast<Scalar>(i));
    const auto other = static_cast<std::size_t>(random.below(std::ssize(held)));
    if (!held[other].defined()) continue;
    for (const Scalar value : held[other].values()) ASSERT_EQ(value, static_cast<Scalar>(other));
  }
}

TEST(Pool, HasBlocksOfEverySize) {
  for (std::size_t bytes = 0; bytes < 5000; bytes = bytes * 5 / 4 + 1) {
    void* block = pool_allocate(bytes);
    std::fill_n(static_cast<char*>(block), bytes, 'x');
    pool_free(block, bytes);
  }
}

TEST(Pool, RefusesAbsurdSizes) {
  expect_error([] { pool_allocate(std::size_t{1} << 60); }, {"out of memory"});
}

TEST(Pool, ServesTrainingWithoutTheSystemAfterTheFirstSteps) {
  Tensor W = random_leaf({8, 8}, Key{1}), b = random_leaf({8}, Key{2});
  const auto step = [&] {
    const Tensor x = random_tensor({4, 8}, Key{3});
    const Tensor y = layer_norm(gelu(linear(x, W, b)) + x, b, b);
    backward(mean(sum(softmax(y), -1) + sum(dropout(y, Scalar(0.1), Key{4}), -1)));
    W.zero_grad();
    b.zero_grad();
  };
  step();
  step();
  const PoolStatistics before = pool_statistics();
  for (int i = 0; i < 10; ++i) step();
  EXPECT_EQ(pool_statistics().system_allocations, before.system_allocations);
  EXPECT_EQ(pool_statistics().bytes_in_use, before.bytes_in_use);
}

TEST(Tensor, IsPrintedAsRows) {
  const auto printed = [](const Tensor& x) { return text(x); };
  EXPECT_EQ(printed(Tensor::of({2, 2}, {1, 2, 3, Scalar(0.5)})), "[2, 2]\n1 2\n3 0.5");
  EXPECT_EQ(printed(Tensor::scalar(7)), "[]\n7");
  EXPECT_EQ(printed(Tensor::zeros({0})), "[0]");
  EXPECT_EQ(printed(Tensor()), "no tensor");
  EXPECT_EQ(printed(Tensor::zeros({9, 9})).substr(0, 28), "[9, 9]\n0 0 0 0 0 0 0 0 ...\n0");
  EXPECT_TRUE(printed(Tensor::zeros({9, 1})).ends_with("0\n..."));
}

}  // namespace
}  // namespace headlab
