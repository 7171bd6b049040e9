// Arrays with names as files for NumPy, and those by which a program joins arrays of several
// commands: tokens, lengths and places in the file of the sequences, and the heads.
// Read next: headlab/lab/heads/scores/activations.h.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "headlab/lab/data/lab_tasks.h"
#include "headlab/lab/heads/scores/activations.h"

namespace headlab {

/// Returns tokens [N, T] and lengths [N] of a batch, and source [N, S] and source_lengths [N] if it
/// has sources.
std::vector<NamedArray> token_arrays(const Batch& batch);

/// Returns tokens [N, T] and lengths [N] of held-out examples [first, last) of a split, and `lines`
/// [N], from 1, or `sequences` [N], from 0, if they are lines or arrays of a task's file.
std::vector<NamedArray> example_arrays(const Task& task, Split split, Index first, Index last);
/// Appends these places in the file of a task; nothing if there are none.
void add_places(std::vector<NamedArray>& arrays, const FilePlaces& places);
/// Returns `heads` [H, 2]: attention layer and original index.
NamedArray heads_array(std::span<const HeadId> heads);

/// Returns the bytes of a .npy file.
std::string npy_of(const NamedArray& array);
/// Returns the bytes of a .npz file.
std::string npz_of(const std::vector<NamedArray>& arrays);

}  // namespace headlab
