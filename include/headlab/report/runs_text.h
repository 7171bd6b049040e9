// Runs as text for a terminal: the evaluation of one, and a sweep over many, with who does what in
// it and whether several heads beat one. Pure functions of the results. Read next:
// train/evaluate.h, lab/sweep.h.
#pragma once

#include <string>

#include "headlab/lab/prune_sweep.h"
#include "headlab/lab/sweep.h"
#include "headlab/train/evaluate.h"

namespace headlab {

/// The tables, the comparisons in sentences, and what is missing.
std::string sweep_text(const SweepReport& report);
/// Losses of each method and size over the seeds, and how the methods compare with the first one.
std::string prune_sweep_text(const PruneSweepReport& report);

}  // namespace headlab
