// The two kernels of attention and the choice between them, and the tiles of the one with queries
// in lanes. It stores scores transposed: a tile is [keys][kQueries], one query per lane. Maximum
// and sum over the keys of a query are therefore plain vector operations, and every product in
// either pass is a panel product (tile.h) that reads K and V in place. Read next: attention.cc,
// attention_backward.cc, then short_attention.cc.
#pragma once

#include <algorithm>
#include <array>
#include <limits>

#include "core/kernels/attention.h"
#include "core/kernels/dropout.h"
#include "core/kernels/pieces.h"
#include "core/kernels/tile.h"
#include "headlab/core/base/pool.h"
#include "headlab/core/base/threads.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

inline constexpr Index kQueries = kTileColumns;  // of a block: the lanes of a tile
inline constexpr Index kKeys = 128;              // of a tile, which is then 16 KB and stays in L1
inline constexpr Scalar kHidden = -std::numeric_limits<Scalar>::infinity();

/// Returns how many heads of a sequence one task takes: all of them if every thread gets four
/// sequences or more, otherwise one.
inline Index heads_per_task(Index batch, Index heads) {
  const bool enough = batch >= 4 * thread_count();
  return enough ? std::max<Index>(1, heads) : 1;
}

/// Returns the work of all scores and weighted values.
inline LoopWork work_of(const AttentionProblem& p) {
  const double scores =
      static_cast<double>(p.batch * p.options.heads) * static_cast<double>(p.queries * p.keys);
  return multiply_adds(scores * static_cast<double>(p.d_head + p.d_value));
}

/// The kernel with queries in lanes (attention.cc, attention_backward.cc), for any problem.
void attention_forward_by_queries(const AttentionProblem& problem, const AttentionOutput& out);
void attention_backward_by_queries(const AttentionProblem& problem,
                                   const AttentionBackward& gradients);

/// The kernel with problems (sequence, head) in lanes (short_attention.cc), with the same bits.
/// Each head must read a K, V block of its own, and there must be no table of masked edges.
void attention_forward_in_lanes(const AttentionProblem& problem, const AttentionOutput& out);
void attention_backward_in_lanes(const AttentionProblem& problem,
                                 const AttentionBackward& gradients);

/// Returns the number of groups of kLanes problems.
inline Index lane_groups(const AttentionProblem& p) {
  return (p.batch * p.options.heads + kLanes - 1) / kLanes;
}
/// Returns whether attention_forward and attention_backward use the kernel with problems in lanes:
/// it can compute the problem, fills its lanes and all threads, and was faster in measurements.
bool suits_lanes(const AttentionProblem& p);

/// Query block [t, t + count) of one head of one sequence.
struct QueryBlock {
  const AttentionProblem& p;
  Index b, h;       // sequence, head
  Index kv;         // the K, V block that the head reads
  Index t, count;   // first query, number of queries (at most kQueries)
  Index keys_from;  // keys outside [keys_from, keys_to) are masked for all of them; a multiple of
                    // kKeys
  Index keys_to;

  QueryBlock(const AttentionProblem& problem, Index sequence, Index head, Index first);

  ConstRows q() const {
    return {p.q + (b * p.queries + t) * p.q_stride + h * p.d_head, p.q_stride};
  }
  const Scalar* k(Index s) const { return p.k + (b * p.keys + s) * p.k_stride + kv * p.d_head; }
  const Scalar* v(Index s) const { return p.v + (b * p.keys + s) * p.v_stride + kv * p.d_value; }
  /// Returns the index of row (b, h, t) in [B, H, T].
  Index row() const { return (b * p.options.heads + h) * p.queries + t; }
  /// Returns the number of lanes in use. If queries fill at most one vector, the second is omitted.
  Index lanes() const { return count <= kLanes ? kLanes : kQueries; }
};

/// Packs panel[j][lane] = factor * x(lane, j), j < width; zeros in the lanes without a query.
void pack_lanes(const QueryBlock& block, const ConstRows& x, Index width, Scalar factor,
                Scalar* panel);

/// Computes tile[i][lane] = scaled score of key s + i for the query of that lane, less slope
/// |distance| if there are slopes; kHidden if the query does not see the key.
void score_tile(const QueryBlock& block, const Scalar* scaled_queries, Index s, Index keys,
                Scalar* tile);

/// Returns the random words of query t of a head, which is given by its original index.
DropoutRow dropout_row(std::uint64_t key, Index b, Index original_head, Index t);

/// Dropout of the weights of a query block.
struct BlockDropout {
  DropoutFactor factor;
  std::array<std::uint32_t, kQueries> first{}, second{};  // the random words of each query

  explicit BlockDropout(const QueryBlock& block);
  /// Computes out = tile with dropped weights set to 0 and the others multiplied by 1 / (1 - p). If
  /// `also` is not null, the same is done to it in place.
  void apply(Index s, Index keys, const Scalar* tile, Scalar* out, Scalar* also = nullptr) const;
};

}}  // namespace headlab
