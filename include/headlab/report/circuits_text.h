// How heads work, as text for a terminal: circuits of weights, shares of logits, patched
// activations. Pure functions of the results, so that a test or another program can show them too.
// Read next: causes_text.h, which shows what the loss says.
#pragma once

#include <string>

#include "headlab/heads/attribution.h"
#include "headlab/heads/circuits.h"
#include "headlab/heads/patching.h"
#include "headlab/report/heatmap.h"

namespace headlab {

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
