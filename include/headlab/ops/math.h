// Functions of one element at a time. Each is its formula and its derivative;
// the shortest ops to read, and the pattern for your own. Read next:
// src/ops/math.cc, then examples/own_op.cc.
#pragma once

#include "headlab/tensor/tensor.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// y = e^x; dx = dy y.
Tensor exp(const Tensor& x);
/// y = ln x; dx = dy / x.
Tensor log(const Tensor& x);
/// dx = dy / (2 y).
Tensor sqrt(const Tensor& x);
/// dx = dy (1 - y^2).
Tensor tanh(const Tensor& x);
/// y = max(x, 0); dx = dy where x > 0.
Tensor relu(const Tensor& x);
/// y = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), the tanh form of Hendrycks and Gimpel 2016.
Tensor gelu(const Tensor& x);

}}  // namespace headlab
