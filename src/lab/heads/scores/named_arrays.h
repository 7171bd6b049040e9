// Arrays with names as files for NumPy, and those that tell to which sequences the others belong:
// tokens and lengths, by which a program joins arrays of several commands.
// Read next: headlab/lab/heads/scores/activations.h.
#pragma once

#include <string>
#include <vector>

#include "headlab/lab/heads/scores/activations.h"

namespace headlab {

/// Returns tokens [N, T] and lengths [N] of a batch, and source [N, S] and source_lengths [N] if it
/// has sources.
std::vector<NamedArray> token_arrays(const Batch& batch);

/// Returns the bytes of a .npy file.
std::string npy_of(const NamedArray& array);
/// Returns the bytes of a .npz file.
std::string npz_of(const std::vector<NamedArray>& arrays);

}  // namespace headlab
