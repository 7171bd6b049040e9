// Gradients of the loss of whole transformers, in double, against central differences: every
// parameter of pre-norm and post-norm, tied, several targets, layers without heads, dropout,
// encoder-decoders.
#include "headlab/tensor/gradcheck.h"
#include "support/models.h"

namespace headlab { namespace {

struct CheckedModel {
  const char* name;
  void (*change)(TransformerConfig&);
};

void encoder_decoder(TransformerConfig& c) {
  c.architecture = Architecture::encoder_decoder;
  c.encoder_layers = c.layers = 1;
  c.source_length = 5;
}

/// Every parameter of a model of these settings, on a batch with sources of different lengths.
void expect_gradients(const TransformerConfig& config) {
  Transformer model = random_model(config);
  Batch batch = random_batch(config, 2, 3);
  if (config.has_source()) batch.source_lengths = {5, 2};
  const ForwardContext training{.training = true, .key = Key{6}};
  const auto result =
      gradcheck([&](const std::vector<Tensor>&) { return model.loss(batch, training); },
                parameters_of(model));
  EXPECT_TRUE(result.passed) << result.sentence();
  EXPECT_LT(result.error, 2e-8) << result.sentence();
  EXPECT_EQ(result.elements, model.parameter_count());
}

TransformerConfig checked_config(const std::string& settings = "") {
  return config_with("layers=2 heads=2 d_model=4 d_ff=5 vocab=5 length=4 " + settings);
}

/// Each row of the tables of kinds by itself, so that a new row is checked by being there.
TEST(KindGradients, AgreeWithCentralDifferences) {
  std::vector<std::string> kinds;
  for (const NormKind& kind : kNorms) kinds.push_back(text("norm=", kind.name));
  for (const PositionKind& kind : kPositions) kinds.push_back(text("positions=", kind.name));
  for (const ActivationKind& kind : kActivations) kinds.push_back(text("activation=", kind.name));
  for (const BlockKind& kind : kBlocks) kinds.push_back(text("block=", kind.name, " window=0+2"));
  for (const std::string& kind : kinds) {
    SCOPED_TRACE(kind);
    expect_gradients(checked_config(kind));
  }
}

class ModelGradients : public testing::TestWithParam<CheckedModel> {};

TEST_P(ModelGradients, AgreeWithCentralDifferences) {
  TransformerConfig config = checked_config();
  GetParam().change(config);
  expect_gradients(config);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, ModelGradients,
    testing::Values(
        CheckedModel{"Pre", [](TransformerConfig&) {}},
        CheckedModel{"Post", [](TransformerConfig& c) { c.norm_place = NormPlace::post; }},
        CheckedModel{"Llama",
                     [](TransformerConfig& c) {
                       settings_of(c).set_all_text("block=llama window=0+2");
                       c.heads = {2}, c.kv_heads = 1;
                     }},
        CheckedModel{"Tied", [](TransformerConfig& c) { c.tied = true; }},
        CheckedModel{"TwoTargets", [](TransformerConfig& c) { c.targets = 2; }},
        CheckedModel{"ALayerWithoutHeads",
                     [](TransformerConfig& c) {
                       c.heads = {2, 0};
                     }},
        CheckedModel{"SharedKeys", [](TransformerConfig& c) { c.heads = {4}, c.kv_heads = 2; }},
        CheckedModel{"Vectors", [](TransformerConfig& c) { c.features = 3; }},
        CheckedModel{"Dropout", [](TransformerConfig& c) { c.dropout = 0.2; }},
        CheckedModel{"Encoder",
                     [](TransformerConfig& c) {
                       c.architecture = Architecture::encoder;
                       c.activation = Activation::relu;
                       c.positions = Positions::sinusoidal;
                     }},
        CheckedModel{"EncoderDecoder", encoder_decoder},
        CheckedModel{"EncoderDecoderLlama",
                     [](TransformerConfig& c) {
                       encoder_decoder(c);
                       settings_of(c).set_all_text("block=llama window=2");
                     }},
        CheckedModel{"EncoderDecoderPost",
                     [](TransformerConfig& c) {
                       encoder_decoder(c);
                       c.norm_place = NormPlace::post;
                       c.dropout = 0.1;
                     }},
        CheckedModel{"NoEncoderLayer",
                     [](TransformerConfig& c) {
                       encoder_decoder(c);
                       c.encoder_layers = 0;
                       c.tied = true;
                     }},
        CheckedModel{"AttentionOnly",
                     [](TransformerConfig& c) {
                       c.d_ff = 0;
                       c.d_head = 3;
                       c.d_value = 1;
                     }}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace headlab
