// Multi-head attention, the central layer of the project. Its heads can be recorded (activation
// cache), changed during a call (gates, replacements, masked edges) and removed permanently
// (`with_heads`). Letters: B batch, T queries, S keys, C width, H heads, G blocks of K and V, D and
// Dv widths of a head. Read next: core/ops/attention.h (the op), core/model/transformer.h (its
// use).
#pragma once

#include <span>
#include <vector>

#include "headlab/core/nn/attention_functions.h"
#include "headlab/core/nn/layers.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// Interventions on the heads of one call: head output z becomes gate z + (1 - gate) replacement,
/// before W_O.
struct HeadInterventions {
  Tensor gate{};         // [H], [B, H] or [B, T, H]; differentiable; undefined: 1
  Tensor replacement{};  // broadcasts to [B, T, H, Dv]; undefined: 0
  /// Masked edges (attention knockout) [B, H, T, S]: 1 if a weight is forced to 0; empty: none. If
  /// the attention function normalises rows, the remaining weights of the row grow; otherwise they
  /// do not change.
  Flags masked_edges{};
};

/// Activation cache of one call, with the heads next to each other in the last axis. The tensors
/// are off the tape unless gradients are recorded.
struct AttentionActivations {
  bool wants_pattern = true;          // whether to fill `pattern`, which takes T x S numbers per
                                      // head and sequence
  std::vector<std::int32_t> heads{};  // [H]: the original indices of the heads
  Tensor q{};                         // [B, T, H*D], rotated
  Tensor k{};                         // [B, S, G*D], rotated
  Tensor v{};                         // [B, S, G*Dv]
  Tensor z{};                         // [B, T, H*Dv], before interventions
  Tensor pattern{};                   // [B, H, T, S], before dropout

  /// Moves the tensors of another cache here; keeps `wants_pattern`.
  void fill(AttentionActivations computed);
  void clear();

  /// Returns the index in this layer of the head with this original index. Error if that head has
  /// been removed.
  Index slot_of(std::int32_t head) const;
  /// Returns the pattern of the head at an index for sequence b, [T, S]: row t holds its weights on
  /// the keys. The result refers to the numbers of this cache. Error if there is no such head or
  /// sequence, or no pattern.
  std::span<const Scalar> pattern_of(Index slot, Index b = 0) const;
  /// Returns the output z of the head at an index, [B, T, Dv].
  Tensor output_of(Index slot) const;
  /// Returns the pattern averaged over heads, [B, T, S]. Error if there is no pattern.
  Tensor average_pattern() const;
};

/// Keys and values that the queries of one call see.
struct SeenKeysAndValues {
  Tensor k, v;  // [B, S, G*D], [B, S, G*Dv]
  AttentionMask mask;
  Ids positions{};  // [S]: position of each key; empty: 0, 1, ...
};

/// Keys and values of one attention layer that generation keeps between calls, so that each token
/// is processed once. A cache of self-attention keeps the last `room` positions, with position s in
/// row s % room. A cache of cross-attention keeps the source's keys, which only the first call
/// computes. Off the tape.
struct KeyValueCache {
  Index capacity = 0;  // 0: a cache of cross-attention
  Index length = 0;    // number of positions processed so far
  Tensor k{};          // [B, room, G*D], rotated; undefined before the first call
  Tensor v{};          // [B, room, G*Dv]
  Ids positions{};     // [room]: the position that each row holds

  bool is_of_source() const { return capacity == 0; }
  /// Adds the keys [B, T, G*D] and values of one call and returns those that its queries see. Error
  /// if a call after the first has more than one position.
  SeenKeysAndValues append_self(const Tensor& keys, const Tensor& values,
                                const AttentionMask& mask);
  /// Keeps the keys and values of the first call and returns them in every call; later calls may
  /// pass undefined tensors.
  SeenKeysAndValues keep_source(const Tensor& keys, const Tensor& values,
                                const AttentionMask& mask);
};

struct AttentionHooks {
  const HeadInterventions* interventions = nullptr;
  AttentionActivations* activations = nullptr;  // filled if not null
  /// Head outputs [B, T, H*Dv] before interventions, from a pass with the same input. If defined,
  /// Q, K, V and patterns are neither computed nor recorded.
  Tensor z{};
  /// Keys and values of the calls before this one; the first query of this call is position
  /// cache->length. If the cache holds the keys of a source, x_kv may be undefined.
  KeyValueCache* cache = nullptr;
};

struct AttentionSizes {
  Index d_model;
  Index heads;
  Index d_head;
  Index d_value;
  Index kv_heads;  // blocks of K and V, a divisor of heads: heads (usual), fewer (GQA), 1 (MQA)
  bool biases = true;
};

/// z_h = f((x_q W_Q,h + b_Q,h)(x_kv W_K,h + b_K,h)^T / sqrt(D) + mask) (x_kv W_V,h + b_V,h),
/// y = sum over h of z_h W_O,h + b_O (Vaswani et al. 2017, where f is softmax); without `biases`, b
/// is omitted. f is a row of attention_functions(). With rotary positions queries and keys are
/// rotated first; with alibi positions scores fall with distance. W_Q [C, H*D], W_K [C, G*D], W_V
/// [C, G*Dv], W_O [H*Dv, C]. A head has an index among the remaining heads and an original index:
/// after head 1 of three was removed, `heads` is {0, 2}. Usually each head reads its own block of K
/// and V (G = H, kv_head {0, 1}); with fewer blocks several heads read one.
struct MultiHeadAttention {
  Linear Q, K, V, O;
  Index d_head = 0, d_value = 0;
  Scalar dropout = 0;
  AttentionFunction function = AttentionFunction::softmax;
  Tensor rotary_table{};                // [2, length, D], see core/ops/attention.h; undefined: none
  std::vector<Scalar> slopes{};         // by original index; see AttentionOptions; empty: none
  std::vector<std::int32_t> heads;      // the original index of each head
  std::vector<std::int32_t> kv_blocks;  // likewise for the blocks of K and V
  Ids kv_head;                          // [H]: index in kv_blocks of the block that each head reads

  MultiHeadAttention() = default;
  /// Creates parameters of these sizes. Error with a message if the sizes do not fit.
  explicit MultiHeadAttention(const AttentionSizes& sizes, Scalar dropout_of_weights = 0);

  /// Computes attention of x_q [B, T, C] over x_kv [B, S, C] (the same tensor for self-attention);
  /// returns [B, T, C]. Without heads the result is b_O.
  Tensor forward(const Tensor& x_q, const Tensor& x_kv, const AttentionMask& mask,
                 const ForwardContext& context = {}, const AttentionHooks& hooks = {}) const;

  Index head_count() const { return static_cast<Index>(heads.size()); }
  /// Returns a copy with only these heads, given by original index in any order. The matrices are
  /// smaller; the function is the same as with the other gates at 0. A K, V block is removed with
  /// the last head that reads it. Error if a head does not exist or is named twice.
  MultiHeadAttention with_heads(const std::vector<std::int32_t>& kept) const;

  void visit(const std::string& prefix, const ParameterVisitor& f) const;

 private:
  SeenKeysAndValues keys_and_values(const Tensor& x_kv, Index first_position,
                                    const AttentionMask& mask, KeyValueCache* cache) const;
  AttentionOptions options(const ForwardContext& context, const AttentionHooks& hooks) const;
  Tensor head_outputs(const Tensor& x_q, const Tensor& x_kv, const AttentionMask& mask,
                      const ForwardContext& context, const AttentionHooks& hooks) const;
};

}}  // namespace headlab
