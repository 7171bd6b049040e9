// The folder of a run: which of its files belong to the run, and how one run replaces another.
// Private to src/lab/runs.
// Read next: run_folder.cc.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "headlab/lab/runs/run.h"

namespace headlab {

/// Returns whether the file belongs to a run: one that training writes, JSON that begins with
/// {"headlab":, or a page.
bool is_run_file(const std::filesystem::path& file);

/// Returns the files of a folder; none if it cannot be read.
std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder);

/// Deletes what writers that were killed left of the run's files (files.h): NAME.tmp-PID-NUMBER.
void remove_leftovers(const std::filesystem::path& folder);
/// The same of commands that may run side by side: a temporary file is deleted unless another
/// process holds the lock of the run, or of the file that it was to become.
void remove_stale_files(const std::filesystem::path& folder);
/// Returns the lock of a file in a run, for commands that may write it at once: .NAME.lock next to
/// it.
std::filesystem::path lock_file_of(const std::filesystem::path& file);

/// Returns the folder of the run, or of the sweep, that a file lies in; empty if it lies in none.
std::filesystem::path run_around(const std::filesystem::path& file);
/// Writes a file named on the command line. Inside a run a link is replaced, because the run may
/// come from someone else; elsewhere it is the user's own and is followed. Error if a folder
/// between the run and the file is a link.
Links links_of(const std::filesystem::path& file);

/// Deletes the files of the run at `path`, which check_run_folder has allowed: config.json first,
/// so that what is left of it is no run.
void clear_folder(const std::filesystem::path& path);

/// Returns whether a folder has the name that a run has, or waits under, while it is replaced.
bool is_beside_replaced(const std::filesystem::path& folder);
/// Ends an exchange in which a process died: the run that was set aside comes back if no other took
/// its place.
void recover(const std::filesystem::path& path);
/// Makes `path` by `fill`. An existing run is replaced in one step: the new one is filled next to
/// it and the two are exchanged, so that a full disk or a kill leaves one of them whole.
void replace_folder(const std::filesystem::path& path,
                    const std::function<void(const std::filesystem::path&)>& fill);

}  // namespace headlab
