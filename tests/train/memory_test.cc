// Memory of a step: counted by hand, and refused in words where it cannot be.
#include "headlab/train/memory.h"

#include "support/runs.h"

namespace headlab { namespace {

TEST(StepBytes, GrowWithTheBatchAndShrinkWithMicroBatches) {
  RunConfig config = tiny_config();
  fit_to_task(config);
  const double bytes = step_bytes(config.model, config.train);
  config.train.batch *= 4;
  EXPECT_DOUBLE_EQ(step_bytes(config.model, config.train), 4 * bytes);
  config.train.accumulate = 4;
  EXPECT_LT(step_bytes(config.model, config.train), 2 * bytes);
}

TEST(StepBytes, AreWhatIsCountedByHand) {
  TransformerConfig model;
  model.layers = 1;
  model.heads = {2};
  model.d_model = 8;
  model.d_ff = 12;
  model.vocab = 6;
  model.length = 5;
  model.targets = 2;
  TrainConfig train;
  train.batch = 3;
  // 2 x 6 logits, 2 x 8 for the norms, 2 x 2 x (4 + 4) for attention, 12 for the feed-forward
  EXPECT_DOUBLE_EQ(step_bytes(model, train), 3 * 5 * (12 + (12 + 16 + 32 + 12) * sizeof(Scalar)));
}

TEST(StepBytes, CountTheHeadsOfEncoderAndDecoderEachInItsPlace) {
  TransformerConfig model;
  model.architecture = Architecture::encoder_decoder;
  model.encoder_layers = 1;
  model.heads = {3, 1};
  model.d_model = 8;
  model.d_head = 4;
  model.d_ff = 12;
  model.vocab = 6;
  model.length = 5;
  model.source_length = 7;
  TrainConfig train;
  train.batch = 3;
  // The encoder's block has 2 norms, 3 heads and 12 of the feed-forward at 7 positions; the
  // decoder's has 3 norms and, twice, 1 head, at 5.
  const double encoder = 7 * (16 + 3 * 16 + 12), decoder = 5 * (6 + 24 + 2 * 16 + 12);
  EXPECT_DOUBLE_EQ(step_bytes(model, train),
                   3 * (4.0 * (7 + 5 * 2) + (encoder + decoder) * sizeof(Scalar)));
}

TEST(Memory, IsRefusedInWordsWhereThereIsNotEnough) {
  RunConfig config = tiny_config();
  fit_to_task(config);
  const double needed = step_bytes(config.model, config.train);
  EXPECT_NO_THROW(require_memory(config.model, config.train, needed));
  expect_error([&] { require_memory(config.model, config.train, needed - 1); },
               {"batch 4", "this machine has", "`accumulate`"});
}

TEST(Memory, ThatNoMachineHasIsRefusedBeforeAnythingIsWritten) {
  const TemporaryFolder folder;
  RunConfig config = tiny_config();
  config.model.d_model = 64;
  config.model.layers = 1000;
  config.train.batch = 1 << 20;
  expect_error([&] { create_run(folder / "run", config); }, {"batch 1048576", "GB"});
  EXPECT_FALSE(fs::exists(folder / "run"));
}

}  // namespace
}  // namespace headlab
