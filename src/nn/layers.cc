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

const Tensor& NormScales::use(const Tensor& own) {
  if (given) return deviations.at(next++);
  deviations.push_back(own);
  return deviations.back();
}

Tensor LayerNorm::forward(const Tensor& x, const ForwardContext& context) const {
  if (!context.frozen && context.norms == nullptr) return layer_norm(x, w, b, eps);
  const Tensor centred = x - mean(x, -1, true), constant = centred.detach();
  const Tensor deviation = sqrt(mean(constant * constant, -1, true) + eps);
  return centred / (context.norms ? context.norms->use(deviation) : deviation) * w + b;
}

void LayerNorm::visit(const std::string& prefix, const ParameterVisitor& f) const {
  f(prefix + "w", w);
  f(prefix + "b", b);
}

FeedForward::FeedForward(Index width, Index hidden, Activation f)
    : in(width, hidden), out(hidden, width), activation(f) {}

Tensor FeedForward::forward(const Tensor& x) const { return kind_of(activation).forward(*this, x); }

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

const std::array<ActivationKind, 2> kActivations = {{
    {"gelu", 2,  // in its tanh form
     [](const FeedForward& mlp, const Tensor& x) {
       return feed_forward({x, mlp.in.W, mlp.in.b, mlp.out.W, mlp.out.b});
     }},
    {"relu", 2,
     [](const FeedForward& mlp, const Tensor& x) {
       return mlp.out.forward(relu(mlp.in.forward(x)));
     }},
}};

const std::array<PositionKind, 3> kPositions = {{
    {"learned", true, 1,
     [](Index length, Index width) {
       return parameter({length, width});
     }},
    {"sinusoidal", false, 2, sinusoidal_positions},
    {"none", false, 1, [](Index, Index) { return Tensor(); }},
}};

}}  // namespace headlab
