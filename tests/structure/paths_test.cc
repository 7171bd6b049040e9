// Files and names that documents and comments refer to are there.
// Read next: tree_test.cc, the rules that hold for every file.
#include <map>
#include <regex>
#include <set>
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

/// What a caption tells to press, in bold, is a text of the page.
TEST(Readme, CaptionsOfPagesNameTheirButtons) {
  const std::string readme = read_text("README.md");
  std::string page;
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(kProject / "src/app/report/page")) {
    if (file.path().extension() == ".js") page += read_text(file.path());
  }
  static const std::regex button("\\*\\*([^*]+)\\*\\*");
  for (const char* picture : {"pictures/page.png)", "pictures/playground.png)"}) {
    const std::size_t begin = readme.find("\n*", readme.find(picture));
    const std::string caption = readme.substr(begin, readme.find("*\n", begin + 2) - begin);
    std::size_t buttons = 0;
    for (std::sregex_iterator at(caption.begin(), caption.end(), button), end; at != end; ++at) {
      EXPECT_TRUE(contains(page, "'" + (*at)[1].str() + "'")) << (*at)[1] << " of " << picture;
      ++buttons;
    }
    EXPECT_GT(buttons, 0u) << picture;
  }
}

/// The lines of each part of examples/nano.cc, from its heading "// ---- 2. ..." to the next.
std::map<std::string, int> parts_of_nano() {
  std::map<std::string, int> lines;
  std::string part;
  std::istringstream source(read_text("examples/nano.cc"));
  for (std::string line; std::getline(source, line);) {
    if (line.starts_with("// ---- ")) part = line.substr(8, line.find('.') - 8);
    if (line.starts_with("int main(")) break;
    ++lines[part];
  }
  return lines;
}

TEST(Readme, LessonsNamePartsOfNanoWithTheirLines) {
  if (!std::filesystem::exists(kProject / "examples")) GTEST_SKIP() << "no examples here";
  std::map<std::string, int> parts = parts_of_nano();
  const std::string text = read_text("src/app/report/page/lessons/lessons.html");
  static const std::regex named(R"(part (\d+) \((\d+) lines\))");
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), named), end; at != end; ++at) {
    EXPECT_EQ((*at)[2], std::to_string(parts[(*at)[1]])) << at->str();
    found.insert((*at)[1]);
  }
  EXPECT_EQ(found, (std::set<std::string>{"2", "5", "6", "7"}));
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

/// Returns the line before its comment.
std::string code_of(const std::string& line) {
  static const std::regex comment(R"re(^((?:[^"/]|/(?!/)|"(?:[^"\\]|\\.)*")*)//.*$)re");
  return std::regex_replace(line, comment, "$1");
}

/// Returns all words of the code, of its texts and of CMakeLists.txt.
std::set<std::string> words_of_code() {
  static const std::regex word(R"(\w+)");
  std::set<std::string> words;
  const auto add = [&](const std::string& line) {
    words.insert(std::sregex_token_iterator(line.begin(), line.end(), word), {});
  };
  for (const Source& file : read_sources({"src", "include"})) {
    for (const std::string& line : file.lines) add(code_of(line));
  }
  add(read_text("CMakeLists.txt"));
  return words;
}

/// Returns the identifiers in a comment, which are Name::part, kName, TwoWords, two_words, call()
/// and `quoted`. Names of files and symbols of formulas such as x_j are none.
std::vector<std::string> identifiers_in(const std::string& comment) {
  static const std::regex file(R"([\w/.-]*\w+\.(h|cc|json|jsonl|py|js)\b)");
  static const std::regex identifier(
      R"(\b([A-Z]\w*(::\w+)+|k[A-Z]\w+|(?!Mc)[A-Z][a-z]+([A-Z][a-z]+)+)"
      R"(|[a-z]{2,}(_[a-z0-9]{2,})+|\w+(?=\(\))|[A-Za-z_]\w+(?=`))\b)");
  static const std::regex word(R"(\w+)");
  const std::string text = std::regex_replace(comment, file, "");
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), identifier), end; at != end; ++at) {
    const std::string name = at->str();
    found.insert(found.end(), std::sregex_token_iterator(name.begin(), name.end(), word), {});
  }
  return found;
}

/// A reader searches for the name in a comment of a public header, and finds it in code.
TEST(Comments, NameIdentifiersThatExist) {
  const std::set<std::string> known = words_of_code();
  std::size_t names = 0;
  expect_none({"include"}, [&](const Source& file) {
    Problems problems;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      for (const std::string& name : identifiers_in(line.substr(code_of(line).size()))) {
        ++names;
        if (!known.contains(name)) problems.push_back(at(file, i, "no code has the name " + name));
      }
    }
    return problems;
  });
  EXPECT_GT(names, 300U) << "the comments have identifiers";
}

TEST(Comments, IdentifiersAreRecognised) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(identifiers_in("// as in HeadPattern::truth_of; add_truth and kMost"),
            (Names{"HeadPattern", "truth_of", "add_truth", "kMost"}));
  EXPECT_EQ(identifiers_in("// HeadEdits, call() and `truth`"),
            (Names{"HeadEdits", "call", "truth"}));
  EXPECT_EQ(identifiers_in("// y_j = x_j of W_OV, see score_table.h (McCalpin 1995), NaN"),
            Names{});
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
