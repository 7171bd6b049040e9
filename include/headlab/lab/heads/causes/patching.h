// Activation patching: runs the model on a corrupted input with one activation (the output of a
// head, or the residual stream at one position) taken from the clean input, and measures how much
// of the clean answer is restored. Meng et al. 2022; Wang et al. 2022. Read next: ablation.h, which
// removes activations instead.
#pragma once

#include <string>
#include <vector>

#include "headlab/lab/heads/causes/interventions.h"
#include "headlab/lab/results/table.h"

namespace headlab {

struct PatchReport {
  struct Head {
    HeadId head;
    double restored = 0;
  };
  std::vector<std::string> attention;
  Index pairs = 0;    // pairs of a clean and a corrupted sequence
  Index targets = 0;  // positions at which both have a target and these differ
  double clean = 0;   // mean over the targets of logit(clean target) - logit(corrupted target)
  double corrupted = 0;
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

}  // namespace headlab
