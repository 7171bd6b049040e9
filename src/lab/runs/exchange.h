// The exchange of two folders, by which a run is replaced: readers see the old one or the new one,
// never a mixture, even if the process dies. Read next: run_folder.cc, which writes the new one
// next to the old.
#pragma once

#include <filesystem>

namespace headlab {

/// Follows the name of a directory while exchange_directories() exchanges it by three renames.
constexpr const char* kBeingAside = ".being-aside";

/// Exchanges two directories with the same parent: atomically if the system can (Linux, macOS),
/// else by three renames. Returns false if one of them stays in its place by its nature: a mount
/// point, or a directory of the lower layer of an overlay. Error if the system refuses otherwise.
bool exchange_directories(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace headlab
