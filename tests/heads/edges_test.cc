// Scores of edges: areas on numbers counted by hand, a circuit built by hand in which one edge
// carries the answer, and models whose weights are so small that first-order estimates are exact.
#include "headlab/lab/heads/causes/edges.h"

#include <cmath>

#include "headlab/core/tasks/table.h"
#include "headlab/core/train/evaluate.h"
#include "headlab/lab/heads/scores/activations.h"
#include "support/errors.h"
#include "support/induction_pair.h"
#include "support/models.h"

namespace headlab { namespace {

TEST(RocArea, CountsPairsAndTiesHalf) {
  const std::vector<double> truth = {3, 1}, others = {2, 1, 0, 0};
  // 3 is above all four; 1 is above two and equal to one.
  EXPECT_DOUBLE_EQ(roc_area(truth, others), (4 + 2.5) / 8);
  EXPECT_DOUBLE_EQ(roc_area(others, truth), 1 - (4 + 2.5) / 8);
  EXPECT_DOUBLE_EQ(roc_area(truth, truth), 0.5);
  EXPECT_TRUE(std::isnan(roc_area({}, others)));
  EXPECT_TRUE(std::isnan(roc_area(truth, {})));
}

const EdgeAreaReport::Row& row_of(const EdgeAreaReport& report, const std::string& relation,
                                  EdgeScore score) {
  const auto row = std::ranges::find_if(report.rows, [&](const EdgeAreaReport::Row& one) {
    return one.relation == relation && one.score == score;
  });
  require(row != report.rows.end(), "the report has no row ", relation, " ", name_of(score));
  return *row;
}

TEST(Edges, AblationFindsTheEdgesOfTheInductionCircuit) {
  const auto task = make_task(kInduction);
  const Transformer model = induction_pair(task->shape());
  const EdgeAreaReport report = find_edge_areas(model, *task, 16);
  EXPECT_EQ(report.rows.size(), 2 * kEdgeScores);
  EXPECT_GT(row_of(report, "induction", EdgeScore::ablation).area.mean, 0.95);
  EXPECT_GT(row_of(report, "induction", EdgeScore::attention).area.mean, 0.9);
  EXPECT_EQ(row_of(report, "previous", EdgeScore::attention).area.mean, 1);
  for (const EdgeAreaReport::Row& row : report.rows) {
    EXPECT_GE(row.area.mean, 0);
    EXPECT_LE(row.area.mean, 1);
    EXPECT_GT(row.edges, 0);
  }
}

/// Random weights times `size`.
Transformer small_model(TransformerConfig config, const TaskShape& shape, double size) {
  config.shape() = shape;
  Transformer model = random_model(config);
  model.visit([&](const std::string&, const Tensor& parameter) {
    for (Index i = 0; i < parameter.count(); ++i) parameter.data()[i] *= static_cast<Scalar>(size);
  });
  return model;
}

struct TwoSides {
  std::vector<double> ablation, attribution;
};

TwoSides sides_of(const Transformer& model, const Task& task, AttentionKind kind) {
  const Example example = held_out_examples(task, 6);
  TwoSides sides;
  for (const auto& edges : score_edges(model, example, task.relations(), kind)) {
    for (const ScoredEdge& edge : edges) {
      sides.ablation.push_back(edge.at(EdgeScore::ablation));
      sides.attribution.push_back(edge.at(EdgeScore::attribution_loss));
    }
  }
  return sides;
}

class EdgesOf : public testing::TestWithParam<const char*> {};

TEST_P(EdgesOf, AttributionOfTheLossIsTheFirstOrderOfAblation) {
  const auto task = make_task("relations:length=8,vocab=6,classes=3,relations=1+same");
  const Transformer model = small_model(config_with(GetParam()), task->shape(), 0.1);
  const TwoSides sides = sides_of(model, *task, AttentionKind::self);
  ASSERT_GT(sides.ablation.size(), 50u);
  EXPECT_GT(pearson(sides.attribution, sides.ablation), 0.97) << GetParam();
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < sides.ablation.size(); ++i) {
    difference += std::abs(sides.attribution[i] - sides.ablation[i]);
    size += std::abs(sides.ablation[i]);
  }
  EXPECT_LT(difference, 0.2 * size) << GetParam();
}

INSTANTIATE_TEST_SUITE_P(
    , EdgesOf,
    testing::Values("layers=1 heads=3 d_model=12", "layers=2 heads=4 kv_heads=2 d_model=16",
                    "layers=2 heads=2 d_model=12 d_ff=16 window=4",
                    "layers=2 heads=2 d_model=12 attention_function=sigmoid",
                    "layers=1 heads=2 d_model=12 attention_function=softmax_one",
                    "layers=1 heads=2 d_model=12 norm_place=post positions=rotary"));

TEST(Edges, ImportanceOfOneHeadIsItsAttributionTimesTheRestOfTheRow) {
  const auto task = make_task("relations:length=8,vocab=6,classes=3,relations=1+same");
  const Transformer model =
      small_model(config_with("layers=1 heads=1 d_model=12"), task->shape(), 0.5);
  const Example example = held_out_examples(*task, 4);
  const Activations activations(model, example.batch);
  const auto edges = score_edges(model, example, task->relations(), AttentionKind::self);
  for (std::size_t b = 0; b < edges.size(); ++b) {
    for (const ScoredEdge& edge : edges[b]) {
      const auto pattern = activations.cache().attention[0].pattern_of(0, static_cast<Index>(b));
      const double weight = static_cast<double>(
          pattern[static_cast<std::size_t>(edge.t * example.batch.length + edge.s)]);
      EXPECT_NEAR(edge.at(EdgeScore::attention), weight, 1e-12);
      EXPECT_NEAR(edge.at(EdgeScore::importance),
                  std::abs(edge.at(EdgeScore::attribution_loss)) * (1 - weight), 1e-6);
    }
  }
}

/// Returns the sum over targets of the mean logit minus the target's logit.
double margin_sum(const Tensor& logits, const Batch& batch) {
  const Index outputs = logits.count() / std::ssize(batch.targets);
  double sum = 0;
  for (Index row = 0; row < std::ssize(batch.targets); ++row) {
    const std::int32_t target = batch.targets[row];
    if (target < 0) continue;
    const Scalar* x = logits.data() + row * outputs;
    for (Index v = 0; v < outputs; ++v) {
      sum += static_cast<double>(x[v]) / static_cast<double>(outputs);
    }
    sum -= static_cast<double>(x[target]);
  }
  return sum;
}

/// Without norms, in one layer, logits are linear in each row of weights, so nothing is estimated.
TEST(Edges, AttributionIsTheChangeOfTheLogitsInALinearModel) {
  const auto task = make_task("relations:length=6,vocab=6,classes=3,relations=1+same");
  for (const char* function : {"softmax", "sigmoid", "softmax_one"}) {
    const Transformer model =
        small_model(config_with(text("heads=2 d_model=12 norm=none attention_function=", function)),
                    task->shape(), 1);
    Example example = held_out_examples(*task, 1);
    const auto edges = score_edges(model, example, task->relations(), AttentionKind::self);
    const double before = margin_sum(model.forward(example.batch), example.batch);
    ASSERT_GT(edges[0].size(), 10u);
    for (const ScoredEdge& edge : edges[0]) {
      HeadInterventions interventions{.masked_edges = Flags(2 * 6 * 6)};
      for (Index h = 0; h < 2; ++h) interventions.masked_edges[(h * 6 + edge.t) * 6 + edge.s] = 1;
      const Tensor logits = model.forward(example.batch, {}, {.interventions = {interventions}});
      EXPECT_NEAR(edge.at(EdgeScore::attribution), margin_sum(logits, example.batch) - before, 1e-3)
          << function << " " << edge.t << " " << edge.s;
    }
  }
}

TEST(Edges, HaveNoRolloutInAnEncoderDecoder) {
  const auto task = make_task("reverse_cross:symbols=5,shortest=3,longest=4");
  TransformerConfig config = small_encoder_decoder();
  config.shape() = task->shape();
  const EdgeAreaReport report = find_edge_areas(random_model(config), *task, 4);
  ASSERT_EQ(report.rows.size(), kEdgeScores - 1);
  for (const EdgeAreaReport::Row& row : report.rows) {
    EXPECT_NE(row.score, EdgeScore::rollout);
    EXPECT_TRUE(row.area.mean > 0 && row.area.mean < 1);
  }
}

TEST(Edges, RefuseLongSequences) {
  const auto task = make_task("relations:length=129");
  TransformerConfig config = config_with("heads=2 d_model=8");
  config.shape() = task->shape();
  expect_error([&] { find_edge_areas(random_model(config), *task, 2); },
               {"129 positions", "128", "use a task with shorter sequences"});
}

}  // namespace
}  // namespace headlab
