// The whole transformer against PyTorch: a pre-norm decoder with gelu and a post-norm encoder with
// relu: logits, patterns, loss, ten steps of AdamW on one batch, and every gradient. PyTorch clips
// in place and reuses gradients, so those in the file are the ones of the last step, clipped.
#include "support/golden.h"

#include <map>

#include "headlab/kernels/elementwise.h"
#include "headlab/model/transformer.h"
#include "headlab/ops/ops.h"

namespace headlab::inline HEADLAB_SCALAR {
namespace {

TransformerConfig config_of(const Golden& golden) {
  TransformerConfig c;
  const bool decoder = golden.note("causal") == "True", pre = golden.note("norm") == "pre";
  c.architecture = decoder ? Architecture::decoder : Architecture::encoder;
  c.norm = pre ? NormPlace::pre : NormPlace::post;
  c.activation = golden.note("activation") == "gelu" ? Activation::gelu : Activation::relu;
  c.layers = std::stoi(golden.note("layers"));
  c.heads = {std::stoi(golden.note("heads"))};
  const Tensor W_E = golden.tensor("embed.W_E");
  c.vocab = W_E.size(0);
  c.d_model = W_E.size(1);
  c.d_ff = golden.tensor("blocks.0.mlp.b_in").count();
  c.length = golden.tensor("pos_embed.W_pos").size(0);
  return c;
}

/// AdamW as the fixture has it: decay on matrices alone, the gradient clipped to norm 1.
class AdamW {
 public:
  explicit AdamW(Transformer& model) {
    model.visit([&](const std::string& name, Tensor& p) {
      states_[name] = {p, Tensor::zeros(p.shape()), Tensor::zeros(p.shape())};
    });
  }

  /// Steps, clears the gradients, and returns the norm that they had.
  double step() {
    const double norm = gradient_norm();
    ++steps_;
    for (auto& [name, s] : states_) {
      adam_step(s.parameter.count(), settings(s.parameter.rank() >= 2, norm),
                s.parameter.grad().data(), s.parameter.data(), s.m.data(), s.v.data());
      s.parameter.zero_grad();
    }
    return norm;
  }

  double gradient_norm() const {
    double squares = 0;
    for (const auto& [name, s] : states_) {
      squares += sum_of_squares(s.parameter.count(), s.parameter.grad().data());
    }
    return std::sqrt(squares);
  }

  /// What gradients of this norm are multiplied by.
  static double clip(double norm) { return std::min(1.0, 1.0 / (norm + 1e-6)); }

 private:
  struct State {
    Tensor parameter, m, v;
  };

  AdamStep settings(bool decays, double norm) const {
    AdamStep step{};
    step.lr = Scalar(1e-2);
    step.beta1 = Scalar(0.9);
    step.beta2 = Scalar(0.999);
    step.eps = Scalar(1e-5);
    step.decay = decays ? Scalar(0.1) : 0;
    step.correction1 = static_cast<Scalar>(1 - std::pow(0.9, steps_));
    step.correction2 = static_cast<Scalar>(1 - std::pow(0.999, steps_));
    step.grad_scale = static_cast<Scalar>(clip(norm));
    return step;
  }

  std::map<std::string, State> states_;
  int steps_ = 0;
};

class GoldenTransformer : public testing::TestWithParam<const char*> {
 protected:
  GoldenTransformer() : golden_(GetParam()), model_(config_of(golden_)) {
    model_.visit([&](const std::string& name, Tensor& p) { golden_.fill(name, p); });
    batch_ = Batch::make(golden_.tensor("logits").size(0), golden_.tensor("logits").size(1));
    batch_.tokens = golden_.ids("tokens");
    batch_.targets = golden_.ids("targets");
  }

  Golden golden_;
  Transformer model_;
  Batch batch_;
};

TEST_P(GoldenTransformer, HasItsLogits) {
  golden_.expect(model_.forward(batch_), "logits", kValueTolerance);
}

TEST_P(GoldenTransformer, HasItsPatterns) {
  ModelCaptures captures;
  model_.forward(batch_, {}, {.captures = &captures});
  std::vector<Tensor> patterns;
  for (const AttentionCaptures& attention : captures.attention) {
    const Shape& s = attention.pattern.shape();
    patterns.push_back(attention.pattern.viewed_as({1, s[0], s[1], s[2], s[3]}));
  }
  golden_.expect(concat(patterns, 0), "patterns", kValueTolerance);
}

TEST_P(GoldenTransformer, HasItsLoss) {
  golden_.expect(reshape(model_.loss(batch_), {1}), "loss", kValueTolerance);
}

TEST_P(GoldenTransformer, HasItsGradientsOfTheLastStep) {
  AdamW optimizer(model_);
  for (int step = 0; step < 9; ++step) {
    backward(model_.loss(batch_));
    optimizer.step();
  }
  backward(model_.loss(batch_));
  // In float the parameters have gone nine steps of rounding of their own: ten times as much.
  const double tolerance = (sizeof(Scalar) == 8 ? 1 : 10) * kGradientTolerance;
  const double scale = optimizer.clip(optimizer.gradient_norm());
  model_.visit([&](const std::string& name, Tensor& p) {
    scale_array(p.count(), static_cast<Scalar>(scale), p.grad().data());
    golden_.expect_gradient(p, name, tolerance);
  });
}

TEST_P(GoldenTransformer, HasItsLossesAndNormsOverTenSteps) {
  AdamW optimizer(model_);
  const Tensor losses = golden_.tensor("step_losses"), norms = golden_.tensor("step_grad_norms");
  ASSERT_EQ(losses.count(), 10);
  for (Index step = 0; step < 10; ++step) {
    const Tensor loss = model_.loss(batch_);
    backward(loss);
    const double norm = optimizer.step();
    EXPECT_NEAR(loss.item(), losses.data()[step], kValueTolerance * largest(numbers(losses)));
    EXPECT_NEAR(norm, norms.data()[step], kGradientTolerance * largest(numbers(norms)));
  }
}

TEST_P(GoldenTransformer, HasItsParametersAfterTenSteps) {
  AdamW optimizer(model_);
  for (int step = 0; step < 10; ++step) {
    backward(model_.loss(batch_));
    optimizer.step();
  }
  model_.visit([&](const std::string& name, Tensor& p) {
    if (name.find("b_K") != std::string::npos) {  // steps along rounding: see expect_gradient
      expect_near(p, golden_.tensor("after." + name), 1e-4, name);
    } else {
      golden_.expect(p, "after." + name, kGradientTolerance);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(PyTorch, GoldenTransformer,
                         testing::Values("decoder_pre_gelu", "encoder_post_relu"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace headlab::inline HEADLAB_SCALAR
