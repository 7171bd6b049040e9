// Activation patching: run the model on a corrupted input with one activation (the output of a
// head, or the residual stream at one position) taken from the clean input, and see how much of the
// clean answer comes back. What restores the answer carries it. Meng et al. 2022; Wang et al. 2022.
// Read next: ablation.h, which takes away instead of putting in.
#pragma once

#include <string>
#include <vector>

#include "headlab/base/table.h"
#include "headlab/heads/edits.h"

namespace headlab {

struct PatchReport {
  struct Head {
    HeadId head;
    double restored = 0;
  };
  std::vector<std::string> attention;
  Index pairs = 0;    // of a clean and a corrupted sequence
  Index targets = 0;  // where both have a target and these differ
  double clean = 0;   // mean over these of logit(clean target) - logit(corrupted target)
  double corrupted = 0;
  std::vector<Head> heads{};  // each head's z at all positions
  /// By residual stream, in the order of ModelCaptures::residual, and position.
  std::vector<std::vector<double>> residual{};
};
Finding finding_of(const PatchReport& report);

/// restored = (d - corrupted) / (clean - corrupted), with d the mean logit difference of the
/// corrupted sequences with that one activation from the clean ones: 1 brings the answer back, 0
/// does nothing. Sequence i of one batch is paired with sequence i of the other. Errors: batches of
/// different shapes; no target that differs; inputs that the model answers alike.
PatchReport patch_activations(const Transformer& model, const Batch& clean, const Batch& corrupted);

}  // namespace headlab
