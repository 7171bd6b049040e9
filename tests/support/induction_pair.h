// An exact induction circuit, built by hand: a head that copies the token before each position, and
// heads of the next layer that look for the position whose previous token is this one, and predict
// its token. Pre-norm, so that logits can be attributed. The residual stream has a
// dimension for each position, token, previous token and token to say; every layer norm divides by
// the same number at all positions, which weights undo. Read next: tests/heads/truth_edges_test.cc.
#pragma once

#include <cmath>

#include "headlab/core/model/transformer.h"
#include "headlab/core/tasks/task.h"

namespace headlab {

/// A task on which it is small.
inline constexpr const char* kInduction =
    "induction:length=14,vocab=9,shortest=3,longest=5,start=1,gap=2";

/// First dimensions of the parts of the residual stream.
struct InductionStream {
  Index token, previous, said, width;
  explicit InductionStream(const TaskShape& shape)
      : token(shape.length),
        previous(token + shape.vocab),
        said(previous + shape.vocab),
        width(said + shape.vocab) {}

  /// 1 / standard deviation of a stream with `ones` ones and otherwise zeros.
  double scale(double ones) const {
    const double mean = ones / static_cast<double>(width);
    return 1 / std::sqrt(mean - mean * mean + 1e-5);
  }
};

inline void set(const Tensor& W, Index row, Index column, double value) {
  W.data()[row * W.size(-1) + column] = static_cast<Scalar>(value);
}

/// The first head's weight lies on the position before.
inline void look_one_back(const MultiHeadAttention& attention, const TaskShape& shape) {
  for (Index t = 0; t < shape.length; ++t) {
    set(attention.Q.W, t, std::max<Index>(0, t - 1), 1e4);
    set(attention.K.W, t, t, 1);
  }
}

/// Layer 0: the previous-token head. Layer 1: `copies` equal induction heads. The logit of
/// the predicted token is 40 above the others for any number of copies; without copies all logits
/// are equal.
inline Transformer induction_pair(const TaskShape& shape, Index copies = 1) {
  const InductionStream at(shape);
  TransformerConfig config;
  config.vocab = shape.vocab, config.length = shape.length;
  config.layers = 2, config.heads = {1, copies};
  config.d_model = config.d_head = at.width;
  Transformer model(config);
  MultiHeadAttention& before = model.attention(0);
  MultiHeadAttention& induction = model.attention(1);
  look_one_back(before, shape);
  for (Index v = 0; v < shape.vocab; ++v) {
    set(before.V.W, at.token + v, v, 1);
    set(before.O.W, v, at.previous + v, 1 / at.scale(2));
    // what centring takes from every dimension
    set(before.O.b, 0, at.previous + v, 2 / static_cast<double>(at.width));
  }
  for (Index h = 0; h < copies; ++h) {
    const Index first = h * at.width;
    for (Index v = 0; v < shape.vocab; ++v) {
      set(induction.Q.W, at.token + v, first + v, 1e4);
      set(induction.K.W, at.previous + v, first + v, 1);
      set(induction.V.W, at.token + v, first + v, 1);
      set(induction.O.W, first + v, at.said + v, 1 / at.scale(3));
    }
  }
  model.visit([&](const std::string& name, const Tensor& parameter) {
    for (Index t = 0; name == "pos_embed.W_pos" && t < shape.length; ++t) set(parameter, t, t, 1);
    for (Index v = 0; v < shape.vocab; ++v) {
      if (name == "embed.W_E") set(parameter, v, at.token + v, 1);
      if (name == "unembed.W_U") set(parameter, at.said + v, v, 40);
    }
  });
  return model;
}

/// Head 0.0 says the token before. Head 1.0 looks there too, but where something was said already
/// it looks at the first key instead, and says that.
inline Transformer one_takes_over(const TaskShape& shape) {
  const InductionStream at(shape);
  Transformer model = induction_pair(shape);
  for (std::size_t attention_layer : {0u, 1u}) {
    MultiHeadAttention& a = model.attention(attention_layer);
    for (const Tensor* one : {&a.Q.W, &a.K.W, &a.V.W, &a.O.W, &a.O.b})
      std::fill_n(one->data(), one->count(), Scalar{0});
    look_one_back(a, shape);
    for (Index v = 0; v < shape.vocab; ++v) {
      set(a.V.W, at.token + v, v, 1);
      set(a.O.W, v, at.said + v, 1 / at.scale(2));
      if (attention_layer == 1) set(a.Q.W, at.said + v, 0, 1e5);
      // what centring takes from every dimension
      if (attention_layer == 0) set(a.O.b, 0, at.said + v, 2 / static_cast<double>(at.width));
    }
  }
  return model;
}

}  // namespace headlab
