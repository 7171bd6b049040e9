// Pairs of heads: what two heads cost together, which pairs are redundant, and which heads
// compensate for each other (self-repair). Redundant heads mask each other when they are ablated
// one at a time; a compensating head contributes more when the other is gone (McGrath et al. 2023,
// "The Hydra Effect"). A layer norm alone looks like self-repair, because the rest is divided by
// less (Rushing and Nanda 2024, "Explorations of Self-Repair in Language Models"), so two losses
// are compared only at equal scales of the layer norms. Read next: src/lab/heads/causes/pairs.cc.
#pragma once

#include <string>
#include <vector>

#include "headlab/core/tasks/task.h"
#include "headlab/lab/heads/causes/ablation.h"

namespace headlab {

/// One head of a pair, on the targets of the pair's relation. Shares are direct: the head's own
/// contribution to the correct logit above the mean logit, in logits per target (attribution.h).
struct PairSide {
  bool owns = false;     // whether the head owns the relation
  PairedChange share{};  // in the unchanged model, compared with 0
  PairedChange rise{};   // increase of the share when the other head is ablated, if that one owns
                         // the relation

  /// Returns whether a share or its change is certain: p is strict because many pairs are tested.
  static bool is_sure(const PairedChange& change) { return change.is_rise() && change.p < 0.001; }
};

/// Pair of heads, and one relation that at least one of them owns. A pair has one row per such
/// relation, so redundancy and compensation in both directions are tested for each of them. A pair
/// that owns nothing has one row without a relation.
struct HeadPairReport {
  HeadId first, second;
  double joint = 0;            // change of the loss with both ablated
  double sum = 0;              // sum of the changes with each ablated alone
  double independent = 0;      // change of the loss if their effects on the logits added up
  PairedChange interaction{};  // joint - independent; exactly 0 if rounding explains all of it
  /// Relation that at least one of them owns and whose queries have targets of their own.
  std::string relation = {};
  PairSide of_first = {}, of_second = {};
  /// Cost of ablating both beyond the sum of the single costs, on the relation's targets, at the
  /// layer-norm scales of the model with both ablated; and its share of the cost of ablating both.
  PairedChange beyond = {};
  double beyond_share = PairedChange::kUnmeasured;

  /// Minimum cost beyond the sum, in nats per target and as a share of the cost of ablating both;
  /// minimum ratio of the smaller share to the larger; and minimum ratio of the increase to the
  /// lost share. Chosen on seeds 0-199: no unrelated pair exceeds both 0.38 of the cost beyond the
  /// sum and half of the share.
  static constexpr double kLeast = 0.01, kLeastBeyond = 0.5, kLeastShare = 0.5, kLeastRise = 0.25;
  /// Returns whether the pair is redundant: each head contributes to the correct logit, and
  /// ablating both costs more than the sum of the single costs.
  bool redundant() const;
  /// Returns whether the first head compensates when the second, which owns the relation, is
  /// ablated.
  bool first_takes_over() const { return takes_over(of_first, of_second); }
  bool second_takes_over() const { return takes_over(of_second, of_first); }
  std::string conclusion() const;

 private:
  static bool takes_over(const PairSide& side, const PairSide& gone);
};

struct PairsReport : AblationFacts {
  std::vector<HeadPairReport> pairs;
  std::string unasked = {};  // relations that were not tested and the reason; "" if all were

  std::vector<PairedChange> changes() const;
};
/// Returns the rows with redundant pairs first, then those with a compensating head, then the
/// others in descending order of cost.
Result result_of(const PairsReport& report);

/// Ablates each pair of heads without testing relations: H + 2 H (H - 1) passes over the examples.
/// Error for fewer than two heads.
PairsReport ablate_pairs(const Transformer& model, const Batch& examples,
                         const AblationOptions& options = {});
/// Ablates each pair on a task's held-out examples and tests each relation that one of its heads
/// owns. A model whose residual stream is not a sum (StreamKind) has no shares, and its pairs get
/// no conclusion.
PairsReport ablate_pairs(const Transformer& model, const Task& task,
                         const AblationOptions& options = {}, Index examples = kPairedExamples);

}  // namespace headlab
