// Attention as one differentiable op: z = softmax(q k^T / sqrt(D) + mask) v, for all heads, in two
// versions that compute the same: the fused kernel (kernels/attention.h) and one composed of
// matmul, mask, softmax and matmul, which is the one to read. Read next: nn/attention.h, which adds
// the projections.
#pragma once

#include "headlab/kernels/attention_options.h"
#include "headlab/tensor/tensor.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// Rotary positions (Su et al. 2021): the pairs (2i, 2i + 1) of every head of x [B, T, H*D] turned
/// by the angle t base^(-2i/D) at position t. `turning` [2, L, D] is rotary_table; row b, t takes
/// its place first + t. The product of a query and a key turned so depends on their distance alone.
/// dx = dy turned back. Error for more positions than the table has.
Tensor rotary(const Tensor& x, const Tensor& turning, Index first = 0);
/// The same, composed of simpler ops: the definition.
Tensor rotary_composed(const Tensor& x, const Tensor& turning, Index first);
/// [2, length, D] for D even: cosines, each twice, and sines as -sin, sin.
Tensor rotary_table(Index length, Index d_head, double base);

/// q [B, T, H*D], k [B, S, G*D], v [B, S, G*Dv] with G blocks of K and V; returns z [B, T, H*Dv]. A
/// query that sees no key gives 0 and has no gradient. Unless it is null, `pattern` receives the
/// weights before dropout, [B, H, T, S], off the tape. Errors: shapes that do not fit heads or one
/// another, masks of the wrong size, causal with S != T, slopes (composed attention alone
/// has them).
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, AttentionOptions options,
                 Tensor* pattern = nullptr);
/// The same, composed of simpler ops: the definition. Holds [B, H, T, S] in memory.
/// softmax(attention_scores) weighs the values.
Tensor attention_composed(const Tensor& q, const Tensor& k, const Tensor& v,
                          AttentionOptions options, Tensor* pattern = nullptr);

/// The two halves that any attention function is put between. The scores, [B, H, T, S]: q k^T /
/// sqrt(D) - slope |distance|, and -inf for keys that the query does not see. Errors: those of
/// `attention`.
Tensor attention_scores(const Tensor& q, const Tensor& k, const AttentionOptions& options);
/// The outputs of the heads, [B, T, H*Dv]: weights [B, H, T, S], after dropout, times v [B, S,
/// G*Dv]. Unless it is null, `pattern` receives the weights before dropout, off the tape.
Tensor weighted_values(const Tensor& weights, const Tensor& v, const AttentionOptions& options,
                       Tensor* pattern = nullptr);

}}  // namespace headlab
