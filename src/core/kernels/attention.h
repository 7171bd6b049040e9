// Fused attention: z = softmax(scale Q K^T + bias + mask) V for all heads at once, without storing
// a [T, S] matrix, so memory grows with T. Heads are read in place inside [B, T, H*D]. A row's
// result does not depend on tiling or threads. On request the same pass stores the patterns, so
// analyses see exactly the weights that the model used. Tests compare it with two readable
// versions: `attention_composed` in src/core/ops/attention.cc, and tests/kernels/plain.h with its
// gradients.
#pragma once

#include "headlab/core/kernels/attention_options.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// Inputs of attention. Head h of q has columns [h*D, (h+1)*D) of each row; rows are q_stride
/// apart, batches T * q_stride. Likewise k and v with block block_of(h); D is d_head for q and k
/// and d_value for v and z.
struct AttentionProblem {
  Index batch, queries, keys;  // B, T, S
  Index kv_heads;              // the number of K, V blocks
  Index d_head, d_value;       // D, Dv
  const Scalar *q, *k, *v;
  Index q_stride, k_stride, v_stride;
  Scalar scale;  // 1 / sqrt(D)
  const AttentionOptions& options;

  /// Returns the K, V block that head h reads.
  Index block_of(Index h) const { return options.kv_head.empty() ? h : options.kv_head[h]; }
};

/// Output of the forward pass.
struct AttentionOutput {
  Scalar* z;  // [B, T, H*Dv], rows z_stride apart; 0 for a query that sees no key
  Index z_stride;
  Scalar* log_sum_exp;  // [B, H, T], of the scaled, masked scores; -inf for such a query
  Scalar* pattern;      // [B, H, T, S]: weights before dropout, 0 if masked; null: not requested
};
void attention_forward(const AttentionProblem& problem, const AttentionOutput& out);

/// With P the weights, dP = dZ V^T (through dropout), dS = P (dP - sum(P dP)): dq = scale dS K, dk
/// = scale dS^T Q, dv = (dropped P)^T dZ, strided like q, k, v. Null pointers are skipped.
struct AttentionBackward {
  const Scalar *z, *dz;  // both with rows z_stride apart
  Index z_stride;
  const Scalar* log_sum_exp;
  GradientSlot dq, dk, dv;
};
void attention_backward(const AttentionProblem& problem, const AttentionBackward& gradients);

/// The position of a weight, key s for query t, as used by dropout. Heads are given by original
/// index.
struct WeightPlace {
  Index b, original_head, t, s;
};
/// Returns whether dropout keeps the weight: the one definition for all kernels.
bool attention_keeps(const WeightPlace& weight, std::uint64_t key, Scalar dropout);

}}  // namespace headlab
