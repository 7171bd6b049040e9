// Ops over an axis or over rows, that is over the last axis: sums, means and maxima; softmax and
// cross-entropy; layer norm and RMSNorm. The order in which terms are added does not depend on the
// number of threads. The loss takes its denominator as an argument, so that micro-batches together
// equal one large batch. Read next: src/core/ops/rows.cc, attention.h.
#pragma once

#include <span>

#include "headlab/core/tensor/tensor.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// Sums over an axis and removes it (or keeps it with size 1 if `keep`). dx = dy, repeated.
Tensor sum(const Tensor& x, int axis, bool keep = false);
/// Divides the sum by the size of the axis. Error if the axis is empty.
Tensor mean(const Tensor& x, int axis, bool keep = false);
/// Return the sum and the mean of all elements, rank 0.
Tensor sum(const Tensor& x);
Tensor mean(const Tensor& x);

/// y_j = exp(x_j) / sum_k exp(x_k) over the last axis; dx = y (dy - sum(y dy)). A row of -inf gives
/// zeros.
Tensor softmax(const Tensor& x);

/// Cross-entropy in nats of rows of logits [..., V] against targets, one per row; rows with target
/// -1 are ignored. loss = sum over rows with a target of (ln sum_j exp(x_j) - x_target) /
/// denominator; dx_j = (softmax(x)_j - [j = target]) / denominator. Rank 0; 0 if no row has a
/// target. `denominator` 0 means the number of rows with a target. Errors name the first target
/// outside [-1, V).
Tensor cross_entropy(const Tensor& logits, std::span<const std::int32_t> targets,
                     double denominator = 0);

/// y = (x - mean) / sqrt(variance + eps) gain + bias over the last axis C (variance divided by C);
/// gain, bias [C]. With h the normalised x and g = dy gain: dx = (g - mean(g) - h mean(g h)) /
/// sqrt(variance + eps), dgain = sum(dy h), dbias = sum(dy). Ba, Kiros, Hinton 2016. If the bias is
/// undefined, it is omitted.
Tensor layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias,
                  Scalar eps = Scalar(1e-5));
/// y = x / sqrt(mean(x^2) + eps) gain + bias: layer norm with a mean of 0, so that dx is the same
/// without mean(g). Zhang and Sennrich 2019.
Tensor rms_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, Scalar eps = Scalar(1e-5));

}}  // namespace headlab
