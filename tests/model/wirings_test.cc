// Block wirings: what `parallel` computes, made again from the layers by hand; the parameters that
// a wiring does without; and a row of a program's own. family_test.cc tests that every row trains,
// loses heads, reads a cache and has the same bits for any number of threads.
#include <map>

#include "headlab/core/model/transformer.h"
#include "headlab/core/ops/ops.h"
#include "support/models.h"

namespace headlab { namespace {

/// A row of a program's own: the feed-forward network runs before attention.
Tensor network_first(const Block& block, Tensor x, const BlockPass& pass) {
  if (block.has_mlp) {
    x = x + pass.mlp(pass.norm(block.ln2, x));
  }
  return x + pass.attn(pass.norm(block.ln1, x));
}

const bool kOwnRowIsThere = [] {
  own_block_wirings().push_back({.name = "network_first",
                                 .summary = "x + mlp(norm(x)), x + attn(norm(x))",
                                 .stream = StreamKind::sum,
                                 .forward = network_first,
                                 .has_cross = false});
  return true;
}();

std::map<std::string, Tensor> named_parameters(const Transformer& model) {
  std::map<std::string, Tensor> all;
  model.visit([&](const std::string& name, const Tensor& values) { all[name] = values; });
  return all;
}

struct OneBlock {
  explicit OneBlock(const std::string& wiring)
      : model(random_model(small_config("layers=1 norm_place=" + wiring))),
        batch(random_batch(model.config(), 2, 5)) {
    activations.wants_patterns = false;
    const NoGrad no_grad;
    model.forward(batch, {}, {.activations = &activations});
  }
  /// The results of the layers of the block for given inputs, from the parameters.
  Tensor norm(const std::string& name, const Tensor& x) {
    return layer_norm(x, parameters.at("blocks.0." + name + ".w"),
                      parameters.at("blocks.0." + name + ".b"));
  }
  Tensor attn(const Tensor& h) { return model.attention(0).forward(h, h, {.causal = true}); }
  Tensor mlp(const Tensor& h) {
    FeedForward network(8, 12, Activation::gelu);
    network.visit("blocks.0.mlp.", [&](const std::string& name, Tensor values) {
      std::ranges::copy(parameters.at(name).values(), values.data());
    });
    return network.forward(h);
  }

  Transformer model;
  Batch batch;
  ActivationCache activations{};
  std::map<std::string, Tensor> parameters = named_parameters(model);
};

TEST(BlockWirings, ParallelSublayersReadTheSameNormOfTheStream) {
  const NoGrad no_grad;
  OneBlock one("parallel");
  const Tensor& x = one.activations.residual[0];
  const Tensor h = one.norm("ln1", x);
  expect_near(one.activations.residual[1], x + one.attn(h) + one.mlp(h), 1e-5);
}

TEST(BlockWirings, PreNormSublayersReadTheStreamOneAfterTheOther) {
  const NoGrad no_grad;
  OneBlock one("pre");
  Tensor x = one.activations.residual[0];
  x = x + one.attn(one.norm("ln1", x));
  x = x + one.mlp(one.norm("ln2", x));
  expect_near(one.activations.residual[1], x, 1e-5);
}

TEST(BlockWirings, PostNormFollowsEachSum) {
  const NoGrad no_grad;
  OneBlock one("post");
  Tensor x = one.activations.residual[0];
  x = one.norm("ln1", x + one.attn(x));
  x = one.norm("ln2", x + one.mlp(x));
  expect_near(one.activations.residual[1], x, 1e-5);
}

TEST(BlockWirings, RowAddedByAProgramComputesItsFormula) {
  const NoGrad no_grad;
  EXPECT_TRUE(kOwnRowIsThere);
  OneBlock one("network_first");
  Tensor x = one.activations.residual[0];
  x = x + one.mlp(one.norm("ln2", x));
  x = x + one.attn(one.norm("ln1", x));
  expect_near(one.activations.residual[1], x, 1e-5);
}

TEST(BlockWirings, ParallelBlocksHaveNoSecondNorm) {
  const auto parallel = named_parameters(Transformer(small_config("norm_place=parallel")));
  EXPECT_FALSE(parallel.contains("blocks.0.ln2.w"));
  EXPECT_TRUE(parallel.contains("blocks.0.ln1.w"));
  EXPECT_TRUE(parallel.contains("blocks.0.mlp.W_in"));
  EXPECT_TRUE(parallel.contains("ln_final.w"));
}

TEST(BlockWirings, WithoutANetworkParallelIsPreNorm) {
  const Transformer pre = random_model(small_config("d_ff=0"));
  const Transformer parallel = random_model(small_config("d_ff=0 norm_place=parallel"));
  const Batch batch = random_batch(pre.config(), 2, 6);
  EXPECT_EQ(numbers(pre.forward(batch)), numbers(parallel.forward(batch)));
}

TEST(BlockWirings, WritesAreRecordedInTheOrderOfTheStream) {
  OneBlock one("parallel");
  std::vector<std::string> names;
  for (const ActivationCache::Written& written : one.activations.written) {
    names.push_back(name_of(written.from));
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"embedding", "positions", "blocks.0.attn", "blocks.0.mlp"}));
}

}  // namespace
}  // namespace headlab
