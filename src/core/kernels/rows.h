// Kernels over the rows of a matrix [rows, n]: softmax, layer norm, cross-entropy, sums. Readable
// versions: tests/kernels/plain.h. A reduction over rows (bias, gain) adds fixed blocks of rows in
// order, so that no sum depends on the number of threads. Read next: rows.cc.
#pragma once

#include "headlab/core/kernels/scalar.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// Computes y = exp(x - max) / sum(exp(x - max)) for each row. A row of -inf gives zeros.
void softmax_forward(Index rows, Index n, const Scalar* x, Scalar* y);
struct SoftmaxBackward {
  Index rows, n;
  const Scalar *y, *dy;
  GradientSlot dx;
};
/// Computes dx (+)= y (dy - sum(y dy)).
void softmax_backward(const SoftmaxBackward& problem);

/// y = (x - mean) rstd gain + bias, rstd = 1 / sqrt(variance + eps) (variance divided by n), or, if
/// not centred (RMSNorm), with a mean of 0. Stores mean and rstd of each row, [rows], for the
/// backward pass. A null bias is omitted. A row whose squares overflow is scaled before it is
/// summed, so every finite row has the correct result.
struct LayerNormForward {
  Index rows, n;
  Scalar eps;
  const Scalar *x, *gain, *bias;
  Scalar *y, *mean, *rstd;
  bool centred = true;
};
void layer_norm_forward(const LayerNormForward& problem);
/// With h = (x - mean) rstd and g = dy gain: dx (+)= rstd (g - mean(g) - h mean(g h)), without
/// mean(g) if not centred; dgain += sum(dy h); dbias += sum(dy). Null pointers are skipped.
struct LayerNormBackward {
  Index rows, n;
  const Scalar *x, *gain, *mean, *rstd, *dy;
  GradientSlot dx;
  Scalar *dgain, *dbias;
  bool centred = true;
};
void layer_norm_backward(const LayerNormBackward& problem);

/// losses[r] = log(sum(exp(x[r]))) - x[r, target[r]]. Also stores log_sum_exp [rows]. If the target
/// is -1, both are 0.
struct CrossEntropyForward {
  Index rows, n;
  const Scalar* x;
  const std::int32_t* targets;
  Scalar *losses, *log_sum_exp;
};
void cross_entropy_forward(const CrossEntropyForward& problem);
/// dx (+)= scale (exp(x - log_sum_exp) - [j == target]); nothing if the target is -1.
struct CrossEntropyBackward {
  Index rows, n;
  const Scalar* x;
  const std::int32_t* targets;
  const Scalar* log_sum_exp;
  Scalar scale;
  GradientSlot dx;
};
void cross_entropy_backward(const CrossEntropyBackward& problem);

/// table[ids[i]] += rows[i] for i in [0, count), rows of width n; in the order of i for each id.
/// The gradient of a lookup. Error for an id outside [0, table_rows).
struct ScatterAdd {
  Index count, n;
  const std::int32_t* ids;  // null: all 0, which sums the rows into one
  const Scalar* rows;
  Index table_rows;
  Scalar* table;
};
void scatter_add_rows(const ScatterAdd& problem);

}}  // namespace headlab
