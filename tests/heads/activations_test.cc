// Heads by name: activations are found by name, whichever heads were pruned.
#include "headlab/lab/heads/scores/activations.h"

#include <cmath>

#include "headlab/core/tasks/table.h"
#include "headlab/core/train/streams.h"
#include "headlab/lab/heads/scores/scores.h"
#include "support/hand_built.h"
#include "support/models.h"

namespace headlab { namespace {

TEST(PatternOf, PrunedModelUsesTheOriginalIndexOfAHead) {
  const auto task = make_task("relations:length=10,vocab=6,classes=3,relations=1+3+same");
  const Transformer model = hand_built(task->shape(), 3, {1, 3, kSame, kUniform});
  const Transformer pruned = model.with_heads({{1, 3}});
  for (const std::int32_t head : {1, 3}) {
    const HeadPattern whole = pattern_of(model, *task, {0, head}, 5);
    EXPECT_EQ(pattern_of(pruned, *task, {0, head}, 5).weights, whole.weights) << head;
    EXPECT_EQ(whole.example, 5);
  }
  const HeadPattern back3 = pattern_of(pruned, *task, {0, 1});
  EXPECT_EQ(back3.weights[9 * 10 + 6], 1);
  EXPECT_EQ(back3.queries, back3.keys);
  ASSERT_NE(back3.truth_of(""), nullptr);
  EXPECT_EQ(back3.truth_of("")->relation, "back3");
  EXPECT_EQ(back3.truth_of("")->mass, 1);
  expect_error([&] { pattern_of(pruned, *task, {0, 2}); }, {"find head 0.2"});
}

TEST(PatternOf, CrossAttentionHasTokensOfTheSourceAsKeys) {
  const auto task = make_task("reverse_cross");
  TransformerConfig config = small_encoder_decoder();
  config.shape() = task->shape();
  const Transformer model = random_model(config);
  const Batch batch = task->make(Key{}, 3, Split::validation).batch;
  Index layer = 0;
  for (const AttentionLayer& attention_layer : model.attention_layers()) {
    const HeadPattern shown = pattern_of(model, *task, {layer++, 0}, Example{batch, {}}, 2);
    EXPECT_EQ(std::ssize(shown.queries), batch.queries_of(attention_layer.kind, 2))
        << attention_layer.name;
    EXPECT_EQ(std::ssize(shown.keys), batch.keys_of(attention_layer.kind, 2))
        << attention_layer.name;
    const bool reads_source = attention_layer.kind != AttentionKind::self;
    EXPECT_EQ(shown.keys[0],
              task->token_text(reads_source ? batch.source_token(2, 0) : batch.token(2, 0)));
    double sum = 0;  // of the first row
    for (std::size_t s = 0; s < shown.keys.size(); ++s)
      sum += static_cast<double>(shown.weights[s]);
    EXPECT_NEAR(sum, 1, 10 * kEpsilon);
  }
}

TEST(Activations, HoldTheOutputOfAHeadAndTheStreams) {
  const Transformer model = random_model(small_config()).with_heads({{1}, {0, 1}});
  const Batch batch = random_batch(small_config(), 2, 6);
  const Activations activations(model, batch);
  EXPECT_EQ(numbers(activations.logits()), numbers(model.forward(batch)));
  EXPECT_EQ(numbers(activations.output({0, 1})), numbers(activations.cache().attention[0].z));
  const Tensor second = activations.output({1, 1}), both = activations.cache().attention[1].z;
  EXPECT_EQ(second.shape(), Shape({2, 6, both.size(2) / 2}));
  EXPECT_EQ(second.data()[0], both.data()[both.size(2) / 2]);
  EXPECT_EQ(activations.residual(2).shape(), activations.residual(0).shape());
  expect_error([&] { activations.output({0, 0}); }, {"find head 0.0"});
}

TEST(NormalisedRows, DivideByTheSumOfEachRowButZeros) {
  const Tensor pattern = Tensor::of({3, 2}, {1, 3, 0, 0, 0.5, 0});
  const Tensor rows = normalised_rows(pattern);
  EXPECT_EQ(numbers(rows), (std::vector<double>{0.25, 0.75, 0, 0, 1, 0}));
  EXPECT_EQ(pattern.values()[1], 3) << "the weights themselves stay";
}

TEST(ForParts, CoversEverySequenceOnce) {
  const Batch batch = random_batch(small_config(), 7, 4);
  std::vector<Index> sizes;
  for_parts(batch, 3, [&](const Batch& part, Index first) {
    EXPECT_EQ(part.token(0, 0), batch.token(first, 0));
    sizes.push_back(part.size);
  });
  EXPECT_EQ(sizes, (std::vector<Index>{3, 3, 1}));
}

/// Expects that the masses by example of a random model average to the masses of its scores.
void expect_average(const std::string& attention_function) {
  const auto task = make_task("relations:length=10,vocab=6,classes=3,relations=1");
  TransformerConfig config = small_config(task->shape());
  settings_of(config).set_text("attention_function", attention_function);
  const Transformer model = random_model(config);
  constexpr Index kExamples = 40;
  const ExampleMasses masses = masses_by_example(model, *task, kExamples);
  const HeadsReport report =
      score_heads(model, *task,
                  {.examples = kExamples, .without_truth = false, .patterns_only = true});
  ASSERT_EQ(masses.heads, std::ssize(report.heads));
  ASSERT_EQ(masses.relations, std::ssize(report.relations));
  // One relation, asked at every position but the first: all examples weigh the same.
  for (Index h = 0; h < masses.heads; ++h) {
    double sum = 0, count = 0;
    for (Index b = 1; b < kExamples; b += 2) {  // those on which scores are reported
      const auto mass = static_cast<double>(masses.values[h * kExamples + b]);
      if (std::isnan(mass)) continue;
      sum += mass, ++count;
    }
    EXPECT_NEAR(sum / count, report.heads[h].relations[0].mass, 1e-6) << h;
  }
}

TEST(Masses, MassesByExampleAverageToTheScore) { expect_average("softmax"); }

TEST(Masses, OfRowsThatDoNotSumToOneAreSharesOfTheRow) { expect_average("sigmoid"); }

TEST(Outputs, OutputsOfAPatternEqualTheOutputsOfItsHead) {
  const auto task = make_task("relations:length=10,vocab=6,classes=3");
  const Transformer model = random_model(small_config(task->shape()));
  const HeadPattern pattern = pattern_of(model, *task, {1, 0}, 3);
  const Batch examples = task->make(streams::scored(), 4, Split::validation).batch;
  const Tensor z = Activations(model, examples.rows(3, 4)).output({1, 0});
  ASSERT_EQ(std::ssize(pattern.z), z.count());
  for (Index i = 0; i < z.count(); ++i) EXPECT_EQ(pattern.z[i], z.data()[i]);
}

}  // namespace
}  // namespace headlab
