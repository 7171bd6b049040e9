// Rules for every source file of headlab: layers, lengths, parameters, opening comments,
// portability; and what may lie at the top level. Rules are functions from a file to the list of
// what is wrong with it. They see text only and rely on clang-format having laid it out (the brace
// that closes a function is indented like the line that began it), so none needs a parser. The
// layers are those of the README, in order: a layer includes itself and the layers before it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "structure/rules.h"

namespace headlab::structure { namespace {

/// The first of `words` in each line is a problem.
Problems find_words(const Source& file, const std::vector<std::string>& words,
                    const std::string& why) {
  Problems problems;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    for (const std::string& word : words)
      if (contains(file.lines[i], word)) problems.push_back(at(file, i, word + ": " + why));
  }
  return problems;
}

/// Whether a header is one of the two that include others and belong to no folder.
bool is_union(std::string_view path) {
  return path.ends_with("headlab/headlab.h") || path.ends_with("headlab/core.h");
}

/// Includes in quotes name "headlab/LAYER/..." or a path inside a folder, and no folder further
/// down the list: the framework includes nothing of the laboratory, and neither includes the
/// program.
Problems check_layers(const Source& file) {
  const std::string own = folder_of(file.path);
  if (is_union(file.path)) return {};
  Problems problems;
  if (rank(own) == kFolders.size()) problems.push_back(at(file, 0, "belongs to no folder of src"));
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const std::string path(quoted_include(file.lines[i]));
    if (path.empty() || (path == "headlab/headlab.h" && own == "app/cli")) continue;
    const std::string other = folder_of_include(path);
    if (rank(other) == kFolders.size())
      problems.push_back(at(file, i, "\"" + path + "\" belongs to no folder of src"));
    else if (rank(other) > rank(own))
      problems.push_back(at(file, i, own + " includes " + other + ", a folder further down"));
  }
  return problems;
}

/// At most `limit` lines.
Problems check_length(const Source& file, std::size_t limit) {
  if (file.lines.size() <= limit) return {};
  return {at(file, limit,
             "has " + std::to_string(file.lines.size()) + " lines; the limit is " +
                 std::to_string(limit))};
}

/// A comment of 3 to 12 lines opens the file; in a header, #pragma once follows it.
Problems check_opening(const Source& file) {
  std::size_t count = 0;
  while (count < file.lines.size() && file.lines[count].starts_with("//")) ++count;
  Problems problems;
  if (count < 3 || count > 12) {
    problems.push_back(
        at(file, 0, "opens with " + std::to_string(count) + " lines of comment instead of 3-12"));
  }
  const bool header = file.path.ends_with(".h");
  if (header && (count == file.lines.size() || file.lines[count] != "#pragma once"))
    problems.push_back(at(file, count, "#pragma once does not follow the opening comment"));
  return problems;
}

constexpr std::size_t kLongest = 40;    // lines of a function
constexpr std::size_t kParameters = 5;  // of a function

/// Whether a line that ends in a brace opens the body of a function: it closes a list of parameters
/// and is no loop or condition.
bool opens_function(const std::string& line) {
  if (!line.ends_with("{") || !contains(line, ")")) return false;
  const std::string_view text = std::string_view(line).substr(indentation(line));
  constexpr std::array<std::string_view, 6> kOthers = {"if ",     "for ", "while ",
                                                       "switch ", "} ",   "do "};
  return std::ranges::none_of(kOthers,
                              [&](std::string_view word) { return text.starts_with(word); });
}

/// Whether a line closes what a line indented by `outer` has opened.
bool closes(std::string_view line, std::size_t outer) {
  const std::size_t inner = indentation(line);
  return inner <= outer && line[inner] == '}';
}

/// The parts of a list in parentheses, cut at the commas that are in no bracket of their own.
std::vector<std::string> split_list(std::string_view list) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : list) {
    depth += (c == '(' || c == '<' || c == '{' || c == '[') -
             (c == ')' || c == '>' || c == '}' || c == ']');
    if (c == ',' && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

/// Whether a part of such a list declares a parameter, "const Tensor& x" or "Index n = 0", and is
/// no expression.
bool declares(const std::string& part) {
  static const std::regex kParameter(
      R"(\s*(const )?[A-Za-z_][\w:]*(<.*>)?(\s+const)?[\s&*.]+[A-Za-z_]\w*(\[\w*\])?(\s*=[^=].*)?\s*)");
  return std::regex_match(part, kParameter) && !part.starts_with("return ");
}

/// Functions, members and closures included, are shorter than 40 lines, from their name to the
/// closing brace.
Problems check_functions(const Source& file) {
  Problems problems;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    if (!opens_function(file.lines[i])) continue;
    const bool closure = contains(file.lines[i], "](");
    std::size_t start = i;  // where the declaration begins: continued lines are indented further
    while (!closure && start > 0 && indentation(file.lines[start - 1]) != std::string::npos &&
           indentation(file.lines[start]) >= indentation(file.lines[start - 1]) + 4)
      --start;
    const std::size_t outer = indentation(file.lines[start]);
    std::size_t end = i + 1;
    while (end < file.lines.size() && !closes(file.lines[end], outer)) ++end;
    if (const std::size_t lines = end - start + 1; lines >= kLongest && end < file.lines.size())
      problems.push_back(at(file, start,
                            "a function of " + std::to_string(lines) +
                                " lines; they are shorter than " + std::to_string(kLongest)));
  }
  return problems;
}

/// Functions have at most 5 parameters.
Problems check_parameters(const Source& file) {
  std::string text;
  std::vector<std::size_t> line_of;  // by character
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const std::string code = file.lines[i].substr(0, file.lines[i].find("//")) + " ";
    text += code;
    line_of.insert(line_of.end(), code.size(), i);
  }
  Problems problems;
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') open.push_back(i);
    if (text[i] != ')' || open.empty()) continue;
    const std::size_t begin = open.back() + 1;
    open.pop_back();
    const auto parts = split_list(std::string_view(text).substr(begin, i - begin));
    if (parts.size() > kParameters && std::ranges::all_of(parts, declares))
      problems.push_back(at(file, line_of[begin],
                            "a function of " + std::to_string(parts.size()) + " parameters; " +
                                std::to_string(kParameters) + " are the most: use a struct"));
  }
  return problems;
}

/// Models run below report, which shows what they did.
Problems check_reports(const Source& file) {
  if (!file.path.starts_with("src/app/report/")) return {};
  return find_words(file, {".forward(", "evaluate(", "score_heads(", "Activations ", "make_batch("},
                    "what is shown was computed by a lower layer");
}

/// Threads are started in src/core/base/threads.cc alone: everything else calls parallel_for.
Problems check_threads(const Source& file) {
  if (file.path.starts_with("src/core/base/threads")) return {};
  return find_words(file, {"#pragma omp", "<omp.h>", "<thread>", "std::thread", "std::jthread"},
                    "only src/core/base/threads.cc starts threads");
}

/// Installed headers hold no vector types and no tests of the instruction set.
Problems check_portable(const Source& file) {
  if (!file.path.starts_with("include/")) return {};
  return find_words(file, {"vector_size", "immintrin", "__AVX", "__SSE", "__ARM_"},
                    "an installed header depends on the instruction set");
}

/// No note of something left to do.
Problems check_finished(const Source& file) {
  const std::string to("TO");  // so that this file does not match itself
  return find_words(file, {to + "DO", "FIX" + std::string("ME")}, "something is left to do");
}

TEST(Project, IncludesOnlyUpwards) { expect_none({"src", "include"}, check_layers); }

TEST(Project, HasFilesOfAtMostFourHundredLines) {
  expect_none({"src", "include", "tests"},
              [](const Source& file) { return check_length(file, 400); });
}

TEST(Project, HasExamplesUnderEightyLines) {
  if (!std::filesystem::exists(kProject / "examples")) GTEST_SKIP() << "no examples here";
  // nano.cc is a framework, a task and a laboratory by itself.
  expect_none({"examples"}, [](const Source& file) {
    return check_length(file, file.path == "examples/nano.cc" ? 400 : 79);
  });
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
  const std::vector<Source> headers = read_sources({"include/headlab"});
  for (const Source& header : headers)
    for (const std::string& line : header.lines)
      if (line.starts_with("#include \""))
        included.insert(line.substr(10, line.find('"', 10) - 10));
  for (const Source& header : headers) {
    const std::string name = header.path.substr(8);  // after include/
    EXPECT_TRUE(included.contains(name) || name.starts_with("headlab/app/cli/")) << name;
  }
}

/// The path of the first include in quotes; empty if there is none.
std::string_view first_include(const Source& file) {
  for (const std::string& line : file.lines) {
    const std::string_view path = quoted_include(line);
    if (!path.empty()) return path;
  }
  return {};
}

/// src/LAYER/NAME.cc includes its own header first, and the path of that header ends in
/// LAYER/NAME.h, so that a header tells where its source is.
TEST(Project, MirrorsSourcesInPublicHeaders) {
  int headers = 0;
  for (const Source& source : read_sources({"src"})) {
    const std::string_view first = first_include(source);
    const std::filesystem::path path(source.path);
    const bool own = std::filesystem::path(first).stem() == path.stem();
    if (!source.path.ends_with(".cc") || !own || !first.starts_with("headlab/")) continue;
    const std::string layer = path.parent_path().generic_string().substr(4);  // after src/
    const std::string mirrored = "headlab/" + layer + "/" + path.stem().string() + ".h";
    // src/lab/data/text.cc, which has no header, includes that of src/core/base/text.cc.
    if (source.path == "src/lab/data/text.cc") continue;
    EXPECT_EQ(first, mirrored) << source.path;
    ++headers;
  }
  EXPECT_GT(headers, 60);
}

TEST(Project, StartsThreadsInOnePlace) { expect_none({"src", "include"}, check_threads); }

TEST(Project, ReportsWithoutRunningModels) { expect_none({"src"}, check_reports); }

TEST(Project, InstallsPortableHeaders) { expect_none({"include"}, check_portable); }

TEST(Project, LeavesNothingToDo) {
  expect_none({"src", "include", "tests", "examples"}, check_finished);
}

/// A SetUp() that skips a test cannot end the SetUp() of a class derived from it, which then runs
/// without what the first one made. It must be final: derived fixtures get a function of their own.
Problems check_skipping_setup(const Source& file) {
  Problems problems;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const std::string& begin = file.lines[i];
    if (!contains(begin, "void SetUp()") || contains(begin, "final")) continue;
    const std::string end = std::string(indentation(begin), ' ') + "}";
    for (std::size_t j = i; j < file.lines.size() && file.lines[j] != end; ++j) {
      if (contains(file.lines[j], "GTEST_SKIP")) problems.push_back(at(file, i, "must be final"));
    }
  }
  return problems;
}

TEST(Project, HasFixturesThatSkipForTheWholeFamily) {
  expect_none({"tests"}, check_skipping_setup);
}

/// Editors and checkers read it; a build in few large files would hide the sources from them.
TEST(Project, NamesEverySourceInItsCompileCommands) {
  const auto file =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "compile_commands.json";
  std::ifstream in(file);
  if (!in) GTEST_SKIP() << "this generator writes none";
  const std::string all(std::istreambuf_iterator<char>(in), {});
  for (const Source& source : read_sources({"src", "tests", "examples"})) {
    if (!source.path.ends_with(".cc") || source.path.starts_with("tests/tools/")) continue;
    EXPECT_TRUE(contains(all, "/" + source.path + "\"")) << source.path;
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
