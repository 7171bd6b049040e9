// Rules for the framework as a whole: its header, and its size.
// Read next: src/core/README.md; tree_test.cc, the rules that hold for every file.
#include <set>

#include "structure/rules.h"

namespace headlab::structure { namespace {

/// core.h includes the public headers of src/core, itself or through one of them, and no others.
TEST(Core, HeaderIncludesTheFrameworkAndNothingElse) {
  std::set<std::string> included;
  for (const Source& header : read_sources({"include/headlab"})) {
    const bool core = header.path == "include/headlab/core.h";
    if (!core && !folder_of(header.path).starts_with("core/")) continue;
    for (const std::string& line : header.lines)
      if (const std::string path(quoted_include(line)); !path.empty()) {
        included.insert(path);
        EXPECT_TRUE(folder_of_include(path).starts_with("core/")) << header.path << ": " << path;
      }
  }
  for (const Source& header : read_sources({"include/headlab"})) {
    if (folder_of(header.path).starts_with("core/")) {
      EXPECT_TRUE(included.contains(header.path.substr(8))) << header.path;
    }
  }
}

/// Lines that are neither blank nor only comment.
std::size_t lines_of_code(const Source& file) {
  std::size_t count = 0;
  for (const std::string& line : file.lines) {
    const std::size_t begin = indentation(line);
    if (begin != std::string::npos && !std::string_view(line).substr(begin).starts_with("//"))
      ++count;
  }
  return count;
}

/// The only budget: the framework must stay readable as a whole.
TEST(Core, HasAtMostTenThousandLinesOfCode) {
  constexpr std::size_t kMost = 10000;
  std::size_t lines = 0;
  for (const Source& file : read_sources({"src/core", "include/headlab"}))
    if (folder_of(file.path).starts_with("core/")) lines += lines_of_code(file);
  EXPECT_GT(lines, 5000u) << "src/core was not found";
  EXPECT_LE(lines, kMost) << "Move something that training does not need to the laboratory first. "
                             "Do not squeeze lines together, and do not raise kMost.";
}

}  // namespace
}  // namespace headlab::structure
