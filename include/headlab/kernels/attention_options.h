// What attention is asked for besides queries, keys and values: how many heads there are, which
// keys a query sees, and dropout. The op and its kernel read the same.
// Read next: headlab/ops/attention.h.
#pragma once

#include <vector>

#include "headlab/base/pool.h"
#include "headlab/base/random.h"
#include "headlab/kernels/scalar.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// Which keys a query may look at: the intersection of what is set.
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
  Flags hidden_edges{};  // [B, H, T, S]: 1 where a score counts as -inf, so that its weight is 0
  Scalar dropout = 0;    // of weights
  Key key{};             // of the dropout
  Ids born_heads{};      // [H]: the numbers by which dropout knows the heads; empty: 0, 1, ...
  /// [H]: the score of a key at distance d from the query falls by slope d (ALiBi, Press et al.
  /// 2021); empty: no bias. Only composed attention computes it.
  std::vector<Scalar> slopes{};
  Index first_query = 0;  // position of query 0; distances count from it
  Ids key_positions{};    // [S]: position of each key; empty: 0, 1, ...
};

}}  // namespace headlab
