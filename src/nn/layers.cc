// Layers are parameters and a formula; the gradients come from ops/. Everything
// starts at 0 (gains at 1), so that initial values stand in one place,
// model/initial.cc. Read next: attention.cc.
#include "headlab/nn/layers.h"

#include <cmath>

#include "headlab/ops/ops.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

Tensor parameter(const Shape& shape, Scalar value) {
  Tensor t = Tensor::full(shape, value);
  t.set_requires_grad();
  return t;
}

Linear::Linear(Index in, Index out, bool bias)
    : W(parameter({in, out})), b(bias ? parameter({out}) : Tensor()) {}

Tensor Linear::forward(const Tensor& x) const { return linear(x, W, b); }

void Linear::visit(const std::string& prefix, const std::string& label,
                   const ParameterVisitor& f) const {
  f(prefix + "W" + label, W);
  if (b.defined()) f(prefix + "b" + label, b);
}

LayerNorm::LayerNorm(Index width) : w(parameter({width}, 1)), b(parameter({width})) {}

Tensor LayerNorm::forward(const Tensor& x, const ForwardContext& context) const {
  if (!context.frozen) return layer_norm(x, w, b, eps);
  const Tensor centred = x - mean(x, -1, true), constant = centred.detach();
  return centred / sqrt(mean(constant * constant, -1, true) + eps) * w + b;
}

void LayerNorm::visit(const std::string& prefix, const ParameterVisitor& f) const {
  f(prefix + "w", w);
  f(prefix + "b", b);
}

FeedForward::FeedForward(Index width, Index hidden, Activation f)
    : in(width, hidden), out(hidden, width), activation(f) {}

Tensor FeedForward::forward(const Tensor& x) const {
  if (activation == Activation::gelu) return feed_forward({x, in.W, in.b, out.W, out.b});
  return out.forward(relu(in.forward(x)));
}

void FeedForward::visit(const std::string& prefix, const ParameterVisitor& f) const {
  in.visit(prefix, "_in", f);
  out.visit(prefix, "_out", f);
}

Tensor sinusoidal_positions(Index length, Index width) {
  Tensor table = Tensor::empty({length, width});
  for (Index t = 0; t < length; ++t) {
    for (Index c = 0; c < width; ++c) {
      const double rate =
          std::pow(10000.0, -static_cast<double>(c / 2 * 2) / static_cast<double>(width));
      const double angle = static_cast<double>(t) * rate;
      table.data()[t * width + c] =
          static_cast<Scalar>(c % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  return table;
}

}}  // namespace headlab
