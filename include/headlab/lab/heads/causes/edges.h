// Which way to score attention edges finds the ground truth? An edge is a pair (query, key) of one
// sequence, in all heads of the attention layers of one kind. Six scores rank the edges, and the
// area under the ROC curve says how well: the probability that a ground-truth edge ranks above
// another edge of the same queries; 0.5 is chance, 1 is perfect. Read next: truth_edges.h, which
// masks the ground-truth edges and measures their cost.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "headlab/core/model/transformer.h"
#include "headlab/core/tasks/task.h"
#include "headlab/lab/results/statistics.h"
#include "headlab/lab/results/table.h"

namespace headlab {

/// Scores of an edge (t, s). L is the loss of its sequence, summed over targets, M the sum over
/// targets of the mean logit minus the target's logit, and A the weight. Sums run over the heads of
/// all layers of the kind.
enum class EdgeScore {
  attention,         // sum of A
  rollout,           // element of the rollout over layers (rollout.h); needs a single stream
  ablation,          // L with the edge masked in all heads, minus L (attention knockout)
  attribution,       // first-order estimate of the rise of M when the edge is masked: sum of dM/dA
                     // times the change of the row (attribution patching, Nanda 2023)
  attribution_loss,  // the same for L, whose gradient vanishes where the answer is certain
  importance         // sum of |dL/dgate|, for a gate on the edge before the row is normalised
};
inline constexpr std::size_t kEdgeScores = 6;
/// Returns the name of the enumerator: "attention" ...
const char* name_of(EdgeScore score);

/// Returns the area under the ROC curve: the share of pairs of a positive and a negative in which
/// the positive is larger; a tie counts half. NaN if either is empty.
double roc_area(std::span<const double> positives, std::span<const double> negatives);

/// One edge of a sequence: query t, key s, and its scores by EdgeScore; NaN if a score is not
/// defined, as rollout in an encoder-decoder.
struct ScoredEdge {
  Index t = 0, s = 0;
  std::array<double, kEdgeScores> scores{};

  double& at(EdgeScore score) { return scores[static_cast<std::size_t>(score)]; }
  double at(EdgeScore score) const { return scores[static_cast<std::size_t>(score)]; }
};

/// Returns for each sequence the edges from queries with ground truth to all keys that a layer of
/// this kind sees, in ascending order of (t, s). `example` holds the ground truth of `relations`.
std::vector<std::vector<ScoredEdge>> score_edges(const Transformer& model, const Example& example,
                                                 const std::vector<Relation>& relations,
                                                 AttentionKind kind);

struct EdgeAreaReport {
  struct Row {
    std::string relation;
    EdgeScore score = EdgeScore::attention;
    Interval area{};     // mean over examples with its 95% interval (share_interval)
    Index examples = 0;  // examples with ground-truth edges and others to tell them from
    Index edges = 0;     // ground-truth edges
  };
  std::vector<std::string> attention{};
  Index examples = 0;
  std::vector<Row> rows{};
};
Result result_of(const EdgeAreaReport& report);

/// Computes the areas on held-out examples. The edges that a ground-truth edge is compared with
/// are those of the relation's queries in the same example that belong to no relation. Masking
/// needs a forward pass for each edge of a sequence. Error for sequences of more than 128
/// positions.
EdgeAreaReport find_edge_areas(const Transformer& model, const Task& task, Index examples = 32);

}  // namespace headlab
