// Layer norm keeps mean and 1/deviation of each row for its backward pass.
// Dropout keeps only its key: the same key draws the same mask again. Read
// next: kernels/rows.h, attention.cc.
#include "headlab/ops/norm.h"

#include "headlab/base/error.h"
#include "headlab/kernels/elementwise.h"
#include "headlab/kernels/rows.h"
#include "headlab/tensor/tape.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

Tensor layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, Scalar eps) {
  require(x.rank() >= 1, "layer_norm: needs at least one axis");
  const Index n = x.size(-1), rows = x.shape().count(0, x.rank() - 1);
  require(gain.shape() == Shape{n} && bias.shape() == Shape{n}, "layer_norm: x ", x.shape(),
          " needs gain and bias [", n, "], got ", gain.shape(), " and ", bias.shape());
  Tensor y = Tensor::empty(x.shape()), mean = Tensor::empty({rows}), rstd = Tensor::empty({rows});
  layer_norm_forward(
      {rows, n, eps, x.data(), gain.data(), bias.data(), y.data(), mean.data(), rstd.data()});
  return record("layer_norm", y, {x, gain, bias}, [rows, n, mean, rstd](Node& node) {
    const GradientSlot dx = node.slot(0);
    layer_norm_backward({.rows = rows,
                         .n = n,
                         .x = node.input(0).data(),
                         .gain = node.input(1).data(),
                         .mean = mean.data(),
                         .rstd = rstd.data(),
                         .dy = node.gradient(),
                         .dx = dx.data,
                         .dgain = node.sum_into(1),
                         .dbias = node.sum_into(2),
                         .accumulate_dx = dx.accumulate});
  });
}

Tensor dropout(const Tensor& x, Scalar p, Key key) {
  require(p >= 0 && p < 1, "dropout: the probability must lie in [0, 1), got ", p);
  if (p == 0) return x;
  Tensor y = Tensor::empty(x.shape());
  dropout_array(x.count(), p, key.value, x.data(), y.data());
  return record("dropout", y, {x}, [p, key](Node& node) {
    const GradientSlot dx = node.slot(0);
    if (!dx.accumulate) {
      dropout_array(node.count(), p, key.value, node.gradient(), dx.data);
      return;
    }
    const Tensor masked = Tensor::empty(node.shape());
    dropout_array(node.count(), p, key.value, node.gradient(), masked.data());
    add_scaled(node.count(), 1, masked.data(), dx.data);
  });
}

}}  // namespace headlab
