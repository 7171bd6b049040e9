// Kernels over the rows of a matrix [rows, n], contiguous: softmax, layer norm, cross-entropy,
// sums. A reduction over rows (bias, gain) adds fixed blocks of rows in order, so that no sum
// depends on threads.
#pragma once

#include "headlab/kernels/scalar.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// y = exp(x - max) / sum(exp(x - max)) for each row. A row of -inf gives zeros.
void softmax_forward(Index rows, Index n, const Scalar* x, Scalar* y);
/// dx = (accumulate ? dx : 0) + y (dy - sum(y dy)).
void softmax_backward(Index rows, Index n, const Scalar* y, const Scalar* dy, Scalar* dx,
                      bool accumulate);
/// y = x - max - log(sum(exp(x - max))).
void log_softmax_forward(Index rows, Index n, const Scalar* x, Scalar* y);
/// dx = (accumulate ? dx : 0) + dy - exp(y) sum(dy).
void log_softmax_backward(Index rows, Index n, const Scalar* y, const Scalar* dy, Scalar* dx,
                          bool accumulate);

/// y = (x - mean) rstd gain + bias, rstd = 1 / sqrt(variance + eps) (variance divided by n). Keeps
/// mean and rstd of each row for the backward pass.
void layer_norm_forward(Index rows, Index n, Scalar eps, const Scalar* x, const Scalar* gain,
                        const Scalar* bias, Scalar* y, Scalar* mean, Scalar* rstd);
/// With h = (x - mean) rstd and g = dy gain: dx += rstd (g - mean(g) - h mean(g h)); dgain +=
/// sum(dy h); dbias += sum(dy). Null pointers are skipped. dx is set, not added to, unless
/// accumulate_dx.
struct LayerNormBackward {
  Index rows, n;
  const Scalar *x, *gain, *mean, *rstd, *dy;
  Scalar *dx, *dgain, *dbias;
  bool accumulate_dx;
};
void layer_norm_backward(const LayerNormBackward& problem);

/// losses[r] = log(sum(exp(x[r]))) - x[r, target[r]], 0 where target is -1. Also keeps log_sum_exp
/// [rows].
void cross_entropy_forward(Index rows, Index n, const Scalar* x, const std::int32_t* targets,
                           Scalar* losses, Scalar* log_sum_exp);
/// dx = (accumulate ? dx : 0) + scale (exp(x - log_sum_exp) - [j == target]); nothing where target
/// is -1.
struct CrossEntropyBackward {
  Index rows, n;
  const Scalar* x;
  const std::int32_t* targets;
  const Scalar* log_sum_exp;
  Scalar scale;
  Scalar* dx;
  bool accumulate;
};
void cross_entropy_backward(const CrossEntropyBackward& problem);

/// table[ids[i]] += rows_in[i] for i in [0, count), rows of width n; in the order of i for each id.
/// The gradient of a lookup. Ids must lie in [0, table_rows).
void scatter_add_rows(Index count, Index n, const std::int32_t* ids, const Scalar* rows_in,
                      Index table_rows, Scalar* table);

}}  // namespace headlab
