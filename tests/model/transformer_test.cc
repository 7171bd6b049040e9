// The transformer as a whole: shapes, names, masks, captures, micro-batches, initial values,
// memory.
#include "headlab/core/model/transformer.h"

#include <map>

#include "headlab/core/model/initial.h"
#include "headlab/core/ops/ops.h"
#include "support/models.h"

namespace headlab { namespace {

std::vector<std::string> names_of(Transformer model) {
  std::vector<std::string> names;
  model.visit([&](const std::string& name, const Tensor&) { names.push_back(name); });
  return names;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

TEST(Transformer, MakesLogitsForEveryTarget) {
  TransformerConfig config = small_config("targets=3");
  const Transformer model = random_model(config);
  EXPECT_EQ(model.forward(random_batch(config, 2, 5)).shape(), (Shape{2, 5, 21}));
}

TEST(Transformer, HasNoParametersForOmittedParts) {
  const std::vector<std::string> names =
      names_of(Transformer(small_config("norm_place=post positions=sinusoidal tied=true d_ff=0")));
  for (const char* absent : {"ln_final.w", "pos_embed.W_pos", "unembed.W_U", "unembed.b_U",
                             "blocks.0.ln2.w", "blocks.0.mlp.W_in"})
    EXPECT_FALSE(has(names, absent)) << absent;
  EXPECT_TRUE(has(names, "blocks.0.ln1.w"));
}

TEST(Transformer, CountsItsParameters) {
  const TransformerConfig c = small_config();
  const Index block = 4 * c.d_model + 4 * (c.d_model * c.d_model + c.d_model) +
                      2 * c.d_model * c.d_ff + c.d_ff + c.d_model;
  const Index expected =
      (c.vocab + c.length) * c.d_model + 2 * block + 2 * c.d_model + (c.d_model + 1) * c.vocab;
  EXPECT_EQ(Transformer(c).parameter_count(), expected);
}

/// Returns the loss and all gradients; `through_logits` computes all logits first.
std::vector<std::vector<double>> loss_and_gradients(const TransformerConfig& config,
                                                    bool through_logits) {
  const Transformer model = random_model(config);
  const Batch batch = random_batch(config, 3, 6);
  const Tensor loss =
      through_logits ? model.loss_of(model.forward(batch), batch) : model.loss(batch);
  backward(loss);
  std::vector<std::vector<double>> all{numbers(loss)};
  model.visit([&](const std::string&, const Tensor& parameter) {
    all.push_back(numbers(parameter.grad()));
  });
  return all;
}

TEST(Transformer, HasTheSameLossAndGradientsWithAndWithoutLogits) {
  for (const char* settings :
       {"", "targets=3", "tied=true", "biases=off targets=2 norm_place=post"}) {
    const TransformerConfig config = small_config(settings);
    const auto fused = loss_and_gradients(config, false), all = loss_and_gradients(config, true);
    ASSERT_EQ(fused.size(), all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      expect_near(fused[i], all[i], 16 * kEpsilon, text(settings, ", value ", i));
    }
  }
}

TEST(Transformer, AsADecoderSeesNothingThatComesLater) {
  const TransformerConfig config = small_config();
  const Transformer model = random_model(config);
  Batch batch = random_batch(config, 1, 6);
  const Tensor before = model.forward(batch);
  batch.token(0, 4) = (batch.token(0, 4) + 1) % 7;
  const Tensor after = model.forward(batch);
  EXPECT_EQ(numbers(slice(before, 1, 0, 4)), numbers(slice(after, 1, 0, 4)));
  EXPECT_NE(numbers(slice(before, 1, 4, 5)), numbers(slice(after, 1, 4, 5)));
}

TEST(Transformer, AsAnEncoderSeesEverythingThatIsNoPadding) {
  TransformerConfig config = small_config("architecture=encoder");
  const Transformer model = random_model(config);
  Batch batch = random_batch(config, 1, 6);
  batch.lengths = {4};
  const Tensor first = model.forward(batch);
  batch.token(0, 5) = (batch.token(0, 5) + 1) % 7;
  const Tensor padding_changed = model.forward(batch);
  EXPECT_EQ(numbers(slice(first, 1, 0, 4)), numbers(slice(padding_changed, 1, 0, 4)));
  batch.token(0, 3) = (batch.token(0, 3) + 1) % 7;
  EXPECT_NE(numbers(slice(first, 1, 0, 1)), numbers(slice(model.forward(batch), 1, 0, 1)));
}

TEST(Transformer, RecordsEveryLayerTheResidualStreamAndWhatIsAddedToIt) {
  const TransformerConfig config = small_config();
  const Transformer model = random_model(config);
  const Batch batch = random_batch(config, 2, 5);
  ActivationCache activations;
  const Tensor logits = model.forward(batch, {}, {.activations = &activations});
  ASSERT_EQ(activations.attention.size(), 2u);
  ASSERT_EQ(activations.residual.size(), 3u);
  EXPECT_EQ(activations.attention[1].pattern.shape(), (Shape{2, 2, 5, 5}));
  EXPECT_EQ(activations.residual[0].shape(), (Shape{2, 5, 8}));
  EXPECT_EQ(numbers(logits), numbers(model.forward(batch)));
  const std::vector<AttentionLayer> attention_layers = model.attention_layers();
  EXPECT_EQ(activations.attention[1].heads, attention_layers[1].attention->heads);
  std::string names;
  for (const auto& [from, x] : activations.written) names += name_of(from) + " ";
  EXPECT_EQ(names, "embedding positions blocks.0.attn blocks.0.mlp blocks.1.attn blocks.1.mlp ");
  const auto written = [&](std::size_t i) { return activations.written[i].x; };
  for (std::size_t i = 1; i < activations.residual.size(); ++i)
    EXPECT_EQ(numbers(activations.residual[i - 1] + written(2 * i) + written(2 * i + 1)),
              numbers(activations.residual[i]));
}

TEST(Transformer, RefusesBatchesThatDoNotFit) {
  const TransformerConfig config = small_config();
  const Transformer model = random_model(config);
  Batch batch = random_batch(config, 1, 6);
  expect_error([&] { model.forward(Batch::make(1, 7)); }, {"7 positions", "at most 6"});
  expect_error([&] { model.forward(Batch::make(1, 6, 1, 0, 3)); },
               {"it reads tokens", "holds vectors of 3 numbers"});
  expect_error([&] { model.loss(Batch::make(1, 6, 2)); }, {"2 targets", "the model 1"});
  expect_error(
      [&] { model.forward(batch, {}, {.interventions = std::vector<HeadInterventions>(3)}); },
      {"3 attention layers", "has 2"});
  batch.token(0, 2) = 7;
  expect_error([&] { model.forward(batch); }, {"id 7", "position 2"});
}

TEST(Transformer, RefusesAnAttentionLayerThatItLacks) {
  Transformer model = random_model(small_config());
  expect_error([&] { model.attention(2); }, {"attention layer 2:", "has 2"});
}

std::map<std::string, std::vector<double>> gradients_of(Transformer& model) {
  std::map<std::string, std::vector<double>> gradients;
  model.visit([&](const std::string& name, const Tensor& p) {
    gradients[name] = numbers(p.grad());
    p.zero_grad();
  });
  return gradients;
}

TEST(MicroBatches, FourOfSixteenEqualOneOfSixtyFour) {
  TransformerConfig config = small_config("targets=2");
  Transformer model = random_model(config);
  Batch batch = random_batch(config, 64, 6, 0.7);
  for (Index t = 0; t < 6; ++t)  // uneven: the first sixteen sequences have hardly any target
    for (Index b = 0; b < 15; ++b) batch.target(b, t, 0) = batch.target(b, t, 1) = -1;
  const Tensor whole = model.loss(batch);
  backward(whole);
  const auto expected = gradients_of(model);
  const auto denominator = static_cast<double>(batch.target_count());
  double sum = 0;
  for (Index part = 0; part < 4; ++part) {
    const Tensor loss = model.loss(batch.rows(part * 16, part * 16 + 16), {}, {}, denominator);
    sum += static_cast<double>(loss.item());
    backward(loss);
  }
  EXPECT_NEAR(sum, whole.item(), 8 * kEpsilon * sum);
  for (const auto& [name, gradient] : gradients_of(model))
    expect_near(gradient, expected.at(name), 256 * kEpsilon, name);
}

TEST(Batch, CountsTargetsAndTakesRows) {
  Batch batch = Batch::make(3, 2, 2);
  EXPECT_EQ(batch.target_count(), 0);
  batch.target(1, 1, 1) = 5;
  batch.token(1, 0) = 3;
  batch.lengths = {2, 1, 2};
  const Batch part = batch.rows(1, 3);
  EXPECT_EQ(part.size, 2);
  EXPECT_EQ(part.token(0, 0), 3);
  EXPECT_EQ(part.target(0, 1, 1), 5);
  EXPECT_EQ(part.length_of(0), 1);
  expect_error([&] { batch.rows(2, 4); }, {"[2, 4)", "batch of 3"});
  expect_error([] { Batch::make(0, 3); }, {"0 sequences"});
}

TEST(Initial, FollowsTheRecipeOfTheConfig) {
  TransformerConfig config = small_config("d_model=64 vocab=200");
  Transformer uniform(config);
  initialize(uniform, Key{1});
  config.init = InitialValues::gpt2;
  Transformer gpt2(config);
  initialize(gpt2, Key{1});
  const auto deviation = [](Transformer& model, const std::string& wanted) {
    double squares = 0;
    model.visit([&](const std::string& name, const Tensor& p) {
      for (Scalar value : p.values())
        squares += name == wanted ? static_cast<double>(value) * static_cast<double>(value) /
                                        static_cast<double>(p.count())
                                  : 0;
    });
    return std::sqrt(squares);
  };
  // 4,096 draws and more: the deviation is known to about 1 in 90; four times that is allowed.
  EXPECT_NEAR(deviation(uniform, "embed.W_E"), 0.5, 0.5 * 0.045);
  EXPECT_NEAR(deviation(uniform, "blocks.0.attn.W_Q"), 0.125 / std::sqrt(3), 0.125 * 0.045);
  EXPECT_EQ(deviation(uniform, "blocks.0.attn.b_Q"), 0);
  EXPECT_EQ(deviation(uniform, "ln_final.w"), 1);
  EXPECT_NEAR(deviation(gpt2, "embed.W_E"), 0.02, 0.02 * 0.045);
  EXPECT_NEAR(deviation(gpt2, "blocks.1.attn.W_O"), 0.01, 0.01 * 0.045);
  config.architecture = Architecture::encoder_decoder;  // 3 sublayers in each of 2 decoder blocks
  config.encoder_layers = 4;
  config.source_length = 5;
  Transformer both(config);
  initialize(both, Key{1});
  EXPECT_NEAR(deviation(both, "decoder.blocks.1.cross_attn.W_O"), 0.02 / std::sqrt(6), 4e-4);
  EXPECT_NEAR(deviation(both, "encoder.blocks.3.attn.W_O"), 0.02 / std::sqrt(8), 4e-4);
}

TEST(Initial, WeightsOfALayerDoNotDependOnTheNumberOfLayers) {
  TransformerConfig config = small_config();
  Transformer two(config);
  config.layers = 3;
  Transformer three(config);
  initialize(two, Key{5});
  initialize(three, Key{5});
  std::map<std::string, std::vector<double>> values;
  three.visit([&](const std::string& name, const Tensor& p) { values[name] = numbers(p); });
  two.visit(
      [&](const std::string& name, const Tensor& p) { EXPECT_EQ(numbers(p), values.at(name)); });
}

TEST(Clone, SharesNothing) {
  Transformer model = random_model(small_config());
  Transformer copy = model.clone();
  const Batch batch = random_batch(small_config(), 1, 4);
  const std::vector<double> before = numbers(model.forward(batch));
  EXPECT_EQ(numbers(copy.forward(batch)), before);
  for (Tensor& p : parameters_of(copy)) std::fill_n(p.data(), p.count(), Scalar{0});
  EXPECT_EQ(numbers(model.forward(batch)), before);
}

TEST(Memory, StepsAfterTheSecondAllocateFromThePool) {
  TransformerConfig config = small_config("dropout=0.1");
  Transformer model = random_model(config);
  const Batch batch = random_batch(config, 4, 6);
  const auto step = [&](std::uint64_t n) {
    backward(model.loss(batch, {.training = true, .key = Key{n}}));
    for (Tensor& p : parameters_of(model)) p.zero_grad();
  };
  step(0);
  step(1);
  const PoolStatistics before = pool_statistics();
  for (std::uint64_t n = 2; n < 6; ++n) step(n);
  EXPECT_EQ(pool_statistics().system_allocations, before.system_allocations);
  EXPECT_EQ(pool_statistics().bytes_in_use, before.bytes_in_use);
}

class GivenStreams : public testing::TestWithParam<TransformerConfig> {};

TEST_P(GivenStreams, StreamsOfTheSamePassChangeNothing) {
  const Transformer model = random_model(GetParam());
  const Batch batch = random_batch(GetParam(), 2, 5);
  ActivationCache activations;
  const Tensor logits = model.forward(batch, {}, {.activations = &activations});
  for (std::size_t place = 0; place < activations.residual.size(); ++place) {
    ModelHooks hooks;
    hooks.residual.resize(place + 1);
    hooks.residual[place] = activations.residual[place];
    EXPECT_EQ(numbers(model.forward(batch, {}, hooks)), numbers(logits)) << place;
  }
}

TEST_P(GivenStreams, CarryAllThatCameBefore) {
  const Transformer model = random_model(GetParam());
  const Batch batch = random_batch(GetParam(), 2, 5);
  const Batch other = random_batch(GetParam(), 2, 5, 0.2, Key{9});
  ActivationCache activations;
  const Tensor expected = model.forward(other, {}, {.activations = &activations});
  const std::size_t streams = activations.residual.size();
  ModelHooks hooks;
  hooks.residual.resize(streams);
  hooks.residual[streams - 1] = activations.residual[streams - 1];
  ActivationCache seen;
  hooks.activations = &seen;
  EXPECT_EQ(numbers(model.forward(batch, {}, hooks)), numbers(expected));
  EXPECT_FALSE(seen.residual[streams - 2].defined());  // it did not run
}

TEST_P(GivenStreams, MeetTheInterventionsInLaterAttentionLayers) {
  const Transformer model = random_model(GetParam());
  const Batch batch = random_batch(GetParam(), 2, 5);
  ActivationCache activations;
  model.forward(batch, {}, {.activations = &activations});
  ModelHooks edited;
  edited.interventions.resize(activations.attention.size());
  edited.interventions.back().gate = Tensor::zeros({2});
  ModelHooks both = edited;
  both.residual.resize(activations.residual.size() - 1);
  both.residual.back() = activations.residual[activations.residual.size() - 2];
  EXPECT_EQ(numbers(model.forward(batch, {}, both)), numbers(model.forward(batch, {}, edited)));
}

TEST_P(GivenStreams, MustFit) {
  const Transformer model = random_model(GetParam());
  expect_error(
      [&] {
        ModelHooks hooks;
        hooks.residual = {Tensor::zeros({1, 5, 8})};
        model.forward(random_batch(GetParam(), 2, 5), {}, hooks);
      },
      {"residual stream 0", "another shape"});
}

INSTANTIATE_TEST_SUITE_P(Models, GivenStreams,
                         testing::Values(small_config(), small_encoder_decoder()));

}  // namespace
}  // namespace headlab
