// Graphs that are very deep: neither backward nor the end of a graph may recurse, and nothing may
// leak. The stack of a thread holds about 8 MB, so 100,000 nested calls would overflow it.
#include "headlab/core/base/pool.h"
#include "headlab/core/ops/ops.h"
#include "headlab/core/tensor/tape.h"
#include "support/tensors.h"

namespace headlab { namespace {

constexpr int kDepth = 100000;

Tensor chain(const Tensor& x) {
  Tensor y = x;
  for (int i = 0; i < kDepth; ++i) y = i % 2 == 0 ? y + Scalar{1} : reshape(y, {1});
  return y;
}

std::size_t bytes_in_use() { return pool_statistics().bytes_in_use; }

/// A leaf, and what is in use before there is a graph.
class DeepGraph : public testing::Test {
 protected:
  Tensor x = Tensor::of({1}, {2}).set_requires_grad();
  const std::size_t before = bytes_in_use();
};

TEST_F(DeepGraph, RunsBackward) {
  {
    const Tensor loss = chain(x);
    EXPECT_EQ(loss.item(), 2 + kDepth / 2);
    backward(loss);
    EXPECT_EQ(x.grad().item(), 1);
  }
  x.zero_grad();
  EXPECT_EQ(bytes_in_use(), before);
}

TEST_F(DeepGraph, CanBeDroppedWithoutBackward) {
  { const Tensor loss = chain(x); }
  EXPECT_EQ(bytes_in_use(), before);
}

TEST_F(DeepGraph, IsFreedWhileBackwardRuns) {
  const Tensor loss = chain(x);
  backward(loss);
  EXPECT_LT(bytes_in_use(), before + 10000);
}

TEST(Graph, RunsEachNodeOfADiamondOnce) {
  Tensor x = Tensor::of({1}, {0});
  x.set_requires_grad();
  Tensor y = x;
  for (int i = 0; i < 1000; ++i) y = (y + y) * Scalar(0.5);  // 2^1000 paths
  backward(y);
  EXPECT_EQ(x.grad().item(), 1);
}

TEST_F(DeepGraph, MayBeWideAndIsDroppedWithoutALeak) {
  {
    std::vector<Tensor> parts;
    for (int i = 0; i < 10000; ++i) parts.push_back(x * Scalar{2});
    const Tensor loss = sum(concat(parts, 0));
  }
  EXPECT_EQ(bytes_in_use(), before);
}

TEST_F(DeepGraph, LeaksNothingWhereBackwardFails) {
  {
    const Tensor shared = exp(x);
    const Tensor other = sum(shared * Scalar{2});
    backward(sum(shared));
    EXPECT_THROW(backward(other), Error);
  }
  x.zero_grad();
  EXPECT_EQ(bytes_in_use(), before);
}

}  // namespace
}  // namespace headlab
