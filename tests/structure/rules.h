// What holds for every source file of headlab, as functions from a file to the list of what is
// wrong with it. The rules see text only. The layers are those of the README, in order: a layer
// includes itself and what stands before it. Read next: tree_test.cc, which applies the rules to
// the project.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace headlab::structure {

/// A source file: its path relative to the project, with slashes, and its lines.
struct Source {
  std::string path;
  std::vector<std::string> lines;

  static Source of(std::string path, std::string_view text);
};

/// What is wrong, one sentence each, with file and line. Empty if nothing is.
using Problems = std::vector<std::string>;

/// Every .h and .cc file below the folders `roots` of the project, sorted by path. Hidden folders
/// are skipped.
std::vector<Source> read_sources(const std::filesystem::path& project,
                                 const std::vector<std::string>& roots);

/// The layer that a file of src/ or include/headlab/ belongs to; empty for
/// include/headlab/headlab.h.
std::string layer_of(std::string_view path);

/// Includes in quotes name "headlab/LAYER/..." or "LAYER/...", and never a layer further down.
Problems check_layers(const Source& file);
/// At most `limit` lines.
Problems check_length(const Source& file, std::size_t limit);
/// A comment of 3 to 12 lines opens the file; in a header, #pragma once follows it.
Problems check_opening(const Source& file);
/// Functions, members and closures included, are shorter than 40 lines, from their name to the
/// closing brace.
Problems check_functions(const Source& file);
/// Functions have at most 5 parameters.
Problems check_parameters(const Source& file);
/// Threads are started in src/base/threads.* alone: everything else calls parallel_for.
Problems check_threads(const Source& file);
/// Installed headers hold no vector types and no tests of the instruction set.
Problems check_portable(const Source& file);
/// No note of something left to do.
Problems check_finished(const Source& file);

}  // namespace headlab::structure
