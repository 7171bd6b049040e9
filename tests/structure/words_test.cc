// Words that the project does not use, and openings that no sentence of a comment has, since they
// put the relative clause before its noun. Comments, documents, help and the page's texts are read;
// text in quotes or backquotes and code are left out.
#include <optional>
#include <regex>
#include <set>
#include <sstream>

#include "structure/rules.h"

namespace headlab::structure { namespace {

/// A comment or paragraph, and its first line.
struct Paragraph {
  std::size_t line = 0;
  std::string text{};
};

std::string extension_of(const std::string& path) {
  return std::filesystem::path(path).extension().string();
}

bool is_document(const std::string& path) {
  const std::string extension = extension_of(path);
  return extension == ".md" || extension == ".html" || extension == ".txt" || extension == ".1";
}

/// Returns the text of a line that is a comment and nothing else; nothing for other lines.
std::optional<std::string> comment_of(const std::string& line, const std::string& path) {
  const bool has_hashes = extension_of(path) == ".py" || extension_of(path) == ".sh";
  static const std::regex slashes(R"(^\s*///?(?: (.*))?$)"), hashes(R"(^\s*#(?: (.*))?$)");
  std::smatch found;
  if (!std::regex_match(line, found, has_hashes ? hashes : slashes)) return {};
  return found[1].str();
}

/// Returns the comments of a source, or the paragraphs of a document.
std::vector<Paragraph> paragraphs_of(const std::string& path) {
  std::vector<Paragraph> all;
  std::istringstream lines(read_text(path));
  std::size_t number = 0;
  bool goes_on = false;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::optional<std::string> said = comment_of(line, path);
    if (is_document(path) && !line.empty()) said = line;
    if (!said) {
      goes_on = false;
      continue;
    }
    if (!goes_on) all.push_back({number});
    all.back().text += *said + " ";
    goes_on = true;
  }
  return all;
}

/// Returns the text without what stands in quotes or backquotes.
std::string without_quotes(const std::string& said) {
  static const std::regex quotes("`[^`]*`|\"[^\"]*\"");
  return std::regex_replace(said, quotes, "");
}

/// Returns the words and openings in a text that it should not have.
std::vector<std::string> faults_of(const Paragraph& paragraph, bool is_comment) {
  static const std::regex words(R"(\b(beside|anew|but for|as far as|whoever|untold|nobody)\b)",
                                std::regex::icase);
  static const std::regex openings(R"(^\s*(What|Of|That of|Those|By|Whoever) .*)");
  const std::string said = without_quotes(paragraph.text);
  std::vector<std::string> faults;
  for (std::sregex_iterator at(said.begin(), said.end(), words), end; at != end; ++at) {
    faults.push_back(at->str());
  }
  std::smatch opening;
  if (is_comment && std::regex_match(said, opening, openings)) {
    faults.push_back("a comment that begins with " + opening[1].str());
  }
  return faults;
}

bool is_read(const std::filesystem::path& path) {
  const std::string name = path.lexically_relative(kProject).generic_string();
  if (name.find("golden/") != name.npos) {  // of these, help: others hold data and tables
    return name.find("cli/golden/help") != name.npos || name.ends_with(".1");
  }
  if (name.ends_with("words_test.cc") || name.find("_corpus") != name.npos) return false;
  static const std::set<std::string> kinds = {".h",   ".cc", ".md", ".html", ".js",
                                              ".mjs", ".py", ".sh", ".1"};
  return kinds.contains(path.extension().string());
}

/// Reports each fault of the files below a folder.
void expect_plain(const std::string& folder) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kProject / folder)) {
    if (!entry.is_regular_file() || !is_read(entry.path())) continue;
    const std::string path = entry.path().lexically_relative(kProject).generic_string();
    for (const Paragraph& paragraph : paragraphs_of(path)) {
      for (const std::string& fault : faults_of(paragraph, !is_document(path))) {
        ADD_FAILURE() << path << ":" << paragraph.line << ": " << fault;
      }
    }
  }
}

TEST(Words, ArePlainInCommentsDocumentsHelpAndPages) {
  for (const char* folder : {"src", "include", "examples", "tests"}) {
    if (std::filesystem::exists(kProject / folder)) expect_plain(folder);
  }
}

TEST(Words, OfTextsInQuotesAreLeftOut) {
  EXPECT_TRUE(faults_of({1, "A token `beside` another, and \"nobody\"."}, true).empty());
  EXPECT_EQ(faults_of({1, "It lies beside it."}, true), std::vector<std::string>{"beside"});
  EXPECT_EQ(faults_of({1, "What is left."}, true).size(), 1u);
  EXPECT_TRUE(faults_of({1, "What is left?"}, false).empty());
}

}  // namespace
}  // namespace headlab::structure
