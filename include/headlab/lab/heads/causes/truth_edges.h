// Attention knockout on ground-truth edges: tests whether the model relies on a head's attention
// from the queries of a relation to their ground-truth keys. The weights of exactly these edges are
// set to 0, and the attention function decides about the rest of the row: softmax renormalises it,
// softmax_one does so together with its sink, sigmoid leaves it unchanged. If this costs no more
// loss than masking random edges of the same weight, pattern and cause disagree. (On Dyck languages
// patterns can be changed at will without a loss: a picture alone proves nothing.) Read next:
// scores.h for patterns, ablation.h for whole heads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headlab/lab/heads/causes/ablation.h"
#include "headlab/lab/heads/causes/file_prompts.h"
#include "headlab/lab/heads/scores/scores.h"
#include "headlab/lab/runs/guards.h"

namespace headlab {

struct EdgeOptions {
  Index examples =
      kPairedExamples;    // maximum number of held-out examples; in a report, the number tested
  Index batch = 64;       // sequences in a forward pass; changes the result by rounding only
  Index draws = 5;        // sets of random edges, one forward pass each; losses are averaged
  std::int64_t seed = 0;  // random seed for these draws
};

/// Logit differences of a test at targets for which a line of a file names `against`, on the same
/// passes as the losses.
struct EdgeAgainst {
  PairedChange whole{};                           // the mean of the unchanged model
  PairedChange truth{};                           // its change if ground-truth edges are masked
  PairedChange random{};                          // its change if random edges are masked
  std::vector<AgainstRow> rows{};                 // single targets of the unchanged model
  std::vector<double> masked{}, random_masked{};  // the difference of each with edges masked
};

/// Effect on the loss of masking one relation's ground-truth edges in some heads, on its targets.
struct EdgeTest {
  HeadSet heads{};                  // heads whose edges were masked
  double lift = kUndefined;         // lift of the pattern of a single head; NaN for several heads
  double mass = kUndefined;         // mean masked weight per query, over these heads
  double random_mass = kUndefined;  // the same for the random edges; both are NaN without a query
  Index queries = 0;                // number of these queries
  double share = kUndefined;  // share of the cost of masking all heads of its kind; NaN if unknown
  Index targets = 0;          // targets evaluated; PairedChange has the number of examples
  /// Whether the relation's queries have targets of their own; if not, all targets are judged.
  bool asks = true;
  bool at_guessing = false;   // whether the guard `guessing` refuses a conclusion
  PairedChange truth{};       // ground-truth edges masked, compared with the unchanged model
  PairedChange random{};      // random edges masked, compared with the unchanged model
  PairedChange difference{};  // ground-truth edges compared with random ones
  std::optional<EdgeAgainst> against{};  // nothing if no line names an answer

  /// A head is a cause if its effect is significant, large and fairly compared. Significant: the
  /// loss rises, and rises more than for random edges, both with p < kMostP, which is strict
  /// because many heads and relations are tested. Large: the rise is at least kLeast nats and at
  /// least kLeastShare of the rise when the edges are masked in all heads. Fair: the random edges
  /// weigh at least kLeastRandom of the ground-truth edges; if little weight is left to mask, there
  /// is no fair control, and nothing is concluded. The model must beat guessing on these targets.
  static constexpr double kLeast = 0.01, kLeastShare = 0.1, kMostP = 0.001, kLeastRandom = 0.9;
  bool is_significant() const {
    return truth.is_rise() && difference.is_rise() && truth.p < kMostP && difference.p < kMostP;
  }
  bool is_large() const { return truth.change >= kLeast && !(share < kLeastShare); }
  /// Returns the weight of the random edges as a share of the weight of the ground-truth edges.
  double random_ratio() const { return mass > 0 ? random_mass / mass : kUndefined; }
  bool is_fair() const { return random_ratio() >= kLeastRandom; }
  bool is_cause() const { return !at_guessing && is_significant() && is_large() && is_fair(); }
  /// Returns whether masking the ground-truth edges raises the loss, whatever the random edges do.
  bool is_costly() const { return truth.is_rise() && truth.p < kMostP; }
  /// Returns the conclusion as text: pattern (lift >= kOwnerLift) and cause, for several heads the
  /// cause alone, or the reason why there is no conclusion.
  std::string conclusion() const;
  /// Returns the name of the guard that refused a conclusion; "" if none did.
  std::string guard() const;
};

struct TestedTruth;  // see truth_edges.cc

/// Held-out examples of a task with the losses of the unchanged model. Only reads the model and the
/// task, which must outlive it.
class EdgeExperiment {
 public:
  /// Prepares the examples. Errors: those of Ablation.
  EdgeExperiment(const Transformer& model, const Task& task, const EdgeOptions& options = {});

  /// Tests the relation with this index in these heads. Random edges: at each query, edges of
  /// nonzero weight in any head of the relation's kind of attention, in random order until they
  /// weigh at least as much as the masked edges (or no more are left: see random_mass). Those to
  /// ground-truth keys of the relation are left out. Those to keys of other relations come last if
  /// the relation has targets of its own, and are left out if not. Changes have no interval if
  /// fewer than kFewestPaired examples have a target; without any nothing runs. Errors: a relation
  /// that the task does not have; a head that the model does not have, or of another kind.
  EdgeTest test(std::size_t relation, const HeadSet& heads) const;

 private:
  struct Trial;
  /// Returns the ground truth of a relation and of the others of its kind. `is_alone`: whether its
  /// targets belong to no other relation.
  TestedTruth known_truth(std::size_t relation, bool is_alone) const;
  void choose_heads(const HeadSet& heads, Trial& trial) const;
  void add_part(const Batch& part, Index first, Trial& trial) const;
  static EdgeAgainst against_of(const Trial& trial);

  const Transformer& model_;
  const Task& task_;
  std::vector<Relation> relations_;
  Example example_;
  EdgeOptions options_;
};

struct EdgeReport {
  struct Row {
    Relation relation;
    std::vector<EdgeTest> tests;  // each head whose pattern matches the relation, or else the best
                                  // one; then all heads of its kind together
  };
  std::vector<std::string> attention;
  EdgeOptions options;
  std::vector<Row> relations;

  std::vector<PairedChange> changes() const;
};
Result result_of(const EdgeReport& report);
/// Returns the table "against" of a report: the logit differences of each test.
Table edges_against_table(const EdgeReport& report);
/// Returns the table kSingleAgainst of a report: a row for each test and target.
Table single_edges_against(const EdgeReport& report);

/// Scores the patterns and tests every relation of the task.
EdgeReport test_truth_edges(const Transformer& model, const Task& task,
                            const EdgeOptions& options = {});

}  // namespace headlab
