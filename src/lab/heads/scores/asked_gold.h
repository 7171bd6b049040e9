// What is asked of heads, prepared before any model runs: the eligible queries of a relation with
// their gold keys, what uniform attention, the best fixed offset and the nearest candidate reach
// there, and permuted gold, for p. Scores that need no gold of a task (previous token, induction
// ...) take the wanted keys from the tokens, and become gold like any other. Private to this
// layer. Read next: asked_gold.cc, head_sums.h.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "headlab/heads/scores.h"

namespace headlab {

/// Keys [first, end).
struct SeenKeys {
  Index first = 0, end = 0;
  Index count() const { return end - first; }
};

/// A head's weights on some of the keys, added up.
inline double mass_on(std::span<const std::int32_t> keys, const Scalar* weights) {
  double mass = 0;
  for (const std::int32_t key : keys) mass += static_cast<double>(weights[key]);
  return mass;
}

/// What the queries of one kind of attention see of a batch.
struct Mask {
  const Batch& batch;
  AttentionKind kind = AttentionKind::self;
  bool causal = true;  // what self-attention is; the encoder and cross-attention see all
  Index window = 0;    // if > 0: of the keys below only those nearer than this

  /// Query t of sequence b sees the keys [0, visible(b, t)).
  Index visible(Index b, Index t) const {
    const Index keys = batch.keys_of(kind, b);
    return kind == AttentionKind::self && causal ? std::min(keys, t + 1) : keys;
  }
  /// Those of them that lie in the window.
  SeenKeys seen(Index b, Index t) const {
    if (window == 0) return {0, visible(b, t)};
    return {std::max<Index>(0, t - window + 1), std::min(visible(b, t), t + window)};
  }
};

struct EligibleQuery {
  Index b = 0, t = 0;
  std::span<const std::int32_t> keys{};  // the gold
  SeenKeys seen{};                       // by any head
  bool disjoint = true;                  // no other relation asked here shares a key
  Index judged = -1;                     // its index among the disjoint queries of split B, else -1
  Index nearest = -1;  // the candidate nearest to it, the earlier of two; -1: no candidate
  bool offset_right = false, nearest_right = false;  // what the two baselines find
};

/// The queries of one relation. Split 0 are the even examples (A), split 1 the odd ones (B).
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

  /// Whether each position that is a query in several sequences has the same keys in all of them,
  /// and there is such a position: then the position decides the keys, not the tokens.
  bool has_fixed_keys() const;
  /// The queries of the sequences [first, end).
  std::span<const EligibleQuery> of(Index first, Index end) const;
};

/// A head is chosen on the even examples and judged on the odd ones.
inline std::size_t split_of(Index example) { return static_cast<std::size_t>(example % 2); }

/// The widest window of a model's heads of this kind; 0: one of them sees all keys.
Index widest_window(const HeadedModel& model, AttentionKind kind);
/// The eligible queries of relation r of an example, which must outlive them. `window`: of the keys
/// that any head sees.
QuerySet relation_queries(const Example& example, const std::vector<Relation>& relations,
                          std::size_t r, bool causal, Index window = 0);
/// The queries of gold that is compared with no other relation: all count as disjoint. `gold` must
/// outlive them.
QuerySet lone_queries(const Gold& gold, const Mask& mask);

/// Permuted gold: what the gold of a relation might be under the null hypothesis that it has
/// nothing to do with what heads look at. A head's mass on the true gold is compared with its mass
/// on many permutations. They are drawn before the model runs, so that no pattern need be kept.
class PermutedGold {
 public:
  /// Content: gold sets are exchanged among the judged queries at the same position that see the
  /// same keys. The queries of one example are not independent (in a repeated segment
  /// each gold key is the one before it plus one), so one permutation of the examples serves all
  /// positions: where every example is eligible, whole examples exchange their gold; where some are
  /// not, they are cut out of the cycles, which leaves a uniform permutation of the others.
  /// Positional: as many keys as in the gold, drawn among the visible ones.
  PermutedGold(const QuerySet& set, Index permutations, Key key);
  /// The same, drawn once for the same queries: a history of heads and a sweep ask them of many
  /// models. This thread keeps the last of each key.
  static std::shared_ptr<const PermutedGold> of(const QuerySet& set, Index permutations, Key key);

  Index permutations() const { return permutations_; }
  /// How many of them differ from each other and from the truth.
  Index different() const { return different_; }
  /// The keys that permutation p gives to the judged query.
  std::span<const std::int32_t> keys(Index judged, Index p) const {
    const std::int32_t& set = set_of_[judged * permutations_ + p];
    if (single_) return {&set, 1};
    return std::span(keys_).subspan(begins_[set], begins_[set + 1] - begins_[set]);
  }
  /// Adds to sums[p] a head's weights, those of the judged query, on the keys of permutation p.
  void add_masses(Index judged, const Scalar* weights, std::span<double> sums) const;

 private:
  template <class F>
  void for_blocks(F&& f) const;
  void exchange(const std::vector<EligibleQuery>& judged, Key key);
  void redraw(const std::vector<EligibleQuery>& judged, Key key);
  Index count_different(const std::vector<EligibleQuery>& judged) const;
  void add_set(std::span<const std::int32_t> keys);

  Index permutations_, different_ = 0;
  std::vector<std::int32_t> set_of_;         // [judged, permutations]: a set, or its single key
  std::vector<std::int32_t> keys_;           // of all sets, one after the other
  std::vector<std::uint32_t> begins_ = {0};  // [sets + 1]: where in keys_
  bool single_ = true;                       // each query has one key
};

/// What is asked of the heads of one kind of attention: which keys they look at, at these queries,
/// and, for p, at the same queries with other keys.
struct AskedGold {
  QuerySet set;
  std::shared_ptr<const PermutedGold> permuted;
};

/// What is known of a token of the vocabulary.
struct TokenFacts {
  Index count = 0;  // how often it occurs in the examples
  bool separator = false;
};

/// A query, for a score that asks which of the visible keys it wants.
struct PatternQuery {
  Index t = 0;
  std::int32_t token = 0;              // the query's own
  std::span<const std::int32_t> keys;  // the tokens of the visible keys
  bool same_sequence = true;           // false in cross-attention: key t is not the query itself
  std::span<const TokenFacts> facts;   // by token
  Index rarest = 0;                    // the smallest count among the keys
};

/// Separators are the tokens that the task shows as | . , ; : or a line's end, or by one of the
/// usual names: [SEP], <sep>, </s>, <eos>.
std::vector<TokenFacts> facts_of(const Batch& batch, const Task& task);

/// Calls visit(b, query) for every query that sees two keys or more.
void for_pattern_queries(const Mask& mask, std::span<const TokenFacts> facts,
                         const std::function<void(Index, const PatternQuery&)>& visit);
/// The keys that a score asks for at every query. A query that wants no visible key, or all of
/// them, is not eligible: every head would get the same.
Gold pattern_gold(const ScoreEntry& score, const Mask& mask, std::span<const TokenFacts> facts);

}  // namespace headlab
