// Options of attention in addition to queries, keys and values: the number of heads, the keys that
// each query sees, and dropout. The op and its kernel share this struct; the composed form must
// support every member. Read next: headlab/core/ops/attention.h.
#pragma once

#include <vector>

#include "headlab/core/base/pool.h"
#include "headlab/core/base/random.h"
#include "headlab/core/kernels/scalar.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// Keys that a query may attend to: the intersection of all set conditions.
struct AttentionMask {
  bool causal = false;  // key s <= query t; needs S = T
  Index window = 0;     // if > 0: |t - s| < window
  Ids lengths{};        // [B]: only keys s < lengths[b]; empty: all

  bool sees(Index b, Index t, Index s) const {
    return (!causal || s <= t) && (window <= 0 || (t - s < window && s - t < window)) &&
           (lengths.empty() || s < lengths[b]);
  }
};

struct AttentionOptions {
  Index heads = 1;
  Ids kv_head{};  // [H]: the K, V block that each head reads; empty: its own
  AttentionMask mask{};
  Flags masked_edges{};  // masked edges [B, H, T, S]: 1 if the score counts as -inf, so that its
                         // weight is 0
  Scalar dropout = 0;    // of weights
  Key key{};             // of the dropout
  Ids original_heads{};  // [H]: original indices of the heads, which select dropout masks; empty:
                         // 0, 1, ...
  /// [H]: the score of a key at distance d from the query falls by slope d (ALiBi, Press et al.
  /// 2021); empty: no bias.
  std::vector<Scalar> slopes{};
  Index first_query = 0;  // position of query 0, from which distances are counted
  Ids key_positions{};    // [S]: position of each key; empty: 0, 1, ...
};

}}  // namespace headlab
