// The data that ships with headlab: found from any working directory, so that a task whose default
// is a file of ours can be trained anywhere. Where it lies is known when the library is built.
// Read next: files.h.
#pragma once

#include <filesystem>
#include <string>

namespace headlab {

/// Where to read a data file: `path` itself if it is there; else, for a path "datasets/NAME", the
/// file of that name that this library was built or installed with; else `path`, whose absence the
/// reader then reports.
std::filesystem::path shipped_file(const std::string& path);

}  // namespace headlab
