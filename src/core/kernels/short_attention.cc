// Attention of many short sequences. With queries in lanes (attention.cc) a head of 16 queries and
// width 8 leaves half of the lanes empty, and copies take most of the time. Here kLanes problems,
// pairs (sequence, head), lie side by side in the lanes, and scores, softmax and weighted values
// are loops over query t, key s and column j:
//   lane            0               1               ...  kLanes - 1
//   q[t][j]        [q(t, j) of 0,   q(t, j) of 1,   ...  q(t, j) of the last problem]
//   weights[t][s]  [P(t, s) of 0,   P(t, s) of 1,   ...  P(t, s) of the last problem]
// All five products are tiles of registers (multiply): rows have a multiple of 4 columns, and
// matrices a multiple of 4 rows. Keys hidden by causal order or the window are skipped; lengths
// differ between lanes and set scores to -inf. Sums have the order of attention.cc (columns, then
// keys; dK and dV by blocks of kQueries queries), and hidden keys add zeros, so all bits agree.
#include <utility>

#include "core/kernels/attention_tiles.h"
#include "core/kernels/lane_rows.h"
#include "core/kernels/vector_math.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

/// Queries [t, t + count), count <= kRows, and the keys [begin, end) that any of them sees in any
/// lane; begin is rounded down to a multiple of 4.
struct QueryTile {
  Index t, count, begin, end;
};

/// Problems [number * kLanes, (number + 1) * kLanes) of [B, H]. Lanes beyond the last problem
/// repeat it.
struct Group {
  const AttentionProblem& p;
  Index live;                                // lanes with a problem of their own
  std::array<Index, kLanes> sequence, head;  // of each lane
  IntVec lengths;                            // keys of each lane
  Index longest = 0;                         // of lengths
  Index window;                              // at most T + S
  Index d, dv, keys;                         // D, Dv and S, padded

  Group(const AttentionProblem& problem, Index number);

  /// Returns columns [h * width, (h + 1) * width) of x [B, rows, stride], h being a lane's head.
  template <class T>
  LaneRows<T> lanes(T* x, Index rows, Index stride, Index width) const {
    LaneRows<T> result{{}, width, stride, live};
    for (Index i = 0; i < kLanes; ++i) {
      result.first[i] = x + sequence[i] * rows * stride + head[i] * width;
    }
    return result;
  }

  /// Returns the [T, S] of each lane's problem in x [B, H, T, S].
  LaneRows<Scalar> pattern_lanes(Scalar* x) const {
    const Index T = p.queries, S = p.keys;
    LaneRows<Scalar> result = lanes(x, p.options.heads * T, S, T * S);
    result.width = S;
    return result;
  }

  /// Query t sees keys [from(t), to(t)) in some lane.
  Index to(Index t) const { return std::min(longest, p.options.mask.causal ? t + 1 : t + window); }
  Index from(Index t) const { return std::clamp<Index>(t - window + 1, 0, to(t)); }
  QueryTile tile(Index t) const {
    const Index count = std::min<Index>(kRows, p.queries - t);
    return {t, count, from(t) / 4 * 4, to(t + count - 1)};
  }
};

Group::Group(const AttentionProblem& problem, Index number)
    : p(problem),
      live(std::min(kLanes, p.batch * p.options.heads - number * kLanes)),
      lengths(broadcast_int(static_cast<Int>(p.keys))),
      window(p.queries + p.keys),
      d(padded_to_four(p.d_head)),
      dv(padded_to_four(p.d_value)),
      keys(padded_to_four(p.keys)) {
  const AttentionMask& mask = p.options.mask;
  if (mask.window > 0) window = std::min(window, mask.window);
  Index b = number * kLanes / p.options.heads, h = number * kLanes % p.options.heads;
  for (Index lane = 0; lane < kLanes; ++lane) {
    sequence[lane] = b;
    head[lane] = h;
    if (!mask.lengths.empty()) {
      lengths[lane] = std::clamp<Int>(mask.lengths[b], 0, static_cast<Int>(p.keys));
    }
    longest = std::max<Index>(longest, lengths[lane]);
    if (lane + 1 >= live) continue;
    h = (h + 1) % p.options.heads;
    b += h == 0;
  }
}

/// Packs the rows of K or V. A row beyond the keys of its lane becomes zeros: its weight is 0, but
/// 0 times an infinity would be NaN.
void pack_keys(const Group& group, const LaneRows<const Scalar>& x, Vec* out) {
  pack_rows(x, group.p.keys, 1, out);
  if (group.p.options.mask.lengths.empty()) return;
  const Index step = padded_to_four(x.width);
  for (Index s = 0; s < group.p.keys; ++s) {
    const IntVec seen = group.lengths > broadcast_int(static_cast<Int>(s));
    for (Index j = 0; j < step; ++j) out[s * step + j] = select(seen, out[s * step + j], Vec{});
  }
}

/// Subtracts slope |distance of query and key| from the scores of a tile.
void subtract_distances(const Group& group, const QueryTile& tile, Vec* scores) {
  const AttentionOptions& options = group.p.options;
  Vec slope{};
  for (Index lane = 0; lane < kLanes; ++lane) slope[lane] = options.slopes[group.head[lane]];
  for (Index i = 0; i < tile.count; ++i) {
    const Index position = options.first_query + tile.t + i;
    Vec* row = scores + i * group.keys;
    for (Index s = tile.begin; s < tile.end; ++s) {
      const Index key = options.key_positions.empty() ? s : options.key_positions[s];
      const Vec distance = broadcast(static_cast<Scalar>(std::abs(position - key)));
      row[s] = row[s] - slope * distance;
    }
  }
}

/// Computes scores[i][s] = q(t + i) . k(s), less the cost of the distance, for the keys of the
/// tile; kHidden if s is beyond the keys of the lane. Causal order and the window are not applied.
void find_scores(const Group& group, const QueryTile& tile, const Vec* q, const Vec* k,
                 Vec* scores) {
  const Index d = group.d, keys = group.keys;
  for (Index s = tile.begin; s < tile.end; s += kColumns) {
    multiply(group.p.d_head, {q + tile.t * d, d, 1}, {k + s * d, d, 1},
             [&](auto i, auto j, Vec sum) { scores[i * keys + s + j] = sum; });
  }
  if (!group.p.options.slopes.empty()) subtract_distances(group, tile, scores);
  if (group.p.options.mask.lengths.empty()) return;
  for (Index s = tile.begin; s < tile.end; ++s) {
    const IntVec seen = group.lengths > broadcast_int(static_cast<Int>(s));
    for (Index i = 0; i < tile.count; ++i) {
      Vec& score = scores[i * keys + s];
      score = select(seen, score, broadcast(kHidden));
    }
  }
}

/// Sets row[s] = 0 for the keys of the tile, rounded up to a multiple of 4, that query t does not
/// see in any lane.
void clear_hidden(const Group& group, const QueryTile& tile, Index t, Vec* row) {
  std::fill(row + tile.begin, row + group.from(t), Vec{});
  std::fill(row + group.to(t), row + padded_to_four(tile.end), Vec{});
}

/// Matrices of a group, in lanes; the forward pass uses the first line of each kind.
struct Buffers {
  Scratch<Vec> memory;
  Vec *q, *k, *v;            // [T][D], [S][D], [S][Dv]
  Vec *dz, *dk, *dv;         // [T][Dv]; [S][D], [S][Dv]: the sums so far
  Vec *weights, *slopes;     // P and dS of a block of queries, [kQueries][S]
  Vec* pattern;              // [S] of a query
  Vec *z, *dq;               // [kRows][Dv], [kRows][D] of a tile
  Vec *log_sum_exp, *delta;  // [T]; delta: sum over keys of P dP, which is also z . dz

  explicit Buffers(const Group& group) : memory(size(group)) {
    const Index queries = padded_to_four(group.p.queries);
    const Index block = std::min(queries, kQueries) * group.keys;
    Vec* next = memory.data();
    const auto take = [&next](Index count) { return std::exchange(next, next + count); };
    q = take(queries * group.d);
    dz = take(queries * group.dv);
    for (Vec** matrix : {&k, &dk}) *matrix = take(group.keys * group.d);
    for (Vec** matrix : {&v, &dv}) *matrix = take(group.keys * group.dv);
    for (Vec** tile : {&weights, &slopes}) *tile = take(block);
    pattern = take(group.keys);
    z = take(kRows * group.dv);
    dq = take(kRows * group.d);
    for (Vec** numbers : {&log_sum_exp, &delta}) *numbers = take(queries);
  }
  static Index size(const Group& group) {
    const Index queries = padded_to_four(group.p.queries), widths = group.d + group.dv;
    const Index block = std::min(queries, kQueries);
    return queries * (widths + 2) + group.keys * (2 * widths + 2 * block + 1) + kRows * widths;
  }
};

/// Multiplies each weight of a tile by its factor of dropout.
void apply_dropout(const Group& group, const QueryTile& tile, Vec* weights) {
  const AttentionOptions& options = group.p.options;
  const DropoutFactor factor(options.dropout);
  for (Index i = 0; i < tile.count; ++i) {
    BitsVec first{}, second{};
    for (Index lane = 0; lane < kLanes; ++lane) {
      const Index h = group.head[lane];
      const Index original = options.original_heads.empty() ? h : options.original_heads[h];
      const DropoutRow row =
          dropout_row(options.key.value, group.sequence[lane], original, tile.t + i);
      first[lane] = row.first;
      second[lane] = row.second;
    }
    Vec* row = weights + i * group.keys;
    for (Index s = tile.begin; s < tile.end; ++s) {
      const BitsVec place = static_cast<std::uint32_t>(s) - BitsVec{};
      row[s] *= factor(dropout_bits(first, second, place));
    }
  }
}

// ---- forward

/// Replaces the scores of query t by weights exp(score - maximum) and returns the inverse of their
/// sum: 0 for a lane whose query sees no key, NaN if it sees keys whose scores are all -inf.
Vec find_weights(const Group& group, Index t, Vec* row, Vec& log_sum_exp) {
  const Index from = group.from(t), to = group.to(t);
  Vec most = broadcast(kHidden);
  for (Index s = from; s < to; ++s) most = max(most, row[s]);
  const Vec shift = select(most == kHidden, Vec{}, most);
  Vec sum{};
  for (Index s = from; s < to; ++s) {
    row[s] = exp_bounded(row[s] - shift);
    sum += row[s];
  }
  log_sum_exp = most + log_of_sum(sum);
  const Vec inverse = select(sum == 0, Vec{}, 1 / sum);
  if (from == to) return inverse;
  const IntVec sees_a_key = group.lengths > broadcast_int(static_cast<Int>(from));
  const Vec nan = broadcast(std::numeric_limits<Scalar>::quiet_NaN());
  return select(sees_a_key & (most == kHidden), nan, inverse);
}

/// Computes pattern[s] = the weight of key s for query t, for all keys.
void find_pattern(const Group& group, Index t, const Vec* row, Vec inverse, Vec* pattern) {
  std::fill_n(pattern, group.keys, Vec{});
  for (Index s = group.from(t); s < group.to(t); ++s) pattern[s] = row[s] * inverse;
}

/// Computes z of a tile, and the pattern and log-sum-exp of its queries.
void attend(const Group& group, const QueryTile& tile, const Buffers& buffers, Scalar* pattern) {
  const AttentionProblem& p = group.p;
  const Index dv = group.dv, keys = group.keys;
  find_scores(group, tile, buffers.q, buffers.k, buffers.weights);
  Vec inverse[kRows] = {};
  for (Index i = 0; i < tile.count; ++i) {
    const Index t = tile.t + i;
    Vec* row = buffers.weights + i * keys;
    inverse[i] = find_weights(group, t, row, buffers.log_sum_exp[t]);
    clear_hidden(group, tile, t, row);
    if (!pattern) continue;
    find_pattern(group, t, row, inverse[i], buffers.pattern);
    unpack_rows(buffers.pattern, t, 1, group.pattern_lanes(pattern));
  }
  if (p.options.dropout > 0) apply_dropout(group, tile, buffers.weights);
  for (Index c = 0; c < p.d_value; c += kColumns) {
    multiply(tile.end - tile.begin, {buffers.weights + tile.begin, keys, 1},
             {buffers.v + tile.begin * dv + c, 1, dv},
             [&](auto i, auto j, Vec sum) { buffers.z[i * dv + c + j] = sum * inverse[i]; });
  }
}

void forward_group(const Group& group, const AttentionOutput& out) {
  const AttentionProblem& p = group.p;
  const Index T = p.queries, S = p.keys;
  const Buffers buffers(group);
  pack_rows(group.lanes(p.q, T, p.q_stride, p.d_head), T, p.scale, buffers.q);
  pack_keys(group, group.lanes(p.k, S, p.k_stride, p.d_head), buffers.k);
  pack_keys(group, group.lanes(p.v, S, p.v_stride, p.d_value), buffers.v);
  const LaneRows<Scalar> z = group.lanes(out.z, T, out.z_stride, p.d_value);
  for (Index t = 0; t < T; t += kRows) {
    const QueryTile tile = group.tile(t);
    attend(group, tile, buffers, out.pattern);
    unpack_rows(buffers.z, t, tile.count, z);
  }
  unpack_rows(buffers.log_sum_exp, 0, 1, group.lanes(out.log_sum_exp, p.options.heads, T, T));
}

// ---- backward

/// Packs what the gradient of K or V is added to: zeros, or the gradient so far.
void pack_gradient(const Group& group, bool accumulate, const LaneRows<Scalar>& x, Vec* out) {
  if (accumulate) {
    LaneRows<const Scalar> so_far{{}, x.width, x.stride};
    std::ranges::copy(x.first, so_far.first.begin());
    pack_rows(so_far, group.p.keys, 1, out);
  } else {
    std::fill_n(out, group.keys * padded_to_four(x.width), Vec{});
  }
}

/// Packs the inputs and computes delta.
void pack_inputs(const Group& group, const AttentionBackward& g, const Buffers& buffers) {
  const AttentionProblem& p = group.p;
  const Index T = p.queries, S = p.keys, Dv = p.d_value;
  pack_rows(group.lanes(p.q, T, p.q_stride, p.d_head), T, p.scale, buffers.q);
  pack_keys(group, group.lanes(p.k, S, p.k_stride, p.d_head), buffers.k);
  pack_keys(group, group.lanes(p.v, S, p.v_stride, Dv), buffers.v);
  pack_rows(group.lanes(g.dz, T, g.z_stride, Dv), T, 1, buffers.dz);
  pack_row(group.lanes(g.log_sum_exp, p.options.heads, T, T), 0, 1, buffers.log_sum_exp);
  const LaneRows<const Scalar> z = group.lanes(g.z, T, g.z_stride, Dv);
  for (Index t = 0; t < T; ++t) {
    // A query without keys: +inf makes its weights 0.
    Vec& log_sum_exp = buffers.log_sum_exp[t];
    log_sum_exp = select(log_sum_exp == kHidden, broadcast(-kHidden), log_sum_exp);
    pack_row(z, t, 1, buffers.z);
    Vec delta{};
    for (Index j = 0; j < Dv; ++j) delta += buffers.z[j] * buffers.dz[t * group.dv + j];
    buffers.delta[t] = delta;
  }
}

/// Computes P (through dropout) and dS = P (dP - delta) of a tile whose rows are `weights` and
/// `slopes`; zeros for keys that a query does not see.
void find_slopes(const Group& group, const QueryTile& tile, const Buffers& buffers, Vec* weights,
                 Vec* slopes) {
  const AttentionProblem& p = group.p;
  const Index dv = group.dv, keys = group.keys;
  find_scores(group, tile, buffers.q, buffers.k, weights);
  for (Index s = tile.begin; s < tile.end; s += kColumns) {
    multiply(p.d_value, {buffers.dz + tile.t * dv, dv, 1}, {buffers.v + s * dv, dv, 1},
             [&](auto i, auto j, Vec sum) { slopes[i * keys + s + j] = sum; });
  }
  if (p.options.dropout > 0) apply_dropout(group, tile, slopes);
  for (Index i = 0; i < tile.count; ++i) {
    const Index t = tile.t + i;
    Vec *weight = weights + i * keys, *slope = slopes + i * keys;
    const Vec log_sum_exp = buffers.log_sum_exp[t], delta = buffers.delta[t];
    for (Index s = group.from(t); s < group.to(t); ++s) {
      weight[s] = exp_bounded(weight[s] - log_sum_exp);
      slope[s] = weight[s] * (slope[s] - delta);
    }
    clear_hidden(group, tile, t, weight);
    clear_hidden(group, tile, t, slope);
  }
  if (p.options.dropout > 0) apply_dropout(group, tile, weights);
}

/// Computes dQ = scale dS K for the queries of a tile.
void find_dq(const Group& group, const QueryTile& tile, const Buffers& buffers, const Vec* slopes) {
  const Index d = group.d;
  for (Index c = 0; c < group.p.d_head; c += kColumns) {
    multiply(tile.end - tile.begin, {slopes + tile.begin, group.keys, 1},
             {buffers.k + tile.begin * d + c, 1, d},
             [&](auto i, auto j, Vec sum) { buffers.dq[i * d + c + j] = sum * group.p.scale; });
  }
}

/// A gradient of keys: sums [S][width] += tile^T rows over queries [start, stop), dV from P and dZ,
/// dK from dS and Q. Row 0 of the tile is query `start`.
struct KeyGradient {
  Index start, stop;
  const Vec *tile, *rows;
  Index width;
  Vec* sums;
};
void add_over_queries(const Group& group, const KeyGradient& g) {
  const Index keys = group.keys, width = g.width, seen = group.to(g.stop - 1);
  for (Index s = 0; s < seen; s += kRows) {
    // Queries [first, last) see keys of [s, s + kRows); whole tiles of queries have been computed.
    const Index earliest = group.p.options.mask.causal ? s : s - group.window + 1;
    const Index first = std::max(g.start, earliest) / kRows * kRows;
    const Index last = std::min(g.stop, s + kRows - 1 + group.window);
    for (Index c = 0; c < width; c += kColumns) {
      multiply(last - first, {g.tile + (first - g.start) * keys + s, 1, keys},
               {g.rows + first * width + c, 1, width},
               [&](auto i, auto j, Vec sum) { g.sums[(s + i) * width + c + j] += sum; });
    }
  }
}

void backward_group(const Group& group, const AttentionBackward& g) {
  const AttentionProblem& p = group.p;
  const Index T = p.queries, S = p.keys, d = group.d, dv = group.dv;
  const Buffers buffers(group);
  const LaneRows<Scalar> dQ = group.lanes(g.dq.data, T, p.q_stride, p.d_head);
  const LaneRows<Scalar> dK = group.lanes(g.dk.data, S, p.k_stride, p.d_head);
  const LaneRows<Scalar> dV = group.lanes(g.dv.data, S, p.v_stride, p.d_value);
  pack_inputs(group, g, buffers);
  pack_gradient(group, g.dk && g.dk.accumulate, dK, buffers.dk);
  pack_gradient(group, g.dv && g.dv.accumulate, dV, buffers.dv);
  for (Index start = 0; start < T; start += kQueries) {
    const Index stop = std::min(T, start + kQueries);
    for (Index t = start; t < stop; t += kRows) {
      const QueryTile tile = group.tile(t);
      Vec* slopes = buffers.slopes + (t - start) * group.keys;
      find_slopes(group, tile, buffers, buffers.weights + (t - start) * group.keys, slopes);
      if (!g.dq) continue;
      find_dq(group, tile, buffers, slopes);
      unpack_rows(buffers.dq, t, tile.count, dQ, g.dq.accumulate);
    }
    if (g.dv) add_over_queries(group, {start, stop, buffers.weights, buffers.dz, dv, buffers.dv});
    if (g.dk) add_over_queries(group, {start, stop, buffers.slopes, buffers.q, d, buffers.dk});
  }
  if (g.dk) unpack_rows(buffers.dk, 0, S, dK);
  if (g.dv) unpack_rows(buffers.dv, 0, S, dV);
}

}  // namespace

void attention_forward_in_lanes(const AttentionProblem& p, const AttentionOutput& out) {
  parallel_for(lane_groups(p), work_of(p), [&](Index i) { forward_group(Group(p, i), out); });
}

void attention_backward_in_lanes(const AttentionProblem& p, const AttentionBackward& g) {
  parallel_for(lane_groups(p), work_of(p), [&](Index i) { backward_group(Group(p, i), g); });
}

}}  // namespace headlab
