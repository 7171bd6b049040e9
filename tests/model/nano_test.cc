// examples/nano.cc computes what Transformer computes from the same weights and the same batch: the
// loss, the pattern of each head, and the gradient of each weight; also after heads were removed.
// Read next: examples/nano.cc.
#include "support/nano.h"

#include "headlab/core/tensor/tape.h"
#include "support/models.h"

namespace headlab { namespace {

/// nano computes in double; the library in float or double.
constexpr double kTolerance = sizeof(Scalar) == sizeof(double) ? 1e-12 : 1e-4;

TransformerConfig config_of_nano() {
  return config_with(text("layers=1 heads=8 d_model=", nano::C, " d_head=", nano::D,
                          " d_ff=", nano::F, " activation=relu biases=off vocab=", nano::V,
                          " length=", nano::T, " targets=", nano::R));
}

Batch batch_of(const nano::Batch& original) {
  const Index size = std::ssize(original.tokens) / nano::T;
  Batch batch = Batch::make(size, nano::T, nano::R);
  batch.tokens.assign(original.tokens.begin(), original.tokens.end());
  batch.targets.assign(original.targets.begin(), original.targets.end());
  return batch;
}

/// A number of one of nano's tensors.
struct Place {
  nano::Tensor tensor;
  int row, column;
};

/// The place in nano's model of the number (row, column) of the library's parameter `name`. The
/// matrices of the heads are next to each other there: columns of W_Q, W_K and W_V, rows of W_O.
Place place_of(const nano::Model& model, const std::string& name, int row, int column) {
  const std::map<std::string, nano::Tensor nano::Head::*> inputs = {{"W_Q", &nano::Head::W_Q},
                                                                    {"W_K", &nano::Head::W_K},
                                                                    {"W_V", &nano::Head::W_V}};
  const std::map<std::string, nano::Tensor nano::Model::*> others = {{"W_E", &nano::Model::W_E},
                                                                     {"W_pos", &nano::Model::W_pos},
                                                                     {"W_in", &nano::Model::W_in},
                                                                     {"W_out", &nano::Model::W_out},
                                                                     {"W_U", &nano::Model::W_U}};
  const std::string own = name.substr(name.rfind('.') + 1);
  if (inputs.contains(own)) {
    return {model.heads[column / nano::D].*inputs.at(own), row, column % nano::D};
  }
  if (own == "W_O") return {model.heads[row / nano::D].W_O, row % nano::D, column};
  return {model.*others.at(own), row, column};
}

/// Calls body(number of nano, index of the library's number) for each weight of a parameter.
void for_each_weight(const nano::Model& model, const std::string& name, const Tensor& parameter,
                     const std::function<void(const Place&, Index)>& body) {
  for (Index i = 0; i < parameter.count(); ++i) {
    const auto row = static_cast<int>(i / parameter.size(-1));
    const auto column = static_cast<int>(i % parameter.size(-1));
    body(place_of(model, name, row, column), i);
  }
}

/// nano's norms have no gains: those of the library stay 1.
bool is_gain(const std::string& name) { return name.ends_with(".w"); }

void copy_weights(const nano::Model& from, const Transformer& to) {
  to.visit([&](const std::string& name, const Tensor& parameter) {
    if (is_gain(name)) return;
    for_each_weight(from, name, parameter, [&](const Place& place, Index i) {
      parameter.data()[i] = static_cast<Scalar>(place.tensor.value(place.row, place.column));
    });
  });
}

/// Compares the pattern [B, T, T] of nano's head with the same slot of [B, H, T, T].
void expect_same_pattern(const nano::Head& head, const AttentionActivations& layer, Index slot) {
  for (int i = 0; i < head.pattern.rows; ++i) {
    const auto pattern = layer.pattern_of(slot, i / nano::T);
    for (int key = 0; key < nano::T; ++key) {
      EXPECT_NEAR(pattern[i % nano::T * nano::T + key], head.pattern.value(i, key), kTolerance)
          << "head " << head.number << ", row " << i << ", key " << key;
    }
  }
}

/// Compares every gradient; returns the number of weights that were compared.
int expect_same_gradients(const nano::Model& expected, const Transformer& model) {
  int compared = 0;
  model.visit([&](const std::string& name, const Tensor& parameter) {
    if (is_gain(name)) return;
    const Tensor gradient = parameter.grad();
    for_each_weight(expected, name, parameter, [&](const Place& place, Index i) {
      const double theirs = place.tensor.gradient(place.row, place.column);
      EXPECT_NEAR(gradient.data()[i], theirs, kTolerance) << name << ", number " << i;
      ++compared;
    });
  });
  return compared;
}

/// The loss, patterns and gradients of nano's model and of `model`, from the weights of the first.
void expect_same(nano::Model& expected, const Transformer& model) {
  copy_weights(expected, model);
  const nano::Batch batch = nano::make_batch(5);
  const nano::Tensor expected_loss = nano::loss_of(expected, batch);
  nano::backward(expected_loss);
  ActivationCache activations;
  const Tensor loss = model.loss(batch_of(batch), {}, {.activations = &activations});
  backward(loss);
  EXPECT_NEAR(loss.item(), expected_loss.value(0, 0), kTolerance);
  EXPECT_GT(loss.item(), 1);
  for (std::size_t h = 0; h < expected.heads.size(); ++h) {
    expect_same_pattern(expected.heads[h], activations.attention[0], static_cast<Index>(h));
  }
  int weights = 0;
  for (const nano::Tensor& w : expected.weights()) weights += w.rows * w.columns;
  EXPECT_EQ(expect_same_gradients(expected, model), weights);
}

TEST(Nano, ComputesLossPatternsAndGradientsOfTransformer) {
  nano::Model expected;
  expect_same(expected, Transformer(config_of_nano()));
}

TEST(Nano, ComputesTheSameAfterHeadsWereRemoved) {
  nano::Model expected;
  std::erase_if(expected.heads, [](const nano::Head& head) { return head.number % 3 == 0; });
  expect_same(expected, Transformer(config_of_nano()).with_heads({{1, 2, 4, 5, 7}}));
}

TEST(Nano, SoftmaxOfLargeNumbersIsFinite) {
  const nano::Tensor x = nano::filled(2, 2, [](int row, int) { return row == 0 ? 1000 : -1000; });
  const nano::Tensor weights = nano::softmax(x);
  nano::for_each(weights, [&](int i, int j) { EXPECT_EQ(weights.value(i, j), 0.5); });
}

}  // namespace
}  // namespace headlab
