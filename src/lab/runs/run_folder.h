// What a run's folder holds, which of its files are the run's, and how one run takes the place of
// another. Private to src/lab/runs.
// Read next: run_folder.cc.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "headlab/train/run.h"

namespace headlab {

/// Whether the file belongs to a run: one that training writes, JSON that begins with {"headlab":,
/// or a page.
bool is_run_file(const std::filesystem::path& file);

/// The files of a folder; none if it cannot be read.
std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder);

/// Deletes what writers that were killed left of the run's files (files.h): NAME.tmp-PID-NUMBER.
void remove_leftovers(const std::filesystem::path& folder);
/// Deletes the files of the run at `path`, which check_run_folder has allowed: config.json first,
/// so that what is left of it is no run.
void clear_folder(const std::filesystem::path& path);

/// Ends an exchange in which a process died: the run that was set aside comes back if no other took
/// its place.
void recover(const std::filesystem::path& path);
/// Makes `path` by `fill`. A run that is there is replaced as one step: the new one is filled
/// beside it and the two are exchanged, so that a full disk or a kill leaves one of them whole.
void replace_folder(const std::filesystem::path& path,
                    const std::function<void(const std::filesystem::path&)>& fill);

}  // namespace headlab
