// Frozen passes: the same logits, but patterns and deviations are constants of the backward pass.
// Logits are then a linear function of embeddings and biases, so gradient x input must sum to them
// exactly, in every architecture; an activation that is not piecewise linear breaks the sum.
#include "support/models.h"

namespace headlab { namespace {

constexpr ForwardContext kFrozen{.frozen = true};

/// Pre- and post-norm, parallel blocks, grouped heads, several targets, two stacks, vectors, and
/// blocks of llama; with ReLU or without any feed-forward network. Not frozen, the sums differ.
std::vector<Transformer> linear_models() {
  return {random_model(small_config("d_ff=0")),
          random_model(small_config("d_ff=0 heads=4 kv_heads=2 targets=3")),
          random_model(small_config("norm_place=post activation=relu architecture=encoder")),
          random_model(small_encoder_decoder("activation=relu")),
          random_model(small_config("block=llama activation=relu kv_heads=1 window=3+0")),
          random_model(small_encoder_decoder("block=llama d_ff=0 window=3")),
          random_model(small_config("norm_place=parallel activation=relu")),
          random_model(small_config("d_ff=0 features=3"))};
}

bool is_input(const std::string& name) {
  return name.ends_with("W_E") || name.ends_with("W_pos") ||
         name.substr(name.rfind('.') + 1).starts_with('b');
}

/// Sums over logits and over gradient x input, both weighed by the same random numbers, and the sum
/// of the sizes of the former's terms.
struct Sums {
  double of_logits = 0, of_inputs = 0, sizes = 0;
};

Sums sums_of(Transformer& model, const Batch& batch, const ForwardContext& context) {
  const Tensor logits = model.forward(batch, context);
  const Tensor weights = random_tensor(logits.shape(), Key{7});
  Sums sums;
  for (Index i = 0; i < logits.count(); ++i) {
    const double term =
        static_cast<double>(weights.data()[i]) * static_cast<double>(logits.data()[i]);
    sums.of_logits += term;
    sums.sizes += std::abs(term);
  }
  backward(logits, weights);
  model.visit([&](const std::string& name, const Tensor& p) {
    const Tensor grad = p.grad();
    for (Index i = 0; is_input(name) && grad.defined() && i < p.count(); ++i)
      sums.of_inputs += static_cast<double>(p.data()[i]) * static_cast<double>(grad.data()[i]);
    p.zero_grad();
  });
  return sums;
}

TEST(FrozenPass, GradientTimesInputSumsToTheLogits) {
  for (Transformer& model : linear_models()) {
    const Batch batch = random_batch(model.config(), 3, 5);
    const Sums frozen = sums_of(model, batch, kFrozen), free = sums_of(model, batch, {});
    EXPECT_NEAR(frozen.of_inputs, frozen.of_logits, 100 * kEpsilon * frozen.sizes);
    EXPECT_GT(std::abs(free.of_inputs - free.of_logits), 1e-2 * free.sizes);
  }
}

TEST(FrozenPass, ComputesTheSameLogits) {
  for (Transformer& model : linear_models()) {
    const Batch batch = random_batch(model.config(), 3, 5);
    const Tensor expected = model.forward(batch);
    expect_near(model.forward(batch, kFrozen), expected,
                100 * kEpsilon * largest(numbers(expected)));
  }
}

TEST(FrozenPass, SendsNoGradientThroughPatterns) {
  for (Transformer& model : linear_models()) {
    backward(model.loss(random_batch(model.config(), 3, 5), kFrozen));
    model.visit([](const std::string& name, const Tensor& parameter) {
      const bool of_pattern =
          name.ends_with("_Q") || name.ends_with("_K") || name.find("ln_cross") != name.npos;
      EXPECT_NE(parameter.grad().defined(), of_pattern) << name;
    });
  }
}

}  // namespace
}  // namespace headlab
