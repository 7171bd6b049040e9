// Analyses that depend on how the residual stream comes about: they work for parallel blocks, and
// refuse a wiring of a program's own of which nothing is known.
#include "headlab/core/ops/ops.h"
#include "headlab/core/tasks/table.h"
#include "headlab/core/train/evaluate.h"
#include "headlab/lab/heads/causes/ablation.h"
#include "headlab/lab/heads/causes/attribution.h"
#include "headlab/lab/heads/causes/pairs.h"
#include "headlab/lab/heads/weights/circuits.h"
#include "support/models.h"

namespace headlab { namespace {

/// A norm around attention: what a head writes is scaled before it is added.
Tensor sandwich(const Block& block, Tensor x, const BlockPass& pass) {
  x = x + pass.norm(block.ln1, pass.attn(x));
  return block.has_mlp ? x + pass.mlp(pass.norm(block.ln2, x)) : x;
}

const bool kSandwichIsThere = [] {
  own_block_wirings().push_back({.name = "sandwich",
                                 .summary = "x + norm(attn(x)), x + mlp(norm(x))",
                                 .stream = StreamKind::other,
                                 .forward = sandwich,
                                 .has_cross = false});
  return true;
}();

constexpr const char* kWiringTask = "relations:length=8,vocab=6,classes=3,relations=1+same";

TEST(BlockWirings, UnknownStreamIsRefusedByAnalysesThatReadIt) {
  ASSERT_TRUE(kSandwichIsThere);
  const TransformerConfig config = small_config("norm_place=sandwich");
  const Transformer model = random_model(config);
  expect_error([&] { attribute_logits(model, random_batch(config, 2, 5)); },
               {"cannot attribute logits", "norm_place sandwich", "pre or parallel"});
  expect_error([&] { find_circuits(model); }, {"cannot compute circuits", "norm_place sandwich"});
  expect_error([&] { head_weights(model, {0, 0}); }, {"cannot compute circuits"});
  expect_error([&] { token_circuits(model, {0, 0}); }, {"cannot compute circuits"});
  const auto task = make_task(kWiringTask);
  const Transformer fitting = random_model(small_config(task->shape(), "norm_place=sandwich"));
  EXPECT_NE(ablate_pairs(fitting, *task, {}, 16).unasked, "");
}

TEST(BlockWirings, ParallelBlocksHaveDirectShares) {
  const auto task = make_task(kWiringTask);
  const Transformer model = random_model(small_config(task->shape(), "norm_place=parallel"));
  EXPECT_NE(ablate_pairs(model, *task, {}, 16).unasked,
            "no relation is asked about: direct shares need a pre-norm model");
}

/// The input of a head in a parallel block goes through ln1, as in a pre-norm block.
TEST(BlockWirings, CircuitsOfParallelBlocksFoldTheNorm) {
  const NoGrad no_grad;
  const Transformer parallel = random_model(small_config("d_ff=0 norm_place=parallel"));
  const Transformer pre = random_model(small_config("d_ff=0"));
  EXPECT_EQ(numbers(head_weights(parallel, {0, 1}).Q), numbers(head_weights(pre, {0, 1}).Q));
  EXPECT_EQ(numbers(token_circuits(parallel, {1, 0}).ov), numbers(token_circuits(pre, {1, 0}).ov));
}

/// The losses of passes that start at the block of the ablated head are those of whole passes.
TEST(BlockWirings, AblationOfEveryWiringIsAWholePassWithGates) {
  const NoGrad no_grad;
  const auto task = make_task(kWiringTask);
  const Batch examples = held_out_examples(*task, 8).batch;
  for (const BlockWiring& wiring : block_wirings()) {
    SCOPED_TRACE(wiring.name);
    const Transformer model =
        random_model(small_config(task->shape(), text("norm_place=", wiring.name)));
    const HeadSet heads = all_heads(model);
    const Ablation ablation(model, examples);
    const std::vector<double> losses = ablation.mean_losses(single_sets(heads));
    for (std::size_t i = 0; i < heads.size(); ++i) {
      const auto gates = gates_for(model, without(heads, heads[i]));
      const Tensor expected = model.loss(examples, {}, {.interventions = gates});
      EXPECT_NEAR(losses[i + 1], static_cast<double>(expected.item()), 1e-5);
    }
  }
}

}  // namespace
}  // namespace headlab
