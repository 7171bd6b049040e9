// What score_heads gathers while the batches run: for each split, relation and head, sums over
// queries. Private to this layer: scores.cc turns the sums into masses, nulls and lifts. Read
// next: evidence.cc.
#pragma once

#include <array>
#include <vector>

#include "headlab/model/transformer.h"
#include "headlab/tasks/task.h"

namespace headlab::inline HEADLAB_SCALAR {

/// Gold of one relation on one split, apart from any head: what the nulls need.
struct RelationEvidence {
  Index queries = 0;                // disjoint ones
  Index queries_all = 0;            // all eligible ones
  double uniform = 0;               // sum over disjoint queries of the gold share of visible keys
  std::vector<double> offset_hits;  // [2T]: disjoint queries whose key at offset s - t + T is gold
  std::vector<double> gold_at;      // [T, T]: disjoint queries at t with gold key s

  explicit RelationEvidence(Index length)
      : offset_hits(static_cast<std::size_t>(2 * length)),
        gold_at(static_cast<std::size_t>(length * length)) {}
};

/// One head on one split.
struct HeadEvidence {
  std::vector<double> mass, mass_all, top1;  // [relations]: sums over queries
  std::vector<double> pattern;       // [T, T]: sum of weights, for the position-averaged null
  std::vector<double> pattern_rows;  // [T]: how many rows were added
  double entropy = 0;

  HeadEvidence(std::size_t relations, Index length)
      : mass(relations),
        mass_all(relations),
        top1(relations),
        pattern(static_cast<std::size_t>(length * length)),
        pattern_rows(static_cast<std::size_t>(length)) {}
};

/// One half of the examples.
struct SplitEvidence {
  std::vector<RelationEvidence> relations;
  std::vector<HeadEvidence> heads;
  double log_visible = 0;  // sum over rows of ln(visible keys)
  Index rows = 0;
};

class Evidence {
 public:
  Evidence(Index heads, std::size_t relations, Index length, bool causal);

  /// Adds the sequences [first, end) of an example, with the captures of their forward pass.
  void add(const Example& example, Index first, Index end, const ModelCaptures& captures);

  const SplitEvidence& split(std::size_t i) const { return splits_[i]; }
  Index length() const { return length_; }

 private:
  /// A forward pass over the sequences [first, end).
  struct Pass {
    Index first, end;
    const ModelCaptures& captures;
  };
  void add_relation(const Example& example, std::size_t r, const Pass& pass);
  void add_patterns(const Batch& batch, const Pass& pass);
  Index visible(const Batch& batch, Index b, Index t) const;
  SplitEvidence& split_of(Index example) { return splits_[static_cast<std::size_t>(example % 2)]; }

  Index length_;
  bool causal_;
  std::array<SplitEvidence, 2> splits_;
};

}  // namespace headlab::inline HEADLAB_SCALAR
