// What heads do and what pruning did, as text for a terminal. Pure functions of the results.
#pragma once

#include <string>

#include "headlab/heads/scores.h"
#include "headlab/prune/prune.h"

namespace headlab::inline HEADLAB_SCALAR {

/// A line for each head: entropy, focus, and for each relation "mass top1 lift"; then a line for
/// each relation: who does it.
std::string heads_text(const HeadsReport& report);

/// Loss, accuracy, parameters and time per batch before and after, and the heads that are left.
std::string prune_text(const PruneResult& result);

}  // namespace headlab::inline HEADLAB_SCALAR
