// Multi-head attention against PyTorch: outputs, patterns and every gradient, causal self-attention
// and cross-attention with padding.
#include "support/golden.h"

#include "headlab/core/nn/attention.h"
#include "headlab/core/ops/ops.h"

namespace headlab { namespace {

struct Fixture {
  const char* name;
  AttentionSizes sizes;
  AttentionMask mask;
};

class GoldenAttention : public testing::TestWithParam<Fixture> {
 protected:
  GoldenAttention() : golden_(GetParam().name), attn_(GetParam().sizes) {
    attn_.visit("", [&](const std::string& name, const Tensor& p) { golden_.fill(name, p); });
    x_q_ = golden_.tensor("x_q").set_requires_grad();
    x_kv_ = golden_.has("x_kv") ? golden_.tensor("x_kv").set_requires_grad() : x_q_;
    y_ = attn_.forward(x_q_, x_kv_, GetParam().mask, {}, {.activations = &activations_});
  }

  Golden golden_;
  MultiHeadAttention attn_;
  Tensor x_q_, x_kv_, y_;
  AttentionActivations activations_;
};

TEST_P(GoldenAttention, HasItsOutputs) { golden_.expect(y_, "y", kValueTolerance); }

TEST_P(GoldenAttention, HasItsPatterns) {
  golden_.expect(activations_.pattern, "pattern", kValueTolerance);
}

TEST_P(GoldenAttention, SeesWhatItsMaskSees) {
  const Ids visible = golden_.ids("visible");  // [B, 1, T, S]
  const Index T = x_q_.size(1), S = x_kv_.size(1);
  ASSERT_EQ(static_cast<Index>(visible.size()), x_q_.size(0) * T * S);
  for (std::size_t i = 0; i < visible.size(); ++i) {
    const auto place = static_cast<Index>(i);
    EXPECT_EQ(GetParam().mask.sees(place / (T * S), place / S % T, place % S), visible[i] != 0);
  }
}

TEST_P(GoldenAttention, HasItsGradients) {
  backward(y_, golden_.tensor("dy"));
  attn_.visit("",
              [&](const std::string& name, const Tensor& p) { golden_.expect_gradient(p, name); });
  golden_.expect_gradient(x_q_, "x_q");
  if (golden_.has("x_kv")) golden_.expect_gradient(x_kv_, "x_kv");
}

INSTANTIATE_TEST_SUITE_P(
    PyTorch, GoldenAttention,
    testing::Values(Fixture{"attention_causal",
                            {.d_model = 12, .heads = 3, .d_head = 4, .d_value = 4, .kv_heads = 3},
                            {.causal = true}},
                    Fixture{"attention_cross",
                            {.d_model = 12, .heads = 2, .d_head = 6, .d_value = 4, .kv_heads = 2},
                            {.lengths = {9, 4, 1}}}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace headlab
