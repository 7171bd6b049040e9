// Multi-head attention, the heart of the project: heads that can be watched (captures), edited
// (gates, replacements, hidden edges) and removed for good (`with_heads`). Letters: B batch, T
// queries, S keys, C width, H heads, D and Dv widths of a head. Read next: ops/attention.h (what is
// computed), model/transformer.h (where it is used).
#pragma once

#include <span>
#include <vector>

#include "headlab/nn/attention_functions.h"
#include "headlab/nn/layers.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// Changes to what heads do in one call: head output z becomes gate z + (1 - gate) replacement,
/// before W_O.
struct HeadEdits {
  Tensor gate{};         // [H], [B, H] or [B, T, H]; differentiable; undefined: 1
  Tensor replacement{};  // broadcasts to [B, T, H, Dv]; undefined: 0
  /// [B, H, T, S]: 1 where a weight is forced to 0; empty: none. A function that normalises gives
  /// the rest of the row larger weights; others leave the rest as it is.
  Flags hidden_edges{};
};

/// What one call computed: heads side by side in the last axis. Off the tape unless gradients are
/// recorded.
struct AttentionCaptures {
  bool wants_pattern = true;          // whether to fill in `pattern`, which takes memory of T x S
  std::vector<std::int32_t> heads{};  // [H]: the original indices of the heads
  Tensor q{};                         // [B, T, H*D], rotated
  Tensor k{};                         // [B, S, G*D], rotated
  Tensor v{};                         // [B, S, G*Dv]
  Tensor z{};                         // [B, T, H*Dv], before edits
  Tensor pattern{};                   // [B, H, T, S], before dropout

  /// Takes over the tensors of another, except `wants_pattern`.
  void fill(AttentionCaptures computed);
  /// Drops all tensors.
  void clear();

  /// Where in the module the head stands that was born with this number: places count the heads
  /// that are left. Error if it is not among them.
  Index place_of(std::int32_t head) const;
  /// The pattern of the head at a place for sequence b, [T, S]: row t holds its weights on the
  /// keys. The numbers are the capture's own. Error if there is no such head or sequence, or no
  /// pattern.
  std::span<const Scalar> pattern_of(Index place, Index b = 0) const;
  /// The output z of the head at a place, [B, T, Dv].
  Tensor output_of(Index place) const;
  /// The pattern averaged over heads, [B, T, S]. Error if there is no pattern.
  Tensor average_pattern() const;
};

/// The keys and values that the queries of one call see.
struct SeenKeysAndValues {
  Tensor k, v;  // [B, S, G*D], [B, S, G*Dv]
  AttentionMask mask;
  Ids positions{};  // [S]: position of each key; empty: 0, 1, ...
};

/// The keys and values of one attention layer that generation keeps from call to call, so that each
/// token is read once. A cache of self-attention keeps the last `room` positions, position s in row
/// s % room. A cache of cross-attention keeps the source's keys, which only the first call
/// computes. Off the tape.
struct KeyValueCache {
  Index room = 0;    // 0: a cache of cross-attention
  Index length = 0;  // positions that were read
  Tensor k{};        // [B, room, G*D], rotated; undefined before the first call
  Tensor v{};        // [B, room, G*Dv]
  Ids positions{};   // [room]: the position that each row holds

  bool is_of_source() const { return room == 0; }
  /// Adds the keys [B, T, G*D] and values of one call and returns what its queries see. Error for
  /// more than one position in any call after the first.
  SeenKeysAndValues append_self(const Tensor& keys, const Tensor& values,
                                const AttentionMask& mask);
  /// Keeps the keys and values of the first call and returns them in every call; later calls may
  /// pass undefined tensors.
  SeenKeysAndValues keep_source(const Tensor& keys, const Tensor& values,
                                const AttentionMask& mask);
};

/// Optional companions of one call.
struct AttentionHooks {
  const HeadEdits* edits = nullptr;
  AttentionCaptures* captures = nullptr;  // is filled in
  /// [B, T, H*Dv], what the heads put out before edits, from a pass that had the same input: then
  /// Q, K, V and patterns are not computed, and not captured. Undefined: computed here.
  Tensor z{};
  /// What the calls before this one left, of whose first query is position cache->length. If it
  /// holds the keys of a source, x_kv may be undefined.
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
/// y = sum over h of z_h W_O,h + b_O (Vaswani et al. 2017, where f is softmax); without `biases`,
/// no b. f is a row of attention_functions(). With rotary positions queries and keys are rotated
/// first; with alibi positions scores fall with distance. W_Q [C, H*D], W_K [C, G*D], W_V [C,
/// G*Dv], W_O [H*Dv, C]. A head has a place, which counts the heads that are left, and an original
/// index: without head 1 of three, `heads` is {0, 2}. Usually each head reads its own block of K
/// and V (G = H, kv_head {0, 1}); with fewer blocks several heads read one.
struct MultiHeadAttention {
  Linear Q, K, V, O;
  Index d_head = 0, d_value = 0;
  Scalar dropout = 0;
  AttentionFunction function = AttentionFunction::softmax;
  Tensor turning{};                     // [2, length, D], see ops/attention.h; undefined: none
  std::vector<Scalar> slopes{};         // by original index; see AttentionOptions; empty: none
  std::vector<std::int32_t> heads;      // the original index of each head
  std::vector<std::int32_t> kv_blocks;  // likewise for the blocks of K and V
  Ids kv_head;                          // [H]: position in kv_blocks of what a head reads

  MultiHeadAttention() = default;
  /// Error in words for sizes that do not fit.
  explicit MultiHeadAttention(const AttentionSizes& sizes, Scalar dropout_of_weights = 0);

  /// x_q [B, T, C], x_kv [B, S, C] (the same tensor for self-attention); returns [B, T, C]. Without
  /// heads there is b_O alone.
  Tensor forward(const Tensor& x_q, const Tensor& x_kv, const AttentionMask& mask,
                 const ForwardContext& context = {}, const AttentionHooks& hooks = {}) const;

  Index head_count() const { return static_cast<Index>(heads.size()); }
  /// A copy with only these heads (numbers they were born with, in any order): smaller matrices,
  /// the same function as with the other gates at 0. A K, V block goes when its last head goes.
  /// Error for a head that is not there, or is named twice.
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
