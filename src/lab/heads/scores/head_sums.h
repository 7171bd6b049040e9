// Sums over queries for each head, which score_heads accumulates over the batches. They are kept in
// double, separately for the even and the odd examples, and converted to scores only at the end
// (scores.cc), so that memory does not grow with the number of examples. Private to this layer.
// Read next: head_sums.cc.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "headlab/core/base/mean.h"
#include "lab/heads/scores/scored_queries.h"

namespace headlab {

/// Returns sum / count; NaN for a count of 0.
inline double ratio(double sum, Index count) { return Mean(sum, count).or_nan(); }
inline double ratio(Index part, Index whole) { return ratio(static_cast<double>(part), whole); }

/// Match counts of one head on the ground truth of one relation or score.
struct MatchCounts {
  struct Split {
    double mass = 0, mass_all = 0;  // over disjoint queries, over all
    Index top1 = 0;                 // disjoint queries whose argmax is a ground-truth key
    Index top1_offset_wrong = 0,
          top1_nearest_wrong = 0;  // disjoint queries at which a baseline is wrong
  };
  std::array<Split, 2> splits{};
  std::vector<double> permuted{};  // [permutations]: as splits[1].mass, on permuted ground truth
  struct AtQuery {
    float mass = 0;
    bool top1 = false;
  };
  std::vector<AtQuery> by_query{};  // empty without permutations
};

/// Sums of one head over all rows of its patterns, in addition to its match counts.
struct HeadSums {
  HeadId id{};
  AttentionKind kind = AttentionKind::self;
  Index window = 0;                    // of its layer; 0: none
  Index place = 0;                     // index among the current heads of its attention layer
  Index d_value = 0;                   // the width of its output z
  std::vector<MatchCounts> matches{};  // by scored relation; zeros for another kind
  // Split A: the average pattern, for a baseline.
  std::vector<double> pattern{};       // [length, length]: sums of weights
  std::vector<double> pattern_rows{};  // [length]: how many rows were added
  // Split B: sums over rows.
  Index rows = 0;
  double entropy = 0, log_visible = 0;  // -sum p ln p, and ln(keys that it sees)
  double largest = 0, distance = 0;     // the largest weight, and sum p |key - query|
  /// Whether the attention function gives rows that sum to 1. If not, all other sums are over rows
  /// divided by their sums, and `row_sums` holds the total of these.
  bool normalises = true;
  double row_sums = 0;
  // Over rows that see more than one key, at index key - query + length: how often the largest
  // weight lies at that offset; and, as differences (their running sum is the count), how many rows
  // see a key at that offset.
  std::vector<Index> offsets{}, seen_changes{};
  std::vector<double> gram{};  // [Dv, Dv]: sum of z z^T; the upper triangle
};

struct SumOptions {
  bool permuted = true;  // whether to score permuted ground truth
  bool shapes = true;    // whether to compare heads and their outputs with each other
};

class PatternSums {
 public:
  /// Runs the model over the examples, `size` sequences at a time, and adds to the sums of its
  /// heads.
  PatternSums(const HeadedModel& model, const Batch& examples, Index size,
              std::span<const ScoredQueries> scored, const SumOptions& options);

  const std::vector<HeadSums>& heads() const { return heads_; }
  std::span<const ScoredQueries> scored() const { return scored_; }
  /// Returns the sum of the largest mass of any head over the held-out queries of a relation.
  double largest_masses(std::size_t truth) const { return largest_masses_[truth]; }
  /// Returns the mean Jensen-Shannon distance between the rows of two heads of one kind, over split
  /// B; NaN for heads of different kinds.
  double distance(std::size_t a, std::size_t b) const;

 private:
  struct HeadRows;
  void gather(const HeadedModel& model, const Batch& examples, Index size);
  void add(const std::vector<HeadRows>& rows, const ActivationCache& activations);
  void add_row_sums(const std::vector<HeadRows>& rows, const ActivationCache& activations);
  void add_matches(HeadSums& head, const HeadRows& rows) const;
  void add_largest_masses(const std::vector<HeadRows>& rows);
  void add_distances(const std::vector<HeadRows>& rows);

  std::span<const ScoredQueries> scored_;
  SumOptions options_;
  bool causal_;
  std::vector<HeadSums> heads_;
  std::vector<double> largest_masses_;  // by relation or score
  // [heads, heads], below the diagonal: sums of distances over rows, and how many rows.
  std::vector<double> distances_;
  std::vector<Index> distance_rows_;
};

/// Fills p of all heads on relation r, which has index `scored` in the sums: the share of
/// permutations, including the ground truth, whose largest mass over heads reaches that of each
/// head. Sums that differ by rounding alone are equal. Source: Westfall and Young 1993.
void fill_p(HeadsReport& report, const PatternSums& gathered, std::size_t scored, std::size_t r);

/// Returns the smallest p of each tested relation, ascending, with the relation. `count`: their
/// number.
std::vector<std::pair<double, std::size_t>> smallest_p(const HeadsReport& report,
                                                       std::size_t count);
/// Fills p_holm from p. Source: Holm 1979.
void correct_p(HeadsReport& report, std::size_t count);

struct ScoredHeads {
  const HeadsReport& report;  // its heads, and its relations up to the current one
  const PatternSums& gathered;
  const Example& example;
  const Task& task;
  const HeadedModel& model;
  bool rises;  // whether to compute the cost of each class
};
/// Returns how heads share relation r; nothing if they do not.
std::optional<Division> division_of(const ScoredHeads& scored, std::size_t r);

}  // namespace headlab
