// The weights of a run with the lowest held-out loss: best.safetensors, and the name RUN@best under
// which every command reads them. Private to src/lab/runs.
// Read next: best_weights.cc.
#pragma once

#include <filesystem>

#include "headlab/lab/runs/run.h"

namespace headlab {

/// Returns whether a run keeps its best weights: its data are finite, or it stops early.
bool keeps_best(const Run& run);
/// Writes the weights of `run.model` as the best so far, with the step.
void save_best(const Run& run, Index step);
/// Returns the held-out loss of the best weights according to the run's log; infinite if there are
/// no such weights.
double lowest_loss(const Run& run);
/// Replaces the weights and the step of a run by the best ones. Error if it has none.
void load_best(Run& run);

}  // namespace headlab
