// Activation patching: runs the model on a corrupted input with one activation (the output of a
// head, or the residual stream at one position) taken from the clean input, and measures how much
// of the clean answer is restored. Meng et al. 2022; Wang et al. 2022. Read next: ablation.h, which
// removes activations instead.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headlab/core/tasks/task.h"
#include "headlab/lab/heads/causes/interventions.h"
#include "headlab/lab/heads/causes/named_answer.h"
#include "headlab/lab/results/table.h"

namespace headlab {

/// Pairs of sequences to patch: sequence i of `clean` belongs to sequence i of `corrupted`.
struct PatchPairs {
  Batch clean, corrupted;
  std::string said{};  // which pairs and which quantity these are, as a line for the reader
  /// The measured quantities; empty: the logit differences of all targets that differ.
  std::vector<Contrast> contrasts{};
  std::vector<Index> examples{};  // of held-out examples: the indices of the clean ones
  Index held_out = 0;             // number of held-out examples that are read

  /// Returns "logit difference" or "log-probability".
  const char* quantity() const;
};

struct PatchReport {
  struct Head {
    HeadId head;
    double restored = 0;
  };
  std::vector<std::string> attention;
  Index pairs = 0;    // pairs of a clean and a corrupted sequence
  Index targets = 0;  // positions at which both have a target and these differ
  double clean = 0;   // mean over the targets of logit(clean target) - logit(corrupted target), or
                      // the mean of other quantities of the pairs
  double corrupted = 0;
  std::string quantity = "logit difference";
  bool is_named = false;      // whether the quantities are those of named answers
  std::vector<Head> heads{};  // one head's z patched at all positions
  /// Restored share by residual stream, in the order of ActivationCache::residual, and position.
  std::vector<std::vector<double>> residual{};
};
Result result_of(const PatchReport& report);

/// Returns restored = (d - corrupted) / (clean - corrupted) for each activation, with d the mean
/// logit difference of the corrupted sequences with that one activation from the clean ones: 1
/// restores the answer completely, 0 has no effect. Sequence i of one batch is paired with sequence
/// i of the other. Errors: batches of different shapes; no target that differs; inputs for which
/// the model has the same mean logit difference.
PatchReport patch_activations(const Transformer& model, const Batch& clean, const Batch& corrupted);
/// Returns the same for the quantities of the pairs.
PatchReport patch_activations(const Transformer& model, const PatchPairs& pairs);

/// One head patched in one pair: the quantity, averaged over the targets of the pair.
struct PatchedPair {
  Index example = 0;  // index of the clean one among the held-out examples
  std::optional<std::int32_t> line{};
  HeadId head{};  // whose z is that of the clean pass
  double clean = 0, corrupted = 0, patched = 0;
};
/// Name of the table of single pairs.
inline constexpr const char* kSinglePairs = "single_pairs";
Table patched_pairs_table(const std::vector<PatchedPair>& rows);
/// Returns that table for all heads and all pairs with a measured target.
Table patched_pairs(const Transformer& model, const Task& task, const PatchPairs& pairs);

}  // namespace headlab
