// Code shared by the pruning methods: the examples on which they choose, the loss with a subset of
// the heads alone, and the subsets that a removal may reach. Private to this layer. Read next: the
// methods themselves, rankings.cc, search.cc, gates.cc.
#pragma once

#include <vector>

#include "headlab/lab/heads/causes/ablation.h"
#include "headlab/lab/prune/methods.h"

namespace headlab {

/// Return the rows of each file of methods; prune_table() joins them in this order.
std::span<const PruneMethod> ranking_methods();
/// Returns variants of methods, which are found by name but not listed.
std::span<const PruneMethod> variant_methods();
std::span<const PruneMethod> search_methods();
std::span<const PruneMethod> gate_methods();

/// Maximum number of sequences in one forward pass.
inline constexpr Index kChoosingBatch = 64;

/// Returns the training examples on which heads are chosen. Error if none has a target.
Batch choosing_examples(const PruneProblem& problem);

/// Loss over the choosing examples with a subset of the heads alone, all others ablated on the
/// unchanged model.
class SubsetLoss {
 public:
  /// Counts its passes in `cost`, which must outlive it.
  SubsetLoss(const PruneProblem& problem, PassCount& cost, AblationKind kind = AblationKind::zero);
  /// Returns the loss for each kept subset; nats per target.
  std::vector<double> operator()(std::span<const HeadSet> kept) const;
  double operator()(const HeadSet& kept) const { return (*this)(std::span(&kept, 1))[0]; }

 private:
  std::vector<HeadId> heads_;
  Index examples_;
  Ablation ablation_;
  PassCount& cost_;
};

/// Minimum of heads: every attention layer keeps at least per_layer_min of its heads, or all that
/// it has.
class LayerMinimum {
 public:
  explicit LayerMinimum(const PruneProblem& problem);
  bool allows(std::span<const HeadId> kept) const { return missing(kept) == 0; }
  /// Returns the number of heads to add to `kept` before all attention layers have enough.
  Index missing(std::span<const HeadId> kept) const;

 private:
  std::vector<Index> least_;  // by attention layer
};

bool contains(std::span<const HeadId> heads, const HeadId& head);
/// Returns `heads` sorted by attention layer, then by place in it; those that the model has not are
/// left out.
std::vector<HeadId> in_model_order(const HeadedModel& model, std::span<const HeadId> heads);

/// Makes `kept` the choice for each of the sizes that equals its number of heads.
void enter_choice(const PruneProblem& problem, std::span<const HeadId> kept,
                  std::span<const Index> sizes, std::vector<Choice>& choices);
/// Returns a choice for each size: removes heads in ascending order of their scores, the first of
/// equals, and skips those that the minimum protects.
std::vector<Choice> keep_highest(const PruneProblem& problem, const std::vector<double>& scores,
                                 std::span<const Index> sizes);

}  // namespace headlab
