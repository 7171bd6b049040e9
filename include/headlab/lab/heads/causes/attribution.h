// Direct logit attribution. The residual stream of a pre-norm model is the sum of the outputs of
// embedding, positions, heads and feed-forward networks. With the scale of the final layer norm
// frozen, every logit is a sum too, and the contribution of each part is exact. Effects through
// later layers are not included: use ablation.h for those. Elhage et al. 2021, "A Mathematical
// Framework for Transformer Circuits". Read next: circuits.h, weights without inputs.
#pragma once

#include <string>
#include <vector>

#include "headlab/core/tasks/task.h"
#include "headlab/lab/heads/causes/interventions.h"
#include "headlab/lab/heads/causes/named_answer.h"
#include "headlab/lab/results/table.h"

namespace headlab {

/// Contributions to the logits of a batch's targets.
struct Attribution {
  std::vector<std::string> parts;  // "embedding", "positions", "0.1" (a head), "blocks.0.attn.b_O",
                                   // "blocks.0.mlp", "ln_final.b", "unembed.b_U";
                                   // biases where the model has them
  std::vector<Index> rows;         // targets, as indices into Batch::targets
  std::vector<std::vector<double>> shares;  // [parts][rows]
};

/// Returns share(p) = ((p - mean(p)) / sqrt(variance(x) + eps) * gain) . u, with x the last
/// residual stream at the target's position and u the target's column of W_U. With `centred`, u is
/// reduced by the mean column of its vocabulary, so shares are contributions to the logit above the
/// mean logit, which is all that a softmax depends on. The shares sum to that logit. In an
/// encoder-decoder the parts are those of the decoder: no head of the encoder writes to a logit
/// directly; cross-attention carries the encoder's output. `interventions` ablate heads in the
/// pass. `norms` stores the scales of the pass, or supplies those of another pass; then x is that
/// of the other pass. Errors: a post-norm model, whose logits are no such sums; a batch without
/// targets.
Attribution attribute_logits(const Transformer& model, const Batch& batch, bool centred = true,
                             const std::vector<HeadInterventions>& interventions = {},
                             NormScales* norms = nullptr);

struct AttributionReport {
  std::vector<std::string> attention{}, parts{}, targets{};
  std::vector<std::vector<double>> shares{};  // [parts][targets]: mean over positions and examples
  /// Ends of their 95% intervals over examples; NaN if there are too few
  /// (lab/heads/causes/paired.h).
  std::vector<std::vector<double>> low{}, high{};
  std::vector<double> logits{};  // [targets]: the sum of the shares
  std::vector<Index> counts{};   // [targets]: number of targets; without any, the rest is NaN
  Index examples = 0;
  /// Quantity of a prompt or of the lines of a file; "": the logit of the right answer above the
  /// mean logit.
  std::string quantity{};
  bool is_prompt = false;  // whether the contributions are those of one prompt, not means
};
Result result_of(const AttributionReport& report);

/// Returns mean contributions to the logit above the mean logit, for each target of the task, on
/// held-out examples. If lines of a file name answers `against`, they are contributions to the
/// logit differences at these targets (file_prompts.h).
AttributionReport attribute_logits(const Transformer& model, const Task& task,
                                   Index examples = 512);

/// Returns the contributions to the quantity of a prompt of one sequence. Contributions to a logit
/// difference are the differences of the contributions to the two logits. Those to a
/// log-probability are the contributions to the answer's logit above the mean logit, and one part
/// "softmax", -log(sum over outputs v of exp(logit(v) - mean logit)).
AttributionReport attribute_logits(const Transformer& model, const Batch& prompt,
                                   const NamedAnswer& asked);

/// Returns the table "examples" with the contribution of each part at each single target: example,
/// line, position, target, right answer, answer `against`, part, share.
Table attributed_examples(const Transformer& model, const Task& task, Index examples = 512);
/// Returns that table without rows.
Table attributed_examples_shape();

}  // namespace headlab
