// Weights over training. If requested, a run stores its parameters after some steps in
// snapshots.safetensors, so that earlier models can be examined later. The steps become sparser,
// because most is learned early. Tensors are named "STEP.parameter" and hold F32, bit-exact copies.
// Read next: run.h.
#pragma once

#include <filesystem>
#include <vector>

#include "headlab/core/base/safetensors.h"
#include "headlab/lab/runs/run.h"

namespace headlab {

std::filesystem::path snapshots_file(const Run& run);

/// Returns the steps, of `steps` steps, after which weights are kept: at most `count`, including 0
/// and the last, the others in geometric progression. Ascending, without repetition; fewer if there
/// are too few steps. None if count is 0; only the last if it is 1.
std::vector<Index> snapshot_steps(Index count, Index steps);

/// Returns the callbacks with run.config.keep_weights snapshots added, for a run that has done
/// `step` steps. Snapshots are written before the state that follows them, so that a run which is
/// killed and resumed keeps the same ones, bit for bit; those beyond `step` are dropped. With
/// keep_weights 0 nothing is added. `run` must outlive the callbacks. Errors: a damaged file of
/// snapshots.
RunCallbacks keep_weights(const Run& run, Index step, RunCallbacks callbacks);

/// Snapshots of a run.
struct Snapshots {
  std::vector<Index> steps;  // ascending
  TensorFile file;

  /// Returns the run's model with the weights after steps[i].
  Transformer model(const Run& run, std::size_t i) const;
};
/// Returns the snapshots; none if the run has no such file. Errors: a damaged file, or one of
/// another model.
Snapshots read_snapshots(const Run& run);

}  // namespace headlab
