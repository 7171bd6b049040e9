// Fused attention, backward. The weights are recomputed from Q, K and the log-sum-exp of each
// query: five products instead of the two of the forward pass, but no T S numbers of memory. One
// task processes a K, V block of one sequence with all query heads that read it, in order, so that
// a single thread adds to its dK and dV, in one order. The tiles written by the first two products
// (weights and their slopes) are the operands of the other three. Bound: multiply-adds, then exp
// (attention.cc).
#include "core/kernels/attention.h"
#include "core/kernels/attention_tiles.h"
#include "core/kernels/vector_math.h"
#include "headlab/core/base/threads.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

namespace {

Index padded(Index width) { return (width + kLanes - 1) / kLanes * kLanes; }

/// Scratch memory of one task. "Rows" are [queries][padded width], "lanes" are [width][kQueries].
struct Buffers {
  Scratch<Scalar> memory;
  Scalar *q_lanes, *q_rows, *dz_lanes, *dz_rows, *z_lanes, *dq_lanes;
  Scalar *weights, *dropped, *slopes;  // tiles: P, P through dropout, dP and then dS

  explicit Buffers(const AttentionProblem& p)
      : memory(3 * (padded(p.d_head) + padded(p.d_value) + kKeys) * kQueries) {
    const Index d = padded(p.d_head), d_value = padded(p.d_value);
    Scalar* next = memory.data();
    const auto take = [&next](Index count) { return std::exchange(next, next + count); };
    for (Scalar** buffer : {&q_lanes, &q_rows, &dq_lanes}) *buffer = take(d * kQueries);
    for (Scalar** buffer : {&dz_lanes, &dz_rows, &z_lanes}) *buffer = take(d_value * kQueries);
    for (Scalar** buffer : {&weights, &dropped, &slopes}) *buffer = take(kKeys * kQueries);
  }
};

/// Packs rows[lane][j] = factor * x(lane, j), with zeros up to the padded width.
void pack_rows(const QueryBlock& block, const ConstRows& x, Index width, Scalar factor,
               Scalar* rows) {
  if (padded(width) > width) std::fill_n(rows, block.count * padded(width), Scalar{0});
  for (Index lane = 0; lane < block.count; ++lane) {
    const auto scaled = [factor](Vec v) { return v * factor; };
    map(width, scaled, rows + lane * padded(width), x.data + lane * x.stride);
  }
}

/// Numbers per lane that the tiles of a query block need.
struct Lanes {
  Vec log_sum_exp[2];  // +inf if there is no query or it sees no key: its weights become 0
  Vec delta[2];        // sum over keys of P dP, which is also z . dz
};

Lanes prepare(const QueryBlock& block, const AttentionBackward& g, const Buffers& buffers) {
  const AttentionProblem& p = block.p;
  const Index z_at = (block.b * p.queries + block.t) * g.z_stride + block.h * p.d_value;
  const ConstRows dz{g.dz + z_at, g.z_stride};
  pack_lanes(block, block.q(), p.d_head, p.scale, buffers.q_lanes);
  pack_rows(block, block.q(), p.d_head, p.scale, buffers.q_rows);
  pack_lanes(block, dz, p.d_value, 1, buffers.dz_lanes);
  pack_rows(block, dz, p.d_value, 1, buffers.dz_rows);
  pack_lanes(block, {g.z + z_at, g.z_stride}, p.d_value, 1, buffers.z_lanes);
  Lanes lanes{};
  for (Index i = 0; i < p.d_value * kQueries; i += kQueries) {
    for (Index half = 0; half < 2; ++half) {
      const Index at = i + half * kLanes;
      lanes.delta[half] += load(buffers.z_lanes + at) * load(buffers.dz_lanes + at);
    }
  }
  Scalar log_sum_exp[kQueries];
  std::fill_n(log_sum_exp, kQueries, -kHidden);
  for (Index lane = 0; lane < block.count; ++lane) {
    const Scalar value = g.log_sum_exp[block.row() + lane];
    if (value != kHidden) log_sum_exp[lane] = value;
  }
  for (Index half = 0; half < 2; ++half) {
    lanes.log_sum_exp[half] = load(log_sum_exp + half * kLanes);
  }
  return lanes;
}

/// Computes weights = P = exp(scores - log_sum_exp); slopes = dP = V dZ^T.
void find_weights(const QueryBlock& block, const Lanes& lanes, const Buffers& buffers, Index s,
                  Index keys) {
  score_tile(block, buffers.q_lanes, s, keys, buffers.weights);
  multiply_panel({.m = keys,
                  .columns = block.lanes(),
                  .k = block.p.d_value,
                  .a = {block.v(s), block.p.v_stride},
                  .b = {buffers.dz_lanes, kQueries},
                  .c = {buffers.slopes, kQueries}});
  for (Index i = 0; i < keys * kQueries; i += kQueries) {
    for (Index half = 0; half < block.lanes() / kLanes; ++half) {
      Scalar* weight = buffers.weights + i + half * kLanes;
      store(weight, exp_bounded(load(weight) - lanes.log_sum_exp[half]));
    }
  }
}

/// Computes slopes = dS = P (dP - delta).
void find_slopes(const QueryBlock& block, const Lanes& lanes, const Buffers& buffers, Index keys) {
  for (Index i = 0; i < keys * kQueries; i += kQueries) {
    for (Index half = 0; half < block.lanes() / kLanes; ++half) {
      const Index at = i + half * kLanes;
      Scalar* slope = buffers.slopes + at;
      store(slope, load(buffers.weights + at) * (load(slope) - lanes.delta[half]));
    }
  }
}

/// One gradient of keys [s, s + keys): out += tile rows, dV from P and dZ, dK from dS and Q.
struct KeyGradient {
  const Scalar *tile, *rows;
  Scalar* out;
  Index width, stride;
};
void add_over_queries(const QueryBlock& block, Index keys, const KeyGradient& g) {
  for (Index column = 0; column < g.width; column += kTileColumns) {
    multiply_panel({.m = keys,
                    .columns = std::min(kTileColumns, g.width - column),
                    .k = block.count,
                    .a = {g.tile, kQueries},
                    .b = {g.rows + column, padded(g.width)},
                    .c = {g.out + column, g.stride},
                    .accumulate = true});
  }
}

/// Adds dQ^T (+)= K^T dS.
void add_over_keys(const QueryBlock& block, const Buffers& buffers, Index s, Index keys) {
  const PanelA k = {block.k(s), block.p.k_stride, Layout::kColumnMajor};
  multiply_panel({.m = block.p.d_head,
                  .columns = block.lanes(),
                  .k = keys,
                  .a = k,
                  .b = {buffers.slopes, kQueries},
                  .c = {buffers.dq_lanes, kQueries},
                  .accumulate = s > block.keys_from});
}

void write_dq(const QueryBlock& block, const AttentionBackward& g, const Buffers& buffers) {
  const AttentionProblem& p = block.p;
  Scalar* dq = g.dq.data + (block.q().data - p.q);
  const auto scaled = [factor = p.scale](Vec v) { return v * factor; };
  const Index count = block.keys_from == block.keys_to ? 0 : p.d_head * kQueries;
  std::fill(buffers.dq_lanes + count, buffers.dq_lanes + p.d_head * kQueries, Scalar{0});
  map(count, scaled, buffers.dq_lanes, buffers.dq_lanes);
  if (!g.dq.accumulate) {
    transpose_copy(p.d_head, block.count, {buffers.dq_lanes, kQueries}, {dq, p.q_stride});
    return;
  }
  const Index stride = padded(p.d_head);
  // The rows of Q are no longer needed: their buffer, of the same shape, receives the rows of dQ.
  transpose_copy(p.d_head, block.count, {buffers.dq_lanes, kQueries}, {buffers.q_rows, stride});
  for (Index i = 0; i < block.count; ++i) {
    const auto add = [](Vec a, Vec b) { return a + b; };
    map(p.d_head, add, dq + i * p.q_stride, dq + i * p.q_stride, buffers.q_rows + i * stride);
  }
}

void differentiate(const QueryBlock& block, const AttentionBackward& g, const Buffers& buffers) {
  const AttentionProblem& p = block.p;
  const Lanes lanes = prepare(block, g, buffers);
  const BlockDropout dropout(block);
  const Scalar* dropped = p.options.dropout > 0 ? buffers.dropped : buffers.weights;
  for (Index s = block.keys_from; s < block.keys_to; s += kKeys) {
    const Index keys = std::min(kKeys, block.keys_to - s);
    find_weights(block, lanes, buffers, s, keys);
    if (p.options.dropout > 0) {
      dropout.apply(s, keys, buffers.weights, buffers.dropped, buffers.slopes);
    }
    if (g.dv) {
      Scalar* dv = g.dv.data + (block.v(s) - p.v);
      add_over_queries(block, keys, {dropped, buffers.dz_rows, dv, p.d_value, p.v_stride});
    }
    find_slopes(block, lanes, buffers, keys);
    if (g.dk) {
      Scalar* dk = g.dk.data + (block.k(s) - p.k);
      add_over_queries(block, keys, {buffers.slopes, buffers.q_rows, dk, p.d_head, p.k_stride});
    }
    if (g.dq) add_over_keys(block, buffers, s, keys);
  }
  if (g.dq) write_dq(block, g, buffers);
}

void clear_rows(Scalar* x, Index rows, Index width, Index stride) {
  for (Index i = 0; i < rows; ++i) std::fill_n(x + i * stride, width, Scalar{0});
}

/// Computes all gradients in which K, V block kv of sequence b takes part.
void differentiate_keys(const AttentionProblem& p, const AttentionBackward& g, Index b, Index kv) {
  const Buffers buffers(p);
  if (g.dk && !g.dk.accumulate) {
    clear_rows(g.dk.data + b * p.keys * p.k_stride + kv * p.d_head, p.keys, p.d_head, p.k_stride);
  }
  if (g.dv && !g.dv.accumulate) {
    clear_rows(g.dv.data + b * p.keys * p.v_stride + kv * p.d_value, p.keys, p.d_value, p.v_stride);
  }
  for (Index h = 0; h < p.options.heads; ++h) {
    if (p.block_of(h) != kv) continue;
    for (Index t = 0; t < p.queries; t += kQueries) {
      differentiate(QueryBlock(p, b, h, t), g, buffers);
    }
  }
}

}  // namespace

void attention_backward(const AttentionProblem& p, const AttentionBackward& g) {
  suits_lanes(p) ? attention_backward_in_lanes(p, g) : attention_backward_by_queries(p, g);
}

void attention_backward_by_queries(const AttentionProblem& p, const AttentionBackward& g) {
  const Index together = heads_per_task(p.batch, p.kv_heads);
  parallel_for(p.batch * p.kv_heads / together, work_of(p), [&](Index task) {
    for (Index i = task * together; i < (task + 1) * together; ++i) {
      differentiate_keys(p, g, i / p.kv_heads, i % p.kv_heads);
    }
  });
}

}}  // namespace headlab
