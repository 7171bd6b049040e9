// Files of data, which are found wherever a run is opened from: in the working directory, in a
// folder above the run, or among those that ship with headlab. The reader of a file compares its
// hash with that of the run. Read next: lab_tasks.h.
#pragma once

#include <filesystem>
#include <string>

namespace headlab {

/// Returns the path of a data file. The first match is used: `path` itself; for a relative path,
/// the file in one of the folders that look_for_data_near() added; for a path "datasets/NAME", the
/// file of that name that this library was built or installed with. If nothing matches, returns
/// `path`, and the reader reports that it is missing; or throws an Error that lists the folders if
/// look_for_data_near() added some.
std::filesystem::path shipped_file(const std::string& path);

/// Adds the folders above `run` to those in which data files are searched, the nearest first and
/// before those of earlier calls. A run opened from another working directory then finds the files
/// it was trained on. The caller compares the hash of the data.
void look_for_data_near(const std::filesystem::path& run);

}  // namespace headlab
