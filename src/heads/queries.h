// The eligible queries of a relation, and what can be said about them before any model is run: who
// shares a key with whom, what uniform attention, the best fixed offset and the nearest candidate
// reach. Private to this layer. Read next: permutations.h, evidence.h.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "headlab/model/transformer.h"
#include "headlab/tasks/task.h"

namespace headlab {

/// What the queries of one kind of attention see of a batch.
struct Sight {
  const Batch& batch;
  AttentionKind kind = AttentionKind::self;
  bool causal = true;  // what self-attention is; the encoder and cross-attention see all

  /// Query t of sequence b sees the keys [0, visible(b, t)).
  Index visible(Index b, Index t) const {
    const Index keys = batch.keys_of(kind, b);
    return kind == AttentionKind::self && causal ? std::min(keys, t + 1) : keys;
  }
};

struct EligibleQuery {
  Index b = 0, t = 0;
  std::span<const std::int32_t> keys{};  // the gold
  Index visible = 0;
  bool disjoint = true;  // no other relation asked here shares a key
  Index judged = -1;     // its index among the disjoint queries of split B, else -1
  Index nearest = -1;    // the candidate nearest to it, the earlier of two; -1: no candidate
  bool offset_right = false, nearest_right = false;  // what the two baselines find
};

/// The queries of one relation. Split 0 are the even examples (A), split 1 the odd ones (B).
struct QuerySet {
  struct Facts {
    Index all = 0, disjoint = 0;
    double uniform = 0;                         // mean share of the gold among the visible keys
    Index offset_right = 0, nearest_right = 0;  // disjoint queries that the baselines find
  };
  AttentionKind kind = AttentionKind::self;
  bool positional = false;
  std::vector<EligibleQuery> queries{};  // ascending in (b, t)
  std::array<Facts, 2> splits{};
  Index best_offset = 0;        // key minus query; finds most disjoint queries of split A
  bool has_candidates = false;  // the task names candidates

  /// The queries of the sequences [first, end).
  std::span<const EligibleQuery> of(Index first, Index end) const;
};

/// A head is chosen on the even examples and judged on the odd ones.
inline std::size_t split_of(Index example) { return static_cast<std::size_t>(example % 2); }

/// The eligible queries of relation r of an example, which must outlive them.
QuerySet relation_queries(const Example& example, const std::vector<Relation>& relations,
                          std::size_t r, bool causal);
/// The queries of gold that stands alone: all count as disjoint. `gold` must outlive them.
QuerySet lone_queries(const Gold& gold, const Sight& sight);

}  // namespace headlab
