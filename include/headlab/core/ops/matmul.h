// Matrix products: batched products with transposes, and the linear map of a layer with its bias.
// Letters: M, K, N are the sizes of one product, `...` any leading axes. The products themselves
// are computed by src/core/kernels/gemm.h.
#pragma once

#include "headlab/core/tensor/tensor.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

struct MatmulOptions {
  bool transpose_b = false;  // b is [..., N, K]
};

/// y[..., M, N] = a[..., M, K] b[..., K, N]; da = dy b^T, db = a^T dy. The leading axes must be
/// equal, or one of the two must be a plain matrix, which is then used in all products. Errors:
/// rank below 2; sizes that do not fit.
Tensor matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options = {});

/// y[..., N] = x[..., C] W[C, N] + b[N]; dx = dy W^T, dW = x^T dy, db = the sum of dy. If b is
/// undefined, it is omitted.
Tensor linear(const Tensor& x, const Tensor& W, const Tensor& b);

/// Activation of the gate in a gated feed-forward network: GELU (GEGLU), or SiLU, g / (1 + exp(-g))
/// (SwiGLU).
enum class Gating { gelu, silu };

/// The feed-forward network y = gelu(x W_in + b_in) W_out + b_out, with x [..., C], W_in [C, F],
/// W_out [F, N]: two products forward and four backward. It stores one intermediate result for
/// backward, h = x W_in + b_in [..., F]. With a W_gate [C, F] it is (f(x W_gate + b_gate) h) W_out
/// + b_out (Shazeer 2020), f given by `gating`, and x W_gate + b_gate is stored as well. Undefined
/// biases are omitted.
struct FeedForwardInputs {
  const Tensor &x, &W_in, &b_in, &W_out, &b_out;
  Tensor W_gate{}, b_gate{};
  Gating gating = Gating::silu;
};
Tensor feed_forward(const FeedForwardInputs& inputs);
/// Computes feed_forward as a composition of linear, gelu and arithmetic: the definition.
Tensor feed_forward_composed(const FeedForwardInputs& inputs);

}}  // namespace headlab
