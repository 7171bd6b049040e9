// Fused attention: z = softmax(scale Q K^T + mask) V for all heads at once, without ever holding a
// [T, S] matrix, so memory grows with T. Heads are read in place inside [B, T, H*D]. A row's result
// does not depend on how it was tiled or threaded. On request the same pass fills in the patterns:
// what analysis sees is what the model did. To be read: `attention_composed` in ops/, and the plain
// version with its gradients, tests/kernels/plain.h; tests hold all three together.
#pragma once

#include "headlab/kernels/attention_options.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// Head h of q owns columns [h*D, (h+1)*D) of each row; rows are q_stride apart, batches T *
/// q_stride. Likewise k and v with block block_of(h); D is d_head for q and k and d_value for v and
/// z.
struct AttentionProblem {
  Index batch, queries, keys;  // B, T, S
  Index kv_heads;              // the number of K, V blocks
  Index d_head, d_value;       // D, Dv
  const Scalar *q, *k, *v;
  Index q_stride, k_stride, v_stride;
  Scalar scale;  // 1 / sqrt(D)
  const AttentionOptions& options;

  /// The K, V block that head h reads.
  Index block_of(Index h) const { return options.kv_head.empty() ? h : options.kv_head[h]; }
};

/// What the forward pass writes.
struct AttentionOutput {
  Scalar* z;  // [B, T, H*Dv], rows z_stride apart; 0 for a query that sees nothing
  Index z_stride;
  Scalar* log_sum_exp;  // [B, H, T], of the scaled, masked scores; -inf for such a query
  Scalar* pattern;      // [B, H, T, S]: weights before dropout, 0 where hidden; null: not wanted
};
void attention_forward(const AttentionProblem& problem, const AttentionOutput& out);

/// With P the weights, dP = dZ V^T (through dropout), dS = P (dP - sum(P dP)): dq = scale dS K, dk
/// = scale dS^T Q, dv = (dropped P)^T dZ, strided like q, k, v. Null ones are skipped.
struct AttentionBackward {
  const Scalar *z, *dz;  // both with rows z_stride apart
  Index z_stride;
  const Scalar* log_sum_exp;
  GradientSlot dq, dk, dv;
};
void attention_backward(const AttentionProblem& problem, const AttentionBackward& gradients);

/// The weight of key s for query t, as dropout knows it: by the number its head was born with.
struct WeightPlace {
  Index b, born_head, t, s;
};
/// Whether dropout keeps the weight: the one definition that all kernels follow.
bool attention_keeps(const WeightPlace& weight, std::uint64_t key, Scalar dropout);

}}  // namespace headlab
