// The state of one forward pass through one stack of a transformer, shared by all of its blocks.
// Private to this folder. Read next: block.cc, which runs the sublayers of a block, and
// transformer.cc, which runs the blocks.
#pragma once

#include <string>

#include "headlab/core/model/transformer.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

struct ModelPass {
  const ModelHooks& hooks;
  Scalar p;  // of dropout
  const Stack* stack = nullptr;
  ModelCache* cache = nullptr;  // of the stack that writes the logits
  ForwardContext context{};
  AttentionMask mask{};         // of self-attention
  AttentionMask source_mask{};  // of cross-attention
  Tensor memory{};              // [B, S, C], the output of the encoder

  AttentionHooks hooks_of(std::size_t attention_layer) const {
    AttentionHooks one = hooks.of(attention_layer);
    one.cache = cache != nullptr ? &cache->attention[attention_layer] : nullptr;
    return one;
  }
  /// Returns the stream with which a hook replaces the computed one, or null.
  const Tensor* given(std::size_t stream) const {
    const bool is_given = stream < hooks.residual.size() && hooks.residual[stream].defined();
    return is_given ? &hooks.residual[stream] : nullptr;
  }
  /// Records and returns x, which a part of the stack adds to the stream.
  const Tensor& written(Sublayer::Kind kind, const Tensor& x, Index block = -1) const {
    if (hooks.activations != nullptr) {
      hooks.activations->written.push_back({{stack->name, block, kind}, x});
    }
    return x;
  }
};

}}  // namespace headlab
