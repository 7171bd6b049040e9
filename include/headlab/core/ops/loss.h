// The loss of a linear map into classes, without storing all logits. With a large vocabulary the
// logits and their gradient are the largest tensors of a training step. This op computes a block of
// rows of them at a time, down to the gradients of its inputs, and then reuses the memory. Read
// next: src/core/ops/loss.cc; rows.h, for the cross-entropy of logits that are stored.
#pragma once

#include <span>

#include "headlab/core/tensor/tensor.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// The map from x [..., C] to logits: x W + b with W [C, K*V] and b [K*V] or undefined, or, if
/// `transposed`, x W^T with W [K*V, C] and no b (an unembedding tied to the embedding). K is the
/// number of targets of a row of x.
struct ClassMap {
  const Tensor &x, &W, &b;
  bool transposed = false;
};

/// Returns cross_entropy(logits as [rows * K, V], targets, denominator), rank 0, for K targets of
/// each row of x in sequence. The value and the gradients have the bits of the separate ops; if a
/// gradient is added to an existing one, it is added as a whole. Errors: sizes that do not fit; a
/// number of targets that is not a multiple of the rows; a target outside [-1, V).
Tensor linear_cross_entropy(const ClassMap& map, std::span<const std::int32_t> targets,
                            double denominator = 0);
/// Computes linear_cross_entropy as a composition of linear (or matmul) and cross_entropy: the
/// definition.
Tensor linear_cross_entropy_composed(const ClassMap& map, std::span<const std::int32_t> targets,
                                     double denominator = 0);
/// Returns the rows of x whose logits linear_cross_entropy stores at a time, for rows of
/// `outputs` = K*V logits.
Index rows_of_logits(Index outputs);

}}  // namespace headlab
