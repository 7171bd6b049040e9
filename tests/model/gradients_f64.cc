// Gradients of the loss of whole transformers, in double, against central differences: every
// parameter of pre-norm and post-norm, tied, several targets, layers without heads, dropout,
// encoder-decoders.
#include "headlab/lab/checks/gradcheck.h"
#include "support/models.h"

namespace headlab { namespace {

struct CheckedModel {
  const char *name, *settings;
};

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
  for (const std::string& kind : all_wirings()) kinds.push_back(kind + " dropout=0.2");
  for (const std::string& kind : all_attention()) kinds.push_back(kind + " window=0+2 dropout=0.2");
  for (const BlockKind& kind : kBlocks) kinds.push_back(text("block=", kind.name, " window=0+2"));
  for (const std::string& kind : kinds) {
    SCOPED_TRACE(kind);
    expect_gradients(checked_config(kind));
  }
}

class ModelGradients : public testing::TestWithParam<CheckedModel> {};

TEST_P(ModelGradients, AgreeWithCentralDifferences) {
  expect_gradients(checked_config(GetParam().settings));
}

constexpr CheckedModel kModels[] = {
    {"Pre", ""},
    {"Post", "norm_place=post"},
    {"Parallel", "norm_place=parallel"},
    {"ParallelAttentionOnly", "norm_place=parallel d_ff=0"},
    {"ParallelLlama", "block=llama norm_place=parallel kv_heads=1 window=0+2"},
    {"Llama", "block=llama window=0+2 kv_heads=1"},
    {"Tied", "tied=true"},
    {"TwoTargets", "targets=2"},
    {"ALayerWithoutHeads", "heads=2+0"},
    {"SharedKeys", "heads=4 kv_heads=2"},
    {"Vectors", "features=3"},
    {"Dropout", "dropout=0.2"},
    {"Encoder", "architecture=encoder activation=relu positions=sinusoidal"},
    {"EncoderDecoder", "architecture=encoder_decoder layers=1 encoder_layers=1 source_length=5"},
    {"EncoderDecoderLlama",
     "architecture=encoder_decoder layers=1 encoder_layers=1 source_length=5 "
     "block=llama window=2"},
    {"EncoderDecoderPost",
     "architecture=encoder_decoder layers=1 encoder_layers=1 source_length=5 "
     "norm_place=post dropout=0.1"},
    {"NoEncoderLayer",
     "architecture=encoder_decoder layers=1 encoder_layers=1 source_length=5 "
     "encoder_layers=0 tied=true"},
    {"AttentionOnly", "d_ff=0 d_head=3 d_value=1"},
};
INSTANTIATE_TEST_SUITE_P(Kinds, ModelGradients, testing::ValuesIn(kModels),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace headlab
