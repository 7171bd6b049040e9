// The layers between attention: linear maps, layer norm, embeddings and the feed-forward network.
// Parameters start at zero (gains at 1); model/initial.h gives a whole model its initial values.
// Read next: attention.h.
#pragma once

#include <span>

#include "headlab/nn/module.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// y = x W + b + residual; x [..., in], W [in, out], b [out]; an undefined residual is left out.
struct Linear {
  Tensor W, b;

  Linear() = default;
  Linear(Index in, Index out, bool bias = true);
  Tensor forward(const Tensor& x, const Tensor& residual = {}) const;
  /// Names: prefix + "W" + label and prefix + "b" + label, such as "blocks.0.attn." "W" "_Q".
  void visit(const std::string& prefix, const std::string& label, const ParameterVisitor& f);
};

/// y = (x - mean) / sqrt(variance + eps) w + b over the last axis; see ops/norm.h. In a frozen
/// context the square root is a constant: dx = (g - mean(g)) / sqrt(variance + eps), g = dy w.
struct LayerNorm {
  Tensor w, b;
  Scalar eps = Scalar(1e-5);

  LayerNorm() = default;
  explicit LayerNorm(Index width);
  Tensor forward(const Tensor& x, const ForwardContext& context = {}) const;
  void visit(const std::string& prefix, const ParameterVisitor& f);
};

/// Rows of a table W [V, C], chosen by ids.
struct Embedding {
  Tensor W;

  Embedding() = default;
  Embedding(Index vocab, Index width);
  /// [shape..., C]. Error that names an id outside [0, V).
  Tensor forward(std::span<const std::int32_t> ids, const Shape& shape) const;
  void visit(const std::string& name, const ParameterVisitor& f);
};

enum class Activation { gelu, relu };

/// y = f(x W_in + b_in) W_out + b_out + residual with f = gelu (tanh form) or relu; x, y [..., C].
struct FeedForward {
  Linear in, out;
  Activation activation = Activation::gelu;

  FeedForward() = default;
  FeedForward(Index width, Index hidden, Activation f);
  Tensor forward(const Tensor& x, const Tensor& residual = {}) const;
  void visit(const std::string& prefix, const ParameterVisitor& f);
};

/// [T, C]: P[t, 2i] = sin(t / 10000^(2i/C)), P[t, 2i+1] = cos(t / 10000^(2i/C)) (Vaswani et al.
/// 2017, section 3.5).
Tensor sinusoidal_positions(Index length, Index width);

}}  // namespace headlab
