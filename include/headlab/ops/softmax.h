// Softmax over the last axis, and the loss that ends in it. The loss takes
// its denominator from outside, so that micro-batches together equal one
// large batch. Read next: norm.h.
#pragma once

#include <span>

#include "headlab/tensor/tensor.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// y_j = exp(x_j) / sum_k exp(x_k) over the last axis; dx = y (dy - sum(y dy)). A row of -inf gives
/// zeros.
Tensor softmax(const Tensor& x);
/// y_j = x_j - ln sum_k exp(x_k); dx = dy - exp(y) sum(dy).
Tensor log_softmax(const Tensor& x);

/// The loss of rows of logits [..., V] against targets, one for each row; -1 counts for nothing. In
/// nats: loss = sum over rows with a target of (ln sum_j exp(x_j) - x_target) / denominator; dx_j =
/// (softmax(x)_j - [j = target]) / denominator. Rank 0; 0 if no row has a target. `denominator` 0
/// means the number of rows with a target. Error that names the first target outside [-1, V).
Tensor cross_entropy(const Tensor& logits, std::span<const std::int32_t> targets,
                     double denominator = 0);

}}  // namespace headlab
