// The inputs of attention with keys and values repeated for each head, so that one head can be
// patched although several share a block of keys and values. Private to heads.
// Read next: node_values.cc.
#pragma once

#include "headlab/lab/heads/scores/activations.h"

namespace headlab {

/// q [B, T, H*D], k [B, S, H*D] and v [B, S, H*Dv] of one attention layer.
struct HeadInputs {
  Tensor q, k, v;
};
HeadInputs head_inputs(const MultiHeadAttention& attention,
                       const AttentionActivations& activations);
/// Returns z [B, T, H*Dv] of these inputs, as the layer computes it; `pattern`, if not null,
/// receives the weights.
Tensor attend(const AttentionLayer& attention_layer, const HeadInputs& inputs, const Batch& batch,
              Tensor* pattern = nullptr);
/// Returns z [B, T, H*Dv] of given weights [B, H, T, S].
Tensor attend_with(const AttentionLayer& attention_layer, const Tensor& pattern, const Tensor& v);

/// Returns the index of the stream after the block that a feed-forward network is in.
std::size_t stream_after(const Transformer& model, const Sublayer& mlp);
/// Returns what a sublayer wrote in a recorded pass.
Tensor written_by(const ActivationCache& activations, const Sublayer& part);
/// Returns that stream if the feed-forward network had written `y` [B, T, C] instead.
Tensor stream_with(const Transformer& model, const ActivationCache& activations,
                   const Sublayer& mlp, const Tensor& y);

}  // namespace headlab
