// Rollout of matrices whose product is known by hand, and of a circuit built by hand in which the
// answer comes from one position.
#include "headlab/lab/heads/causes/rollout.h"

#include "headlab/core/tasks/table.h"
#include "headlab/core/train/evaluate.h"
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

TEST(Rollout, RefusesAnEncoderDecoder) {
  const auto task = make_task("reverse_cross");
  TransformerConfig config = small_encoder_decoder();
  config.shape() = task->shape();
  expect_error([&] { find_rollout(random_model(config), *task, 4); }, {"two streams"});
}

}  // namespace
}  // namespace headlab
