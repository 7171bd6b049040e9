// What is known when the library is built: its version, with what and for which processor it was
// compiled, and where the data that ships with it lies. `headlab --version` prints the version and
// the build, and every file that a run writes carries the version, so that a run can be made again
// with the program that made it. Read next: error.h.
#pragma once

#include <filesystem>
#include <string>

namespace headlab {

/// "MAJOR.MINOR.PATCH".
const char* version();
/// Compiler, kind of build and processor: "g++ 12.2.0, Release, for rocketlake, tuned for
/// rocketlake". Speed and the last bits of results depend on it.
const char* build();

/// Where to read a data file: `path` itself if it is there; else, for a relative path, the file in
/// one of the folders that look_for_data_near() named; else, for a path "datasets/NAME", the file
/// of that name that this library was built or installed with, so that a task whose default is a
/// file of ours can be trained anywhere; else `path`, whose absence the reader then reports.
std::filesystem::path shipped_file(const std::string& path);

/// From now on data files are also looked for in the folders above `run`, the nearest first and
/// before those of earlier calls: a run that is opened from another folder finds the files that
/// stood where it was trained. The caller compares the hash of the data.
void look_for_data_near(const std::filesystem::path& run);

}  // namespace headlab
