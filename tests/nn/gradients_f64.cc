// Gradients through whole multi-head attention, in double: every parameter, the inputs, the gate
// and the replacement, for self- and cross-attention and heads that share keys.
#include <algorithm>

#include "headlab/core/nn/attention.h"
#include "headlab/lab/checks/gradcheck.h"
#include "support/tensors.h"

namespace headlab { namespace {

struct Case {
  const char* name;
  AttentionSizes sizes;
  bool cross;
  Shape gate;  // rank 0: no interventions
  AttentionMask mask;
};

class AttentionGradients : public testing::TestWithParam<Case> {};

TEST_P(AttentionGradients, AgreeWithCentralDifferences) {
  const Case& c = GetParam();
  MultiHeadAttention attn(c.sizes, 0.2);
  std::vector<Tensor> inputs;
  attn.visit("", [&](const std::string& name, const Tensor& p) {
    std::ranges::copy(random_leaf(p.shape(), Key{1}.fold(name)).values(), p.values().begin());
    inputs.push_back(p);
  });
  const Tensor x_q = random_leaf({2, 3, 4}, Key{2});
  const Tensor x_kv = c.cross ? random_leaf({2, 5, 4}, Key{3}) : x_q;
  HeadInterventions interventions;
  if (c.gate.rank() > 0) {
    interventions.gate = random_leaf(c.gate, Key{4});
    interventions.replacement = random_leaf({2, 3, 1, c.sizes.d_value}, Key{5});
    inputs.insert(inputs.end(), {interventions.gate, interventions.replacement});
  }
  inputs.push_back(x_q);
  if (c.cross) inputs.push_back(x_kv);
  const ForwardContext training{.training = true, .key = Key{6}};
  const auto result = gradcheck(
      [&](const std::vector<Tensor>&) {
        return attn.forward(x_q, x_kv, c.mask, training, {.interventions = &interventions});
      },
      inputs);
  EXPECT_TRUE(result.passed) << result.sentence();
  EXPECT_LT(result.error, 2e-8) << result.sentence();
  EXPECT_GT(result.elements, 50);
}

constexpr AttentionSizes kHeads{.d_model = 4, .heads = 2, .d_head = 3, .d_value = 2, .kv_heads = 2};
constexpr AttentionSizes kSharedKeys{
    .d_model = 4, .heads = 4, .d_head = 2, .d_value = 3, .kv_heads = 2};
constexpr AttentionSizes kNoHeads{
    .d_model = 4, .heads = 0, .d_head = 1, .d_value = 1, .kv_heads = 0};

INSTANTIATE_TEST_SUITE_P(
    Kinds, AttentionGradients,
    testing::Values(Case{"Self", kHeads, false, {}, {.causal = true}},
                    Case{"Cross", kHeads, true, {}, {.lengths = {5, 2}}},
                    Case{"SharedKeys", kSharedKeys, false, {}, {}},
                    Case{"GatedHeads", kHeads, false, {2}, {}},
                    Case{"GatedExamples", kSharedKeys, true, {2, 4}, {}},
                    Case{"GatedPositions", kHeads, false, {2, 3, 2}, {.causal = true}}),
    [](const auto& test) { return test.param.name; });

TEST(AttentionGradients, ReachTheBiasWithoutHeads) {
  MultiHeadAttention attn(kNoHeads);
  const Tensor x = random_tensor({2, 3, 4}, Key{2});
  const auto result =
      gradcheck([&](const std::vector<Tensor>&) { return attn.forward(x, x, {}); }, {attn.O.b});
  EXPECT_TRUE(result.passed) << result.sentence();
  EXPECT_EQ(result.elements, 4);
}

}  // namespace
}  // namespace headlab
