// The gold-edge test: a head looks where a relation says; does it matter? Exactly the edges of
// attention from the relation's queries to their gold keys are hidden: their weights are 0, and the
// attention function decides about the rest of the row. softmax renormalises it, softmax_one does
// so together with its sink, sigmoid leaves it as it is. If that does not cost more loss than
// hiding random edges of the same weight, then pattern and cause disagree. (On Dyck languages
// patterns can be changed at will without a loss: a picture alone proves nothing.) Read next:
// scores.h for the patterns, ablation.h for whole heads.
#pragma once

#include <string>
#include <vector>

#include "headlab/heads/ablation.h"
#include "headlab/heads/scores.h"

namespace headlab {

struct EdgeOptions {
  Index examples = kPairedExamples;  // held-out ones, at most; in a report, as many as were tested
  Index batch = 64;       // in one forward pass; the result does not depend on it beyond rounding
  Index draws = 5;        // of random edges, each a forward pass; their losses are averaged
  std::int64_t seed = 0;  // of these draws
};

/// What hiding one relation's gold edges in some heads does to the loss on its targets.
struct EdgeTest {
  HeadSet heads{};            // where the edges were hidden
  double lift = kUndefined;   // of the pattern of a single head; several have none
  double mass = 0;            // weight that was hidden at a query, over these heads, mean
  double control_mass = 0;    // the same of the random edges
  double share = kUndefined;  // of the cost in all heads of its kind together; NaN: not known
  Index targets = 0;          // by which losses were judged; PairedChange says in how many examples
  bool asks = true;           // whether the relation's queries have targets of their own
  PairedChange gold{};        // hiding the gold edges against the whole model
  PairedChange control{};     // hiding random edges against the whole model
  PairedChange difference{};  // gold against control

  /// A cause is significant, large and fairly compared: the loss rises, and rises more than for
  /// random edges (both with p < kMostP, which is strict because many heads and relations are
  /// tested), by kLeast nats and by kLeastShare of what hiding the edges in all heads costs, and
  /// the random edges weigh kLeastControl of the gold ones or more: where other heads have little
  /// weight to hide, there is no fair control. A relation whose queries have no targets of their
  /// own asks for nothing by itself, and is no cause of anything.
  static constexpr double kLeast = 0.01, kLeastShare = 0.1, kMostP = 0.001, kLeastControl = 0.9;
  bool is_significant() const {
    return gold.is_rise() && difference.is_rise() && gold.p < kMostP && difference.p < kMostP;
  }
  bool is_large() const { return gold.change >= kLeast && !(share < kLeastShare); }
  /// What the random edges weigh, as a share of the gold ones.
  double control_ratio() const { return mass > 0 ? control_mass / mass : kUndefined; }
  bool is_fair() const { return control_ratio() >= kLeastControl; }
  bool is_cause() const { return asks && is_significant() && is_large() && is_fair(); }
  /// Pattern (lift >= kOwnerLift) and cause, in words; for several heads the cause alone; or why
  /// there is no verdict.
  std::string verdict() const;
};

/// The examples with only those targets that depend on a relation.
struct RelationTargets {
  Batch examples;
  /// False: the queries are positions of a source, or there are at least kFewestPaired of them and
  /// none has a target (what is read there is used later). Then all targets are kept. Fewer queries
  /// may miss the targets of a masked model by chance: then no target is left.
  bool own = true;
};
/// Those at its queries; with several targets at each position, the one that has its name, if any.
RelationTargets targets_of(const Task& task, const Example& example, std::size_t relation);

/// A task's held-out examples, with what the unchanged model does on them. Only reads model and
/// task, which must outlive it.
class EdgeExperiment {
 public:
  /// Errors: those of Ablation.
  EdgeExperiment(const Transformer& model, const Task& task, const EdgeOptions& options = {});

  /// The test for a relation, by its index, in these heads. Random edges: at each query, edges of
  /// nonzero weight in any head of the relation's kind of attention, except those to its gold keys,
  /// in random order until they weigh at least as much as what was hidden (or there are no more:
  /// see control_mass). With fewer than kFewestPaired examples that have a target nothing is run.
  /// Errors: a relation that the task does not have; a head that the model does not have, or of
  /// another kind.
  EdgeTest test(std::size_t relation, const HeadSet& heads) const;

 private:
  struct Trial;
  void choose_heads(const HeadSet& heads, Trial& trial) const;
  void add_part(const Batch& part, Index first, Trial& trial) const;

  const Transformer& model_;
  const Task& task_;
  std::vector<Relation> relations_;
  Example example_;
  EdgeOptions options_;
};

struct EdgeReport {
  struct Row {
    Relation relation;
    std::vector<EdgeTest> tests;  // each head whose pattern holds the relation, or else the best
                                  // one; then all heads of its kind together
  };
  std::vector<std::string> attention;
  EdgeOptions options;
  std::vector<Row> relations;
};
Finding finding_of(const EdgeReport& report);

/// Scores the patterns and tests every relation of the task.
EdgeReport test_gold_edges(const Transformer& model, const Task& task,
                           const EdgeOptions& options = {});

}  // namespace headlab
