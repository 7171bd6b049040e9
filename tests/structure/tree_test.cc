// The rules of rules.h, applied to the project that these tests were built from: layers, lengths,
// parameters, opening comments, portability, and what may lie at the top level. Read next:
// budget_test.cc, how large each part may be.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "structure/rules.h"

namespace headlab::structure { namespace {

const std::filesystem::path kProject = HEADLAB_SOURCE_DIR;

/// Applies a rule to every source below `roots` and reports each problem.
template <class Rule>
void expect_none(const std::vector<std::string>& roots, Rule rule) {
  const std::vector<Source> files = read_sources(kProject, roots);
  EXPECT_FALSE(files.empty());
  for (const Source& file : files)
    for (const std::string& problem : rule(file)) ADD_FAILURE() << problem;
}

TEST(Project, IncludesOnlyUpwards) { expect_none({"src", "include"}, check_layers); }

TEST(Project, HasFilesOfAtMostFourHundredLines) {
  expect_none({"src", "include", "tests"},
              [](const Source& file) { return check_length(file, 400); });
}

TEST(Project, HasExamplesUnderEightyLines) {
  if (!std::filesystem::exists(kProject / "examples")) GTEST_SKIP() << "no examples here";
  expect_none({"examples"}, [](const Source& file) { return check_length(file, 79); });
}

TEST(Project, OpensEveryFileWithAComment) { expect_none({"src", "include"}, check_opening); }

TEST(Project, HasFunctionsUnderFortyLines) {
  expect_none({"src", "include", "examples"}, check_functions);
}

TEST(Project, HasFunctionsOfAtMostFiveParameters) {
  expect_none({"src", "include", "examples"}, check_parameters);
}

/// The headers of the program are its own.
TEST(Project, IncludesEveryPublicHeader) {
  std::set<std::string> included = {"headlab/headlab.h"};
  const std::vector<Source> headers = read_sources(kProject, {"include/headlab"});
  for (const Source& header : headers)
    for (const std::string& line : header.lines)
      if (line.starts_with("#include \""))
        included.insert(line.substr(10, line.find('"', 10) - 10));
  for (const Source& header : headers) {
    const std::string name = header.path.substr(8);  // after include/
    EXPECT_TRUE(included.contains(name) || name.starts_with("headlab/cli/")) << name;
  }
}

TEST(Project, StartsThreadsInOnePlace) { expect_none({"src", "include"}, check_threads); }

TEST(Project, InstallsPortableHeaders) { expect_none({"include"}, check_portable); }

TEST(Project, LeavesNothingToDo) {
  expect_none({"src", "include", "tests", "examples"}, check_finished);
}

std::string read_text(const std::string& name) {
  std::ifstream stream(kProject / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(Readme, Ends) {
  const std::string readme = read_text("README.md");
  const auto count = [&](const char* what) {
    const std::regex pattern(what);
    return std::distance(std::sregex_iterator(readme.begin(), readme.end(), pattern), {});
  };
  EXPECT_LE(count("\n"), 200) << "lines";
  EXPECT_LE(count("\\S+"), 2000) << "words";
  EXPECT_LE(count("[0-9]+([.,][0-9]+)*"), 75) << "numbers";
  EXPECT_EQ(count("[^\n]{101}"), 0) << "lines of more than 100 columns";
}

/// A reader who follows a path, or an arrow of an example, finds a file.
TEST(Readme, AndItsCompanionsNameFilesThatAreThere) {
  const std::regex path("(src|include|examples|tests|datasets)/[A-Za-z0-9_./-]*[A-Za-z0-9_]");
  for (const char* name : {"README.md", "src/README.md", "tests/README.md", "examples/RESULTS.md",
                           "examples/one_page.cc", "include/headlab/headlab.h"}) {
    const std::string text = read_text(name);
    EXPECT_FALSE(text.empty()) << name;
    for (std::sregex_iterator at(text.begin(), text.end(), path), end; at != end; ++at) {
      const bool made = text.find("New file `" + at->str()) != text.npos;  // by a recipe
      EXPECT_TRUE(made || std::filesystem::exists(kProject / at->str()))
          << name << ": " << at->str();
    }
  }
}

TEST(Project, KeepsItsTopLevelShort) {
  const std::set<std::string> allowed = {"src",   "include",        "examples", "datasets",
                                         "tests", "CMakeLists.txt", "README.md"};
  const std::set<std::string> made = {"runs", "compile_commands.json"};  // git ignores them
  for (const auto& entry : std::filesystem::directory_iterator(kProject)) {
    const std::string name = entry.path().filename().string();
    const bool ignored = name.starts_with(".") || name.starts_with("build") || made.contains(name);
    EXPECT_TRUE(ignored || allowed.contains(name)) << name << " does not belong at the top level";
  }
}

}  // namespace
}  // namespace headlab::structure
