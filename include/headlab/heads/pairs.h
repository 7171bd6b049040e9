// Pairs of heads. What do two cost together, and does one know, or do, what the other does? Heads
// that know the same hide each other when they are silenced one at a time; a head that takes over
// does more when the other is gone (self-repair: McGrath et al. 2023, "The Hydra Effect"; Rushing
// and Nanda 2024, "Explorations of Self-Repair in Language Models", who find that a layer norm
// alone looks like it: whatever is gone, the rest is divided by less). So nothing here is compared
// at two scales of a layer norm. Read next: src/lab/heads/causes/pairs.cc.
#pragma once

#include <string>
#include <vector>

#include "headlab/heads/ablation.h"
#include "headlab/tasks/task.h"

namespace headlab {

/// One head of a pair, on the targets of the pair's relation. Shares are direct: what the head
/// itself adds to the right logit above the mean logit, in logits per target (attribution.h).
struct PairSide {
  bool owns = false;     // the relation
  PairedChange share{};  // in the whole model, against 0
  PairedChange
      rise{};  // of the share when the other head is silenced, if that one owns the relation

  /// Whether a share or its change is certain: p is strict because many pairs are tested.
  static bool is_sure(const PairedChange& change) { return change.is_rise() && change.p < 0.001; }
};

/// A pair of heads, and one relation that at least one of them owns. A pair has a row for each such
/// relation, so that redundancy and both directions of taking over are asked for every one of them;
/// a pair that owns nothing has one row without a relation.
struct HeadPairReport {
  HeadId first, second;
  double joint = 0;            // change of the loss with both silenced
  double sum = 0;              // of the changes with each silenced alone
  double independent = 0;      // change of the loss if their effects on the logits added up
  PairedChange interaction{};  // joint - independent; exactly 0 if rounding explains all of it
  /// A relation that both own or one of them owns, and whose queries have targets of their own.
  std::string relation = {};
  PairSide of_first = {}, of_second = {};
  /// On its targets, at the scales of the layer norms with both silenced: what both cost beyond the
  /// sum of the single costs, and how much of what both cost that is.
  PairedChange beyond = {};
  double beyond_share = 0;

  /// The least cost beyond the sum, in nats per target, and of what both cost; the smaller share
  /// against the larger; and the rise against the share that is gone. Chosen on seeds 0-199: no
  /// unrelated pair has more than .38 of the cost beyond the sum there and half of the share.
  static constexpr double kLeast = 0.01, kLeastBeyond = 0.5, kLeastShare = 0.5, kLeastRise = 0.25;
  /// Both know it: each adds to the right logit, and that one of them is left saves more than
  /// silencing them one at a time tells.
  bool redundant() const;
  /// Whether the one does more of it when the other, who owns it, is gone.
  bool first_takes_over() const { return takes_over(of_first, of_second); }
  bool second_takes_over() const { return takes_over(of_second, of_first); }
  std::string verdict() const;

 private:
  static bool takes_over(const PairSide& side, const PairSide& gone);
};

struct PairsReport : AblationFacts {
  std::vector<HeadPairReport> pairs;
  std::string unasked = {};  // which relations were not asked about and why; "" if all were
};
/// The rows with redundant pairs first, then those in which a head takes over, then the others from
/// the costliest down.
Finding finding_of(const PairsReport& report);

/// Silences each pair of heads: H + 2 H (H - 1) passes over the examples. Nothing is said of
/// relations. Error for fewer than two heads.
PairsReport ablate_pairs(const Transformer& model, const Batch& examples,
                         const AblationOptions& options = {});
/// The same on a task's held-out examples, with what each pair does for each relation that one of
/// its heads owns. A model whose stream is no sum (StreamKind) has no shares, and its pairs get
/// no verdict.
PairsReport ablate_pairs(const Transformer& model, const Task& task,
                         const AblationOptions& options = {}, Index examples = kPairedExamples);

}  // namespace headlab
