// Ops over an axis or over rows, the last axis: sums, means and maxima; softmax and the loss that
// ends in it; layer norm and RMSNorm. Terms are added in an order that no number of threads
// changes. The loss takes its denominator from outside, so that micro-batches together equal one
// large batch. Read next: kernels/rows.h, attention.h.
#pragma once

#include <span>

#include "headlab/tensor/tensor.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// The sum over an axis, which goes away (or stays with size 1 if `keep`). dx = dy, repeated.
Tensor sum(const Tensor& x, int axis, bool keep = false);
/// The sum divided by the size of the axis. Error if the axis is empty.
Tensor mean(const Tensor& x, int axis, bool keep = false);
/// The sum and the mean of all elements, rank 0.
Tensor sum(const Tensor& x);
Tensor mean(const Tensor& x);

/// y_j = exp(x_j) / sum_k exp(x_k) over the last axis; dx = y (dy - sum(y dy)). A row of -inf gives
/// zeros.
Tensor softmax(const Tensor& x);

/// The loss of rows of logits [..., V] against targets, one for each row; -1 counts for nothing. In
/// nats: loss = sum over rows with a target of (ln sum_j exp(x_j) - x_target) / denominator; dx_j =
/// (softmax(x)_j - [j = target]) / denominator. Rank 0; 0 if no row has a target. `denominator` 0
/// means the number of rows with a target. Error that names the first target outside [-1, V).
Tensor cross_entropy(const Tensor& logits, std::span<const std::int32_t> targets,
                     double denominator = 0);

/// y = (x - mean) / sqrt(variance + eps) gain + bias over the last axis C (variance divided by C);
/// gain, bias [C]. With h the normalised x and g = dy gain: dx = (g - mean(g) - h mean(g h)) /
/// sqrt(variance + eps), dgain = sum(dy h), dbias = sum(dy). Ba, Kiros, Hinton 2016. An undefined
/// bias is left out.
Tensor layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias,
                  Scalar eps = Scalar(1e-5));
/// y = x / sqrt(mean(x^2) + eps) gain + bias: layer norm with a mean of 0, so that dx is the same
/// without mean(g). Zhang and Sennrich 2019.
Tensor rms_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, Scalar eps = Scalar(1e-5));

}}  // namespace headlab
