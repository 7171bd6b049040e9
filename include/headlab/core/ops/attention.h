// Attention as one differentiable op: z = softmax(q k^T / sqrt(D) + mask) v, for all heads. There
// are two versions with the same result: a fused kernel (src/core/kernels/attention.h), and a
// composition of matmul, mask, softmax and matmul, which is the definition to read. A change to one
// must be made to the other. Read next: core/nn/attention.h, which adds the projections.
#pragma once

#include "headlab/core/kernels/attention_options.h"
#include "headlab/core/tensor/tensor.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// Rotary positions (Su et al. 2021): rotates the pairs (2i, 2i + 1) of every head of x [B, T, H*D]
/// by the angle t base^(-2i/D) at position t. `rotary_table` is [2, L, D]; row (b, t) is
/// rotated by row first + t of the table. The product of a rotated query and a rotated key depends
/// on their distance alone. dx = dy rotated back. Error if there are more positions than the table
/// has.
Tensor rotary(const Tensor& x, const Tensor& rotary_table, Index first = 0);
/// Computes `rotary` as a composition of simpler ops: the definition.
Tensor rotary_composed(const Tensor& x, const Tensor& rotary_table, Index first);
/// Returns the table [2, length, D] for D even: cosines, each twice, and sines as -sin, sin.
Tensor rotary_table(Index length, Index d_head, double base);

/// Computes attention of q [B, T, H*D] over k [B, S, G*D] and v [B, S, G*Dv], with G blocks of K
/// and V; returns z [B, T, H*Dv]. A query that sees no key has output 0 and no gradient. If
/// `pattern` is not null, it receives the weights before dropout, [B, H, T, S], off the tape.
/// Errors: shapes that do not fit the heads or one another, masks of the wrong size, causal with S
/// != T.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, AttentionOptions options,
                 Tensor* pattern = nullptr);
/// Computes `attention` as a composition of simpler ops: softmax(attention_scores), then
/// weighted_values. It stores [B, H, T, S] in memory.
Tensor attention_composed(const Tensor& q, const Tensor& k, const Tensor& v,
                          AttentionOptions options, Tensor* pattern = nullptr);

/// Computes the scores [B, H, T, S], the part of attention before an attention function: q k^T /
/// sqrt(D) - slope |distance|, and -inf for keys that the query does not see. Errors: as for
/// `attention`.
Tensor attention_scores(const Tensor& q, const Tensor& k, const AttentionOptions& options);
/// Computes the outputs of the heads [B, T, H*Dv], the part of attention after an attention
/// function: weights [B, H, T, S], after dropout, times v [B, S, G*Dv]. If `pattern` is not null,
/// it receives the weights before dropout, off the tape.
Tensor weighted_values(const Tensor& weights, const Tensor& v, const AttentionOptions& options,
                       Tensor* pattern = nullptr);

}}  // namespace headlab
