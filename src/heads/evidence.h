// What score_heads gathers while the batches run: for each head, sums over queries. They are kept
// in double, apart for the even and the odd examples, and turned into scores only at the end
// (scores.cc), so that memory does not grow with the number of examples. Private to this layer.
// Read next: evidence.cc.
#pragma once

#include <array>
#include <vector>

#include "heads/permutations.h"
#include "heads/queries.h"

namespace headlab {

/// A mean from a sum: 0 of nothing.
inline double ratio(double sum, Index count) {
  return count > 0 ? sum / static_cast<double>(count) : 0;
}

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
    double mass = 0, mass_all = 0;                        // over disjoint queries, over all
    Index top1 = 0;                                       // disjoint ones whose argmax is gold
    Index top1_offset_wrong = 0, top1_nearest_wrong = 0;  // those where a baseline is wrong
  };
  std::array<Split, 2> splits{};
  std::vector<double> permuted{};  // [permutations]: as splits[1].mass, on permuted gold
};

/// One head over all rows of its patterns, beside its answers.
struct HeadEvidence {
  std::vector<Answer> answers;  // by question; zeros for those of another kind
  // Split A: the average pattern, for a null.
  std::vector<double> pattern;       // [length, length]: sums of weights
  std::vector<double> pattern_rows;  // [length]: how many rows were added
  // Split B: sums over rows.
  Index rows = 0;
  double entropy = 0, log_visible = 0;  // -sum p ln p, and ln(visible keys)
  double largest = 0, distance = 0;     // the largest weight, and sum p |key - query|
  // Over rows with a choice of keys, by key - query + length: where the argmax is; and differences
  // of how often it could be there: the running sum up to an offset counts the rows that see it.
  std::vector<Index> offsets, seen_changes;
  std::vector<double> gram;  // [Dv, Dv]: sum of z z^T; the upper triangle
};

struct EvidenceOptions {
  Index length = 0;      // the largest number of positions, of queries or keys
  bool causal = true;    // self-attention
  bool permuted = true;  // whether to score permuted gold
  bool shapes = true;    // whether to compare heads with each other, and their outputs
};

class Evidence {
 public:
  Evidence(const std::vector<HeadPlace>& heads, std::span<const Question> questions,
           const EvidenceOptions& options);

  /// Adds the sequences [first, end) of the examples, with the captures of their forward pass.
  void add(const Batch& batch, Index first, Index end, const ModelCaptures& captures);

  std::size_t heads() const { return heads_.size(); }
  const HeadPlace& place(std::size_t head) const { return heads_[head]; }
  const HeadEvidence& of(std::size_t head) const { return evidence_[head]; }
  std::span<const Question> questions() const { return questions_; }
  /// Over the judged queries of a question: the sum of the largest mass that any head has.
  double largest_masses(std::size_t question) const { return largest_masses_[question]; }
  Index length() const { return options_.length; }
  /// Mean Jensen-Shannon distance between the rows of two heads of one kind, over the first 64
  /// examples of split B; NaN for heads of different kinds.
  double distance(std::size_t a, std::size_t b) const;

 private:
  struct Rows;
  Rows rows_of(std::size_t head, const Batch& batch, Index first, Index end,
               const ModelCaptures& captures) const;
  void add_answers(std::size_t head, const Rows& rows);
  void add_rows(std::size_t head, const Rows& rows);
  void add_output(std::size_t head, const Rows& rows, const Tensor& z);
  void add_largest_masses(const std::vector<Rows>& rows, Index first, Index end);
  void add_distances(const std::vector<Rows>& rows);

  const std::vector<HeadPlace>& heads_;
  std::span<const Question> questions_;
  EvidenceOptions options_;
  std::vector<HeadEvidence> evidence_;
  std::vector<std::vector<std::int32_t>> argmax_;  // [heads][sequences in a pass, queries]
  std::vector<double> largest_masses_;             // by question
  std::vector<double> distances_;                  // [heads, heads]: sums over rows, below the
  std::vector<Index> distance_rows_;               // diagonal; and how many rows
};

}  // namespace headlab
