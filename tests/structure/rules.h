// Shared by the tests of this folder: files as lists of lines, and the folder of src/ that a file
// belongs to. Read next: tree_test.cc, the rules that hold for every file. Paths are relative to
// the project and use slashes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace headlab::structure {

inline const std::filesystem::path kProject = HEADLAB_SOURCE_DIR;

/// A source file: its path relative to the project, with slashes, and its lines.
struct Source {
  std::string path;
  std::vector<std::string> lines;
};

/// Violations, one sentence each, with file and line. Empty if nothing is.
using Problems = std::vector<std::string>;

inline std::string at(const Source& file, std::size_t line, const std::string& what) {
  return file.path + ":" + std::to_string(line + 1) + ": " + what;
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

inline std::size_t indentation(std::string_view line) { return line.find_first_not_of(' '); }

/// The path inside the quotes of an #include line; empty for any other line.
inline std::string_view quoted_include(std::string_view line) {
  constexpr std::string_view kStart = "#include \"";
  if (!line.starts_with(kStart)) return {};
  line.remove_prefix(kStart.size());
  return line.substr(0, line.find('"'));
}

/// Every .h and .cc file below the folders `roots` of the project, sorted by path.
inline std::vector<Source> read_sources(const std::vector<std::string>& roots) {
  std::vector<Source> files;
  for (const std::string& root : roots) {
    if (!std::filesystem::exists(kProject / root)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kProject / root)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".h" && extension != ".cc") continue;
      Source& file = files.emplace_back(
          Source{entry.path().lexically_relative(kProject).generic_string(), {}});
      std::ifstream stream(entry.path(), std::ios::binary);
      for (std::string line; std::getline(stream, line);) file.lines.push_back(line);
    }
  }
  std::ranges::sort(files, {}, &Source::path);
  return files;
}

inline std::string read_text(const std::string& name) {
  std::ifstream stream(kProject / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Applies a rule to every source below `roots` and reports each problem.
template <class Rule>
void expect_none(const std::vector<std::string>& roots, Rule rule) {
  const std::vector<Source> files = read_sources(roots);
  EXPECT_FALSE(files.empty());
  for (const Source& file : files)
    for (const std::string& problem : rule(file)) ADD_FAILURE() << problem;
}

/// The folders of src/, in order: a folder includes itself and the folders before it.
inline constexpr std::array<std::string_view, 19> kFolders = {
    "core/base",   "core/kernels", "core/tensor", "core/ops",   "core/nn",
    "core/model",  "core/tasks",   "core/train",  "lab/checks", "lab/results",
    "lab/layouts", "lab/data",     "lab/runs",    "lab/heads",  "lab/prune",
    "lab/studies", "lab/bench",    "app/report",  "app/cli"};

/// The index of a folder in this list; kFolders.size() if it is not there.
inline std::size_t rank(std::string_view folder) {
  return static_cast<std::size_t>(std::ranges::find(kFolders, folder) - kFolders.begin());
}

/// "lab/heads" of "src/lab/heads/scores/scores.cc"; empty for files that lie elsewhere.
inline std::string folder_of_source(std::string_view path) {
  constexpr std::string_view kRoot = "src/";
  if (!path.starts_with(kRoot)) return {};
  path.remove_prefix(kRoot.size());
  const std::size_t part = path.find('/');
  const std::size_t end = part == path.npos ? path.npos : path.find('/', part + 1);
  return end == path.npos ? std::string() : std::string(path.substr(0, end));
}

/// The folder of src/ that an included path belongs to: "headlab/lab/heads/causes/pairs.h" and
/// "lab/heads/paired.h" belong to lab/heads; "" if there is none.
inline std::string folder_of_include(std::string_view path) {
  constexpr std::string_view kPublic = "headlab/";
  if (path.starts_with(kPublic)) path.remove_prefix(kPublic.size());
  return folder_of_source("src/" + std::string(path));
}

/// The folder of src/ that a source or a public header belongs to; "" for headlab.h.
inline std::string folder_of(std::string_view path) {
  constexpr std::string_view kInclude = "include/";
  if (path.starts_with(kInclude)) return folder_of_include(path.substr(kInclude.size()));
  return folder_of_source(path);
}

}  // namespace headlab::structure
