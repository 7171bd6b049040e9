// The exchange of two folders, by which a run is replaced: readers see the old one or the new one,
// never a mixture, even if the process dies. Read next: run_folder.cc, which writes the new one
// beside the old.
#pragma once

#include <filesystem>

namespace headlab {

/// Exchanges two directories with the same parent: atomically if the system can (Linux, macOS),
/// else by three renames. Error if the system refuses (a mount point, no permission ...).
void exchange_directories(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace headlab
