// What each head looks at, scored against the truth. The model's own attention patterns over
// held-out examples are held against the gold of the task's relations. The head for a relation is
// chosen on the even examples (split A) and all numbers are reported on the odd ones (split B), so
// that choosing does not flatter. Read next: report/heads_text.h.
#pragma once

#include <array>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headlab/base/json.h"
#include "headlab/model/transformer.h"
#include "headlab/tasks/task.h"

namespace headlab {

inline constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

/// How well one head finds one relation, on one split.
struct RelationScore {
  Index queries = 0;    // eligible queries whose gold keys no other relation asked there shares
  double mass = 0;      // mean attention on the gold keys, over these queries
  double mass_all = 0;  // over all eligible queries
  double top1 = 0;      // share of these queries whose largest weight lies on a gold key
  double null = 0;      // M0: what the strongest null reaches
  /// (mass - M0) / (1 - M0): 1 for a perfect head, 0 for the null; NaN where M0 = 1.
  double lift = kUndefined;
  /// How often permuted gold gave any head this much mass; on split B alone, else NaN.
  double p = kUndefined;
};

/// One head. What needs no gold is taken over split B as well.
struct HeadScores {
  Index layer = 0;        // index of the attention module, in execution order
  std::int32_t head = 0;  // the number it was born with
  double entropy = 0;     // nats, mean over queries of -sum p ln p
  double focus = 0;       // 1 - entropy / mean ln(visible keys): 0 uniform, 1 a single key
  std::vector<RelationScore> chosen_on{};  // by relation, on split A
  std::vector<RelationScore> relations{};  // by relation, on split B
  double confidence = 0;                   // mean over queries of the largest weight
  double distance = 0;                     // positions, mean over queries of sum p |key - query|
  double rank = kUndefined;                // effective rank of its output z
  /// By pattern_scores(): mean attention on the keys that it asks for; NaN where it never asks.
  std::vector<double> patterns{};
  struct Offset {
    Index offset = 0;  // key - query
    double share = 0;  // of the argmaxes of queries with a choice of keys
  };
  std::vector<Offset> offsets{};      // the commonest first
  std::vector<std::string> labels{};  // "positional -1", "syntactic same", "rare"
  std::array<double, 2> map{};        // its place among the heads of its kind of attention
};

/// What a reader would find who does not look at the model.
struct Baseline {
  double top1 = kUndefined;                   // share of the queries that the baseline finds
  Index wrong = 0;                            // queries that it does not find
  double head_top1_where_wrong = kUndefined;  // what the best head finds of those
};

struct RelationWinner {
  Relation relation;
  std::size_t best = 0;   // index of the head in `heads` with the largest mass on split A
  bool owned = false;     // on split B, p < kOwnerP and lift >= kOwnerLift
  double p = kUndefined;  // of the best head
  Index candidates = 0;   // heads of the relation's kind; 0: no head can do it
  /// Mean over split B of the largest mass that any head has at a query: where it is well above the
  /// best head's, heads share the relation, each for some queries.
  double mass_any = 0;
  Index exchanges = 0;  // permutations of the gold that differ from it and each other
  double mass_untrained = kUndefined;  // of the best head at initial values
  double lift_untrained = kUndefined;  // (mass - mass_untrained) / (1 - mass_untrained)
  Index best_offset = 0;               // key - query, on split A
  Baseline offset{}, nearest{};  // the best offset; the nearest candidate, where the task names any
  /// The head that one-to-one assignment gives it, and whether that head owns it.
  std::optional<std::size_t> assigned{};
  bool assigned_owns = false;
};

struct HeadsReport {
  std::vector<std::string> attention{};  // names of the attention modules: what `layer` counts
  std::vector<HeadScores> heads{};
  std::vector<RelationWinner> relations{};  // empty if the model has no head
  Index examples = 0, permutations = 0;
  double specialization = kUndefined;  // share of relations whose assigned head owns them
  /// [heads, heads]: mean Jensen-Shannon distance of their patterns; NaN between kinds of
  /// attention. Empty unless options.without_gold.
  std::vector<double> distances{};
  Json to_json() const;
};

/// A head owns a relation if chance explains its mass with less than this probability, and its lift
/// reaches this value. Significance alone is no proof: on a task without anything to learn nearly
/// every trained head differs from chance, at a mass of .05.
inline constexpr double kOwnerP = 0.01;
inline constexpr double kOwnerLift = 0.3;

struct HeadsOptions {
  Index examples = 512;
  Index batch = 64;  // in one forward pass; the result does not depend on it beyond rounding
  Index permutations = 199;  // of the gold, for p; its smallest value is 1 / (permutations + 1)
  /// The same architecture at its initial values (initial_model), for lift_untrained.
  Transformer* untrained = nullptr;
  bool without_gold = true;  // whether to score what needs no gold, beside entropy and focus
};

/// Scores every head. M0 is the mean share of gold among visible keys (uniform attention) for a
/// positional relation; for others the largest of that, of the best fixed offset (chosen on split
/// A), and of the head's pattern averaged over split A at each query position.
/// p = (1 + permutations whose largest mass over heads reaches the head's) / (1 + permutations), on
/// split B: gold sets are exchanged among queries at the same position that see as many keys
/// (positional: redrawn among the visible keys). Where few exchanges are possible p stays large.
/// Only heads of the relation's kind of attention count. One-to-one assignment: the largest sum of
/// masses on split A. Labels: the criteria of Voita et al. 2019, see score_table().
/// Errors: fewer than two examples; fewer than 199 permutations.
/// Source: maximum over heads: Westfall and Young 1993, single-step maxT.
HeadsReport score_heads(const Transformer& model, const Task& task,
                        const HeadsOptions& options = {});

struct PatternQuery;  // a query and what it sees; see src/heads/patterns.h

/// One row of `headlab list scores`.
struct ScoreEntry {
  const char* name;
  const char* meaning;
  /// For a score read off the tokens alone: whether the query asks for key s. Else nullptr.
  bool (*wants)(const PatternQuery& query, Index s);
};
std::span<const ScoreEntry> score_table();
/// The rows that are read off the tokens alone: what HeadScores::patterns holds, in this order.
std::span<const ScoreEntry> pattern_scores();

}  // namespace headlab
