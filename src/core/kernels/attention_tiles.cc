// Tiles of attention scores with masks (attention_tiles.h). Masks cost time only where they apply:
// tiles that are masked completely are never computed; in others a key that every query of the
// block may see costs one comparison, and tables are read only if there are any. Read next:
// attention.cc.
#include "core/kernels/attention_tiles.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

QueryBlock::QueryBlock(const AttentionProblem& problem, Index sequence, Index head, Index first)
    : p(problem),
      b(sequence),
      h(head),
      kv(problem.block_of(head)),
      t(first),
      count(std::min(kQueries, problem.queries - first)),
      keys_from(0),
      keys_to(problem.keys) {
  const AttentionMask& mask = p.options.mask;
  if (mask.causal) keys_to = std::min(keys_to, t + count);
  if (!mask.lengths.empty()) keys_to = std::clamp<Index>(mask.lengths[b], 0, keys_to);
  if (mask.window > 0) {
    keys_to = std::min(keys_to, t + count - 1 + std::min(mask.window, p.keys));
    keys_from = std::max<Index>(0, t - mask.window + 1) / kKeys * kKeys;
  }
  keys_to = std::max(keys_to, keys_from);
}

void pack_lanes(const QueryBlock& block, const ConstRows& x, Index width, Scalar factor,
                Scalar* panel) {
  if (block.count < kQueries) std::fill_n(panel, width * kQueries, Scalar{0});
  transpose_copy(block.count, width, x, {panel, kQueries});
  if (factor == 1) return;
  map(
      width * kQueries, [factor](Vec v) { return v * factor; }, panel, panel);
}

namespace {

/// Subtracts slope |distance of query and key| from each score.
void subtract_distances(const QueryBlock& block, Index s, Index keys, Scalar* tile) {
  const AttentionOptions& options = block.p.options;
  const Vec slope = broadcast(options.slopes[block.h]);
  const Index first_query = options.first_query + block.t;
  for (Index i = 0; i < keys; ++i) {
    const Index key = options.key_positions.empty() ? s + i : options.key_positions[s + i];
    for (Index first = 0; first < kQueries; first += kLanes) {
      Scalar* scores = tile + i * kQueries + first;
      const auto from_key = static_cast<Scalar>(first_query + first - key);
      const Vec distance = absolute(from_key + lane_values());
      store(scores, load(scores) - slope * distance);
    }
  }
}

/// Applies causal order and window, which leave a key visible to lanes [from, to) of its row.
void hide_by_position(const QueryBlock& block, Index s, Index keys, Scalar* tile) {
  const auto& [causal, most, lengths] = block.p.options.mask;
  const Index everything = block.p.queries + block.p.keys;
  const Index window = most > 0 ? std::min(most, everything) : everything;
  const IntVec lane = lane_numbers();
  for (Index i = 0; i < keys; ++i) {
    const Index place = s + i - block.t;  // from the first query on
    const Index from = causal ? place : place - window + 1, to = place + window;
    if (from <= 0 && to >= kQueries) continue;
    for (Index first = 0; first < kQueries; first += kLanes) {
      Scalar* scores = tile + i * kQueries + first;
      const IntVec inside =
          (lane >= static_cast<Int>(from - first)) & (lane < static_cast<Int>(to - first));
      store(scores, select(inside, load(scores), broadcast(kHidden)));
    }
  }
}

void hide_by_table(const QueryBlock& block, Index s, Index keys, Scalar* tile) {
  for (Index lane = 0; lane < block.count; ++lane) {
    const std::uint8_t* hidden =
        block.p.options.masked_edges.data() + (block.row() + lane) * block.p.keys + s;
    for (Index i = 0; i < keys; ++i) {
      if (hidden[i]) tile[i * kQueries + lane] = kHidden;
    }
  }
}

}  // namespace

void score_tile(const QueryBlock& block, const Scalar* scaled_queries, Index s, Index keys,
                Scalar* tile) {
  multiply_panel({.m = keys,
                  .columns = block.lanes(),
                  .k = block.p.d_head,
                  .a = {block.k(s), block.p.k_stride},
                  .b = {scaled_queries, kQueries},
                  .c = {tile, kQueries}});
  const AttentionOptions& options = block.p.options;
  if (!options.slopes.empty()) subtract_distances(block, s, keys, tile);
  if (options.mask.causal || options.mask.window > 0) hide_by_position(block, s, keys, tile);
  if (!options.masked_edges.empty()) hide_by_table(block, s, keys, tile);
}

DropoutRow dropout_row(std::uint64_t key, Index b, Index original_head, Index t) {
  const auto head = static_cast<std::uint64_t>(b) << 32 | static_cast<std::uint64_t>(original_head);
  return {key, t, head};
}

bool attention_keeps(const WeightPlace& weight, std::uint64_t key, Scalar dropout) {
  const DropoutRow row = dropout_row(key, weight.b, weight.original_head, weight.t);
  const auto s = static_cast<std::uint32_t>(weight.s);
  return DropoutFactor(dropout)(dropout_bits(row.first, row.second, s)) != 0;
}

BlockDropout::BlockDropout(const QueryBlock& block) : factor(block.p.options.dropout) {
  const AttentionOptions& options = block.p.options;
  if (options.dropout == 0) return;
  const Index original = options.original_heads.empty() ? block.h : options.original_heads[block.h];
  for (Index lane = 0; lane < block.count; ++lane) {
    const DropoutRow row = dropout_row(options.key.value, block.b, original, block.t + lane);
    first[lane] = row.first;
    second[lane] = row.second;
  }
}

void BlockDropout::apply(Index s, Index keys, const Scalar* tile, Scalar* out, Scalar* also) const {
  for (Index half = 0; half < kQueries; half += kLanes) {
    const BitsVec first_words = load_bits(first.data() + half);
    const BitsVec second_words = load_bits(second.data() + half);
    for (Index i = 0; i < keys; ++i) {
      const BitsVec place = static_cast<std::uint32_t>(s + i) - BitsVec{};
      const Vec factors = factor(dropout_bits(first_words, second_words, place));
      const Index at = i * kQueries + half;
      store(out + at, load(tile + at) * factors);
      if (also) store(also + at, load(also + at) * factors);
    }
  }
}

}}  // namespace headlab
