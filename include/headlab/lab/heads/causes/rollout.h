// Attention over all layers in one map: rollout, the product of the attention matrices of all
// layers. Abnar and Zuidema 2020, "Quantifying Attention Flow in Transformers". It is no cause: the
// report has the cost of masking the ground-truth edges next to it. Read next: truth_edges.h.
#pragma once

#include <string>
#include <vector>

#include "headlab/core/base/mean.h"
#include "headlab/lab/heads/causes/paired.h"
#include "headlab/lab/heads/scores/activations.h"
#include "headlab/lab/heads/weights/matrix.h"
#include "headlab/lab/results/table.h"

namespace headlab {

/// Returns for each layer A = (W + I) with rows divided by their sums, [T, T]: W is the mean
/// pattern of the layer's heads on sequence b, I the residual connection. Error for an
/// encoder-decoder.
std::vector<Matrix> layer_attention(const Transformer& model, const Activations& activations,
                                    Index b, Index length);
/// Returns A_L ... A_1 [T, T]: row t is the share of each input position in query t.
Matrix attention_rollout(const std::vector<Matrix>& layers);

struct RolloutReport {
  struct Row {
    std::string relation;
    Mean rollout{};       // over queries: share of the ground-truth keys
    Mean uniform{};       // the same if all heads attended uniformly to the keys their masks allow
    PairedChange cost{};  // of masking the ground-truth edges in all heads (truth_edges.h)
  };
  std::vector<std::string> attention{};
  Index examples = 0;
  std::vector<Row> relations{};
  /// [T][T], T the longest length: each row is a mean over the examples that have its position.
  std::vector<std::vector<double>> rollout{};
};
Result result_of(const RolloutReport& report);

/// Computes the map on held-out examples, and the costs on `cost_examples` of them. Error for an
/// encoder-decoder.
RolloutReport find_rollout(const Transformer& model, const Task& task, Index examples = 32,
                           Index cost_examples = kPairedExamples);

}  // namespace headlab
