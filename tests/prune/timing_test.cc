// Time saved by removal: a row for each batch, of a model that stays as it was. Times are
// not tested, except that attention without heads costs less than with them.
#include "headlab/lab/prune/prune.h"
#include "support/models.h"

namespace headlab { namespace {

const TimingOptions kQuick{.batches = {2, 1}, .turns = 1};

TEST(PruneTiming, HasARowOfTimesForEachBatch) {
  for (const TransformerConfig& config : {small_config(), small_encoder_decoder()}) {
    const Transformer model = random_model(config);
    const std::vector<HeadId> kept = {{0, 1}};
    const Table table = time_pruning(model, kept, random_batch(config, 3, 6), kQuick);
    EXPECT_EQ(table.cells("batch"), (std::vector<Json>{2, 1}));
    for (const char* key :
         {"full_ms", "masked_ms", "removed_ms", "attention_full_ms", "attention_removed_ms"})
      for (const Json& ms : table.cells(key)) EXPECT_GT(ms.number(), 0) << key;
    for (const Json& noise : table.cells("noise")) EXPECT_GE(noise.number(), 0);
  }
}

TEST(PruneTiming, SeesThatAttentionWithoutHeadsIsCheaper) {
  TransformerConfig config = small_config("heads=8 d_model=64 length=64");
  const Table table = time_pruning(random_model(config), {}, random_batch(config, 8, 64),
                                   {.batches = {8}, .turns = 5});
  const double full = table.cells("attention_full_ms").at(0).number(),
               removed = table.cells("attention_removed_ms").at(0).number();
  EXPECT_LT(removed, full / 2);
  EXPECT_EQ(table.cells("attention_saved").at(0).number(), 1 - removed / full);
}

TEST(PruneTiming, LeavesTheModelAsItWas) {
  Transformer model = random_model(small_config());
  const std::vector<double> before = values_without_gradients(model);
  const std::vector<HeadId> kept = {{0, 0}, {1, 1}};
  time_pruning(model, kept, random_batch(small_config(), 2, 6), kQuick);
  EXPECT_EQ(values_without_gradients(model), before);
}

TEST(PruneTiming, RefusesABatchThatTheExamplesDoNotFill) {
  const Transformer model = random_model(small_config());
  const Batch batch = random_batch(small_config(), 3, 6);
  expect_error([&] { time_pruning(model, {}, batch, {.batches = {4}}); }, {"4", "3 examples"});
  expect_error([&] { time_pruning(model, {}, batch, {.batches = {0}}); }, {"batch of 0"});
}

TEST(PruneTiming, WritesTheKeysThatOtherProgramsRead) {
  const std::vector<TimedBatch> batches = {{.batch = 4,
                                            .full_ms = 4,
                                            .masked_ms = 3.5,
                                            .removed_ms = 3,
                                            .repeated_ms = 5,
                                            .attention_full_ms = 1,
                                            .attention_removed_ms = 0.5}};
  const Table table = timing_table(batches);
  EXPECT_EQ(to_json(Result{.tables = {table}}).at("timing").items()[0].dump(),
            R"({"batch":4,"full_ms":4,"masked_ms":3.5,"removed_ms":3,"attention_full_ms":1,)"
            R"("attention_removed_ms":0.5,"attention_saved":0.5,"saved":0.25,"noise":0.25})");
}

}  // namespace
}  // namespace headlab
