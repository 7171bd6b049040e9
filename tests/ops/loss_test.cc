// Cross-entropy of a linear map in one op: the numbers of the separate ops, their bits, and the
// memory that it saves.
#include "headlab/core/ops/loss.h"

#include "headlab/core/base/pool.h"
#include "headlab/core/base/threads.h"
#include "headlab/core/ops/ops.h"
#include "headlab/core/tensor/watch.h"
#include "support/tensors.h"

namespace headlab { namespace {

using Values = std::vector<double>;

/// A map of `rows` rows of `inputs` numbers to `targets` targets of `classes` classes each.
struct Problem {
  Index rows, inputs, targets, classes;
  bool transposed = false;
  bool has_bias = true;
};

/// Every fifth target is ignored.
Ids targets_of(const Problem& p) {
  Ids ids(static_cast<std::size_t>(p.rows * p.targets));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ids[i] =
        i % 5 == 4 ? -1 : static_cast<std::int32_t>(i * 7 % static_cast<std::size_t>(p.classes));
  }
  return ids;
}

/// The loss, times `factor`, and the gradients of x, W and b.
template <class Op>
std::vector<Values> values_of(const Problem& p, Op op, Scalar factor = 1, double denominator = 0) {
  const Index outputs = p.targets * p.classes;
  const Tensor x = random_leaf({p.rows, p.inputs}, Key{1});
  const Tensor W =
      random_leaf(p.transposed ? Shape{outputs, p.inputs} : Shape{p.inputs, outputs}, Key{2});
  const Tensor b = p.has_bias ? random_leaf({outputs}, Key{3}) : Tensor();
  const Tensor loss = op(ClassMap{x, W, b, p.transposed}, targets_of(p), denominator) * factor;
  backward(loss);
  std::vector<Values> all{numbers(loss), numbers(x.grad()), numbers(W.grad())};
  if (p.has_bias) all.push_back(numbers(b.grad()));
  return all;
}

constexpr Problem kSmall{7, 5, 1, 11}, kTwoTargets{6, 5, 2, 9}, kTied{7, 5, 1, 11, true, false};
/// 1,100 rows of 9,000 logits: blocks of 512, 512 and 76 rows.
constexpr Problem kBlocks{1100, 24, 1, 9000}, kTiedBlocks{1100, 24, 1, 9000, true, false};

TEST(LinearCrossEntropy, HasTheBitsOfTheSeparateOps) {
  for (const Problem& p : {kSmall, kTwoTargets, kTied, kBlocks, kTiedBlocks}) {
    EXPECT_EQ(values_of(p, linear_cross_entropy), values_of(p, linear_cross_entropy_composed))
        << p.rows << " rows, " << (p.transposed ? "transposed" : "");
  }
}

TEST(LinearCrossEntropy, ScalesGradientsByThatOfTheLoss) {
  const auto fused = values_of(kSmall, linear_cross_entropy, Scalar(-2.5), 3),
             composed = values_of(kSmall, linear_cross_entropy_composed, Scalar(-2.5), 3);
  for (std::size_t i = 0; i < fused.size(); ++i) {
    expect_near(fused[i], composed[i], 16 * kEpsilon, text("value ", i));
  }
}

TEST(LinearCrossEntropy, IsTheSameForAnyNumberOfThreads) {
  const int before = thread_count();
  for (const Problem& p : {kBlocks, kTiedBlocks}) {
    set_thread_count(1);
    const auto alone = values_of(p, linear_cross_entropy);
    for (const int count : {2, 5}) {
      set_thread_count(count);
      EXPECT_EQ(values_of(p, linear_cross_entropy), alone) << count << " threads";
    }
  }
  set_thread_count(before);
}

TEST(LinearCrossEntropy, AddsToGradientsThatExist) {
  const Tensor x = random_leaf({4, 3}, Key{1}), W = random_leaf({3, 5}, Key{2});
  const Ids targets{0, 1, 2, 4};
  const auto loss = [&] { return linear_cross_entropy({x, W, {}}, targets); };
  backward(loss());
  const Values once_x = numbers(x.grad()), once_W = numbers(W.grad());
  backward(loss() + loss());
  for (const auto& [tensor, once] : {std::pair(x, once_x), std::pair(W, once_W)}) {
    Values expected = once;
    for (double& value : expected) value *= 3;
    expect_near(numbers(tensor.grad()), expected, 16 * kEpsilon);
  }
}

TEST(LinearCrossEntropy, GivesGradientsOnlyToInputsThatRequireOne) {
  const Tensor x = random_tensor({4, 3}, Key{1}), W = random_leaf({3, 5}, Key{2});
  backward(linear_cross_entropy({x, W, {}}, Ids{0, -1, 2, 4}));
  EXPECT_FALSE(x.grad().defined());
  EXPECT_TRUE(W.grad().defined());
  const NoGrad no_grad;
  EXPECT_FALSE(linear_cross_entropy({x, W, {}}, Ids{0, -1, 2, 4}).requires_grad());
}

TEST(LinearCrossEntropy, IsZeroWithoutRowsOrTargets) {
  const Tensor W = random_leaf({3, 5}, Key{2});
  const Tensor loss = linear_cross_entropy({Tensor::zeros({0, 3}), W, {}}, {});
  EXPECT_EQ(loss.item(), 0);
  backward(loss);
  EXPECT_EQ(numbers(W.grad()), Values(15, 0));
  W.zero_grad();
  backward(linear_cross_entropy({Tensor::zeros({2, 3}), W, {}}, Ids{-1, -1}));
  EXPECT_EQ(numbers(W.grad()), Values(15, 0));
}

TEST(LinearCrossEntropy, NamesShapesThatDoNotFit) {
  const Tensor x = Tensor::zeros({2, 3}), W = Tensor::zeros({3, 4}), b = Tensor::zeros({5});
  const auto expect = [&](const ClassMap& map, const Ids& targets,
                          const std::vector<std::string>& words) {
    expect_error([&] { linear_cross_entropy(map, targets); }, words);
  };
  expect({x, W, {}}, {0, 4}, {"target 4", "position 1", "[0, 4)"});
  expect({x, W, {}}, {-2, 0}, {"target -2"});
  expect({x, W, {}}, {0}, {"1 targets", "2 rows", "4 logits"});
  expect({x, W, {}}, {0, 0, 0, 0, 0, 0}, {"6 targets", "2 rows", "4 logits"});
  expect({x, W, {}, true}, {0, 0}, {"[2, 3]", "[3, 4]", "transposed"});
  expect({x, W, b}, {0, 0}, {"needs b [4]", "[5]"});
}

/// The largest number of bytes in use after any piece of work while `run` runs, less those before.
template <class Run>
std::size_t bytes_needed(Run run) {
  const std::size_t before = pool_statistics().bytes_in_use;
  std::size_t most = before;
  const WorkWatch watch(
      [&](const WorkEvent&) { most = std::max(most, pool_statistics().bytes_in_use); });
  run();
  return most - before;
}

TEST(LinearCrossEntropy, NeedsLessMemoryThanTheSeparateOps) {
  const Problem many{2048, 8, 1, 9000};
  const std::size_t logits = 2048 * 9000 * sizeof(Scalar);
  const std::size_t fused = bytes_needed([&] { values_of(many, linear_cross_entropy); });
  const std::size_t composed =
      bytes_needed([&] { values_of(many, linear_cross_entropy_composed); });
  EXPECT_GT(composed, 2 * logits);
  EXPECT_LT(fused, logits / 2);
}

}  // namespace
}  // namespace headlab
