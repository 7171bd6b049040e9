// What a run's folder holds, and which of its files are the
// run's. Private to src/train: making a run and training it
// share it. Read next: run_folder.cc.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "headlab/train/run.h"

namespace headlab {

/// Whether the file belongs to a run: one of its four, or JSON that begins with {"headlab": ...
bool is_run_file(const std::filesystem::path& file);

/// The files of a folder; none if it cannot be read.
std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder);

/// Deletes what writers that were killed left of the run's files (files.h): NAME.tmp-PID-NUMBER.
void remove_leftovers(const std::filesystem::path& folder);

void save_state(const Run& run, const Trainer& trainer, const RunCallbacks& callbacks = {});

}  // namespace headlab
