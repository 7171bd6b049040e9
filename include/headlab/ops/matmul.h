// Matrix products: batched ones with transposes, and the linear map of a layer
// with its bias. Letters: M, K, N are the sizes of one product, `...` any
// leading axes. Read next: kernels/gemm.h.
#pragma once

#include "headlab/tensor/tensor.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

struct MatmulOptions {
  bool transpose_b = false;  // b is [..., N, K]
};

/// y[..., M, N] = a[..., M, K] b[..., K, N]; da = dy b^T, db = a^T dy. The leading axes must be
/// equal, or one of the two a plain matrix, which then serves all products of the other. Errors:
/// rank below 2; sizes that do not fit.
Tensor matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options = {});

/// y[..., N] = x[..., C] W[C, N] + b[N]; dx = dy W^T, dW = x^T dy, db = the sum of dy. An undefined
/// b is left out.
Tensor linear(const Tensor& x, const Tensor& W, const Tensor& b);

/// What opens the gate of a feed-forward network: GELU (GEGLU), or SiLU, g / (1 + exp(-g))
/// (SwiGLU).
enum class Gating { gelu, silu };

/// The feed-forward network y = gelu(x W_in + b_in) W_out + b_out, with x [..., C], W_in [C, F],
/// W_out [F, N]: two products forward and four backward. Of what lies between the maps only
/// h = x W_in + b_in is kept, [..., F]. With a W_gate [C, F] it is (f(x W_gate + b_gate) h) W_out +
/// b_out (Shazeer 2020), f by `gating`, and x W_gate + b_gate is kept as well. Undefined biases are
/// left out.
struct FeedForwardInputs {
  const Tensor &x, &W_in, &b_in, &W_out, &b_out;
  Tensor W_gate{}, b_gate{};
  Gating gating = Gating::silu;
};
Tensor feed_forward(const FeedForwardInputs& inputs);
/// The same, composed of linear, gelu and arithmetic: the definition.
Tensor feed_forward_composed(const FeedForwardInputs& inputs);

}}  // namespace headlab
