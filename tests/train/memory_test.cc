// Memory of a step: counted by hand, and refused with a message if there is not enough.
#include "support/models.h"
#include "support/runs.h"

namespace headlab { namespace {

/// Small enough to be counted by hand.
TransformerConfig one_block() {
  return config_with("layers=1 heads=2 d_model=8 d_ff=12 vocab=6 length=5 targets=2");
}

TEST(StepBytes, GrowWithTheBatchAndShrinkWithMicroBatches) {
  RunConfig config = tiny_config();
  fit_to_task(config);
  const double bytes = step_bytes(config.model, config.train);
  config.train.batch *= 4;
  EXPECT_DOUBLE_EQ(step_bytes(config.model, config.train), 4 * bytes);
  config.train.accumulate = 4;
  EXPECT_LT(step_bytes(config.model, config.train), 2 * bytes);
}

TEST(StepBytes, EqualACountByHand) {
  const TransformerConfig model = one_block();
  TrainConfig train;
  train.batch = 3;
  // 2 x 6 logits, 2 x 8 for the norms, 2 x 2 x (4 + 4) for attention, 12 for the feed-forward
  EXPECT_DOUBLE_EQ(step_bytes(model, train), 3 * 5 * (12 + (12 + 16 + 32 + 12) * sizeof(Scalar)));
  TransformerConfig gated = model;  // which keeps x W_in as well
  gated.activation = Activation::swiglu;
  EXPECT_DOUBLE_EQ(step_bytes(gated, train) - step_bytes(model, train),
                   3 * 5 * 12 * sizeof(Scalar));
}

TEST(StepBytes, CountTheLogitsOfOneBlockOfRows) {
  TransformerConfig model = one_block();
  model.vocab = 50000;
  TrainConfig train;
  train.batch = 1000;
  const double two = step_bytes(model, train);
  train.batch = 2000;
  const double rest = (step_bytes(model, train) - two) / 1000;  // of a sequence
  EXPECT_DOUBLE_EQ(two - 1000 * rest, 512.0 * 2 * 50000 * sizeof(Scalar));
}

TEST(StepBytes, CountScoresAndWeightsOfComposedAttention) {
  const TransformerConfig fused = one_block();
  TrainConfig train;
  train.batch = 3;
  TransformerConfig composed = fused;
  settings_of(composed).set_all_text("attention_function=sigmoid");
  const Index weights = composed.heads_of(0) * composed.length * composed.length;
  EXPECT_DOUBLE_EQ(step_bytes(composed, train) - step_bytes(fused, train),
                   static_cast<double>(3 * 2 * weights) * sizeof(Scalar));
  TransformerConfig with_distances = fused;
  settings_of(with_distances).set_all_text("positions=alibi");
  EXPECT_DOUBLE_EQ(step_bytes(with_distances, train), step_bytes(fused, train));
}

TEST(StepBytes, CountTheHeadsOfEncoderAndDecoderWhereTheyAre) {
  const TransformerConfig model = config_with(  // one head of the encoder, three of the decoder
      "architecture=encoder_decoder layers=1 encoder_layers=1 heads=1+3 d_model=8 d_head=4 vocab=6 "
      "length=5 source_length=7");
  TrainConfig train;
  train.batch = 3;
  // Encoder, at 7 positions: 2 x 8 for the norms, 2 x (4 + 4) for its head. Decoder, at 5: 6
  // logits, 3 x 8, 2 x 3 x (4 + 4), and 3 x 4 each for queries and outputs of cross-attention; its
  // keys and values are at 7.
  const double floats = 7 * (16 + 16) + 5 * (6 + 24 + 48 + 24) + 7 * 24;
  EXPECT_DOUBLE_EQ(step_bytes(model, train), 3 * (4 * (5 * 2 + 7) + sizeof(Scalar) * floats));
}

TEST(ParameterBytes, CountWeightsGradientsMomentsAndASave) {
  const TransformerConfig model = one_block();
  TrainConfig train;
  const double weights = 8 * (6 + 5 + 2 * 6) + 4 * 8 * 8 + 2 * 8 * 12;
  EXPECT_DOUBLE_EQ(parameter_bytes(model, train), 7 * weights * sizeof(Scalar));
  train.optimizer = OptimizerKind::sgd;
  EXPECT_DOUBLE_EQ(parameter_bytes(model, train), 5 * weights * sizeof(Scalar));
}

TEST(Memory, ShortageIsReportedAsAnError) {
  RunConfig config = tiny_config();
  fit_to_task(config);
  const double needed =
      step_bytes(config.model, config.train) + parameter_bytes(config.model, config.train);
  EXPECT_NO_THROW(require_memory(config.model, config.train, needed));
  expect_error([&] { require_memory(config.model, config.train, needed - 1); },
               {"batch 4", "this machine has"});
  config.train.batch = 4000;
  expect_error([&] { require_memory(config.model, config.train, needed); }, {"`accumulate`"});
}

TEST(Memory, EstimateIncludesTheParameters) {
  RunConfig config = tiny_config("d_model=8192 layers=5 heads=1");
  fit_to_task(config);
  expect_error([&] { require_memory(config.model, config.train, 8e9); },
               {"batch 4", "37.", "8 GB", "smaller model"});
}

TEST(Memory, ImpossibleSizeIsRefusedBeforeAnythingIsWritten) {
  const TemporaryFolder folder;
  RunConfig config = tiny_config("d_model=64 layers=1000 batch=1048576");
  expect_error([&] { create_run(folder / "run", config); }, {"batch 1048576", "GB"});
  EXPECT_FALSE(fs::exists(folder / "run"));
}

}  // namespace
}  // namespace headlab
