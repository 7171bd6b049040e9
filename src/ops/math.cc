// Functions of one element. The slopes are written in terms of the output where that is cheaper
// (exp, sqrt, tanh), so nothing but input and output is kept. Read next: arithmetic.cc, and
// examples/own_op.cc for an op of your own.
#include "headlab/ops/math.h"

#include <cmath>

#include "headlab/kernels/elementwise.h"
#include "headlab/kernels/pieces.h"
#include "headlab/tensor/tape.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

/// y[i] = f(x[i]).
template <class F>
Tensor map(const Tensor& x, F f) {
  Tensor y = Tensor::empty(x.shape());
  const Scalar* px = x.data();
  Scalar* py = y.data();
  for_pieces(x.count(), [=](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) py[i] = f(px[i]);
  });
  return y;
}

/// dx[i] += dy[i] slope(x[i], y[i]).
template <class Slope>
void add_gradient(Node& node, Slope slope) {
  Scalar* dx = node.sum_into(0);
  if (dx == nullptr) return;
  const Scalar *x = node.input(0).data(), *y = node.output(), *dy = node.gradient();
  for_pieces(node.count(), [=](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) dx[i] += dy[i] * slope(x[i], y[i]);
  });
}

}  // namespace

Tensor exp(const Tensor& x) {
  Tensor y = Tensor::empty(x.shape());
  exp_array(x.count(), x.data(), y.data());
  return record("exp", y, {x},
                [](Node& node) { add_gradient(node, [](Scalar, Scalar out) { return out; }); });
}

Tensor log(const Tensor& x) {
  return record("log", map(x, [](Scalar v) { return std::log(v); }), {x},
                [](Node& node) { add_gradient(node, [](Scalar in, Scalar) { return 1 / in; }); });
}

Tensor sqrt(const Tensor& x) {
  return record("sqrt", map(x, [](Scalar v) { return std::sqrt(v); }), {x}, [](Node& node) {
    add_gradient(node, [](Scalar, Scalar out) { return Scalar{0.5} / out; });
  });
}

Tensor tanh(const Tensor& x) {
  Tensor y = Tensor::empty(x.shape());
  tanh_array(x.count(), x.data(), y.data());
  return record("tanh", y, {x}, [](Node& node) {
    add_gradient(node, [](Scalar, Scalar out) { return 1 - out * out; });
  });
}

Tensor relu(const Tensor& x) {
  return record("relu", map(x, [](Scalar v) { return v > 0 ? v : Scalar{0}; }), {x},
                [](Node& node) {
                  add_gradient(node, [](Scalar in, Scalar) { return Scalar(in > 0 ? 1 : 0); });
                });
}

Tensor gelu(const Tensor& x) {
  Tensor y = Tensor::empty(x.shape());
  gelu_forward(x.count(), x.data(), y.data());
  return record("gelu", y, {x}, [](Node& node) {
    if (const GradientSlot dx = node.slot(0))
      gelu_backward(node.count(), node.input(0).data(), node.gradient(), dx.data, dx.accumulate);
  });
}

}}  // namespace headlab
