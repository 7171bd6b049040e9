// What ablation and its relatives found, as text for a terminal. Pure functions of the results, so
// that a test or another program can show them too. Read next: table.h and heatmap.h, which these
// are made of.
#pragma once

#include <string>

#include "headlab/heads/ablation.h"
#include "headlab/report/heatmap.h"

namespace headlab::inline HEADLAB_SCALAR {

/// A map of what silencing each head costs (a row for each attention module, a column for each
/// head), then a line for each head with its interval; a star where p < .01.
std::string ablation_text(const AblationReport& report, const HeatmapOptions& options = {});

}  // namespace headlab::inline HEADLAB_SCALAR
