// Scores of heads whose attention function does not normalise: they are those of rows divided by
// their sums, and the sum itself is a score, which softmax does not have.
#include <cmath>

#include "headlab/core/base/text.h"
#include "headlab/core/tasks/table.h"
#include "headlab/core/train/streams.h"
#include "headlab/lab/heads/causes/truth_edges.h"
#include "headlab/lab/heads/scores/activations.h"
#include "headlab/lab/heads/scores/scores.h"
#include "support/models.h"

namespace headlab { namespace {

constexpr const char* kTask = "relations:length=8,vocab=6,classes=3,relations=1+same";

Transformer model_of(const Task& task, const std::string& settings) {
  return random_model(small_config(task.shape(), settings));
}

/// Over the rows of all examples: the mean sum of weights, and the mean entropy of the weights
/// divided by it.
std::pair<double, double> sum_and_entropy(const Transformer& model, const Task& task,
                                          const HeadId& head, Index examples) {
  const Batch batch = task.make_batch(streams::scored(), examples, Split::validation);
  const Tensor pattern = Activations(model, batch).pattern(head);  // [B, T, S]
  double sums = 0, entropies = 0;
  Index rows = 0;
  for (Index b = 0; b < batch.size; ++b) {
    for (Index t = 0; t < batch.length; ++t, ++rows) {
      const Scalar* row = pattern.data() + (b * batch.length + t) * batch.length;
      double sum = 0;
      for (Index s = 0; s <= t; ++s) sum += static_cast<double>(row[s]);
      sums += sum;
      for (Index s = 0; s <= t; ++s) {
        const double p = static_cast<double>(row[s]) / sum;
        entropies -= p > 0 ? p * std::log(p) : 0;
      }
    }
  }
  return {sums / static_cast<double>(rows), entropies / static_cast<double>(rows)};
}

TEST(ScoreHeads, DividesRowsByTheirSumsAndShowsTheSum) {
  const auto task = make_task(kTask);
  for (const char* name : {"sigmoid", "softmax_one"}) {
    SCOPED_TRACE(name);
    const Transformer model = model_of(*task, text("attention_function=", name));
    const HeadsReport report = score_heads(model, *task, {.examples = 32});
    for (const HeadScores& head : report.heads) {
      const auto [sum, entropy] = sum_and_entropy(model, *task, head, 32);
      EXPECT_NEAR(head.value("row_sum"), sum, 1e-5);
      EXPECT_NEAR(head.value("entropy"), entropy, 1e-5);
      EXPECT_LE(head.value("confidence"), 1);
      for (const RelationScore& score : head.relations) EXPECT_LE(score.mass, 1);
    }
    const Json json = to_json(report);
    EXPECT_NE(json.at("heads").items()[0].find("row_sum"), nullptr);
    const std::string text = to_json(result_of(report)).dump();
    EXPECT_NE(text.find("row_sum"), std::string::npos);
  }
}

TEST(ScoreHeads, HasNoRowSumOfAFunctionThatNormalises) {
  const auto task = make_task(kTask);
  const HeadsReport report = score_heads(model_of(*task, ""), *task, {.examples = 32});
  EXPECT_EQ(to_json(report).dump().find("row_sum"), std::string::npos);
  EXPECT_EQ(to_json(result_of(report)).dump().find("row_sum"), std::string::npos);
}

TEST(ScoreHeads, AreTheSameForComposedSoftmax) {
  const auto task = make_task(kTask);
  const HeadsReport fused = score_heads(model_of(*task, ""), *task, {.examples = 32});
  const HeadsReport composed =
      score_heads(model_of(*task, "attention_function=softmax_composed"), *task, {.examples = 32});
  for (std::size_t h = 0; h < fused.heads.size(); ++h)
    for (std::size_t r = 0; r < fused.relations.size(); ++r)
      EXPECT_NEAR(fused.heads[h].relations[r].mass, composed.heads[h].relations[r].mass, 1e-5);
}

TEST(MassesByExample, AreSharesOfTheRows) {
  const auto task = make_task(kTask);
  const Transformer model = model_of(*task, "attention_function=sigmoid");
  const ExampleMasses masses = masses_by_example(model, *task, 16);
  for (const float mass : masses.values) EXPECT_TRUE(std::isnan(mass) || mass <= 1.00001F) << mass;
}

TEST(PatternOf, ShowsWeightsAsComputedAndMassesAsShares) {
  const auto task = make_task(kTask);
  const Transformer model = model_of(*task, "attention_function=sigmoid");
  const HeadPattern pattern = pattern_of(model, *task, {0, 0}, 1);
  const Batch batch = task->make_batch(streams::scored(), 2, Split::validation).rows(1, 2);
  const Tensor raw = Activations(model, batch).pattern({0, 0});
  EXPECT_EQ(pattern.weights, std::vector<Scalar>(raw.values().begin(), raw.values().end()));
  for (const TruthCells& truth : pattern.truth) EXPECT_LE(truth.mass, 1);
}

TEST(TruthEdges, AreTestedForEveryAttentionFunction) {
  const auto task = make_task(kTask);
  for (const AttentionFunctionEntry& function : attention_functions()) {
    SCOPED_TRACE(function.name);
    const Transformer model = model_of(*task, text("attention_function=", function.name));
    const EdgeReport edges = test_truth_edges(model, *task, {.examples = 40, .draws = 1});
    EXPECT_EQ(edges.relations.size(), 2u);
  }
}

TEST(StepsOf, AreRefusedForAttentionOtherThanPlainSoftmax) {
  const auto task = make_task(kTask);
  const Batch batch = task->make_batch(streams::scored(), 1, Split::validation);
  const auto steps = [&](const char* settings) {
    const Transformer model = model_of(*task, settings);
    const Activations activations(model, batch);
    return steps_of(model, activations, batch, {0, 0});
  };
  EXPECT_EQ(steps("attention_function=softmax_composed").weights.rows(), 8);
  expect_error([&] { steps("attention_function=sigmoid"); },
               {"cannot show the steps", "`sigmoid` attention"});
  expect_error([&] { steps("positions=alibi"); }, {"distance bias of alibi positions"});
}

}  // namespace
}  // namespace headlab
