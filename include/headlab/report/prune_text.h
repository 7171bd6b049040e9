// What pruning did and what it saved, as text for a terminal. Pure functions of the results, so
// that a test or another program can show them too.
// Read next: curve_text.h, which shows many prunings.
#pragma once

#include <string>
#include <vector>

#include "headlab/prune/prune.h"

namespace headlab {

/// Loss, accuracy, parameters and time per batch before and after, and the heads that are left.
std::string prune_text(const PruneResult& result);
/// Times of pruning, a row for each batch size.
std::string timing_text(const std::vector<PruneTiming>& timing);

}  // namespace headlab
