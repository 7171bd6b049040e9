// Gold that means nothing: what a relation's gold might have been if it had nothing to do with what
// heads look at. A head's mass on the true gold is held against its mass on many of these. They are
// drawn before the model runs, so that no pattern need be kept. Read next: permutations.cc.
#pragma once

#include "heads/queries.h"

namespace headlab {

class PermutedGold {
 public:
  /// Content: gold sets are exchanged among the judged queries at the same position that see the
  /// same number of keys. Positional: as many keys as in the gold, drawn among the visible ones.
  PermutedGold(const QuerySet& set, Index permutations, Key key);

  Index permutations() const { return permutations_; }
  /// How many of them differ from each other and from the truth.
  Index different() const { return different_; }
  /// The keys that permutation p gives to the judged query.
  std::span<const std::int32_t> keys(Index judged, Index p) const {
    const auto set = sets_[judged * permutations_ + p];
    return std::span(keys_).subspan(begin_[set], begin_[set + 1] - begin_[set]);
  }

 private:
  std::size_t add_set(std::span<const std::int32_t> keys);
  void exchange(const std::vector<EligibleQuery>& judged, Key key);
  void redraw(const std::vector<EligibleQuery>& judged, Key key);
  Index count_different(const std::vector<EligibleQuery>& judged) const;

  Index permutations_, different_ = 0;
  std::vector<std::uint32_t> sets_;  // [judged, permutations]
  std::vector<std::size_t> begin_{0};
  std::vector<std::int32_t> keys_;
};

}  // namespace headlab
