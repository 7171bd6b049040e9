// Heads removed for good: for every mask of a small model, the smaller model computes what the
// whole one computes with the other heads' gates at 0.
#include "headlab/core/model/checkpoint.h"
#include "headlab/core/ops/ops.h"
#include "support/models.h"

namespace headlab { namespace {

using Kept = std::vector<std::vector<std::int32_t>>;

struct Case {
  const char* name;
  TransformerConfig config;
};

/// The heads of a whole model whose bit is set, bit by bit through the attention layers.
Kept kept_of(const Transformer& model, unsigned mask) {
  Kept kept;
  for (const auto& heads : model.head_numbers()) {
    kept.emplace_back();
    for (std::int32_t head : heads) {
      if ((mask & 1) != 0) kept.back().push_back(head);
      mask >>= 1;
    }
  }
  return kept;
}

ModelHooks gates_of(const Transformer& model, const Kept& kept) {
  ModelHooks hooks;
  for (const auto& heads : model.head_numbers()) {
    HeadInterventions interventions;
    interventions.gate = Tensor::zeros({static_cast<Index>(heads.size())});
    for (std::int32_t head : kept[hooks.interventions.size()]) interventions.gate.data()[head] = 1;
    hooks.interventions.push_back(interventions);
  }
  return hooks;
}

class WithHeads : public testing::TestWithParam<Case> {
 protected:
  WithHeads() {
    model_.emplace_back(random_model(GetParam().config));
    batch_ = random_batch(GetParam().config, 2, 6);
  }
  unsigned masks() const {
    std::size_t heads = 0;
    for (const auto& attention_layer : model_[0].head_numbers()) heads += attention_layer.size();
    return 1u << heads;
  }

  std::vector<Transformer> model_;  // one
  Batch batch_;
};

TEST_P(WithHeads, EqualsGatesOfZero) {
  const NoGrad no_grad;
  for (unsigned mask = 0; mask < masks(); ++mask) {
    const Kept kept = kept_of(model_[0], mask);
    const Tensor gated = model_[0].forward(batch_, {}, gates_of(model_[0], kept));
    const Tensor removed = model_[0].with_heads(kept).forward(batch_);
    expect_near(removed, gated, 1e-5, text("mask ", mask));
  }
}

TEST_P(WithHeads, ComputesItAgainFromItsConfigAndFile) {
  const NoGrad no_grad;
  for (unsigned mask = 0; mask < masks(); mask += 3) {
    Transformer removed = model_[0].with_heads(kept_of(model_[0], mask));
    TensorFile file;
    store_parameters(removed, file);
    TransformerConfig config;
    TransformerConfig written = removed.config();
    const Json json = settings_of(written).to_json();
    settings_of(config).set_all(Json::parse(json.dump()), "config");
    Transformer read(config);
    load_parameters(read, file);
    EXPECT_EQ(read.head_numbers(), removed.head_numbers());
    expect_near(read.forward(batch_), removed.forward(batch_), 1e-5, text("mask ", mask));
  }
}

TEST_P(WithHeads, HasFewerParametersForEachRemovedHead) {
  Index before = model_[0].parameter_count();
  for (unsigned mask = masks() - 1; mask != 0; mask &= mask - 1) {
    Transformer smaller = model_[0].with_heads(kept_of(model_[0], mask & (mask - 1)));
    EXPECT_LT(smaller.parameter_count(), before);
    before = smaller.parameter_count();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, WithHeads,
    testing::Values(Case{"Self", small_config("d_head=3 heads=3")},
                    Case{"Post", small_config("d_head=3 heads=3 norm_place=post")},
                    Case{"Parallel", small_config("d_head=3 heads=3 norm_place=parallel")},
                    Case{"SharedKeys", small_config("d_head=3 heads=4 kv_heads=2")},
                    Case{"OneKeyBlock", small_config("d_head=3 heads=4 kv_heads=1")},
                    Case{"UnevenLayers", small_config("d_head=3 heads=4+0")},
                    Case{"Cross", small_encoder_decoder("d_head=3 heads=2+1+2")},
                    Case{"CrossPost",
                         small_encoder_decoder("d_head=3 heads=2+0+2 kv_heads=1 norm_place=post")}),
    [](const auto& test) { return test.param.name; });

TEST(WithHeads, TwoStepsEqualOne) {
  TransformerConfig config = small_config("heads=4");
  const Transformer model = random_model(config);
  const Batch batch = random_batch(config, 2, 6);
  const Transformer twice = model.with_heads({{0, 2, 3}, {1, 2}}).with_heads({{3, 0}, {2}});
  const Transformer once = model.with_heads({{0, 3}, {2}});
  EXPECT_EQ(twice.head_numbers(), (Kept{{0, 3}, {2}}));
  EXPECT_EQ(twice.config().attention, once.config().attention);
  EXPECT_EQ(numbers(twice.forward(batch)), numbers(once.forward(batch)));
}

TEST(WithHeads, LeavesTheModelItCameFromAlone) {
  const TransformerConfig config = small_config();
  const Transformer model = random_model(config);
  const Batch batch = random_batch(config, 2, 6);
  const std::vector<double> before = numbers(model.forward(batch));
  Transformer copy = model.with_heads({{0, 1}, {0, 1}});
  for (Tensor& parameter : parameters_of(copy))
    std::fill_n(parameter.data(), parameter.count(), Scalar{0});
  EXPECT_EQ(numbers(model.forward(batch)), before);
  EXPECT_TRUE(copy.config().attention.empty());
}

TEST(WithHeads, KeepsTheDropoutOfTheHeadsThatAreLeft) {
  TransformerConfig config = small_config("dropout=0.3");
  const Transformer model = random_model(config);
  const Batch batch = random_batch(config, 2, 6);
  const ForwardContext training{.training = true, .key = Key{4}};
  const Kept kept{{1}, {0}};
  expect_near(model.with_heads(kept).forward(batch, training),
              model.forward(batch, training, gates_of(model, kept)), 1e-5);
}

TEST(WithHeads, NeedsHeadsForEveryAttentionLayer) {
  const Transformer model = random_model(small_config());
  expect_error([&] { model.with_heads({{0}}); }, {"1 attention layers", "has 2"});
  expect_error([&] { model.with_heads({{0}, {7}}); }, {"head 7"});
}

}  // namespace
}  // namespace headlab
