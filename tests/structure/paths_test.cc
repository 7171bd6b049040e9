// Files and names that documents and comments refer to are there.
// Read next: tree_test.cc, the rules that hold for every file.
#include <regex>
#include <sstream>

#include "structure/rules.h"

namespace headlab::structure { namespace {

/// Problems for each path in `text`, "src/core/nn/layers.cc", that names no file of the project.
Problems missing_paths(const std::string& name, const std::string& text) {
  static const std::regex path(
      "\\b(src|include|examples|tests|datasets)/[A-Za-z0-9_./-]*[A-Za-z0-9_]");
  Problems problems;
  for (std::sregex_iterator at(text.begin(), text.end(), path), end; at != end; ++at) {
    if (at->position() > 0 && text[static_cast<std::size_t>(at->position()) - 1] == '/') continue;
    const bool pattern = contains(at->str(), "NAME") || contains(at->str(), "LAYER");
    const bool made = contains(text, "New file `" + at->str());  // by a recipe
    if (!pattern && !made && !std::filesystem::exists(kProject / at->str()))
      problems.push_back(name + ": there is no " + at->str());
  }
  return problems;
}

/// A reader who follows a path, or an arrow of an example, finds a file.
TEST(Readme, DocumentsNameExistingFiles) {
  for (const char* name :
       {"README.md", "src/README.md", "src/core/README.md", "src/lab/README.md",
        "src/app/README.md", "src/RECIPES.md", "tests/README.md", "examples/RESULTS.md"}) {
    const std::string text = read_text(name);
    EXPECT_FALSE(text.empty()) << name;
    for (const std::string& problem : missing_paths(name, text)) ADD_FAILURE() << problem;
  }
}

TEST(Comments, NameFilesThatAreThere) {
  expect_none({"src", "include", "tests", "examples"}, [](const Source& file) {
    std::string comments;
    for (const std::string& line : file.lines)
      if (const std::size_t begin = line.find("//"); begin != std::string::npos)
        comments += line.substr(begin) + "\n";
    return missing_paths(file.path, comments);
  });
}

/// "Suite.Name" of every test in the sources, one in a line.
std::string names_of_tests() {
  static const std::regex declared(R"(\bTEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\))");
  std::string names = "\n";
  for (const Source& file : read_sources({"tests"})) {
    for (const std::string& line : file.lines) {
      std::smatch found;
      if (std::regex_search(line, found, declared)) {
        names += found.str(1) + "." + found.str(2) + "\n";
      }
    }
  }
  return names;
}

/// A filter that matches no test passes and shows nothing.
TEST(Readme, FiltersInDocumentsMatchTests) {
  static const std::regex filter("gtest_filter='([A-Za-z.*:]+)'");
  static const std::regex part(R"((\w+\.\w*)\*?)");
  const std::string names = names_of_tests();
  int filters = 0;
  for (const char* document : {"README.md", "src/RECIPES.md", "examples/RESULTS.md",
                               ".github/CONTRIBUTING.md", ".ci/run"}) {
    const std::string text = read_text(document);
    for (std::sregex_iterator at(text.begin(), text.end(), filter), end; at != end; ++at) {
      const std::string shown = (*at)[1];
      for (std::sregex_iterator one(shown.begin(), shown.end(), part); one != end; ++one) {
        EXPECT_TRUE(contains(names, "\n" + (*one)[1].str())) << document << ": " << one->str();
        ++filters;
      }
    }
  }
  EXPECT_GE(filters, 5);
}

/// "| 10 | `src/core/nn/attention.cc`, `head_outputs` | ...": the file holds the name.
TEST(Readme, SourceReadmeNamesIdentifiersOfItsFiles) {
  const std::regex quoted("`([^`]+)`");
  std::istringstream lines(read_text("src/README.md"));
  int names = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!std::regex_search(line, std::regex("^\\| [0-9]+ \\|"))) continue;
    std::string file;
    for (std::sregex_iterator at(line.begin(), line.end(), quoted), end; at != end; ++at) {
      const std::string said = (*at)[1];
      if (contains(said, "/")) {
        file = read_text(said);
      } else {
        EXPECT_TRUE(contains(file, said + "(") || contains(file, said + " {")) << line;
        ++names;
      }
    }
  }
  EXPECT_GT(names, 5);
}

}  // namespace
}  // namespace headlab::structure
