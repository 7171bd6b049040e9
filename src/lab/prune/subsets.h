// What the pruning methods share: the examples on which they choose, the loss with a subset of the
// heads alone, and which subsets a removal may reach. Private to this layer. Read next:
// rankings.cc, search.cc, gates.cc: the methods themselves.
#pragma once

#include <vector>

#include "headlab/heads/ablation.h"
#include "headlab/prune/methods.h"

namespace headlab {

/// The rows of each file of methods; prune_table() joins them in this order.
std::span<const PruneMethod> ranking_methods();
/// Found by their names, and part of no list: a method's variants.
std::span<const PruneMethod> variant_methods();
std::span<const PruneMethod> search_methods();
std::span<const PruneMethod> gate_methods();

/// Sequences in one forward pass.
inline constexpr Index kChoosingBatch = 64;

/// The training examples on which heads are chosen. Error if none has a target.
Batch choosing_examples(const PruneProblem& problem);

/// The loss over the choosing examples with a subset of the heads alone, all others silenced on the
/// unchanged model.
class SubsetLoss {
 public:
  /// Counts its passes in `cost`, which must outlive it.
  SubsetLoss(const PruneProblem& problem, PassCount& cost, AblationKind kind = AblationKind::zero);
  /// For each subset that is kept; nats per target.
  std::vector<double> operator()(std::span<const HeadSet> kept) const;
  double operator()(const HeadSet& kept) const { return (*this)(std::span(&kept, 1))[0]; }

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

bool contains(std::span<const HeadId> heads, const HeadId& head);
/// `heads` in the order of the model.
std::vector<HeadId> in_model_order(const HeadedModel& model, std::span<const HeadId> heads);

/// Makes `kept` the choice for each of the sizes that equals its number of heads.
void enter_choice(const PruneProblem& problem, std::span<const HeadId> kept,
                  std::span<const Index> sizes, std::vector<Choice>& choices);
/// Removes heads in ascending order of their scores, of equals the first, and skips those that the
/// minimum protects. A choice for each size.
std::vector<Choice> keep_highest(const PruneProblem& problem, const std::vector<double>& scores,
                                 std::span<const Index> sizes);

}  // namespace headlab
