// Activation patching of single nodes in both directions, with the estimate of attribution patching
// next to each true value, and path patching. A run on the base input is changed in one node, whose
// value comes from a run on the donor input. Restoring: the corrupted input is the base; breaking:
// the clean one is. Meng et al. 2022; Wang et al. 2022 (paths); Nanda 2023 (attribution patching).
// Read next: patching.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headlab/core/model/batch.h"
#include "headlab/core/tasks/task.h"
#include "headlab/lab/heads/causes/interventions.h"
#include "headlab/lab/heads/causes/named_answer.h"
#include "headlab/lab/heads/causes/patching.h"
#include "headlab/lab/results/statistics.h"
#include "headlab/lab/results/table.h"

namespace headlab {

/// Kinds of nodes: inputs of one head's attention, its pattern, its output z, the output of a
/// feed-forward network, and the residual stream at one position.
enum class PatchNode { q, k, v, pattern, output, mlp, stream };
/// Returns "q", "k", "v", "pattern", "output", "mlp" or "stream".
const char* name_of(PatchNode node);

/// A node with its effect: (d - base) / (donor - base), with d the mean logit difference of the
/// changed run; 1 if the node carries the whole difference.
struct PatchedNode {
  PatchNode kind = PatchNode::output;
  std::optional<HeadId> head{};
  std::optional<Sublayer> sublayer{};   // the attention of a head, or a feed-forward network
  std::optional<std::size_t> stream{};  // ActivationCache::residual[stream]
  Index position = -1;                  // of a stream
  Interval effect{};  // with its 95% interval over pairs; NaN for fewer than 30 pairs
  /// Attribution patching: the gradient at the base times the difference of the node, in the same
  /// unit.
  double estimate = 0;
};

/// A path from the output of one head to an input of a later head, or to the logits. All other
/// heads keep their outputs; feed-forward networks and norms are computed again (Wang et al.).
struct PatchedPath {
  HeadId from{};
  std::optional<HeadId> to{};  // nothing: the logits
  std::string by{};            // "q", "k", "v" or "logits"
  Interval effect{};
};

struct PatchDirection {
  std::string name{};          // "restore" or "break"
  double base = 0, donor = 0;  // mean quantities: logit differences, or log-probabilities
  Index pairs = 0;             // number of pairs of sequences, over which effects are means
  std::string quantity{};      // "logit difference" or "log-probability"
  std::vector<PatchedNode> nodes{};
  std::vector<PatchedPath> paths{};
};

/// Patches every node of the base run, one at a time. `paths`: also every path. A block wiring that
/// a program has added has no `mlp` nodes. Errors: those of patch_activations.
PatchDirection patch_nodes(const Transformer& model, const Batch& clean, const Batch& corrupted,
                           bool restores, bool paths = false);

/// Returns the tables "nodes", "estimates" (correlation of estimates with effects by kind) and
/// "paths".
std::vector<Table> node_tables(const std::vector<PatchDirection>& directions);
/// Returns the same for quantities that are already chosen.
PatchDirection patch_nodes(const Transformer& model, const PatchPairs& pairs, bool restores,
                           bool paths = false);
/// Returns the result of `patch`: heads and streams (patching.h), and all nodes in both directions.
Result patch_result(const Transformer& model, const Batch& clean, const Batch& corrupted,
                    bool paths = false);
Result patch_result(const Transformer& model, const PatchPairs& pairs, bool paths = false);

/// Returns `examples` >= 1 pairs of held-out examples, or half of the different ones: example i
/// with i + n, or with the next one not yet taken that asks for other answers. So a file whose
/// sequences repeat in some period gives pairs that differ. If lines of a file name `corrupted`
/// tokens, the pairs are those of these lines. If they name answers `against`, the quantity is the
/// logit difference at these targets; otherwise that of lines with `corrupted` is the
/// log-probability of their targets. Errors: fewer than two examples; lines without a target.
PatchPairs held_out_pairs(const Task& task, Index examples);
/// Returns the pair of two inputs of the user, with the quantity that the words name. Without
/// words it is the difference of the targets where they follow from the tokens, or else of the
/// model's first choices for both inputs at the last position. Errors: an encoder-decoder; inputs
/// of different lengths; first choices that are the same; those of find_answer.
PatchPairs own_pair(const Transformer& model, const Task& task, const std::string& input,
                    const std::string& corrupted, const AnswerWords& words = {});

}  // namespace headlab
