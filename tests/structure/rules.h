// Shared by the tests of this folder: files as lists of lines, and the folder of src/ that a file
// belongs to. Read next: tree_test.cc, the rules that hold for every file. Paths are relative to
// the project and use slashes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
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
inline constexpr std::array<std::string_view, 18> kFolders = {
    "core/base",  "core/kernels", "core/tensor", "core/ops",    "core/nn",    "core/model",
    "core/tasks", "core/train",   "lab/results", "lab/layouts", "lab/data",   "lab/runs",
    "lab/heads",  "lab/prune",    "lab/studies", "lab/bench",   "app/report", "app/cli"};

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

/// The first path that a file includes in quotes; "" if there is none.
inline std::string first_include(const std::filesystem::path& file) {
  constexpr std::string_view kStart = "#include \"";
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(kStart)) continue;
    return line.substr(kStart.size(), line.find('"', kStart.size()) - kStart.size());
  }
  return {};
}

/// The folder of each public header that has a source of its own: the source has the same name and
/// includes the header first.
inline std::map<std::string, std::string> folders_of_headers() {
  std::map<std::string, std::string> folders;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kProject / "src")) {
    if (entry.path().extension() != ".cc") continue;
    const std::string header = first_include(entry.path());
    const bool own = std::filesystem::path(header).stem() == entry.path().stem();
    if (!own || !header.starts_with("headlab/")) continue;
    const std::string path = entry.path().lexically_relative(kProject).generic_string();
    // src/core/tasks/text.cc, which has no header, includes headlab/base/text.h.
    const std::string folder = folder_of_source(path);
    const std::string layer = header.substr(8, header.find('/', 8) - 8);
    if (folder.ends_with("/" + layer) || !folders.contains(header)) folders[header] = folder;
  }
  return folders;
}

/// The folder of src/ that an included path belongs to: "headlab/LAYER/name.h" to that of its
/// source or, if it has none, to the folder of its layer's name; "" if there is none.
inline std::string folder_of_include(const std::string& path) {
  static const std::map<std::string, std::string> headers = folders_of_headers();
  if (const auto found = headers.find(path); found != headers.end()) return found->second;
  const bool is_public = path.starts_with("headlab/");
  const std::string inner = is_public ? path.substr(8) : path;
  std::string layer = inner.substr(0, inner.find('/'));
  if (is_public && layer == "lab") layer = "studies";
  for (const std::string_view folder : kFolders)
    if (folder.ends_with("/" + layer)) return std::string(folder);
  return {};
}

/// The folder of src/ that a source or a public header belongs to; "" for headlab.h.
inline std::string folder_of(const std::string& path) {
  if (path.starts_with("include/")) return folder_of_include(path.substr(8));
  return folder_of_source(path);
}

}  // namespace headlab::structure
