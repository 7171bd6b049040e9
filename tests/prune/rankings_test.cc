// Scores of heads, each against a plain computation of its formula: the slopes of losses by central
// differences, norms by loops, patterns by hand.
#include <cmath>
#include <numeric>

#include "headlab/core/tasks/table.h"
#include "headlab/lab/heads/causes/attribution.h"
#include "headlab/lab/prune/prune.h"
#include "support/models.h"

namespace headlab { namespace {

constexpr Index kExamples = 66;  // more than a batch of 64: a ragged end

class Score : public testing::Test {
 protected:
  Score() : task_(make_task("relations:length=6,vocab=6,classes=3,relations=1+same")) {
    model_.emplace_back(
        random_model(small_config("layers=2 heads=2+3 d_head=4 vocab=6 length=6 targets=2")));
  }
  std::vector<double> scores(const char* method) {
    PassCount cost;
    return find_prune_method(method).scores({model_[0], *task_, {.examples = kExamples}}, cost);
  }
  Batch examples() const { return task_->make(Key{}.fold("prune"), kExamples, Split::train).batch; }

  /// d loss / d gate of head h by central differences; the gates of `layer` have `shape`, and the
  /// one at `place` moves.
  double slope(const Batch& batch, double denominator, Index layer, const Shape& shape,
               Index place) {
    const NoGrad no_grad;
    const double e = 1e-2;
    double loss[2] = {};
    for (const int side : {0, 1}) {
      ModelHooks hooks{.interventions = std::vector<HeadInterventions>(2)};
      Tensor gate = Tensor::full(shape, 1);
      gate.data()[place] = static_cast<Scalar>(side == 0 ? 1 - e : 1 + e);
      hooks.interventions[static_cast<std::size_t>(layer)].gate = gate;
      loss[side] = static_cast<double>(model_[0].loss(batch, {}, hooks, denominator).item());
    }
    return (loss[1] - loss[0]) / (2 * e);
  }

  std::unique_ptr<Task> task_;
  std::vector<Transformer> model_;  // one
};

void expect_relative(const std::vector<double>& actual, const std::vector<double>& expected,
                     double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  double scale = 0;
  for (const double value : expected) scale = std::max(scale, std::abs(value));
  for (std::size_t i = 0; i < actual.size(); ++i)
    EXPECT_NEAR(actual[i], expected[i], tolerance * scale) << i;
}

TEST_F(Score, TokenImportanceSumsTheSlopesOfEachPositionWithoutTheirSigns) {
  const Batch all = examples();
  std::vector<double> expected;
  for (const HeadId& head : all_heads(model_[0])) {
    const Index H = head.attention_layer == 0 ? 2 : 3;
    double sum = 0;
    for (Index b = 0; b < all.size; ++b) {
      for (Index t = 0; t < all.length; ++t) {
        const Index place = t * H + head.head;
        sum +=
            std::abs(slope(all.rows(b, b + 1), 1, head.attention_layer, {1, all.length, H}, place));
      }
    }
    expected.push_back(sum / static_cast<double>(all.size * all.length));
  }
  expect_relative(scores("importance_token_raw"), expected, 5e-3);
}

TEST_F(Score, BatchImportanceLetsSignsCancelInsideABatch) {
  const Batch all = examples();
  std::vector<double> expected;
  for (const HeadId& head : all_heads(model_[0])) {
    const Index H = head.attention_layer == 0 ? 2 : 3;
    const double first = std::abs(slope(all.rows(0, 64), 0, head.attention_layer, {H}, head.head));
    const double last = std::abs(slope(all.rows(64, 66), 0, head.attention_layer, {H}, head.head));
    expected.push_back((first + last) / 2);
  }
  expect_relative(scores("importance_batch_raw"), expected, 5e-3);
}

TEST_F(Score, TaylorEqualsTheLinearEstimateOfRemoval) {
  const Batch all = examples();
  const auto targets = static_cast<double>(all.target_count());
  std::vector<double> expected;
  for (const HeadId& head : all_heads(model_[0])) {
    const Index H = head.attention_layer == 0 ? 2 : 3;
    expected.push_back(-slope(all, targets, head.attention_layer, {H}, head.head));
  }
  expect_relative(scores("taylor"), expected, 5e-3);
}

/// In the last layer of a pre-norm model nothing lies between a head and the logits but the final
/// norm: its relevance is then its share of the logits, which attribution computes forward.
TEST_F(Score, RelevanceOfTheLastLayerIsItsShareOfTheRightAnswersLogits) {
  TransformerConfig config = model_[0].config();
  config.d_ff = 0;
  const Transformer model = model_[0] = random_model(config);
  const std::vector<double> relevance = scores("lrp");
  const Batch all = examples();
  const std::vector<HeadId> heads = all_heads(model);
  std::vector<double> expected(3), last;
  for (Index b = 0; b < all.size; ++b) {
    const Attribution found = attribute_logits(model, all.rows(b, b + 1), false);
    for (std::size_t h = 0; h < 3; ++h) {
      const auto part = std::find(found.parts.begin(), found.parts.end(), text("1.", h));
      const auto& shares = found.shares[static_cast<std::size_t>(part - found.parts.begin())];
      expected[h] += std::abs(std::accumulate(shares.begin(), shares.end(), 0.0)) /
                     static_cast<double>(all.size);
    }
  }
  for (std::size_t h = 0; h < heads.size(); ++h)
    if (heads[h].attention_layer == 1) last.push_back(relevance[h]);
  expect_relative(last, expected, 1e-4);
}

TEST_F(Score, NormalisedImportanceHasLengthOneInEachLayer) {
  for (const char* method : {"importance", "importance_token", "importance_batch"}) {
    const std::vector<double> normalised = scores(method);
    const std::vector<double> raw = scores((std::string(method) + "_raw").c_str());
    EXPECT_NEAR(std::hypot(normalised[0], normalised[1]), 1, 1e-9);
    EXPECT_NEAR(std::hypot(normalised[2], normalised[3], normalised[4]), 1, 1e-9);
    EXPECT_NEAR(normalised[0] / normalised[1], raw[0] / raw[1], 1e-9);
  }
}

TEST_F(Score, AblationIsTheRiseOfTheLossWithoutTheHead) {
  const NoGrad no_grad;
  const Batch all = examples();
  const auto full = static_cast<double>(model_[0].loss(all).item());
  std::vector<double> expected;
  for (const HeadId& head : all_heads(model_[0])) {
    const std::vector<HeadId> others = without(all_heads(model_[0]), head);
    expected.push_back(static_cast<double>(remove_heads(model_[0], others).loss(all).item()) -
                       full);
  }
  expect_relative(scores("ablation"), expected, 1e-5);
}

TEST_F(Score, MagnitudeOfValuesIsTheNormOfTheirProduct) {
  std::vector<double> expected;
  for (const AttentionLayer& attention_layer : model_[0].attention_layers()) {
    const Tensor V = attention_layer.attention->V.W, O = attention_layer.attention->O.W;
    const Index H = attention_layer.attention->head_count(), C = V.size(0), Dv = 4;
    for (Index h = 0; h < H; ++h) {
      double squares = 0;
      for (Index i = 0; i < C; ++i) {
        for (Index j = 0; j < C; ++j) {
          double product = 0;
          for (Index d = 0; d < Dv; ++d) {
            product += static_cast<double>(V.data()[i * H * Dv + h * Dv + d]) *
                       static_cast<double>(O.data()[(h * Dv + d) * C + j]);
          }
          squares += product * product;
        }
      }
      expected.push_back(std::sqrt(squares));
    }
  }
  expect_relative(scores("magnitude_ov"), expected, 1e-6);
}

TEST_F(Score, EntropyAndConfidenceAreMeansOverQueriesOfTheirRow) {
  const NoGrad no_grad;
  ActivationCache activations;
  const Batch all = examples();
  model_[0].forward(all, {}, {.activations = &activations});
  std::vector<double> entropy, confidence;
  for (const AttentionActivations& attention_layer : activations.attention) {
    const Tensor& pattern = attention_layer.pattern;
    const Index H = pattern.size(1), T = pattern.size(2);
    for (Index h = 0; h < H; ++h) {
      double sum = 0, largest = 0;
      for (Index row = 0; row < all.size * T; ++row) {
        const Scalar* p = pattern.data() + (row / T * H + h) * T * T + row % T * T;
        for (Index s = 0; s < T; ++s) {
          const auto w = static_cast<double>(p[s]);
          sum -= w > 0 ? w * std::log(w) : 0;
        }
        largest += static_cast<double>(*std::max_element(p, p + T));
      }
      entropy.push_back(-sum / static_cast<double>(all.size * T));
      confidence.push_back(largest / static_cast<double>(all.size * T));
    }
  }
  expect_relative(scores("entropy"), entropy, 1e-5);
  expect_relative(scores("confidence"), confidence, 1e-5);
}

/// Results of the program with gates of a model of other kinds: the rise of the loss without a
/// head, and its slope.
TEST(KindsOfScores, EqualTheirFormulasForEveryBlock) {
  const auto task = make_task("patches");
  for (const char* kinds : {"block=gpt2", "block=llama kv_heads=1 window=4+0", "block=original"}) {
    SCOPED_TRACE(kinds);
    const Transformer model = random_model(small_config(task->shape(), kinds));
    PassCount cost;
    const PruneProblem problem{model, *task, {.examples = 40}};
    const std::vector<double> rises = find_prune_method("ablation").scores(problem, cost);
    const std::vector<double> slopes = find_prune_method("taylor").scores(problem, cost);
    const Batch batch = task->make_batch(Key{}.fold("prune"), 40, Split::train);
    const NoGrad no_grad;
    const auto loss_at = [&](const HeadId& head, Scalar gate) {
      ModelHooks hooks{.interventions = std::vector<HeadInterventions>(2)};
      hooks.interventions[head.attention_layer].gate = Tensor::full({2}, 1);
      hooks.interventions[head.attention_layer].gate.data()[head.head] = gate;
      return static_cast<double>(model.loss(batch, {}, hooks).item());
    };
    std::vector<double> expected_rises, expected_slopes;
    for (const HeadId& head : all_heads(model)) {
      expected_rises.push_back(loss_at(head, 0) - loss_at(head, 1));
      expected_slopes.push_back((loss_at(head, Scalar(0.99)) - loss_at(head, Scalar(1.01))) / 0.02);
    }
    expect_relative(rises, expected_rises, 1e-3);
    expect_relative(slopes, expected_slopes, 2e-2);
  }
}

/// The mean over the queries that are no padding, of all examples.
TEST(PatternScores, LeaveOutPadding) {
  const auto task = make_task("english");
  const Transformer model = random_model(small_config(task->shape()));
  const PruneProblem problem{model, *task, {.examples = 40}};
  const Batch batch = task->make_batch(Key{}.fold("prune"), 40, Split::train);
  ASSERT_FALSE(batch.lengths.empty());
  const NoGrad no_grad;
  ActivationCache activations;
  model.forward(batch, {}, {.activations = &activations});
  const Tensor& P = activations.attention[0].pattern;  // [B, H, T, S]
  std::vector<double> entropy(2), largest(2);
  double rows = 0;
  for (Index b = 0; b < 40; ++b) {
    for (Index t = 0; t < batch.length_of(b); ++t, ++rows) {
      for (Index h = 0; h < 2; ++h) {
        const Scalar* row = P.data() + ((b * 2 + h) * P.size(2) + t) * P.size(3);
        for (Index s = 0; s < P.size(3); ++s)
          if (row[s] > 0) entropy[static_cast<std::size_t>(h)] -= row[s] * std::log(row[s]);
        largest[static_cast<std::size_t>(h)] += *std::max_element(row, row + P.size(3));
      }
    }
  }
  PassCount cost;
  const auto entropies = find_prune_method("entropy").scores(problem, cost);
  const auto confidences = find_prune_method("confidence").scores(problem, cost);
  for (std::size_t h = 0; h < 2; ++h) {
    EXPECT_NEAR(entropies[h], -entropy[h] / rows, 1e-4);
    EXPECT_NEAR(confidences[h], largest[h] / rows, 1e-5);
  }
}

}  // namespace
}  // namespace headlab
