// The layers between attention: what they compute and what their parameters are called.
#include "headlab/core/nn/layers.h"

#include "headlab/core/ops/ops.h"
#include "support/tensors.h"

namespace headlab { namespace {

template <class Part, class... Name>
std::vector<std::string> names_of(Part part, const Name&... name) {
  std::vector<std::string> names;
  part.visit(name..., [&](const std::string& full, const Tensor&) { names.push_back(full); });
  return names;
}

TEST(Linear, NamesItsWeightAndBias) {
  EXPECT_EQ(names_of(Linear(2, 3), std::string("a."), std::string("_Q")),
            (std::vector<std::string>{"a.W_Q", "a.b_Q"}));
  EXPECT_EQ(names_of(Linear(2, 3, false), std::string("a."), std::string("_Q")),
            (std::vector<std::string>{"a.W_Q"}));
}

TEST(Linear, WithoutBiasIsAProduct) {
  Linear linear(3, 2, false);
  const Tensor W = random_tensor({3, 2}, Key{1}), x = random_tensor({4, 3}, Key{2});
  std::copy_n(W.data(), 6, linear.W.data());
  expect_near(linear.forward(x), matmul(x, W), 0);
}

TEST(NormLayer, StartsAsTheNormalisedInput) {
  const NormLayer norm(6);
  const Tensor y = norm.forward(random_tensor({3, 6}, Key{1}, 2, 8));
  expect_near(numbers(mean(y, -1)), {0, 0, 0}, 16 * kEpsilon);
  expect_near(numbers(mean(y * y, -1)), {1, 1, 1}, 1e-4);  // 1 - eps / variance
}

TEST(NormLayer, ComposesWhatTheFusedOpComputes) {
  const Tensor x = random_tensor({3, 6}, Key{1}, -2, 8);
  for (std::size_t i = 0; i < kNorms.size(); ++i) {
    const NormLayer norm(6, static_cast<NormType>(i));
    EXPECT_EQ(norm.b.defined(), kNorms[i].has_bias);
    NormScales scales;
    expect_near(norm.forward(x), norm.forward(x, {.norms = &scales}), 16 * kEpsilon);
  }
}

TEST(NormLayer, ComposesWhatTheFusedOpComputesOfRowsWhoseSquaresOverflow) {
  const Scalar huge = std::sqrt(std::numeric_limits<Scalar>::max());
  const Tensor x = random_tensor({3, 6}, Key{1}, -2, 8) * huge;
  for (std::size_t i = 0; i < kNorms.size(); ++i) {
    const NormLayer norm(6, static_cast<NormType>(i));
    if (!norm.w.defined()) continue;  // it divides by nothing
    NormScales scales;
    const Tensor fused = norm.forward(x);
    expect_near(fused, norm.forward(x, {.norms = &scales}), 16 * kEpsilon);
    expect_near(numbers(mean(fused * fused, -1)), {1, 1, 1}, 64 * kEpsilon);
  }
}

TEST(NormLayer, KindNoneChangesNothingAndHasNoParameters) {
  const NormLayer norm(6, NormType::none);
  EXPECT_TRUE(names_of(norm, std::string("ln1.")).empty());
  const Tensor x = random_tensor({3, 6}, Key{1}, -2, 8);
  NormScales scales;
  for (const Tensor& y :
       {norm.forward(x), norm.forward(x, {.frozen = true}), norm.forward(x, {.norms = &scales})})
    expect_near(y, x, 0);
}

TEST(NormLayer, RmsKeepsTheMean) {
  const NormLayer norm(2, NormType::rms);
  expect_near(numbers(norm.forward(Tensor::full({1, 2}, 3))), {1, 1}, 1e-5);
}

TEST(FeedForward, IsTwoLinearMapsAroundItsActivation) {
  for (Activation f : {Activation::gelu, Activation::relu}) {
    FeedForward mlp(3, 5, f);
    mlp.visit("", [](const std::string& name, const Tensor& p) {
      const Tensor values = random_tensor(p.shape(), Key{1}.fold(name));
      std::copy_n(values.data(), values.count(), p.data());
    });
    const Tensor x = random_tensor({2, 3}, Key{2}), hidden = mlp.in.forward(x);
    const Tensor active = f == Activation::gelu ? gelu(hidden) : relu(hidden);
    expect_near(mlp.forward(x), mlp.out.forward(active), 4 * kEpsilon);  // fused: rounded elsewhere
  }
}

TEST(FeedForward, NamesItsParameters) {
  EXPECT_EQ(names_of(FeedForward(2, 3, Activation::relu), std::string("mlp.")),
            (std::vector<std::string>{"mlp.W_in", "mlp.b_in", "mlp.W_out", "mlp.b_out"}));
}

TEST(FeedForward, GatedKindsHaveAThirdMatrix) {
  EXPECT_EQ(names_of(FeedForward(2, 3, Activation::swiglu, false), std::string("mlp.")),
            (std::vector<std::string>{"mlp.W_in", "mlp.W_gate", "mlp.W_out"}));
}

TEST(SinusoidalPositions, AreSinesAndCosinesOfGeometricRates) {
  const Tensor P = sinusoidal_positions(50, 6);
  for (Index t = 0; t < 50; ++t) {
    for (Index i = 0; i < 3; ++i) {
      const double angle = static_cast<double>(t) / std::pow(10000.0, static_cast<double>(i) / 3);
      EXPECT_NEAR(P.data()[t * 6 + 2 * i], std::sin(angle), 2 * kEpsilon);
      EXPECT_NEAR(P.data()[t * 6 + 2 * i + 1], std::cos(angle), 2 * kEpsilon);
    }
  }
}

}  // namespace
}  // namespace headlab
