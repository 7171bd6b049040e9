// What ablation and its relatives found, as text for a terminal. Pure functions of the results, so
// that a test or another program can show them too. Read next: table.h and heatmap.h, which these
// are made of.
#pragma once

#include <string>

#include "headlab/heads/ablation.h"
#include "headlab/heads/gold_edges.h"
#include "headlab/heads/interactions.h"
#include "headlab/report/heatmap.h"

namespace headlab {

/// A map of what silencing each head costs (a row for each attention module, a column for each
/// head), then a line for each head with its interval; a star where p < .01.
std::string ablation_text(const AblationReport& report, const HeatmapOptions& options = {});

/// A line for each test of a relation's gold edges, with what it says in words.
std::string gold_edges_text(const EdgeReport& report);

/// The pairs of heads that interact most, strongest first.
std::string interactions_text(const InteractionReport& report);

}  // namespace headlab
