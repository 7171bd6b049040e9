// What the pruning methods share: the examples on which they judge, the loss with some heads
// alone, and what a removal may not do. Private to this layer. Read next: rankings.cc, search.cc,
// learned.cc: the methods themselves.
#pragma once

#include <vector>

#include "headlab/heads/ablation.h"
#include "headlab/prune/methods.h"

namespace headlab {

/// Sequences in one forward pass.
inline constexpr Index kJudgeBatch = 64;

/// The examples on which heads are chosen; with `in_sample` those on which models are judged.
Batch choosing_examples(const PruneProblem& problem);

/// Judges sets of heads by the loss over the choosing examples with all other heads silenced.
class Judge {
 public:
  /// Counts its passes in `cost`, which must outlive it.
  Judge(const PruneProblem& problem, PassCount& cost, AblationKind kind = AblationKind::zero);
  /// The loss with these heads alone, for each set; nats per target.
  std::vector<double> losses(std::span<const HeadSet> kept) const;
  double loss(const HeadSet& kept) const { return losses(std::span(&kept, 1))[0]; }

 private:
  std::vector<HeadId> heads_;
  Index examples_;
  Ablation ablation_;
  PassCount& cost_;
};

/// Whether every module keeps at least per_layer_min of its heads, or all that it has.
class LayerMinimum {
 public:
  explicit LayerMinimum(const PruneProblem& problem);
  bool allows(std::span<const HeadId> kept) const { return missing(kept) == 0; }
  /// Heads that must be added to `kept` before all modules have enough.
  Index missing(std::span<const HeadId> kept) const;

 private:
  std::vector<Index> least_;  // by module
};

/// `heads` without one of them.
std::vector<HeadId> without(std::span<const HeadId> heads, const HeadId& gone);
/// `heads` in the order of the model.
std::vector<HeadId> in_model_order(const PruneProblem& problem, std::span<const HeadId> heads);

/// Removes the head with the lowest score again and again, passing over heads that the minimum
/// protects; of equals the first goes. A choice for each size.
std::vector<Choice> keep_highest(const PruneProblem& problem, const std::vector<double>& scores,
                                 std::span<const Index> sizes);

/// The scores of rankings.cc, by the names of the table.
std::vector<double> random_scores(const PruneProblem& problem, PassCount& cost);
std::vector<double> magnitude_scores(const PruneProblem& problem, PassCount& cost);
std::vector<double> ov_magnitude_scores(const PruneProblem& problem, PassCount& cost);
std::vector<double> entropy_scores(const PruneProblem& problem, PassCount& cost);
std::vector<double> confidence_scores(const PruneProblem& problem, PassCount& cost);
std::vector<double> importance_scores(const PruneProblem& problem, PassCount& cost);
std::vector<double> raw_importance_scores(const PruneProblem& problem, PassCount& cost);
std::vector<double> token_importance_scores(const PruneProblem& problem, PassCount& cost);
std::vector<double> raw_token_importance_scores(const PruneProblem& problem, PassCount& cost);
std::vector<double> batch_importance_scores(const PruneProblem& problem, PassCount& cost);
std::vector<double> raw_batch_importance_scores(const PruneProblem& problem, PassCount& cost);
std::vector<double> taylor_scores(const PruneProblem& problem, PassCount& cost);
std::vector<double> relevance_scores(const PruneProblem& problem, PassCount& cost);
std::vector<double> zero_ablation_scores(const PruneProblem& problem, PassCount& cost);
std::vector<double> mean_ablation_scores(const PruneProblem& problem, PassCount& cost);
std::vector<double> resample_ablation_scores(const PruneProblem& problem, PassCount& cost);

/// The searches of search.cc.
std::vector<Choice> greedy_choices(const PruneProblem& problem, std::span<const Index> sizes,
                                   PassCount& cost);
std::vector<Choice> forward_choices(const PruneProblem& problem, std::span<const Index> sizes,
                                    PassCount& cost);
std::vector<Choice> exhaustive_choices(const PruneProblem& problem, std::span<const Index> sizes,
                                       PassCount& cost);

/// Those of learned.cc and schedule.cc, which train weights along.
std::vector<Choice> l0_choices(const PruneProblem& problem, std::span<const Index> sizes,
                               PassCount& cost);
std::vector<Choice> subset_choices(const PruneProblem& problem, std::span<const Index> sizes,
                                   PassCount& cost);
std::vector<Choice> flow_choices(const PruneProblem& problem, std::span<const Index> sizes,
                                 PassCount& cost);

}  // namespace headlab
