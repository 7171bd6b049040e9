// Rollout of matrices whose product is known by hand, and of a circuit built by hand in which the
// answer comes from one position.
#include "headlab/lab/heads/causes/rollout.h"

#include <algorithm>
#include <numeric>

#include "headlab/core/tasks/table.h"
#include "headlab/core/train/evaluate.h"
#include "headlab/lab/heads/causes/truth_edges.h"
#include "support/errors.h"
#include "support/induction_pair.h"
#include "support/models.h"

namespace headlab { namespace {

Matrix matrix_of(const std::vector<std::vector<double>>& rows) {
  return {std::ssize(rows), std::ssize(rows[0]), [&](Index i, Index j) {
            return rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
          }};
}

TEST(Rollout, RolloutIsTheProductFromTheLastLayerToTheFirst) {
  const Matrix first = matrix_of({{1, 0}, {0.25, 0.75}}), last = matrix_of({{1, 0}, {0.5, 0.5}});
  const Matrix rollout = attention_rollout({first, last});
  EXPECT_NEAR(rollout(1, 0), 0.5 + 0.5 * 0.25, 1e-12);
  EXPECT_NEAR(rollout(1, 1), 0.5 * 0.75, 1e-12);
}

TEST(Flow, RolloutOfOneLayerIsItsAttention) {
  const Matrix A = matrix_of({{1, 0, 0}, {0.4, 0.6, 0}, {0.2, 0.3, 0.5}});
  const Matrix rollout = attention_rollout({A});
  for (Index t = 0; t < 3; ++t) {
    for (Index s = 0; s < 3; ++s) EXPECT_NEAR(rollout(t, s), A(t, s), 1e-12);
  }
}

TEST(Rollout, ReportFindsTheKeysOfTheInductionHeadAndTheirCost) {
  const auto task = make_task(kInduction);
  const Transformer model = induction_pair(task->shape());
  const RolloutReport report = find_rollout(model, *task, 8);
  ASSERT_EQ(report.relations[0].relation, "induction");
  EXPECT_GT(report.relations[0].rollout.or_nan(), 0.2);
  EXPECT_GT(report.relations[0].rollout.or_nan(), report.relations[0].uniform.or_nan());
  EXPECT_GT(report.relations[0].cost.change, 1);
  for (const auto& row : report.rollout) {
    double sum = 0;
    for (const double share : row) sum += share;
    EXPECT_LE(sum, 1 + 1e-9);
  }
}

/// A model whose scores are all 0: each query attends uniformly to the keys that it sees.
Transformer uniform_model(const TaskShape& shape, const char* settings) {
  TransformerConfig config = config_with(settings);
  config.shape() = shape;
  Transformer model = random_model(config);
  model.visit([](const std::string& name, const Tensor& parameter) {
    const bool is_query = name.find("attn.W_Q") != name.npos || name.find("attn.b_Q") != name.npos;
    if (is_query) std::ranges::fill(Tensor(parameter).values(), Scalar(0));
  });
  return model;
}

TEST(Rollout, EqualsTheColumnUniformForUniformAttention) {
  for (const char* settings : {"layers=1 heads=2 d_model=8", "layers=3 heads=2 d_model=8",
                               "layers=2 heads=2 d_model=8 window=2"}) {
    const auto task = make_task("relations:length=8,vocab=6,classes=3,relations=1+3+same");
    const RolloutReport report = find_rollout(uniform_model(task->shape(), settings), *task, 8);
    ASSERT_EQ(report.relations.size(), 3u);
    for (const RolloutReport::Row& row : report.relations) {
      EXPECT_NEAR(row.rollout.or_nan(), row.uniform.or_nan(), 1e-6)
          << settings << " " << row.relation;
    }
  }
}

/// One layer: half of each row is the residual connection, so the key before position t >= 1 gets
/// 1 / (2 (t + 1)), with a window of 2 a quarter, and a key 3 before nothing.
TEST(Rollout, TakesMasksIntoAccountForUniformShares) {
  const auto task = make_task("relations:length=4,vocab=6,classes=3,relations=1+3");
  const RolloutReport whole =
      find_rollout(uniform_model(task->shape(), "layers=1 heads=2 d_model=8"), *task, 8);
  EXPECT_NEAR(whole.relations[0].uniform.or_nan(), (1.0 / 4 + 1.0 / 6 + 1.0 / 8) / 3, 1e-9);
  const RolloutReport window =
      find_rollout(uniform_model(task->shape(), "layers=1 heads=2 d_model=8 window=2"), *task, 8);
  EXPECT_NEAR(window.relations[0].uniform.or_nan(), 0.25, 1e-9);
  EXPECT_EQ(window.relations[1].uniform.or_nan(), 0);
}

TEST(Rollout, RowsOfTheMeanMapSumToOneForSequencesOfManyLengths) {
  const auto task = make_task("copy:shortest=2,longest=7");
  TransformerConfig config = config_with("layers=2 heads=2 d_model=8");
  config.shape() = task->shape();
  const RolloutReport report = find_rollout(random_model(config), *task, 12);
  ASSERT_GT(report.rollout.size(), 3u);
  for (const std::vector<double>& row : report.rollout) {
    EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1, 1e-6);
  }
}

TEST(Rollout, RefusesAnEncoderDecoder) {
  const auto task = make_task("reverse_cross");
  TransformerConfig config = small_encoder_decoder();
  config.shape() = task->shape();
  expect_error([&] { find_rollout(random_model(config), *task, 4); }, {"two streams"});
}

/// The numbers of uniform attention in the table, by hand: see the test of masks above.
TEST(Rollout, TableHasARowForEachRelationWithItsShares) {
  const auto task = make_task("relations:length=4,vocab=6,classes=3,relations=1+3");
  const Transformer model = uniform_model(task->shape(), "layers=1 heads=2 d_model=8");
  const RolloutReport report = find_rollout(model, *task, 8, 40);
  const Table table = result_of(report).table("relations");
  EXPECT_EQ(table.cells("relation"), (std::vector<Json>{"back1", "back3"}));
  EXPECT_EQ(table.cells("queries"), (std::vector<Json>{8 * 3, 8 * 1}));
  for (const char* share : {"rollout", "uniform"}) {
    EXPECT_NEAR(table.cells(share)[0].number(), (1.0 / 4 + 1.0 / 6 + 1.0 / 8) / 3, 1e-6);
    EXPECT_NEAR(table.cells(share)[1].number(), 1.0 / 8, 1e-6);
  }
  const EdgeTest cost = EdgeExperiment(model, *task, {.examples = 40}).test(1, all_heads(model));
  EXPECT_EQ(table.cells("cost.examples")[1], Json(40));
  EXPECT_EQ(table.cells("cost.p")[1], Json(cost.truth.p));
  EXPECT_EQ(table.cells("cost")[1].items()[0], Json(cost.truth.change));
}

}  // namespace
}  // namespace headlab
