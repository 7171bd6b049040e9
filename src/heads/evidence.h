// What score_heads gathers while the batches run: for each head, sums over queries. They are kept
// in double, apart for the even and the odd examples, and turned into scores only at the end
// (scores.cc), so that memory does not grow with the number of examples. Private to this layer.
// Read next: evidence.cc.
#pragma once

#include <array>
#include <vector>

#include "heads/permutations.h"
#include "heads/queries.h"

namespace headlab::inline HEADLAB_SCALAR {

/// A head of a model and where its patterns are.
struct HeadPlace {
  Index layer = 0;        // index of the attention module, in execution order
  Index place = 0;        // among the heads that the module has now
  std::int32_t head = 0;  // the number it was born with
  AttentionKind kind = AttentionKind::self;
};

/// What is asked of the heads of one kind: a relation's queries, and gold that means nothing.
struct Question {
  QuerySet set;
  PermutedGold permuted;
};

/// One head on one question: sums over queries.
struct Answer {
  struct Split {
    double mass = 0, mass_all = 0, top1 = 0;  // over disjoint, all, disjoint queries
  };
  std::array<Split, 2> splits;
  std::vector<double> permuted;  // [permutations]: as splits[1].mass, on permuted gold
};

/// One head over all rows of its patterns. Positions from `length` on have no row.
struct HeadEvidence {
  std::vector<Answer> answers;  // by question; zeros for those of another kind
  // Split A: the average pattern, for a null.
  std::vector<double> pattern;       // [length, length]: sums of weights
  std::vector<double> pattern_rows;  // [length]: how many rows were added
  // Split B.
  double entropy = 0, log_visible = 0;  // sums of -sum p ln p, and of ln(visible keys)
  Index rows = 0;
};

class Evidence {
 public:
  /// `length` is the largest number of positions, of queries or keys.
  Evidence(const std::vector<HeadPlace>& heads, const std::vector<Question>& questions,
           Index length, bool causal);

  /// Adds the sequences [first, end) of the examples, with the captures of their forward pass.
  void add(const Batch& batch, Index first, Index end, const ModelCaptures& captures);

  const HeadPlace& place(std::size_t head) const { return heads_[head]; }
  const HeadEvidence& of(std::size_t head) const { return evidence_[head]; }
  Index length() const { return length_; }

 private:
  struct Rows;
  void add_answers(std::size_t head, const Rows& rows);
  void add_rows(std::size_t head, const Rows& rows);

  const std::vector<HeadPlace>& heads_;
  const std::vector<Question>& questions_;
  Index length_;
  bool causal_;
  std::vector<HeadEvidence> evidence_;
};

}  // namespace headlab::inline HEADLAB_SCALAR
