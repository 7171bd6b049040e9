// Scored queries, prepared before any model runs: the eligible queries of a relation with their
// ground-truth keys, the results there of uniform attention, the best fixed offset and the nearest
// candidate, and permuted ground truth, for p. Scores without ground truth (previous token,
// induction ...) derive their keys from the tokens and are then processed in the same way. Private
// to this layer. Read next: scored_queries.cc, head_sums.h.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "headlab/lab/heads/scores/scores.h"

namespace headlab {

/// Keys [first, end).
struct SeenKeys {
  Index first = 0, end = 0;
  Index count() const { return end - first; }
};

/// Returns the sum of a head's weights on some of the keys.
inline double mass_on(std::span<const std::int32_t> keys, const Scalar* weights) {
  double mass = 0;
  for (const std::int32_t key : keys) mass += static_cast<double>(weights[key]);
  return mass;
}

/// Visible keys of the queries of one kind of attention in a batch.
struct Mask {
  const Batch& batch;
  AttentionKind kind = AttentionKind::self;
  bool causal =
      true;  // true for self-attention; queries of the encoder and of cross-attention see all keys
  Index window = 0;  // if > 0: only keys nearer than this are visible

  /// Returns the number of visible keys: query t of sequence b sees the keys [0, visible(b, t)).
  Index visible(Index b, Index t) const {
    const Index keys = batch.keys_of(kind, b);
    return kind == AttentionKind::self && causal ? std::min(keys, t + 1) : keys;
  }
  /// Returns those of them that are within the window.
  SeenKeys seen(Index b, Index t) const {
    if (window == 0) return {0, visible(b, t)};
    return {std::max<Index>(0, t - window + 1), std::min(visible(b, t), t + window)};
  }
};

struct EligibleQuery {
  Index b = 0, t = 0;
  std::span<const std::int32_t> keys{};  // ground-truth keys
  SeenKeys seen{};                       // keys that any head sees
  bool disjoint = true;                  // no other relation with this query shares a key
  Index judged = -1;                     // its index among the disjoint queries of split B, else -1
  Index nearest = -1;  // the nearest candidate, the earlier of two; -1: no candidate
  bool offset_right = false, nearest_right = false;  // whether the two baselines find a key
};

/// Indices [first, end) of queries.
struct QueryRange {
  std::size_t first = 0, end = 0;
};

/// Queries of one relation. Split 0 has the even examples (A), split 1 the odd ones (B).
struct QuerySet {
  struct Facts {
    Index all = 0, disjoint = 0;
    Index examples = 0;                         // with a disjoint query
    Index offset_right = 0, nearest_right = 0;  // disjoint queries that the baselines find
  };
  AttentionKind kind = AttentionKind::self;
  bool positional = false;
  std::vector<EligibleQuery> queries{};  // ascending in (b, t)
  std::array<Facts, 2> splits{};
  Index best_offset = 0;        // key minus query; finds most disjoint queries of split A
  bool has_candidates = false;  // the task names candidates

  /// Returns whether each position that is a query in several sequences has the same keys in all of
  /// them, and there is such a position: then the position determines the keys, not the tokens.
  bool has_fixed_keys() const;
  /// Returns the indices in `queries` of those of the sequences [first, end).
  QueryRange range_of(Index first, Index end) const;
  /// Returns these queries.
  std::span<const EligibleQuery> of(Index first, Index end) const;
};

/// Returns the split: a head is chosen on the even examples and evaluated on the odd ones.
inline std::size_t split_of(Index example) { return static_cast<std::size_t>(example % 2); }

/// Returns the widest window of a model's heads of this kind; 0: one of them sees all keys.
Index widest_window(const HeadedModel& model, AttentionKind kind);
/// Returns the eligible queries of relation r of an example, which must outlive them. `window`: the
/// visible keys of any head.
QuerySet relation_queries(const Example& example, const std::vector<Relation>& relations,
                          std::size_t r, bool causal, Index window = 0);
/// Returns the queries of ground truth that is compared with no other relation: all count as
/// disjoint. `truth` must outlive them.
QuerySet lone_queries(const GroundTruth& truth, const Mask& mask);

/// Permuted ground truth: samples under the null hypothesis that the ground truth of a relation is
/// independent of the attention of heads. A head's mass on the true keys is compared with its mass
/// on many permutations. They are drawn before the model runs, so that patterns need not be stored.
class PermutedTruth {
 public:
  /// Draws the permutations. Content: ground-truth sets are exchanged among the held-out queries at
  /// the same position that see the same keys. The queries of one example are not independent (in a
  /// repeated segment each ground-truth key is the one before it plus one), so one permutation of
  /// the examples serves all positions: if every example is eligible, whole examples exchange their
  /// sets; if some are not, they are cut out of the cycles, which leaves a uniform permutation of
  /// the others. Positional: as many keys as in the ground truth, drawn among the visible ones.
  PermutedTruth(const QuerySet& set, Index permutations, Key key);
  /// Returns the same permutations, drawn once for the same queries: head histories and sweeps use
  /// them for many models. Each thread caches the last one of each key.
  static std::shared_ptr<const PermutedTruth> of(const QuerySet& set, Index permutations, Key key);

  Index permutations() const { return permutations_; }
  /// Returns how many of them differ from each other and from the ground truth.
  Index different() const { return different_; }
  /// Returns the keys that permutation p gives to the held-out query.
  std::span<const std::int32_t> keys(Index judged, Index p) const {
    const std::int32_t& set = set_of_[judged * permutations_ + p];
    if (single_) return {&set, 1};
    return std::span(keys_).subspan(begins_[set], begins_[set + 1] - begins_[set]);
  }
  /// Adds to sums[p] a head's weights at the held-out query on the keys of permutation p.
  void add_masses(Index judged, const Scalar* weights, std::span<double> sums) const;

 private:
  template <class F>
  void for_blocks(F&& f) const;
  void exchange(const std::vector<EligibleQuery>& judged, Key key);
  void redraw(const std::vector<EligibleQuery>& judged, Key key);
  Index count_different(const std::vector<EligibleQuery>& judged) const;
  void add_set(std::span<const std::int32_t> keys);

  Index permutations_, different_ = 0;
  std::vector<std::int32_t> set_of_;  // [held-out queries, permutations]: a set, or its single key
  std::vector<std::int32_t> keys_;    // keys of all sets, one after the other
  std::vector<std::uint32_t> begins_ = {0};  // [sets + 1]: start of each set in keys_
  bool single_ = true;                       // each query has one key
};

/// Scored queries of the heads of one kind of attention, with their keys and, for p, the permuted
/// keys.
struct ScoredQueries {
  QuerySet set;
  std::shared_ptr<const PermutedTruth> permuted;
};

/// Facts about a token of the vocabulary.
struct TokenFacts {
  Index count = 0;  // how often it occurs in the examples
  bool separator = false;
};

/// Query of a score that selects some of the visible keys.
struct PatternQuery {
  Index t = 0;
  std::int32_t token = 0;              // the query's own token
  std::span<const std::int32_t> keys;  // the tokens of the visible keys
  bool same_sequence = true;           // false in cross-attention: key t is not the query itself
  std::span<const TokenFacts> facts;   // by token
  Index rarest = 0;                    // the smallest count among the keys
};

/// Returns whether a token is a separator: the task shows it as | . , ; : or a line's end, or by
/// one of the usual names: [SEP], <sep>, </s>, <eos>.
std::vector<TokenFacts> facts_of(const Batch& batch, const Task& task);

/// Calls visit(b, query) for every query that sees two keys or more.
void for_pattern_queries(const Mask& mask, std::span<const TokenFacts> facts,
                         const std::function<void(Index, const PatternQuery&)>& visit);
/// Returns the keys of a score at every query. A query that selects no visible key, or all of them,
/// is not eligible: every head would get the same score.
GroundTruth pattern_truth(const ScoreEntry& score, const Mask& mask,
                          std::span<const TokenFacts> facts);

}  // namespace headlab
