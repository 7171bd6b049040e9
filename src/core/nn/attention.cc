// Multi-head attention: projections, the attention function between them (a row of the table in
// attention_functions.cc), interventions on head outputs, and the removal of heads, which gives the
// same function with smaller matrices. Start reading at MultiHeadAttention::head_outputs.
// Read next: attention_functions.cc.
#include "headlab/core/nn/attention.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "headlab/core/base/error.h"
#include "headlab/core/ops/ops.h"
#include "headlab/core/tensor/tape.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

/// Returns gate z + (1 - gate) replacement, with z [B, T, H*Dv].
Tensor edited(const Tensor& z, Index heads, const HeadInterventions& interventions) {
  const Tensor& g = interventions.gate;
  if (!g.defined()) {
    return z;
  }
  const Index B = z.size(0);
  const Index T = z.size(1);
  const Index Dv = z.size(2) / heads;
  const bool per_head = g.shape() == Shape{heads};
  const bool per_example = g.shape() == Shape{B, heads};
  require(per_head || per_example || g.shape() == Shape{B, T, heads},
          "cannot gate heads: the gate must be [", heads, "], [", B, ", ", heads, "] or [", B, ", ",
          T, ", ", heads, "], got ", g.shape());
  const Index gates_b = per_head ? 1 : B;
  const Index gates_t = per_head || per_example ? 1 : T;
  const Tensor gate = reshape(g, {gates_b, gates_t, heads, 1});
  Tensor out = reshape(z, {B, T, heads, Dv}) * gate;
  if (interventions.replacement.defined()) {
    out = out + (1 - gate) * interventions.replacement;
  }
  return reshape(out, z.shape());
}

/// Returns a parameter with these blocks of `width` along an axis of another, in their order.
Tensor take(const Tensor& from, int axis, const std::vector<Index>& blocks, Index width) {
  const NoGrad no_grad;
  std::vector<Tensor> parts = {slice(from, axis, 0, 0)};
  for (const Index block : blocks) {
    parts.push_back(slice(from, axis, block * width, (block + 1) * width));
  }
  return concat(parts, axis).set_requires_grad();
}

/// Copies position t of `from` [B, T, width] to a row of `to` [B, rows, width].
void copy_position(const Tensor& from, Index t, const Tensor& to, Index row) {
  const Index width = from.size(2);
  for (Index b = 0; b < from.size(0); ++b) {
    const Scalar* source = from.data() + (b * from.size(1) + t) * width;
    std::copy_n(source, width, to.data() + (b * to.size(1) + row) * width);
  }
}

void take_blocks(Linear& linear, const std::vector<Index>& blocks, Index width) {
  linear.W = take(linear.W, 1, blocks, width);
  if (linear.b.defined()) {
    linear.b = take(linear.b, 0, blocks, width);
  }
}

}  // namespace

Index AttentionActivations::slot_of(std::int32_t head) const {
  const auto slot = std::ranges::find(heads, head);
  require(slot != heads.end(), "cannot read the cache: head ", head, " is not among the ",
          heads.size(), " heads that were captured");
  return slot - heads.begin();
}

std::span<const Scalar> AttentionActivations::pattern_of(Index slot, Index b) const {
  require(pattern.defined(), "cannot read the cache: no pattern was captured");
  const Index B = pattern.size(0);
  const Index H = pattern.size(1);
  const Index T = pattern.size(2);
  const Index S = pattern.size(3);
  require(0 <= slot && slot < H && 0 <= b && b < B,
          "cannot read the cache: there is no head at index ", slot, " for sequence ", b,
          " in patterns ", pattern.shape());
  return {pattern.data() + (b * H + slot) * T * S, static_cast<std::size_t>(T * S)};
}

Tensor AttentionActivations::output_of(Index slot) const {
  require(z.defined(), "cannot read the cache: no head output was captured");
  const Index width = z.size(2) / std::ssize(heads);  // Dv
  return slice(z, 2, slot * width, (slot + 1) * width);
}

Tensor AttentionActivations::average_pattern() const { return mean(pattern, 1); }

void AttentionActivations::fill(AttentionActivations computed) {
  computed.wants_pattern = wants_pattern;
  *this = std::move(computed);
}

void AttentionActivations::clear() { fill({}); }

SeenKeysAndValues KeyValueCache::append_self(const Tensor& keys, const Tensor& values,
                                             const AttentionMask& mask) {
  const bool is_first = !k.defined();
  const Index B = keys.size(0);
  const Index T = keys.size(1);
  require(is_first || T == 1, "cannot extend a cache: expected one position, got ", T);
  if (is_first) {
    // Initialised with zeros, because composed attention multiplies unused rows by a weight of 0.
    k = Tensor::zeros({B, capacity, keys.size(2)});
    v = Tensor::zeros({B, capacity, values.size(2)});
    positions.assign(static_cast<std::size_t>(capacity), 0);
  }
  for (Index t = std::max<Index>(0, T - capacity); t < T; ++t) {
    const Index position = length + t;
    const Index row = position % capacity;
    copy_position(keys, t, k, row);
    copy_position(values, t, v, row);
    positions[row] = static_cast<std::int32_t>(position);
  }
  length += T;
  if (is_first) return {keys, values, mask, {}};  // the queries see the keys of this call
  const auto filled = static_cast<std::int32_t>(std::min(length, capacity));
  return {k, v, {.lengths = Ids(static_cast<std::size_t>(B), filled)}, positions};
}

SeenKeysAndValues KeyValueCache::keep_source(const Tensor& keys, const Tensor& values,
                                             const AttentionMask& mask) {
  if (!k.defined()) {
    k = keys;
    v = values;
    length = keys.defined() ? keys.size(1) : 0;
  }
  return {k, v, mask, {}};
}

MultiHeadAttention::MultiHeadAttention(const AttentionSizes& sizes, Scalar dropout_of_weights)
    : d_head(sizes.d_head), d_value(sizes.d_value), dropout(dropout_of_weights) {
  const Index groups = sizes.kv_heads;
  require(sizes.heads >= 0 && d_head >= 1 && d_value >= 1, "cannot build attention: ", sizes.heads,
          " heads of width ", d_head, " and ", d_value);
  require(sizes.heads == 0 || (groups >= 1 && sizes.heads % groups == 0),
          "cannot build attention: ", sizes.heads, " heads do not divide into ", groups, " groups");
  heads.resize(sizes.heads);
  std::iota(heads.begin(), heads.end(), 0);
  kv_blocks.resize(sizes.heads == 0 ? 0 : groups);
  std::iota(kv_blocks.begin(), kv_blocks.end(), 0);
  for (Index h = 0; h < sizes.heads; ++h) {
    kv_head.push_back(static_cast<std::int32_t>(h / (sizes.heads / groups)));
  }
  const auto blocks = static_cast<Index>(kv_blocks.size());
  Q = Linear(sizes.d_model, sizes.heads * d_head, sizes.biases);
  K = Linear(sizes.d_model, blocks * d_head, sizes.biases);
  V = Linear(sizes.d_model, blocks * d_value, sizes.biases);
  O = Linear(sizes.heads * d_value, sizes.d_model, sizes.biases);
}

SeenKeysAndValues MultiHeadAttention::keys_and_values(const Tensor& x_kv, Index first_position,
                                                      const AttentionMask& mask,
                                                      KeyValueCache* cache) const {
  Tensor k;
  Tensor v;
  if (x_kv.defined()) {
    k = K.forward(x_kv);  // [B, S, G*D]
    v = V.forward(x_kv);  // [B, S, G*Dv]
  }
  if (rotary_table.defined()) {
    k = rotary(k, rotary_table, first_position);
  }
  if (cache == nullptr) {
    return {k, v, mask, {}};
  }
  return cache->is_of_source() ? cache->keep_source(k, v, mask) : cache->append_self(k, v, mask);
}

AttentionOptions MultiHeadAttention::options(const ForwardContext& context,
                                             const AttentionHooks& hooks) const {
  AttentionOptions options;
  options.heads = head_count();
  options.kv_head = kv_head;
  if (hooks.interventions) {
    options.masked_edges = hooks.interventions->masked_edges;
  }
  options.dropout = context.training ? dropout : 0;
  options.key = context.key;
  options.original_heads = Ids(heads.begin(), heads.end());
  if (!slopes.empty()) {
    options.slopes = mapped(heads, [&](std::int32_t head) { return slopes[head]; });
  }
  return options;
}

/// Returns z [B, T, H*Dv] before interventions.
Tensor MultiHeadAttention::head_outputs(const Tensor& x_q, const Tensor& x_kv,
                                        const AttentionMask& mask, const ForwardContext& context,
                                        const AttentionHooks& hooks) const {
  const Index first_position = hooks.cache ? hooks.cache->length : 0;  // of the first query
  Tensor q = Q.forward(x_q);                                           // [B, T, H*D]
  if (rotary_table.defined()) {
    q = rotary(q, rotary_table, first_position);
  }
  SeenKeysAndValues seen = keys_and_values(x_kv, first_position, mask, hooks.cache);
  if (context.frozen) {  // no gradient flows through the pattern
    q = q.detach();
    seen.k = seen.k.detach();
  }
  AttentionOptions call = options(context, hooks);
  call.mask = std::move(seen.mask);
  call.first_query = first_position;
  call.key_positions = std::move(seen.positions);
  AttentionActivations* activations = hooks.activations;
  Tensor pattern;  // [B, H, T, S], if requested
  Tensor* wanted = activations != nullptr && activations->wants_pattern ? &pattern : nullptr;
  const AttentionFunctionEntry::Compute attend = form_of(function);
  const Tensor z = attend(q, seen.k, seen.v, std::move(call), wanted);  // [B, T, H*Dv]
  if (activations != nullptr) {
    activations->fill(
        {.heads = heads, .q = q, .k = seen.k, .v = seen.v, .z = z, .pattern = pattern});
  }
  return z;
}

Tensor MultiHeadAttention::forward(const Tensor& x_q, const Tensor& x_kv, const AttentionMask& mask,
                                   const ForwardContext& context,
                                   const AttentionHooks& hooks) const {
  if (heads.empty()) {
    if (hooks.activations) {
      hooks.activations->clear();
    }
    const Tensor nothing = Tensor::zeros(x_q.shape());
    return O.b.defined() ? nothing + O.b : nothing;
  }
  Tensor z = hooks.z.defined() ? hooks.z : head_outputs(x_q, x_kv, mask, context, hooks);
  if (hooks.interventions) {
    z = edited(z, head_count(), *hooks.interventions);
  }
  return O.forward(z);  // [B, T, C]
}

MultiHeadAttention MultiHeadAttention::with_heads(const std::vector<std::int32_t>& kept) const {
  for (std::int32_t head : kept) {
    require(std::ranges::count(kept, head) == 1, "cannot keep heads: head ", head,
            " is named twice");
    require(std::ranges::count(heads, head) == 1, "cannot keep heads: head ", head,
            " is not among the ", heads.size(), " heads that are there");
  }
  MultiHeadAttention smaller = *this;
  smaller.heads.clear();
  smaller.kv_blocks.clear();
  smaller.kv_head.clear();
  std::vector<Index> positions;  // of the remaining heads
  std::vector<Index> blocks;     // of the remaining blocks of K and V
  for (Index i = 0; i < head_count(); ++i) {
    if (std::ranges::count(kept, heads[i]) == 0) {
      continue;
    }
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
  if (O.b.defined()) {
    smaller.O.b = O.b.clone().set_requires_grad();
  }
  return smaller;
}

void MultiHeadAttention::visit(const std::string& prefix, const ParameterVisitor& f) const {
  if (!heads.empty()) {
    Q.visit(prefix, "_Q", f);
    K.visit(prefix, "_K", f);
    V.visit(prefix, "_V", f);
    f(prefix + "W_O", O.W);
  }
  if (O.b.defined()) {
    f(prefix + "b_O", O.b);
  }
}

}}  // namespace headlab
