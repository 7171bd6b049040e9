// Multi-head attention as articles compute it by hand: with the identity for every matrix, and how
// many parameters it has. Their figures are in tests/heads/lessons_test.cc, which holds this
// engine against them too.
#include "headlab/core/nn/attention.h"
#include "headlab/core/ops/ops.h"
#include "support/tensors.h"

namespace headlab { namespace {

TEST(TwoTokens, GoThroughMultiHeadAttentionUnchanged) {
  // Selection matrices as projections: heads see the columns of the input, and W_O is the identity.
  MultiHeadAttention attn({.d_model = 4, .heads = 2, .d_head = 2, .d_value = 2, .kv_heads = 2});
  for (Linear* linear : {&attn.Q, &attn.K, &attn.V, &attn.O})
    for (Index i = 0; i < 4; ++i) linear->W.data()[i * 5] = 1;
  const Tensor x = Tensor::of({1, 2, 4}, {1, 2, 0, 0, 0, 0, 1, 2});
  expect_near(attn.forward(x, x, {}), attention(x, x, x, {.heads = 2}), 4 * kEpsilon);
}

Index parameters_of(Index width, Index heads, bool biases) {
  MultiHeadAttention attn({.d_model = width,
                           .heads = heads,
                           .d_head = width / heads,
                           .d_value = width / heads,
                           .kv_heads = heads});
  Index count = 0;
  attn.visit("", [&](const std::string& name, const Tensor& parameter) {
    count += biases || name[0] == 'W' ? parameter.count() : 0;
  });
  return count;
}

TEST(Parameters, AttentionHasTheSameNumberForAnyNumberOfHeads) {
  for (Index heads : {1, 2, 4, 8, 16}) {
    EXPECT_EQ(parameters_of(512, heads, true), 1050624);
    EXPECT_EQ(parameters_of(512, heads, false), 4 * 512 * 512);
  }
}

}  // namespace
}  // namespace headlab
