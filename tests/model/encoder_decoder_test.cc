// The encoder-decoder: who sees what, names, captures, interventions where queries and keys differ
// in number. Read next: with_heads_test.cc, golden_test.cc.
#include "headlab/core/model/checkpoint.h"
#include "headlab/core/model/initial.h"
#include "headlab/core/ops/ops.h"
#include "support/models.h"

namespace headlab { namespace {

class EncoderDecoder : public testing::TestWithParam<NormPlace> {
 protected:
  EncoderDecoder() : config_(small_encoder_decoder()) {
    config_.norm_place = GetParam();
    model_.emplace_back(random_model(config_));
    batch_ = random_batch(config_, 2, 5);
  }
  const Transformer& model() const { return model_[0]; }
  std::vector<double> logits() const { return numbers(model().forward(batch_)); }
  /// Logits at positions [begin, end) of both sequences.
  std::vector<double> logits(Index begin, Index end) const {
    return numbers(slice(model().forward(batch_), 1, begin, end));
  }
  void change(std::int32_t& token) const { token = (token + 1) % 7; }

  TransformerConfig config_;
  std::vector<Transformer> model_;  // one
  Batch batch_;
};

INSTANTIATE_TEST_SUITE_P(Norms, EncoderDecoder, testing::Values(NormPlace::pre, NormPlace::post),
                         [](const auto& test) {
                           return test.param == NormPlace::pre ? "Pre" : "Post";
                         });

TEST_P(EncoderDecoder, DecoderSeesNothingThatComesLater) {
  const std::vector<double> before = logits(0, 3), last = logits(3, 5);
  change(batch_.token(0, 3));
  EXPECT_EQ(logits(0, 3), before);
  EXPECT_NE(logits(3, 5), last);
}

TEST_P(EncoderDecoder, FirstPositionSeesTheWholeSource) {
  for (Index s = 0; s < 9; ++s) {
    const std::vector<double> before = logits(0, 1);
    change(batch_.source_token(0, s));
    EXPECT_NE(logits(0, 1), before) << "token " << s << " of the source";
  }
}

TEST_P(EncoderDecoder, EncoderReadsLaterSourceTokens) {
  const auto memory_at_0 = [&] {
    ActivationCache activations;
    model().forward(batch_, {}, {.activations = &activations});
    return numbers(slice(activations.residual[1], 1, 0, 1));
  };
  const std::vector<double> before = memory_at_0();
  change(batch_.source_token(0, 8));
  EXPECT_NE(memory_at_0(), before);
}

TEST_P(EncoderDecoder, PaddingOfTheSourceChangesNothing) {
  batch_.source_lengths = {6, 9};
  const std::vector<double> before = logits();
  change(batch_.source_token(0, 6));
  change(batch_.source_token(0, 8));
  EXPECT_EQ(logits(), before);
  change(batch_.source_token(0, 5));
  EXPECT_NE(logits(), before);
}

TEST_P(EncoderDecoder, LongerPaddingChangesNothing) {
  const Batch row = batch_.rows(0, 1);
  Batch shorter = Batch::make(1, 5, 1, 6);
  shorter.tokens = row.tokens;
  shorter.source.assign(row.source.begin(), row.source.begin() + 6);
  Batch padded = row;
  padded.source_lengths = {6};
  expect_near(model().forward(padded), model().forward(shorter), 64 * kEpsilon);
}

TEST_P(EncoderDecoder, PaddingOfTheSequenceChangesNothingBeforeIt) {
  batch_.lengths = {3, 5};
  const std::vector<double> before = logits(0, 3);
  change(batch_.token(0, 3));
  change(batch_.token(0, 4));
  EXPECT_EQ(logits(0, 3), before);
}

TEST_P(EncoderDecoder, RecordsAttentionLayersInExecutionOrder) {
  ActivationCache activations;
  model().forward(batch_, {}, {.activations = &activations});
  ASSERT_EQ(activations.attention.size(), 5u);
  EXPECT_EQ(activations.attention[0].pattern.shape(), (Shape{2, 2, 9, 9}));
  for (std::size_t self : {1u, 3u}) {
    EXPECT_EQ(activations.attention[self].pattern.shape(), (Shape{2, 2, 5, 5}));
    EXPECT_EQ(activations.attention[self + 1].pattern.shape(), (Shape{2, 2, 5, 9}));
  }
  ASSERT_EQ(activations.residual.size(), 5u);  // of the encoder, 2; of the decoder, 3
  EXPECT_EQ(activations.residual[1].shape(), (Shape{2, 9, 8}));
  EXPECT_EQ(activations.residual[2].shape(), (Shape{2, 5, 8}));
}

TEST_P(EncoderDecoder, NamesItsAttentionLayersInExecutionOrder) {
  std::vector<std::string> names;
  std::vector<AttentionKind> kinds;
  for (const AttentionLayer& attention_layer : model_[0].attention_layers()) {
    names.push_back(attention_layer.name);
    kinds.push_back(attention_layer.kind);
    EXPECT_EQ(attention_layer.attention->head_count(), 2);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"encoder.blocks.0.attn", "decoder.blocks.0.attn",
                                             "decoder.blocks.0.cross_attn", "decoder.blocks.1.attn",
                                             "decoder.blocks.1.cross_attn"}));
  using enum AttentionKind;
  EXPECT_EQ(kinds, (std::vector<AttentionKind>{encoder, self, cross, self, cross}));
}

TEST_P(EncoderDecoder, HidesSingleEdgesOfCrossAttention) {
  ModelHooks hooks;
  ActivationCache activations;
  hooks.activations = &activations;
  hooks.interventions.resize(5);
  hooks.interventions[2].masked_edges.assign(2 * 2 * 5 * 9, 0);
  const std::size_t edge = ((1 * 2 + 0) * 5 + 4) * 9 + 8;  // sequence 1, head 0, query 4, key 8
  hooks.interventions[2].masked_edges[edge] = 1;
  const Tensor plain = model().forward(batch_), edited = model().forward(batch_, {}, hooks);
  const std::vector<double> pattern = numbers(activations.attention[2].pattern);
  EXPECT_EQ(pattern[edge], 0);
  double sum = 0;
  for (std::size_t s = 0; s < 9; ++s) sum += pattern[edge - s];
  EXPECT_NEAR(sum, 1, 16 * kEpsilon);
  EXPECT_EQ(numbers(slice(edited, 1, 0, 4)), numbers(slice(plain, 1, 0, 4)));
  EXPECT_NE(numbers(slice(edited, 1, 4, 5)), numbers(slice(plain, 1, 4, 5)));
}

TEST_P(EncoderDecoder, PutsAnyReplacementIntoCrossAttention) {
  ModelHooks hooks;
  hooks.interventions.resize(5);
  hooks.interventions[4].gate = Tensor::zeros({2, 5, 2});
  hooks.interventions[4].replacement = random_tensor({2, 5, 2, 4}, Key{3});
  const Tensor replaced = model().forward(batch_, {}, hooks);
  Transformer without = model().clone();
  MultiHeadAttention& last = without.attention(4);
  std::fill_n(last.V.W.data(), last.V.W.count(), Scalar{0});  // its heads then give b_V alone
  std::fill_n(last.V.b.data(), last.V.b.count(), Scalar{0});
  EXPECT_NE(numbers(replaced), numbers(without.forward(batch_)));
  hooks.interventions[4].replacement = {};
  expect_near(model().forward(batch_, {}, hooks), without.forward(batch_), 16 * kEpsilon);
}

TEST_P(EncoderDecoder, LetsGradientsReachGatesOfEveryAttentionLayer) {
  ModelHooks hooks;
  hooks.interventions.resize(5);
  for (HeadInterventions& interventions : hooks.interventions)
    interventions.gate = Tensor::full({2}, 1).set_requires_grad();
  backward(model().loss(batch_, {}, hooks));
  for (const HeadInterventions& interventions : hooks.interventions) {
    ASSERT_TRUE(interventions.gate.grad().defined());
    EXPECT_GT(largest(numbers(interventions.gate.grad())), 0);
  }
}

TEST_P(EncoderDecoder, CountsItsParameters) {
  const Index C = 8, attention = 4 * (C * C + C), norm = 2 * C, mlp = 2 * C * 12 + 12 + C;
  const Index encoder = attention + mlp + 2 * norm, decoder = 2 * attention + mlp + 3 * norm;
  const Index finals = config_.norm_place == NormPlace::pre ? 2 * norm : 0;
  const Index expected = (7 + 6 + 9) * C + encoder + 2 * decoder + finals + (C + 1) * 7;
  EXPECT_EQ(model_[0].parameter_count(), expected);
}

TEST_P(EncoderDecoder, RoundTripsThroughItsFile) {
  TensorFile file;
  store_parameters(model_[0], file);
  EXPECT_NE(file.find("decoder.blocks.1.cross_attn.W_K"), nullptr);
  EXPECT_NE(file.find("decoder.blocks.0.ln_cross.w"), nullptr);
  EXPECT_NE(file.find("encoder.pos_embed.W_pos"), nullptr);
  EXPECT_EQ(file.find("encoder.ln_final.b") != nullptr, config_.norm_place == NormPlace::pre);
  Transformer read(config_);
  load_parameters(read, file);
  expect_near(read.forward(batch_), model().forward(batch_), 1e-5);
}

TEST_P(EncoderDecoder, DropsOtherUnitsInEveryAttentionLayer) {
  config_.dropout = 0.5;
  config_.encoder_layers = 2;
  Transformer same(config_);  // all blocks alike: only dropout can tell them apart
  initialize(same, Key{1});
  ActivationCache activations;
  same.forward(batch_, {.training = true, .key = Key{4}}, {.activations = &activations});
  const auto& r = activations.residual;
  const std::vector<double> first = numbers(r[1] - r[0]), second = numbers(r[2] - r[1]);
  EXPECT_NE(first, second);
  EXPECT_EQ(numbers(same.forward(batch_, {.training = true, .key = Key{4}})),
            numbers(same.forward(batch_, {.training = true, .key = Key{4}})));
}

TEST_P(EncoderDecoder, RefusesBatchesThatDoNotFit) {
  expect_error([&] { model().forward(Batch::make(1, 5)); }, {"needs a batch with sources"});
  expect_error([&] { model().forward(Batch::make(1, 5, 1, 10)); },
               {"sources have 10 positions", "at most 9"});
  expect_error([&] { model().forward(Batch::make(1, 7, 1, 9)); }, {"7 positions", "at most 6"});
  expect_error(
      [&] { model().forward(batch_, {}, {.interventions = std::vector<HeadInterventions>(3)}); },
      {"3 attention layers", "has 5"});
  const Transformer decoder = random_model(small_config());
  expect_error([&] { decoder.forward(batch_); }, {"no encoder-decoder"});
  batch_.source_token(1, 2) = 7;
  expect_error([&] { model().forward(batch_); }, {"id 7"});
}

}  // namespace
}  // namespace headlab
