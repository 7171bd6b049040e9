// The whole transformer against PyTorch: a pre-norm decoder with gelu, a post-norm encoder with
// relu, a block of llama with grouped queries, a decoder of sinusoidal positions, geglu and a local
// layer, an encoder of vectors turned by another base, and encoder-decoders of three kinds with
// sources of different lengths: logits, patterns, loss and every gradient; of the first two also
// ten steps of AdamW on one batch.
#include "support/golden.h"

#include "headlab/core/model/transformer.h"
#include "headlab/core/ops/ops.h"
#include "headlab/core/train/optimizer.h"

namespace headlab { namespace {

TransformerConfig config_of(const Golden& golden) {
  TransformerConfig c;
  const bool two = golden.has("source");
  const std::string stack = two ? "encoder." : "";
  c.architecture = two                               ? Architecture::encoder_decoder
                   : golden.note("causal") == "True" ? Architecture::decoder
                                                     : Architecture::encoder;
  c.norm_place = golden.note("norm") == "pre" ? NormPlace::pre : NormPlace::post;
  if (golden.has_note("settings"))
    settings_of(c).set_all_text(golden.note("settings"), ',');
  else if (golden.note("activation") == "relu")
    c.activation = Activation::relu;
  c.layers = std::stoi(golden.note("layers"));
  c.heads = {std::stoi(golden.note("heads"))};
  c.vocab = golden.tensor("unembed.W_U").size(1);
  if (golden.has("vectors")) c.features = golden.tensor("embed.W_E").size(0);
  c.d_model = golden.tensor("embed.W_E").size(1);
  c.d_ff = golden.tensor(stack + "blocks.0.mlp.W_in").size(1);
  c.length = golden.tensor("logits").size(1);
  if (!two) return c;
  c.encoder_layers = std::stoi(golden.note("encoder_layers"));
  c.source_length = golden.tensor("pattern.0").size(3);
  return c;
}

/// The optimizer that the fixture was made with: decay on matrices alone, clipped to norm 1.
Optimizer fixture_optimizer(Transformer& model) {
  TrainConfig config;
  config.eps = 1e-5;
  config.decay = 0.1;
  Optimizer optimizer(config);
  model.visit([&](const std::string& name, const Tensor& p) { optimizer.add(name, p); });
  return optimizer;
}
constexpr double kLearningRate = 1e-2;

class GoldenTransformer : public testing::TestWithParam<const char*> {
 protected:
  GoldenTransformer() : golden_(GetParam()), model_(config_of(golden_)) {
    model_.visit([&](const std::string& name, const Tensor& p) { golden_.fill(name, p); });
    batch_ = Batch::make(golden_.tensor("logits").size(0), golden_.tensor("logits").size(1), 1,
                         model_.config().source_length, model_.config().features);
    if (golden_.has("vectors"))
      std::ranges::copy(golden_.tensor("vectors").values(), batch_.vectors.begin());
    batch_.tokens = golden_.ids("tokens");
    batch_.targets = golden_.ids("targets");
    if (!model_.config().has_source()) return;
    batch_.source = golden_.ids("source");
    batch_.source_lengths = golden_.ids("source_lengths");
  }

  Golden golden_;
  Transformer model_;
  Batch batch_;
};

TEST_P(GoldenTransformer, HasItsLogits) {
  golden_.expect(model_.forward(batch_), "logits", kValueTolerance);
}

TEST_P(GoldenTransformer, HasItsPatterns) {
  ActivationCache activations;
  model_.forward(batch_, {}, {.activations = &activations});
  std::vector<Tensor> patterns;
  for (const AttentionActivations& attention : activations.attention) {
    const Tensor& pattern = attention.pattern;
    const Shape& s = pattern.shape();
    if (model_.config().has_source())
      golden_.expect(pattern, text("pattern.", patterns.size()), kValueTolerance);
    patterns.push_back(pattern.viewed_as({1, s[0], s[1], s[2], s[3]}));
  }
  if (model_.config().has_source())
    EXPECT_EQ(patterns.size(), 4u);
  else
    golden_.expect(concat(patterns, 0), "patterns", kValueTolerance);
}

TEST_P(GoldenTransformer, HasItsLossAndGradients) {
  const Tensor loss = model_.loss(batch_);
  golden_.expect(reshape(loss, {1}), "loss", kValueTolerance);
  backward(loss);
  model_.visit([&](const std::string& name, const Tensor& p) {
    golden_.expect_gradient(p, name, kGradientTolerance);
  });
}

class GoldenTraining : public GoldenTransformer {};

TEST_P(GoldenTraining, HasItsLossesAndNormsOverTenSteps) {
  Optimizer optimizer = fixture_optimizer(model_);
  const Tensor losses = golden_.tensor("step_losses"), norms = golden_.tensor("step_grad_norms");
  ASSERT_EQ(losses.count(), 10);
  for (Index step = 0; step < 10; ++step) {
    const Tensor loss = model_.loss(batch_);
    backward(loss);
    const double norm = optimizer.gradient_norm();
    optimizer.step(kLearningRate, norm);
    EXPECT_NEAR(loss.item(), losses.data()[step], kValueTolerance * largest(numbers(losses)));
    EXPECT_NEAR(norm, norms.data()[step], kGradientTolerance * largest(numbers(norms)));
  }
}

TEST_P(GoldenTraining, HasItsParametersAfterTenSteps) {
  Optimizer optimizer = fixture_optimizer(model_);
  for (int step = 0; step < 10; ++step) {
    backward(model_.loss(batch_));
    optimizer.step(kLearningRate, optimizer.gradient_norm());
  }
  model_.visit([&](const std::string& name, const Tensor& p) {
    if (name.find("b_K") != std::string::npos)  // steps along rounding: see expect_gradient
      expect_near(p, golden_.tensor("after." + name), 1e-4, name);
    else
      golden_.expect(p, "after." + name, kGradientTolerance);
  });
}

const auto name_of_case = [](const auto& test) { return std::string(test.param); };
INSTANTIATE_TEST_SUITE_P(PyTorch, GoldenTransformer,
                         testing::Values("decoder_pre_gelu", "encoder_post_relu", "decoder_llama",
                                         "decoder_local", "encoder_decoder_pre",
                                         "encoder_decoder_post", "encoder_decoder_llama",
                                         "encoder_vectors"),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(PyTorch, GoldenTraining,
                         testing::Values("decoder_pre_gelu", "encoder_post_relu"), name_of_case);

}  // namespace
}  // namespace headlab
