// The encoder-decoder against PyTorch: two encoder layers, one decoder layer, sources of different
// lengths; logits, patterns of all three kinds, loss and every gradient.
#include "headlab/model/transformer.h"
#include "headlab/ops/ops.h"
#include "support/golden.h"

namespace headlab { namespace {

TransformerConfig two_stacks_of(const Golden& golden) {
  TransformerConfig c;
  c.architecture = Architecture::encoder_decoder;
  c.norm = golden.note("norm") == "pre" ? NormPlace::pre : NormPlace::post;
  c.encoder_layers = std::stoi(golden.note("encoder_layers"));
  c.layers = std::stoi(golden.note("layers"));
  c.heads = {std::stoi(golden.note("heads"))};
  c.vocab = golden.tensor("embed.W_E").size(0);
  c.d_model = golden.tensor("embed.W_E").size(1);
  c.d_ff = golden.tensor("encoder.blocks.0.mlp.b_in").count();
  c.length = golden.tensor("decoder.pos_embed.W_pos").size(0);
  c.source_length = golden.tensor("encoder.pos_embed.W_pos").size(0);
  return c;
}

class GoldenEncoderDecoder : public testing::TestWithParam<const char*> {
 protected:
  GoldenEncoderDecoder() : golden_(GetParam()), model_(two_stacks_of(golden_)) {
    model_.visit([&](const std::string& name, const Tensor& p) { golden_.fill(name, p); });
    const Index size = golden_.tensor("logits").size(0);
    batch_ = Batch::make(size, model_.config().length, 1, model_.config().source_length);
    batch_.tokens = golden_.ids("tokens");
    batch_.targets = golden_.ids("targets");
    batch_.source = golden_.ids("source");
    batch_.source_lengths = golden_.ids("source_lengths");
  }

  Golden golden_;
  Transformer model_;
  Batch batch_;
};

TEST_P(GoldenEncoderDecoder, HasItsLogits) {
  golden_.expect(model_.forward(batch_), "logits", kValueTolerance);
}

TEST_P(GoldenEncoderDecoder, HasItsPatterns) {
  ModelCaptures captures;
  model_.forward(batch_, {}, {.captures = &captures});
  ASSERT_EQ(captures.attention.size(), 4u);
  for (std::size_t i = 0; i < captures.attention.size(); ++i)
    golden_.expect(captures.attention[i].pattern, text("pattern.", i), kValueTolerance);
}

TEST_P(GoldenEncoderDecoder, HasItsLossAndGradients) {
  const Tensor loss = model_.loss(batch_);
  golden_.expect(reshape(loss, {1}), "loss", kValueTolerance);
  backward(loss);
  model_.visit([&](const std::string& name, const Tensor& p) {
    golden_.expect_gradient(p, name, kGradientTolerance);
  });
}

INSTANTIATE_TEST_SUITE_P(PyTorch, GoldenEncoderDecoder,
                         testing::Values("encoder_decoder_pre", "encoder_decoder_post"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace headlab
