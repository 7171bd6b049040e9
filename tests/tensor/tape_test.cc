// The tape: what is recorded, how gradients meet, and what backward refuses to do.
#include "headlab/core/tensor/tape.h"

#include <new>
#include <thread>

#include "core/tensor/gradient_storage.h"
#include "headlab/core/ops/ops.h"
#include "headlab/core/tensor/watch.h"
#include "support/tensors.h"

namespace headlab { namespace {

using Values = std::vector<double>;

Tensor leaf(std::initializer_list<Scalar> values) {
  Tensor x = Tensor::of({static_cast<Index>(values.size())}, values);
  x.set_requires_grad();
  return x;
}

TEST(Backward, FollowsTheChainRule) {
  const Tensor x = leaf({1, 2});
  backward(sum(x * x * x));
  EXPECT_EQ(numbers(x.grad()), (Values{3, 12}));
}

TEST(Backward, AccumulatesOverCallsUntilZeroGrad) {
  Tensor x = leaf({1, 2});
  backward(sum(x * Scalar{3}));
  backward(sum(x * Scalar{4}));
  EXPECT_EQ(numbers(x.grad()), (Values{7, 7}));
  x.zero_grad();
  EXPECT_FALSE(x.grad().defined());
  backward(sum(x));
  EXPECT_EQ(numbers(x.grad()), (Values{1, 1}));
}

TEST(Backward, AddsBothSidesOfADiamond) {
  const Tensor x = leaf({2, 3});
  const Tensor y = x * Scalar{2};
  backward(sum(y * y + exp(y) * Scalar{0} + y));  // d/dx (4 x^2 + 2 x) = 8 x + 2
  EXPECT_EQ(numbers(x.grad()), (Values{18, 26}));
}

TEST(Backward, RunsANodeOnlyAfterAllThatReadIt) {
  const Tensor x = leaf({3});
  int runs = 0;
  const Tensor y = record("counted", (x * Scalar{1}).detach(), {x}, [&runs](Node& node) {
    ++runs;
    GradientStorage::pass_to(node, 0);
  });
  const Tensor late = y * Scalar{2};
  backward(sum(late * y + y));  // 2 x^2 + x
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(numbers(x.grad()), (Values{13}));
}

TEST(Backward, SumsBothGradientsOfAnInputUsedTwice) {
  const Tensor x = leaf({1, 2});
  backward(sum(x + x));
  EXPECT_EQ(numbers(x.grad()), (Values{2, 2}));
}

TEST(Backward, SumsBothGradientsOfAnIntermediateUsedTwice) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * Scalar{1};
  backward(sum((y + y) * Scalar{5}));
  EXPECT_EQ(numbers(x.grad()), (Values{10, 10}));
}

TEST(Backward, PassesThroughReshapesOfReshapes) {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor y = reshape(reshape(x * Scalar{1}, {2, 2}), {4, 1});
  backward(sum(y * y));
  EXPECT_EQ(numbers(x.grad()), (Values{2, 4, 6, 8}));
}

TEST(Backward, DoesNotMixGradientsThatShareTheirStorage) {
  // The gradient of `sum` moves to `a` and is copied to `b`; then each gets more of its own.
  const Tensor x = leaf({1, 2}), y = leaf({3, 4});
  const Tensor a = x * Scalar{1}, b = y * Scalar{1};
  const Tensor first = a * Scalar{10}, second = b * Scalar{100};
  backward(sum((a + b) + first + second));
  EXPECT_EQ(numbers(x.grad()), (Values{11, 11}));
  EXPECT_EQ(numbers(y.grad()), (Values{101, 101}));
}

TEST(Backward, DoesNotMixGradientsAlongAChainOfMoves) {
  const Tensor x = leaf({1, 2});
  const Tensor a = x * Scalar{1};
  const Tensor b = reshape(a, {1, 2}), c = reshape(b, {2, 1}), d = reshape(c, {2});
  backward(sum(d + d * d) + sum(b * Scalar{3}) + sum(a));
  EXPECT_EQ(numbers(x.grad()), (Values{1 + 2 + 3 + 1, 1 + 4 + 3 + 1}));
}

TEST(Backward, LeavesAReturnedGradientAloneWhenALaterOneIsCleared) {
  Tensor x = leaf({1});
  backward(sum(x * Scalar{2}));
  const Tensor kept = x.grad();
  x.zero_grad();
  backward(sum(x * Scalar{9}));
  EXPECT_EQ(kept.item(), 2);
  EXPECT_EQ(x.grad().item(), 9);
}

TEST(Backward, KeepsGradientsOfIntermediatesOnRequestOnly) {
  const Tensor x = leaf({1, 2});
  Tensor kept = x * Scalar{2};
  const Tensor dropped = kept + Scalar{1};
  const Tensor last = reshape(dropped, {2, 1});
  kept.retain_grad();
  backward(sum(last * last));
  EXPECT_EQ(numbers(kept.grad()), (Values{6, 10}));
  EXPECT_FALSE(dropped.grad().defined());
  EXPECT_EQ(numbers(x.grad()), (Values{12, 20}));
}

TEST(Backward, KeepsEachOfTwoNeighbouringIntermediates) {
  const Tensor x = leaf({1, 2});
  Tensor a = x * Scalar{2};
  Tensor b = reshape(a, {2, 1});
  a.retain_grad();
  b.retain_grad();
  backward(sum(b) + sum(a * Scalar{4}));
  EXPECT_EQ(numbers(b.grad()), (Values{1, 1}));
  EXPECT_EQ(numbers(a.grad()), (Values{5, 5}));
}

TEST(Backward, StartsFromAnyOutputGivenItsGradient) {
  const Tensor x = leaf({1, 2});
  backward(x * x, Tensor::of({2}, {10, 100}));
  EXPECT_EQ(numbers(x.grad()), (Values{20, 400}));
}

TEST(Backward, LeavesTheGivenGradientAlone) {
  const Tensor x = leaf({1, 2});
  const Tensor seed = Tensor::of({2}, {10, 100});
  const Tensor y = x * Scalar{1};
  backward(reshape(y + y, {2}), seed);
  EXPECT_EQ(numbers(seed), (Values{10, 100}));
}

TEST(Backward, GradientOfALeafIsOne) {
  const Tensor x = leaf({5});
  backward(x);
  EXPECT_EQ(x.grad().item(), 1);
}

TEST(Backward, ReachesOnlyTensorsThatRequireAGradient) {
  const Tensor x = leaf({1, 2}), constant = Tensor::of({2}, {3, 4});
  const Tensor unused = leaf({1});
  backward(sum(x * constant));
  EXPECT_EQ(numbers(x.grad()), (Values{3, 4}));
  EXPECT_FALSE(constant.grad().defined());
  EXPECT_FALSE(unused.grad().defined());
}

TEST(Backward, TwiceOnOneGraphIsAnError) {
  const Tensor x = leaf({1, 2});
  const Tensor loss = sum(exp(x));
  backward(loss);
  const Values before = numbers(x.grad());
  expect_error([&] { backward(loss); }, {"freed by an earlier backward", "`sum`", "forward"});
  EXPECT_EQ(numbers(x.grad()), before);
}

TEST(Backward, ThroughAPartThatWasFreedIsAnError) {
  const Tensor x = leaf({1, 2});
  const Tensor shared = exp(x);
  const Tensor other = sum(shared * Scalar{2});
  backward(sum(shared));
  expect_error([&] { backward(other); }, {"freed by an earlier backward", "`exp`"});
}

/// Two losses over a part that they share, whose op throws in its backward pass after
/// adding to the gradient of its input.
struct Fragile {
  explicit Fragile(int place) : throws_at(place) {
    const Tensor shared = op(op(x) * y);
    kept = op(shared + x);
    kept.retain_grad();
    first = sum(op(kept * op(shared)) + op(y));
    second = sum(op(op(shared) * x));
  }
  Tensor op(const Tensor& input) {
    const bool throws = ops++ == throws_at;
    return record("fragile", (input * Scalar{1}).detach(), {input}, [throws](Node& node) {
      GradientStorage::pass_to(node, 0);
      if (throws) throw std::bad_alloc();
    });
  }
  std::vector<Values> gradients() const { return {numbers(x.grad()), numbers(y.grad())}; }

  int throws_at, ops = 0;
  Tensor x = leaf({2, 3}), y = leaf({5, 7}), kept, first, second;
};

TEST(Backward, LeavesGradientsUnchangedIfANodeThrows) {
  const Fragile sound(-1);
  backward(sound.first);
  const int ops = sound.ops;
  for (int place = 0; place < ops; ++place) {
    const Fragile graph(place);
    backward(sum(graph.x * Scalar{3}));  // x has a gradient by now, y has none
    bool threw = false;
    try {
      backward(graph.first);
    } catch (const std::bad_alloc&) {
      threw = true;
    }
    if (!threw) continue;  // an op of the second loss alone
    EXPECT_EQ(numbers(graph.x.grad()), (Values{3, 3})) << place;
    EXPECT_FALSE(graph.y.grad().defined()) << place;
    EXPECT_FALSE(graph.kept.grad().defined()) << place;
  }
}

TEST(Backward, AfterOneThatThrewGivesAllGradientsOrSaysWhyNot) {
  const Fragile sound(-1);
  backward(sound.second);
  int whole = 0;
  for (int place = 0; place < sound.ops; ++place) {
    const Fragile graph(place);
    try {
      backward(graph.first);
      continue;  // an op of the second loss alone
    } catch (const std::bad_alloc&) {
    }
    try {
      backward(graph.second);
      EXPECT_EQ(graph.gradients(), sound.gradients()) << place;
      ++whole;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("freed by an earlier backward"), std::string::npos);
      EXPECT_FALSE(graph.x.grad().defined() || graph.y.grad().defined()) << place;
    }
  }
  EXPECT_GT(whole, 0);  // what the first had not reached
}

TEST(Backward, TensorWithSeveralElementsNeedsAGradient) {
  const Tensor x = leaf({1, 2});
  expect_error([&] { backward(x * x); }, {"one element", "[2]"});
  expect_error([&] { backward(x * x, Tensor::zeros({3})); }, {"[3]", "[2]"});
}

TEST(Backward, RefusesATensorThatDependsOnNoParameter) {
  expect_error([] { backward(sum(Tensor::zeros({2}))); }, {"nothing that requires a gradient"});
}

TEST(NoGrad, RecordsNothingWhileItLives) {
  const Tensor x = leaf({1, 2});
  {
    const NoGrad outer;
    EXPECT_FALSE(grad_enabled());
    { const NoGrad inner; }
    EXPECT_FALSE(grad_enabled());
    EXPECT_FALSE(exp(x).requires_grad());
  }
  EXPECT_TRUE(grad_enabled());
  EXPECT_TRUE(exp(x).requires_grad());
}

TEST(NoGrad, IsOfOneThread) {
  const NoGrad no_grad;
  bool elsewhere = false;
  std::thread([&] { elsewhere = grad_enabled(); }).join();
  EXPECT_TRUE(elsewhere);
}

TEST(Detach, CutsTheTensorOffTheTape) {
  const Tensor x = leaf({1, 2});
  backward(sum(x * (x * x).detach()));
  EXPECT_EQ(numbers(x.grad()), (Values{1, 4}));
}

TEST(Record, MakesNoNodeWhereNoInputWantsAGradient) {
  const Tensor y = exp(Tensor::zeros({2}));
  EXPECT_FALSE(y.requires_grad());
  EXPECT_EQ(y.node()->input_count(), 0u);
}

TEST(OpLog, KeepsTheNamesOfOpsRecordedOrNot) {
  const Tensor x = leaf({1, 2});
  const OpLog log;
  exp(x);
  {
    const NoGrad no_grad;
    tanh(x);
  }
  EXPECT_EQ(log.names(), (std::set<std::string>{"exp", "tanh"}));
}

TEST(OpLog, HandsBackToTheOneAroundIt) {
  const Tensor x = leaf({1, 2});
  const OpLog outer;
  {
    const OpLog inner;
    exp(x);
    EXPECT_EQ(inner.names(), std::set<std::string>{"exp"});
  }
  tanh(x);
  EXPECT_EQ(outer.names(), std::set<std::string>{"tanh"});
}

}  // namespace
}  // namespace headlab
