// What pruning did to one run, as tables: the model before and after, and the times of both. Pure
// functions of the results. Read next: curve_text.h, which compares methods; table.h.
#pragma once

#include <string>

#include "headlab/prune/prune.h"

namespace headlab {

/// Loss, accuracy, parameters and time per batch before and after, and the heads that are left.
std::string prune_text(const PruneResult& result);
/// Times of the full, the masked and the removed model, a row for each batch size.
std::string timing_text(const std::vector<PruneTiming>& timing);

}  // namespace headlab
