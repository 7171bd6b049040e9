// Weights over training: a run that is asked to keeps its parameters after some steps, in
// snapshots.safetensors, so that what the model was can be looked at later. Steps lie further apart
// the later they are, because most is learned early. Tensors are named "STEP.parameter" and hold
// F32, exactly what the model was. Read next: run.h.
#pragma once

#include <filesystem>
#include <vector>

#include "headlab/base/safetensors.h"
#include "headlab/train/run.h"

namespace headlab {

std::filesystem::path snapshots_file(const Run& run);

/// After which of `steps` steps weights are kept: at most `count`, among them 0 and the last, the
/// others in geometric progression. Ascending, without repetition; fewer where there are too few
/// steps. None if count is 0; the last alone if it is 1.
std::vector<Index> snapshot_steps(Index count, Index steps);

/// The callbacks with run.config.keep_weights snapshots on top, of a run that has done `step`
/// steps. Snapshots are written before the state that comes after them, so that a run which is
/// killed and resumed keeps the same ones, bit for bit; those beyond `step` are dropped. With
/// keep_weights 0 nothing is added. `run` must outlive the callbacks. Errors: a damaged file of
/// snapshots.
RunCallbacks keep_weights(const Run& run, Index step, RunCallbacks callbacks);

/// What a run kept.
struct Snapshots {
  std::vector<Index> steps;  // ascending
  TensorFile file;

  /// The run's model with the weights that it had after steps[i].
  Transformer model(const Run& run, std::size_t i) const;
};
/// None if the run has no such file. Errors: a damaged file, or one of another model.
Snapshots read_snapshots(const Run& run);

}  // namespace headlab
