// Projections around the attention op, edits of what heads put out, and the removal of heads: the
// same function with smaller matrices, which tests prove for every mask of small models. Read next:
// src/core/ops/attention.cc.
#include "headlab/nn/attention.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "headlab/base/error.h"
#include "headlab/ops/ops.h"
#include "headlab/tensor/tape.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

/// gate z + (1 - gate) replacement, with z [B, T, H*Dv].
Tensor edited(const Tensor& z, Index heads, const HeadEdits& edits) {
  if (!edits.gate.defined()) return z;
  const Index B = z.size(0), T = z.size(1), Dv = z.size(2) / heads;
  const Tensor& g = edits.gate;
  const bool per_head = g.shape() == Shape{heads}, per_example = g.shape() == Shape{B, heads};
  require(per_head || per_example || g.shape() == Shape{B, T, heads},
          "head edits: the gate must be [", heads, "], [", B, ", ", heads, "] or [", B, ", ", T,
          ", ", heads, "], got ", g.shape());
  const Tensor gate = reshape(g, {per_head ? 1 : B, per_head || per_example ? 1 : T, heads, 1});
  Tensor out = reshape(z, {B, T, heads, Dv}) * gate;
  if (edits.replacement.defined()) out = out + (1 - gate) * edits.replacement;
  return reshape(out, z.shape());
}

/// The parameter that holds these blocks of `width` along an axis of another, in their order.
Tensor take(const Tensor& from, int axis, const std::vector<Index>& blocks, Index width) {
  const NoGrad no_grad;
  std::vector<Tensor> parts = {slice(from, axis, 0, 0)};
  for (Index block : blocks) parts.push_back(slice(from, axis, block * width, (block + 1) * width));
  return concat(parts, axis).set_requires_grad();
}

void take_blocks(Linear& linear, const std::vector<Index>& blocks, Index width) {
  linear.W = take(linear.W, 1, blocks, width);
  if (linear.b.defined()) linear.b = take(linear.b, 0, blocks, width);
}

}  // namespace

Index AttentionCaptures::place_of(std::int32_t head) const {
  const auto place = std::ranges::find(heads, head);
  require(place != heads.end(), "head ", head, " is not among the ", heads.size(),
          " heads that were captured");
  return place - heads.begin();
}

std::span<const Scalar> AttentionCaptures::pattern_of(Index place, Index b) const {
  require(pattern.defined(), "no pattern was captured");
  const Index B = pattern.size(0), H = pattern.size(1), T = pattern.size(2), S = pattern.size(3);
  require(0 <= place && place < H && 0 <= b && b < B, "there is no head at place ", place,
          " for sequence ", b, " in patterns ", pattern.shape());
  return {pattern.data() + (b * H + place) * T * S, static_cast<std::size_t>(T * S)};
}

Tensor AttentionCaptures::output_of(Index place) const {
  require(z.defined(), "no head output was captured");
  const Index width = z.size(2) / std::ssize(heads);  // Dv
  return slice(z, 2, place * width, (place + 1) * width);
}

Tensor AttentionCaptures::average_pattern() const { return mean(pattern, 1); }

void KeyValueCache::extend(Tensor& keys, Tensor& values, AttentionMask& mask) {
  const bool begins = !k.defined(), of_source = room == 0;
  const Index T = keys.defined() ? keys.size(1) : 0;
  if (of_source && begins) k = keys, v = values, length = T;
  if (!of_source) {
    require(begins || T == 1, "a cache is extended by one position, got ", T);
    const auto keep = [&](Tensor& kept, const Tensor& added) {  // [B, room, ...], [B, T, ...]
      const Index B = added.size(0), width = added.size(2);
      if (begins) kept = Tensor::empty({B, room, width});
      for (Index b = 0; b < B; ++b)
        for (Index t = std::max<Index>(0, T - room); t < T; ++t)
          std::copy_n(added.data() + (b * T + t) * width, width,
                      kept.data() + (b * room + (length + t) % room) * width);
    };
    keep(k, keys), keep(v, values);
    length += T;
  }
  if (begins) return;  // queries see what came with them
  if (!of_source)
    mask = {.lengths = Ids(keys.size(0), static_cast<std::int32_t>(std::min(length, room)))};
  keys = k, values = v;
}

MultiHeadAttention::MultiHeadAttention(const AttentionSizes& sizes, Scalar dropout_of_weights)
    : d_head(sizes.d_head), d_value(sizes.d_value), dropout(dropout_of_weights) {
  const Index groups = sizes.kv_heads;
  require(sizes.heads >= 0 && d_head >= 1 && d_value >= 1, "attention: ", sizes.heads,
          " heads of width ", d_head, " and ", d_value, " cannot be built");
  require(sizes.heads == 0 || (groups >= 1 && sizes.heads % groups == 0),
          "attention: ", sizes.heads, " heads do not divide into ", groups, " groups");
  heads.resize(sizes.heads);
  std::iota(heads.begin(), heads.end(), 0);
  kv_blocks.resize(sizes.heads == 0 ? 0 : groups);
  std::iota(kv_blocks.begin(), kv_blocks.end(), 0);
  for (Index h = 0; h < sizes.heads; ++h)
    kv_head.push_back(static_cast<std::int32_t>(h / (sizes.heads / groups)));
  const auto blocks = static_cast<Index>(kv_blocks.size());
  Q = Linear(sizes.d_model, sizes.heads * d_head, sizes.biases);
  K = Linear(sizes.d_model, blocks * d_head, sizes.biases);
  V = Linear(sizes.d_model, blocks * d_value, sizes.biases);
  O = Linear(sizes.heads * d_value, sizes.d_model, sizes.biases);
}

/// z [B, T, H*Dv] before edits.
Tensor MultiHeadAttention::head_outputs(const Tensor& x_q, const Tensor& x_kv,
                                        const AttentionMask& mask, const ForwardContext& context,
                                        const AttentionHooks& hooks) const {
  const Index first = hooks.cache ? hooks.cache->length : 0;     // position of the first query
  Tensor q = Q.forward(x_q), k, v;                               // [B, T, H*D]
  if (x_kv.defined()) k = K.forward(x_kv), v = V.forward(x_kv);  // [B, S, G*D], [B, S, G*Dv]
  if (turning.defined()) q = rotary(q, turning, first), k = rotary(k, turning, first);
  AttentionMask seen = mask;
  if (hooks.cache) hooks.cache->extend(k, v, seen);
  if (context.frozen) q = q.detach(), k = k.detach();  // nothing flows through the pattern
  Tensor pattern;                                      // [B, H, T, S], if it is asked for
  Tensor z = attention(q, k, v,                        // [B, T, H*Dv]
                       {.heads = head_count(),
                        .kv_head = kv_head,
                        .mask = std::move(seen),
                        .hidden_edges = hooks.edits ? hooks.edits->hidden_edges : Flags{},
                        .dropout = context.training ? dropout : 0,
                        .key = context.key,
                        .born_heads = Ids(heads.begin(), heads.end())},
                       hooks.captures && hooks.captures->wants_pattern ? &pattern : nullptr);
  if (AttentionCaptures* all = hooks.captures)
    *all = {all->wants_pattern, heads, q, k, v, z, pattern};
  return z;
}

Tensor MultiHeadAttention::forward(const Tensor& x_q, const Tensor& x_kv, const AttentionMask& mask,
                                   const ForwardContext& context,
                                   const AttentionHooks& hooks) const {
  if (heads.empty()) {
    if (AttentionCaptures* none = hooks.captures)
      *none = {none->wants_pattern, {}, {}, {}, {}, {}, {}};
    const Tensor nothing = Tensor::zeros(x_q.shape());
    return O.b.defined() ? nothing + O.b : nothing;
  }
  Tensor z = hooks.z.defined() ? hooks.z : head_outputs(x_q, x_kv, mask, context, hooks);
  if (hooks.edits) z = edited(z, head_count(), *hooks.edits);
  return O.forward(z);  // [B, T, C]
}

MultiHeadAttention MultiHeadAttention::with_heads(const std::vector<std::int32_t>& kept) const {
  for (std::int32_t head : kept) {
    require(std::ranges::count(kept, head) == 1, "head ", head, " is named twice");
    require(std::ranges::count(heads, head) == 1, "head ", head,
            " cannot be kept: it is not among the ", heads.size(), " heads that are there");
  }
  MultiHeadAttention smaller = *this;
  smaller.heads.clear(), smaller.kv_blocks.clear(), smaller.kv_head.clear();
  std::vector<Index> positions, blocks;  // what stays, of the heads and of the blocks of K and V
  for (Index i = 0; i < head_count(); ++i) {
    if (std::ranges::count(kept, heads[i]) == 0) continue;
    if (blocks.empty() || blocks.back() != kv_head[i]) {
      blocks.push_back(kv_head[i]);
      smaller.kv_blocks.push_back(kv_blocks[kv_head[i]]);
    }
    positions.push_back(i);
    smaller.heads.push_back(heads[i]);
    smaller.kv_head.push_back(static_cast<std::int32_t>(blocks.size()) - 1);
  }
  take_blocks(smaller.Q, positions, d_head);
  take_blocks(smaller.K, blocks, d_head);
  take_blocks(smaller.V, blocks, d_value);
  smaller.O.W = take(O.W, 0, positions, d_value);
  if (O.b.defined()) smaller.O.b = O.b.clone().set_requires_grad();
  return smaller;
}

void MultiHeadAttention::visit(const std::string& prefix, const ParameterVisitor& f) const {
  if (!heads.empty()) {
    Q.visit(prefix, "_Q", f);
    K.visit(prefix, "_K", f);
    V.visit(prefix, "_V", f);
    f(prefix + "W_O", O.W);
  }
  if (O.b.defined()) f(prefix + "b_O", O.b);
}

}}  // namespace headlab
