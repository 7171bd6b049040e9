// Fused attention, forward. For each block of queries all scores are kept, [keys][kQueries] in L2:
// one pass finds the maximum, a second takes exp, sums and multiplies with V. There is no
// rescaling, so the result of a row depends neither on the length of the sequence nor on its
// division. Memory is S numbers per lane and thread. Bound: T S (D + Dv) multiply-adds, half of
// them with causal order, and an exp for each score, which costs as much as 8 multiply-adds: for
// narrow heads most of the time is exp. Read next: attention_backward.cc.
#include "core/kernels/attention.h"

#include <cmath>

#include "core/kernels/attention_tiles.h"
#include "core/kernels/vector_math.h"
#include "headlab/core/base/threads.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

namespace {

/// Buffers of a task for one block of queries.
struct Buffers {
  Scratch<Scalar> memory;
  Scalar* queries;  // [D][kQueries]
  Scalar* weights;  // [keys][kQueries]: scores, then exp(score - maximum)
  Scalar* dropped;  // [kKeys][kQueries]
  Scalar* z;        // [Dv][kQueries]

  explicit Buffers(const AttentionProblem& p)
      : memory((p.d_head + p.keys + kKeys + p.d_value) * kQueries) {
    queries = memory.data();
    weights = queries + p.d_head * kQueries;
    dropped = weights + p.keys * kQueries;
    z = dropped + kKeys * kQueries;
  }
};

template <class Body>
void for_key_tiles(const QueryBlock& block, Body body) {
  for (Index s = block.keys_from; s < block.keys_to; s += kKeys) {
    body(s, std::min(kKeys, block.keys_to - s));
  }
}

/// Computes all scores, and their maximum over the keys for each lane.
void find_scores(const QueryBlock& block, const Buffers& buffers, Scalar* largest) {
  Vec most[2] = {broadcast(kHidden), broadcast(kHidden)};
  for_key_tiles(block, [&](Index s, Index keys) {
    Scalar* tile = buffers.weights + (s - block.keys_from) * kQueries;
    score_tile(block, buffers.queries, s, keys, tile);
    for (Index i = 0; i < keys * kQueries; i += kQueries) {
      for (Index half = 0; half < block.lanes() / kLanes; ++half) {
        most[half] = max(most[half], load(tile + i + half * kLanes));
      }
    }
  });
  store(largest, most[0]);
  store(largest + kLanes, most[1]);
}

/// Computes weights = exp(scores - largest), their sums, and z = sum over keys of (dropped) weights
/// V, not yet divided.
void weigh_values(const QueryBlock& block, const Buffers& buffers, const Scalar* largest,
                  Scalar* sums) {
  const auto finite = [](Vec m) { return select(m == kHidden, Vec{}, m); };
  const Vec shift[2] = {finite(load(largest)), finite(load(largest + kLanes))};
  Vec sum[2] = {};
  const BlockDropout dropout(block);
  for_key_tiles(block, [&](Index s, Index keys) {
    Scalar* tile = buffers.weights + (s - block.keys_from) * kQueries;
    for (Index i = 0; i < keys * kQueries; i += kQueries) {
      for (Index half = 0; half < block.lanes() / kLanes; ++half) {
        const Vec weight = exp_bounded(load(tile + i + half * kLanes) - shift[half]);
        store(tile + i + half * kLanes, weight);
        sum[half] += weight;
      }
    }
    if (block.p.options.dropout > 0) dropout.apply(s, keys, tile, buffers.dropped);
    const Scalar* kept = block.p.options.dropout > 0 ? buffers.dropped : tile;
    const PanelA v = {block.v(s), block.p.v_stride, Layout::kColumnMajor};
    multiply_panel({.m = block.p.d_value,
                    .columns = block.lanes(),
                    .k = keys,
                    .a = v,
                    .b = {kept, kQueries},
                    .c = {buffers.z, kQueries},
                    .accumulate = s > block.keys_from});
  });
  store(sums, sum[0]);
  store(sums + kLanes, sum[1]);
}

/// Scales x[i][lane] *= factors[lane] for i < rows.
void scale_lanes(Index rows, const Scalar* factors, Scalar* x) {
  const Vec factor[2] = {load(factors), load(factors + kLanes)};
  for (Index i = 0; i < rows; ++i, x += kQueries) {
    store(x, load(x) * factor[0]);
    store(x + kLanes, load(x + kLanes) * factor[1]);
  }
}

void write_pattern(const QueryBlock& block, const Buffers& buffers, const Scalar* inverse,
                   Scalar* pattern) {
  const Index seen = block.keys_to - block.keys_from;
  Scalar* rows = pattern + block.row() * block.p.keys;
  std::fill_n(rows, block.count * block.p.keys, Scalar{0});
  scale_lanes(seen, inverse, buffers.weights);
  transpose_copy(seen, block.count, {buffers.weights, kQueries},
                 {rows + block.keys_from, block.p.keys});
}

/// Returns whether the masks leave the query of this lane at least one key.
bool sees_a_key(const QueryBlock& block, Index lane) {
  const AttentionOptions& options = block.p.options;
  const std::uint8_t* hidden = nullptr;
  if (!options.masked_edges.empty()) {
    hidden = options.masked_edges.data() + (block.row() + lane) * block.p.keys;
  }
  for (Index s = block.keys_from; s < block.keys_to; ++s) {
    const bool masked = hidden != nullptr && hidden[s] != 0;
    if (!masked && options.mask.sees(block.b, block.t + lane, s)) return true;
  }
  return false;
}

/// Handles queries without any finite score. If such a query sees no key, its result is zeros. If
/// it sees keys, its scores are below the range of Scalar, and its result is NaN, which every check
/// of a loss reports.
void mark_overflow(const QueryBlock& block, const Scalar* largest, Scalar* inverse) {
  for (Index lane = 0; lane < block.count; ++lane) {
    if (largest[lane] == kHidden && sees_a_key(block, lane)) {
      inverse[lane] = std::numeric_limits<Scalar>::quiet_NaN();
    }
  }
}

void attend(const QueryBlock& block, const Buffers& buffers, const AttentionOutput& out) {
  const AttentionProblem& p = block.p;
  Scalar largest[kQueries];
  Scalar sums[kQueries];
  Scalar inverse[kQueries];
  pack_lanes(block, block.q(), p.d_head, p.scale, buffers.queries);
  find_scores(block, buffers, largest);
  weigh_values(block, buffers, largest, sums);
  map(
      kQueries, [](Vec sum) { return select(sum == 0, Vec{}, 1 / sum); }, inverse, sums);
  mark_overflow(block, largest, inverse);
  map(
      block.count, [](Vec most, Vec sum) { return most + log_of_sum(sum); },
      out.log_sum_exp + block.row(), largest, sums);
  if (block.keys_from == block.keys_to) std::fill_n(buffers.z, p.d_value * kQueries, Scalar{0});
  scale_lanes(p.d_value, inverse, buffers.z);
  Scalar* z = out.z + (block.b * p.queries + block.t) * out.z_stride + block.h * p.d_value;
  transpose_copy(p.d_value, block.count, {buffers.z, kQueries}, {z, out.z_stride});
  if (out.pattern) write_pattern(block, buffers, inverse, out.pattern);
}

}  // namespace

bool suits_lanes(const AttentionProblem& p) {
  if (!p.options.masked_edges.empty() || p.kv_heads != p.options.heads) return false;
  for (Index h = 0; h < p.options.heads; ++h) {
    if (p.block_of(h) != h) return false;
  }
  if (p.batch * p.options.heads < kLanes || lane_groups(p) < thread_count()) return false;
  const Index width = std::max(p.d_head, p.d_value), length = std::max(p.queries, p.keys);
  if (length > 128 || width > 64) return false;
  return p.options.mask.causal ? length <= 48 || width <= 16 : length <= 24 || width <= 8;
}

void attention_forward(const AttentionProblem& p, const AttentionOutput& out) {
  suits_lanes(p) ? attention_forward_in_lanes(p, out) : attention_forward_by_queries(p, out);
}

void attention_forward_by_queries(const AttentionProblem& p, const AttentionOutput& out) {
  const Index blocks = (p.queries + kQueries - 1) / kQueries;
  const Index heads = p.options.heads, sequences = p.batch * heads;
  // A task takes all heads of a sequence if there are enough sequences: neighbouring heads write
  // next to each other, and two threads there would pass cache lines back and forth. If there are
  // fewer than four heads per thread, a head is shared by several tasks. Each takes every cuts-th
  // block of queries: under a causal mask later blocks see more keys and take longer, so every task
  // gets as many late ones as early ones.
  const Index together = heads_per_task(p.batch, heads);
  const Index cuts = sequences < 4 * thread_count() ? std::min<Index>(blocks, thread_count()) : 1;
  parallel_for(sequences / together * cuts, work_of(p), [&](Index task) {
    const Index first = task / cuts * together;
    const Buffers buffers(p);
    for (Index sequence = first; sequence < first + together; ++sequence) {
      for (Index block = task % cuts; block < blocks; block += cuts) {
        attend(QueryBlock(p, sequence / heads, sequence % heads, block * kQueries), buffers, out);
      }
    }
  });
}

}}  // namespace headlab
