// What heads are good for, and how they do it, as text for a terminal: what the loss says of
// silenced heads, hidden edges and pairs; circuits of weights, shares of logits, patched
// activations. Pure functions of the results, so that a test or another program can show them too.
// Read next: table.h and heatmap.h, which these are made of.
#pragma once

#include <string>

#include "headlab/heads/ablation.h"
#include "headlab/heads/attribution.h"
#include "headlab/heads/circuits.h"
#include "headlab/heads/gold_edges.h"
#include "headlab/heads/patching.h"
#include "headlab/report/heatmap.h"

namespace headlab {

/// A map of what silencing each head costs (a row for each attention module, a column for each
/// head), then a line for each head with its interval; a star where p < .01.
std::string ablation_text(const AblationReport& report, const HeatmapOptions& options = {});

/// A line for each test of a relation's gold edges, with what it says in words.
std::string gold_edges_text(const EdgeReport& report);

/// The pairs of heads that interact most, strongest first.
std::string interactions_text(const InteractionReport& report);

/// A line for each head (what it matches and copies), then the strongest compositions for each
/// kind.
std::string circuits_text(const CircuitsReport& report);

/// A matrix over the vocabulary as a heatmap, each row scaled to its largest element; negative ones
/// are blank. matrix [V, W]; names [V] of tokens. Where W is several times V, block `k` is shown.
std::string token_matrix_text(const Tensor& matrix, const std::vector<std::string>& names, Index k,
                              const HeatmapOptions& options = {});

/// A line for each part of the model: its share of the logit above the mean, for each target.
std::string attribution_text(const AttributionReport& report);

/// What each head restores, and the residual stream as a map of streams and positions.
std::string patching_text(const PatchReport& report, const HeatmapOptions& options = {});

}  // namespace headlab
