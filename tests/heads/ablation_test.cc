// Ablation against plain versions: removing heads for good, models whose heads put out constants,
// models that see positions alone. Shares of nothing: every expected number comes from elsewhere.
#include "headlab/lab/heads/causes/ablation.h"

#include <numeric>

#include "headlab/core/tasks/table.h"
#include "headlab/core/train/evaluate.h"
#include "support/models.h"

namespace headlab { namespace {

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// One pass is hundreds of sums of some ten terms of size 1 to 10.
constexpr double kTolerance = 2e4 * kEpsilon;

TransformerConfig grouped_config() { return small_config("heads=4 kv_heads=2"); }

/// Examples of different lengths with random padding and targets.
Batch ragged_batch(const TransformerConfig& config, Index size) {
  Batch batch = random_batch(config, size, config.length);
  for (Index b = 0; b < size; ++b) {
    batch.lengths.push_back(static_cast<std::int32_t>(config.length - b % 3));
    for (Index t = batch.length_of(b); t < config.length; ++t) batch.target(b, t) = -1;
    if (config.has_source())
      batch.source_lengths.push_back(static_cast<std::int32_t>(config.source_length - b % 4));
  }
  return batch;
}

TEST(Ablation, WithoutHeadsEqualsEvaluate) {
  const auto task = make_task("relations:length=8,vocab=6,classes=3,relations=1+same");
  const Transformer model = random_model(small_config(task->shape()));
  const Batch examples = held_out_examples(*task, 40).batch;
  const HeadSet none;
  const double loss = Ablation(model, examples).mean_losses({&none, 1})[0];
  EXPECT_NEAR(loss, evaluate(model, *task, {.examples = 40}).loss, kTolerance);
}

/// If heads were removed, the original index of a head is not its slot.
TEST(Ablation, PrunedModelAblatesHeadByOriginalIndex) {
  TransformerConfig config = small_config("heads=4 layers=2");
  const Transformer whole = random_model(config);
  const Transformer pruned = whole.with_heads({{1, 3}, {0, 2, 3}});
  const Batch examples = ragged_batch(config, 6);
  const Ablation ablation(pruned, examples);
  const std::vector<HeadSet> sets = {{}, {{0, 3}}, {{1, 2}}};
  const std::vector<double> losses = ablation.mean_losses(sets);
  const HeadSet none;
  const auto loss_with = [&](const std::vector<std::vector<std::int32_t>>& kept) {
    return Ablation(whole.with_heads(kept), examples).mean_losses({&none, 1})[0];
  };
  EXPECT_NEAR(losses[1], loss_with({{1}, {0, 2, 3}}), kTolerance);
  EXPECT_NEAR(losses[2], loss_with({{1, 3}, {0, 3}}), kTolerance);
  EXPECT_NE(losses[1], losses[2]);
}

const std::vector<HeadSet> kNoneAndOne = {{}, {{0, 1}}};

class OfEveryModel : public testing::TestWithParam<TransformerConfig> {};

TEST_P(OfEveryModel, ZeroAblationEqualsRemoval) {
  const Transformer model = random_model(GetParam());
  const Batch examples = ragged_batch(GetParam(), 9);
  const Ablation ablation(model, examples, {.batch = 4});
  std::vector<HeadSet> sets = {{}, {{0, 0}, {1, 1}}};
  for (const HeadId& head : all_heads(model)) sets.push_back({head});
  const auto losses = ablation.losses(sets);
  for (std::size_t i = 0; i < sets.size(); ++i) {
    std::vector<std::vector<std::int32_t>> kept = model.head_numbers();
    for (const HeadId& id : sets[i])
      std::erase(kept[static_cast<std::size_t>(id.attention_layer)], id.head);
    const Transformer smaller = model.with_heads(kept);
    for (Index b = 0; b < examples.size; ++b) {
      const Batch one = examples.rows(b, b + 1);
      EXPECT_NEAR(losses[i][static_cast<std::size_t>(b)],
                  static_cast<double>(smaller.loss(one, {}, {}, 1).item()), kTolerance);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, OfEveryModel,
                         testing::Values(small_config(), grouped_config(), small_encoder(),
                                         small_encoder_decoder(), small_config("features=3"),
                                         small_config("heads=4 kv_heads=2 block=llama window=3+0"),
                                         small_encoder_decoder("block=llama window=4")));

TEST(Ablation, PrunedModelUsesOriginalIndices) {
  const Transformer pruned = random_model(grouped_config()).with_heads({{1, 3}, {2}});
  const Batch examples = random_batch(grouped_config(), 5, 6);
  const Ablation ablation(pruned, examples);
  const HeadSet last = {{0, 3}};
  const double expected = static_cast<double>(
      pruned.with_heads({{1}, {2}}).loss(examples, {}, {}, ablation.target_count()).item());
  EXPECT_NEAR(ablation.mean_losses({&last, 1})[0], expected, kTolerance);
  const HeadSet gone = {{0, 2}};
  expect_error([&] { ablation.losses({&gone, 1}); }, {"find head 0.2"});
}

/// Every head of a layer puts out its b_V, whatever it sees.
void make_constant(Transformer& model) {
  for (const AttentionLayer& attention_layer : model.attention_layers()) {
    const Tensor& values = attention_layer.attention->V.W;
    std::fill_n(values.data(), values.count(), Scalar{0});
  }
}

TEST(Ablation, MeanAndResampleCostNothingForConstantHead) {
  Transformer model = random_model(small_config());
  make_constant(model);
  const Batch examples = ragged_batch(small_config(), 7);
  for (const AblationKind kind : {AblationKind::mean, AblationKind::resample}) {
    const auto losses = Ablation(model, examples, {.kind = kind}).losses(kNoneAndOne);
    expect_near(losses[1], losses[0], kTolerance, name_of(kind));
  }
  const auto losses = Ablation(model, examples).losses(kNoneAndOne);
  EXPECT_GT(std::abs(sum_of(losses[1]) - sum_of(losses[0])), 0.01);
}

TEST(Ablation, ResampleKeepsPositionalHeadsAndMeanDoesNot) {
  Transformer model = random_model(small_config());
  model.visit([](const std::string& name, const Tensor& parameter) {
    if (name == "embed.W_E") std::fill_n(parameter.data(), parameter.count(), Scalar{0});
  });
  const Batch examples = ragged_batch(small_config(), 7);
  const auto losses =
      Ablation(model, examples, {.kind = AblationKind::resample}).losses(kNoneAndOne);
  expect_near(losses[1], losses[0], kTolerance);
  const auto mean = Ablation(model, examples, {.kind = AblationKind::mean}).losses(kNoneAndOne);
  EXPECT_GT(std::abs(sum_of(mean[1]) - sum_of(mean[0])), 0.01);
}

TEST(Ablation, ResampleTakesTheOutputOfTheOtherExample) {
  const Transformer model = random_model(small_config());
  const Batch examples = random_batch(small_config(), 2, 6);
  const auto losses =
      Ablation(model, examples, {.kind = AblationKind::resample}).losses(kNoneAndOne);
  ActivationCache activations;
  model.forward(examples.rows(1, 2), {}, {.activations = &activations});
  std::vector<HeadInterventions> interventions(2);
  interventions[0].gate = Tensor::of({2}, {1, 0});
  interventions[0].replacement = activations.attention[0].z.viewed_as({1, 6, 2, 4});
  const Tensor expected = model.loss(examples.rows(0, 1), {}, {.interventions = interventions}, 1);
  EXPECT_NEAR(losses[1][0], static_cast<double>(expected.item()), kTolerance);
  EXPECT_GT(std::abs(losses[1][0] - losses[0][0]), 0.01);
}

TEST_P(OfEveryModel, PaddingIsNoPartOfMeansAndResamples) {
  const Transformer model = random_model(GetParam());
  Batch examples = ragged_batch(GetParam(), 6);
  Batch other = examples;
  for (Index b = 0; b < examples.size; ++b) {
    for (Index t = examples.length_of(b); t < 6; ++t) {
      other.token(b, t) = 0;
      std::ranges::fill(other.vector(b, t), Scalar{0});
    }
    for (Index s = examples.source_length_of(b); s < examples.source_length; ++s)
      other.source_token(b, s) = 0;
  }
  for (const AblationKind kind : {AblationKind::mean, AblationKind::resample}) {
    const auto losses = Ablation(model, examples, {.kind = kind}).losses(kNoneAndOne);
    expect_near(Ablation(model, other, {.kind = kind}).losses(kNoneAndOne)[1], losses[1],
                kTolerance, name_of(kind));
  }
}

TEST(Ablation, DoesNotDependOnTheBatchBeyondRounding) {
  const Transformer model = random_model(small_config());
  const Batch examples = ragged_batch(small_config(), 10);
  for (const AblationEntry& entry : ablation_table()) {
    const auto whole = Ablation(model, examples, {.kind = entry.kind}).losses(kNoneAndOne);
    const auto parts =
        Ablation(model, examples, {.kind = entry.kind, .batch = 3}).losses(kNoneAndOne);
    expect_near(parts[1], whole[1], kTolerance, entry.name);
  }
}

TEST(Ablation, OtherSeedsDrawOtherExamples) {
  const Transformer model = random_model(small_config());
  const Batch examples = random_batch(small_config(), 12, 6);
  const AblationOptions options{.kind = AblationKind::resample};
  AblationOptions other = options;
  other.seed = 1;
  const auto losses = Ablation(model, examples, options).losses(kNoneAndOne);
  EXPECT_EQ(Ablation(model, examples, options).losses(kNoneAndOne), losses);
  EXPECT_NE(Ablation(model, examples, other).losses(kNoneAndOne)[1], losses[1]);
}

TEST(Ablation, OnlyReadsTheModel) {
  Transformer model = random_model(small_config());
  const std::vector<double> before = values_without_gradients(model);
  for (const AblationEntry& entry : ablation_table())
    ablate_heads(model, random_batch(small_config(), 4, 6), {.kind = entry.kind});
  EXPECT_EQ(values_without_gradients(model), before);
}

TEST(Ablation, ReportsEachHeadWithItsChange) {
  const Transformer model = random_model(grouped_config());
  const Batch examples = random_batch(grouped_config(), 8, 6);
  const AblationReport report = ablate_heads(model, examples, {.seed = 3});
  ASSERT_EQ(report.heads.size(), 8u);
  EXPECT_EQ(report.attention, (std::vector<std::string>{"blocks.0.attn", "blocks.1.attn"}));
  for (const HeadAblation& one : report.heads)
    EXPECT_NEAR(one.loss - report.loss, one.change.change, 1e-12);
  const Json json = result_of(report);
  EXPECT_EQ(json.at("heads").items()[5].at("layer").integer(), 1);
  EXPECT_EQ(json.at("heads").items()[5].at("head").integer(), 1);
  EXPECT_EQ(json.at("kind").string(), "zero");
  EXPECT_EQ(json.at("seed").integer(), 3);
}

TEST(Ablation, RefusesInvalidOptions) {
  const Transformer model = random_model(small_config());
  Batch examples = random_batch(small_config(), 4, 6);
  expect_error([&] { Ablation(model, examples.rows(0, 1)); }, {"two examples", "1"});
  std::fill(examples.targets.begin(), examples.targets.end(), -1);
  expect_error([&] { Ablation(model, examples); }, {"no target"});
  expect_error([] { find_ablation("man"); }, {"kind of ablation 'man'", "mean", "resample"});
}

}  // namespace
}  // namespace headlab
