// Costs that can be counted by hand, and a profile that leaves no time out.
#include "headlab/lab/bench/profile.h"

#include <algorithm>
#include <functional>

#include "headlab/core/ops/ops.h"
#include "support/tensors.h"
#include "tools/yardstick/op_products.h"

namespace headlab { namespace {

using Kind = WorkEvent::Kind;
constexpr double kSize = sizeof(Scalar);

/// The cost of the only op, or of its backward, that `body` runs.
template <class Body>
Cost cost_in(Kind kind, const char* op, Body&& body) {
  Cost cost;
  const WorkWatch watch([&](const WorkEvent& event) {
    if (event.kind == kind && std::string(event.name) == op) cost = cost_of(event);
  });
  body();
  return cost;
}

TEST(Cost, LinearMapTakesTwoOperationsPerWeightAndRow) {
  const Tensor x = random_leaf({4, 5, 3}, Key{1}), W = random_leaf({3, 7}, Key{2}),
               b = random_leaf({7}, Key{3});
  const auto run = [&] { backward(sum(linear(x, W, b))); };
  const Cost forward = cost_in(Kind::forward, "linear", run);
  EXPECT_EQ(forward.operations, 2 * 20 * 3 * 7);
  EXPECT_EQ(forward.bytes, kSize * (20 * 3 + 3 * 7 + 7 + 20 * 7));
  const Cost back = cost_in(Kind::backward, "linear", run);
  EXPECT_EQ(back.operations, 2 * 2 * 20 * 3 * 7);  // dx and dW
  EXPECT_EQ(back.bytes, kSize * (20 * 7 + 2 * (20 * 3 + 3 * 7 + 7)));
}

TEST(Cost, LinearCrossEntropyTakesThreeProductsForward) {
  const Tensor x = random_leaf({4, 5, 3}, Key{1}), W = random_leaf({3, 7}, Key{2}), none;
  const Ids targets(20, 2);
  const auto run = [&] { backward(linear_cross_entropy({x, W, none}, targets)); };
  EXPECT_EQ(cost_in(Kind::forward, "linear_cross_entropy", run).operations, 3 * 2 * 20 * 3 * 7);
  EXPECT_EQ(cost_in(Kind::backward, "linear_cross_entropy", run).operations, 0);
  const NoGrad no_grad;
  const auto alone = [&] { linear_cross_entropy({x, W, none}, targets); };
  EXPECT_EQ(cost_in(Kind::forward, "linear_cross_entropy", alone).operations, 2 * 20 * 3 * 7);
}

TEST(Cost, LinearMapCostsHalfWithoutAnInputGradient) {
  const Tensor x = random_tensor({4, 5, 3}, Key{1}), W = random_leaf({3, 7}, Key{2}),
               b = random_leaf({7}, Key{3});
  const Cost cost = cost_in(Kind::backward, "linear", [&] { backward(sum(linear(x, W, b))); });
  EXPECT_EQ(cost.operations, 2 * 20 * 3 * 7);
}

/// The operations of all products that an op and its backward compute alone.
double operations_alone(Kind kind, const char* op, const std::function<void()>& body) {
  double operations = 0;
  const WorkWatch watch([&](const WorkEvent& event) {
    if (event.kind != kind || std::string(event.name) != op) return;
    for (const Product& product : products_of(event)) operations += product.operations();
  });
  body();
  return operations;
}

TEST(Products, HaveTheOperationsOfTheirOp) {
  const Tensor x = random_leaf({4, 5, 3}, Key{1}), W = random_leaf({3, 7}, Key{2}),
               b = random_leaf({7}, Key{3}), V = random_leaf({7, 3}, Key{4}), none;
  const Ids targets(20, 2);
  const auto maps = [&] { backward(sum(linear(x, W, b))); };
  const auto networks = [&] { backward(sum(feed_forward({x, W, b, V, none}))); };
  const auto losses = [&] { backward(linear_cross_entropy({x, W, b}, targets)); };
  for (const Kind kind : {Kind::forward, Kind::backward}) {
    EXPECT_EQ(operations_alone(kind, "linear", maps), cost_in(kind, "linear", maps).operations);
    EXPECT_EQ(operations_alone(kind, "feed_forward", networks),
              cost_in(kind, "feed_forward", networks).operations);
    EXPECT_EQ(operations_alone(kind, "linear_cross_entropy", losses),
              cost_in(kind, "linear_cross_entropy", losses).operations);
  }
}

TEST(Cost, AttentionTakesTwoProductsForwardAndFiveBackward) {
  const Tensor q = random_leaf({2, 5, 12}, Key{1}), k = random_leaf({2, 7, 12}, Key{2}),
               v = random_leaf({2, 7, 12}, Key{3});
  const auto run = [&] { backward(sum(attention(q, k, v, {.heads = 3}))); };
  EXPECT_EQ(cost_in(Kind::forward, "attention", run).operations, 2 * 2 * (2 * 5 * 7 * 12));
  EXPECT_EQ(cost_in(Kind::backward, "attention", run).operations, 5 * 2 * (2 * 5 * 7 * 12));
}

TEST(Cost, BatchedProductsCostTheSameTransposed) {
  const Tensor a = random_leaf({2, 3, 4}, Key{1}), b = random_leaf({2, 4, 5}, Key{2});
  const Tensor bt = random_leaf({2, 5, 4}, Key{2});
  const auto plain = [&] { backward(sum(matmul(a, b))); };
  const auto transposed = [&] { backward(sum(matmul(a, bt, {.transpose_b = true}))); };
  for (Kind kind : {Kind::forward, Kind::backward}) {
    const double expected = (kind == Kind::forward ? 1 : 2) * 2 * 2 * 3 * 4 * 5;
    EXPECT_EQ(cost_in(kind, "matmul", plain).operations, expected);
    EXPECT_EQ(cost_in(kind, "matmul", transposed).operations, expected);
  }
}

TEST(Cost, EmbeddingCountsRowsReadNotTheTable) {
  const Tensor table = random_leaf({100, 8}, Key{1});
  const Ids ids = {3, 5, 3};
  const auto run = [&] { backward(sum(embedding(table, ids, {3}))); };
  EXPECT_EQ(cost_in(Kind::forward, "embedding", run).bytes, kSize * 2 * 3 * 8);
  EXPECT_EQ(cost_in(Kind::backward, "embedding", run).bytes, kSize * (3 * 3 * 8 + 100 * 8));
}

TEST(Cost, MemoryBoundOpsCountTheirArrays) {
  const Tensor x = random_leaf({6, 4}, Key{1}), w = random_leaf({4}, Key{2}),
               b = random_leaf({4}, Key{3});
  const auto run = [&] { backward(sum(layer_norm(x, w, b))); };
  EXPECT_EQ(cost_in(Kind::forward, "layer_norm", run).bytes, kSize * (24 + 4 + 4 + 24));
  EXPECT_EQ(cost_in(Kind::backward, "layer_norm", run).bytes, kSize * (24 + 2 * (24 + 4 + 4)));
  EXPECT_EQ(cost_in(Kind::forward, "layer_norm", run).operations, 0);
}

TEST(Cost, GradientOfASumIsReadOnceAndWrittenOnce) {
  const Tensor x = random_leaf({6, 4}, Key{1}), y = random_leaf({6, 4}, Key{2});
  const auto run = [&] { backward(sum(add(x, y))); };
  EXPECT_EQ(cost_in(Kind::forward, "add", run).bytes, kSize * 3 * 24);
  EXPECT_EQ(cost_in(Kind::backward, "add", run).bytes, kSize * 2 * 24);
}

/// Some work: forward, backward, and work that is no op.
void work() {
  const Tensor x = random_leaf({50, 50}, Key{1});
  backward(sum(matmul(gelu(x), x)));
  note_work("other");
}

TEST(Profile, CountsEveryOpForwardAndBackward) {
  Profile profile;
  work();
  work();
  int found = 0;
  for (const ProfileRow& row : profile.rows()) {
    EXPECT_EQ(row.calls, 2) << row.name;
    found += row.name == "gelu" && (row.pass == "forward" || row.pass == "backward");
    found += row.name == "other" && row.pass.empty();
  }
  EXPECT_EQ(found, 3);
}

TEST(Profile, ShowsTheLongestFirstWithSharesOfAll) {
  const std::vector<ProfileRow> rows = {{"a", "forward", 2, 3, {}}, {"b", "", 1, 1, {}}};
  const Table table = profile_table(rows);
  EXPECT_EQ(table.rows[0][3], Json(3000));
  EXPECT_EQ(table.rows[0][4], Json(0.75));
  EXPECT_EQ(table.rows[1][4], Json(0.25));
  Profile profile;
  work();
  const std::vector<ProfileRow> measured = profile.rows();
  EXPECT_TRUE(std::is_sorted(measured.begin(), measured.end(),
                             [](const auto& a, const auto& b) { return a.seconds > b.seconds; }));
}

TEST(Profile, PassesWithoutGradientsAreOneRow) {
  Profile profile;
  {
    const NoGrad no_grad;
    static_cast<void>(gelu(random_tensor({5}, Key{1})));
    static_cast<void>(exp(random_tensor({5}, Key{1})));
  }
  ASSERT_EQ(profile.rows().size(), 1u);
  EXPECT_EQ(profile.rows()[0].name, "evaluation");
}

TEST(Profile, EndsWithItsScope) {
  OpLog log;
  { Profile profile; }
  work();
  EXPECT_TRUE(log.names().contains("gelu"));
}

}  // namespace
}  // namespace headlab
