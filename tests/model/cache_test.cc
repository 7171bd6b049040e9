// The cache of keys and values that were read: it keeps no more than the windows of its layers see,
// and the work of a token does not grow but in attention. family_test.cc tests that it changes no
// logit, in all kinds of blocks. Read next: headlab/core/model/transformer.h.
#include "headlab/core/ops/rows.h"
#include "headlab/core/tensor/watch.h"
#include "support/cache_numbers.h"
#include "support/models.h"

namespace headlab { namespace {

TEST(Cache, KeepsTheKeysThatAreSeenAndNoMore) {
  const NoGrad no_grad;
  const auto kept = [](const char* settings) {
    const Transformer model = random_model(small_config(text("length=12 ", settings)));
    ModelCache cache(model.config(), 12);
    for (Index t = 0; t < 12; ++t) model.forward(Batch::make(1, 1), {}, {.cache = &cache});
    return numbers_in(cache);
  };
  EXPECT_EQ(kept(""), 2 * 12 * 16);  // layers, positions, keys and values of width 8
  EXPECT_EQ(kept("kv_heads=1"), 2 * 12 * 8);
  EXPECT_EQ(kept("window=3+0"), (3 + 12) * 16);
  EXPECT_EQ(kept("window=20"), 2 * 12 * 16);
}

/// The ops that a token after `before` others runs, with the numbers that each one reads, without
/// those that attention reads.
std::vector<std::pair<std::string, Index>> ops_behind(const Transformer& model, Index before) {
  ModelCache cache(model.config(), model.config().length);
  model.forward(Batch::make(1, before), {}, {.cache = &cache});
  std::vector<std::pair<std::string, Index>> ops;
  const WorkWatch watch([&](const WorkEvent& event) {
    Index numbers = event.output->count();
    if (std::string(event.name) != "attention")
      for (const Tensor& input : event.inputs) numbers += input.defined() ? input.count() : 0;
    ops.emplace_back(event.name, numbers);
  });
  model.forward(Batch::make(1, 1), {}, {.cache = &cache});
  return ops;
}

TEST(Cache, LeavesOnlyAttentionToGrowWithThePrefix) {
  const NoGrad no_grad;
  for (const char* settings : {"block=gpt2 kv_heads=1", "block=llama window=9"}) {
    const Transformer model = random_model(small_config(text("length=300 ", settings)));
    const auto few = ops_behind(model, 4);
    EXPECT_GT(few.size(), 10u);
    EXPECT_EQ(ops_behind(model, 256), few);
  }
}

TEST(Cache, RefusesEncodersAndPaddedBatches) {
  const NoGrad no_grad;
  const auto refused = [](const TransformerConfig& config, Batch batch, const char* why) {
    const Transformer model(config);
    ModelCache cache(config, 6);
    const auto read = [&] { model.forward(batch, {}, {.cache = &cache}); };
    expect_error([&] { read(), read(), read(); }, {why});
  };
  refused(small_config(), Batch::make(1, 2), "expected one position, got 2");
  refused(small_encoder(), Batch::make(1, 1), "with a cache");
  Batch padded = Batch::make(1, 3);
  padded.lengths = {2};
  refused(small_config(), padded, "with a cache");
  refused(small_config("length=2"), Batch::make(1, 1), "3 positions");
}

}  // namespace
}  // namespace headlab
