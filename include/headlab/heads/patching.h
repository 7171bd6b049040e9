// Activation patching: run the model on one input, put in what one head, or the residual stream at
// one position, was on another, and see how much of the difference between their answers comes
// back. What restores the answer carries it. Meng et al. 2022; Wang et al. 2022. Read next:
// ablation.h, which takes away instead of putting in.
#pragma once

#include <string>
#include <vector>

#include "headlab/base/json.h"
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
  std::vector<Head> heads{};  // its z at all positions
  std::vector<std::vector<double>>
      residual{};  // [streams][positions]: as ModelCaptures numbers them
};
Json to_json(const PatchReport& report);

/// restored = (d - corrupted) / (clean - corrupted), with d the mean logit difference of the
/// corrupted sequences with that one activation from the clean ones: 1 brings the answer back, 0
/// does nothing. Sequence i of one batch is paired with sequence i of the other. Errors: batches of
/// different shapes; no target that differs; inputs that the model answers alike.
PatchReport patch_activations(const Transformer& model, const Batch& clean, const Batch& corrupted);

}  // namespace headlab
