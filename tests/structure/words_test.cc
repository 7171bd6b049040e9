// Words that the project does not use, and openings that no sentence has, because they put the
// relative clause before its noun. Comments, documents, golden files (help, errors, tables) and
// texts of the page and of messages are read; text in quotes or backquotes and code are left out.
// To forbid a word, add it to kWords; a legitimate use of one, to kAllowed.
#include <optional>
#include <regex>
#include <set>
#include <sstream>

#include "structure/rules.h"

namespace headlab::structure { namespace {

namespace fs = std::filesystem;

/// Words that ordinary English replaces.
const std::regex kWords(
    R"(\b(beside|behind|anew|but for|as far as|whoever|untold|nobody|in words|stands?|stood)\b)",
    std::regex::icase);

/// Ordinary uses of these words: "stands for" is the field's word for a symbol.
const std::regex kAllowed(R"(\bstands? for\b)");

/// Openings of sentences. A question may begin with "What", and "By default" is an adverb.
const std::regex kOpenings(R"(^(What|Of|That of|Those|By|Whose|Whoever)\b)");

/// A comment, paragraph or text of the program, and its first line.
struct Paragraph {
  std::size_t line = 0;
  std::string text{};
};

/// Kinds of files, by the place of their prose.
enum class Kind { slashes, hashes, document, golden };

std::optional<Kind> kind_of(const std::string& path) {
  static const std::set<std::string> with_slashes = {".h", ".cc", ".js", ".mjs"};
  static const std::set<std::string> with_hashes = {".py", ".sh", ".cmake", ".yml"};
  static const std::set<std::string> golden = {".txt", ".csv", ".tex", ".json", ".svg", ".1"};
  const std::string extension = fs::path(path).extension().string();
  if (contains(path, "/golden/")) {
    return golden.contains(extension) ? std::optional(Kind::golden) : std::nullopt;
  }
  if (with_slashes.contains(extension)) return Kind::slashes;
  if (with_hashes.contains(extension) || path == "CMakeLists.txt" || path == ".ci/run") {
    return Kind::hashes;
  }
  if (extension == ".md" || extension == ".html") return Kind::document;
  return std::nullopt;
}

/// Returns the text of a comment that fills its line; nothing for other lines.
std::optional<std::string> whole_comment(const std::string& line, Kind kind) {
  static const std::regex slashes(R"(^\s*///?<?(?: (.*))?$)"), hashes(R"(^\s*#(?: (.*))?$)");
  std::smatch found;
  if (!std::regex_match(line, found, kind == Kind::hashes ? hashes : slashes)) return {};
  return found[1].str();
}

/// Returns the text of a comment after code; nothing if the line has none.
std::optional<std::string> comment_after_code(const std::string& line, Kind kind) {
  const std::string mark = kind == Kind::hashes ? "  # " : "  // ";
  const std::size_t at = line.rfind(mark);
  if (at == line.npos) return {};
  return line.substr(at + mark.size());
}

/// Returns the texts in quotes of a line of code that hold several words. Scripts have three kinds
/// of quotes.
std::vector<std::string> messages_of(const std::string& line, bool is_script) {
  static const std::regex doubles(R"re("((?:[^"\\]|\\.)*)")re");
  static const std::regex any(R"re(["'`]((?:[^"'`\\]|\\.)*)["'`])re");
  const std::regex& quoted = is_script ? any : doubles;
  std::vector<std::string> all;
  for (std::sregex_iterator at(line.begin(), line.end(), quoted), end; at != end; ++at) {
    const std::string text = (*at)[1].str();
    if (contains(text, " ") && !contains(line, "#include")) all.push_back(text);
  }
  return all;
}

/// Returns the comments of a source. Comments on adjacent lines are one paragraph.
std::vector<Paragraph> comments_of(std::istream& lines, Kind kind) {
  std::vector<Paragraph> all;
  std::size_t number = 0;
  bool goes_on = false;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (const std::optional<std::string> whole = whole_comment(line, kind)) {
      if (!goes_on) all.push_back({number});
      all.back().text += *whole + " ";
      goes_on = true;
      continue;
    }
    goes_on = false;
    if (const std::optional<std::string> after = comment_after_code(line, kind)) {
      all.push_back({number, *after});
    }
  }
  return all;
}

/// Returns the messages in a source: help, errors, meanings of columns, texts of the page.
std::vector<Paragraph> messages_in(std::istream& lines, bool is_script) {
  std::vector<Paragraph> all;
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (whole_comment(line, Kind::slashes)) continue;
    for (const std::string& message : messages_of(line, is_script))
      all.push_back({number, message});
  }
  return all;
}

/// Returns the cells of a row of a table.
std::vector<std::string> cells_of(const std::string& row) {
  std::vector<std::string> cells;
  std::istringstream parts(row);
  for (std::string cell; std::getline(parts, cell, '|');) cells.push_back(cell);
  return cells;
}

/// Returns a line without the mark of a heading or of an item of a list.
std::string without_mark(const std::string& line) {
  static const std::regex mark(R"(^\s*([-*#]+|\d+\.)\s+)");
  return std::regex_replace(line, mark, "");
}

/// Returns the paragraphs of a document, without blocks of code. A cell of a table, an item of a
/// list and a heading are paragraphs of their own.
std::vector<Paragraph> paragraphs_of(std::istream& lines) {
  static const std::regex start(R"(^\s*([-*#]|\d+\.|<).*)");
  std::vector<Paragraph> all;
  std::size_t number = 0;
  bool goes_on = false, is_code = false;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with("```")) is_code = !is_code;
    if (is_code || line.empty() || line.starts_with("```") || line.starts_with("    ")) {
      goes_on = false;
      continue;
    }
    if (line.starts_with("|")) {
      for (const std::string& cell : cells_of(line)) all.push_back({number, cell});
      goes_on = false;
      continue;
    }
    if (!goes_on || std::regex_match(line, start)) all.push_back({number});
    all.back().text += without_mark(line) + " ";
    goes_on = true;
  }
  return all;
}

/// Returns each line of a golden file.
std::vector<Paragraph> lines_of(std::istream& lines) {
  std::vector<Paragraph> all;
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) all.push_back({++number, line});
  return all;
}

/// Returns the text without quoted parts, tags and marks of Markdown.
std::string without_quotes(const std::string& text) {
  static const std::regex quotes("`[^`]*`|\"[^\"]*\"|\\$\\{[^}]*\\}"), marks(R"(\*\*|<[^>]*>)");
  return std::regex_replace(std::regex_replace(text, quotes, "x"), marks, " ");
}

/// Returns the sentences of a text. A colon followed by a capital starts one too.
std::vector<std::string> sentences_of(const std::string& text) {
  static const std::regex sentence(R"(\s*([^\s].*?[.!?:](?=\s+[A-Zx`])|[^\s].*$))");
  std::vector<std::string> all;
  for (std::sregex_iterator at(text.begin(), text.end(), sentence), end; at != end; ++at) {
    all.push_back((*at)[1].str());
  }
  return all;
}

bool has_bad_opening(const std::string& sentence) {
  const std::size_t last = sentence.find_last_not_of(" ");
  const bool is_question = last != sentence.npos && sentence[last] == '?';
  return std::regex_search(sentence, kOpenings) && !is_question &&
         !sentence.starts_with("By default");
}

/// Returns the words and openings in a text that it should not have.
std::vector<std::string> faults_of(const std::string& text) {
  const std::string said = std::regex_replace(without_quotes(text), kAllowed, "");
  std::vector<std::string> faults;
  for (std::sregex_iterator at(said.begin(), said.end(), kWords), end; at != end; ++at) {
    faults.push_back("the word " + at->str());
  }
  for (const std::string& sentence : sentences_of(said)) {
    if (has_bad_opening(sentence)) faults.push_back("begins a sentence: " + sentence.substr(0, 60));
  }
  return faults;
}

/// The task `english` has sentences as data: its words, and the examples that `show` prints.
constexpr std::string_view kGrammar = "src/lab/data/english.cc";
constexpr std::string_view kSentences = "tests/cli/golden/show_english.txt";

/// Returns all prose of a file.
std::vector<Paragraph> prose_of(const std::string& path, Kind kind) {
  std::istringstream lines(read_text(path));
  if (kind == Kind::golden) return lines_of(lines);
  if (kind == Kind::document) return paragraphs_of(lines);
  std::vector<Paragraph> all = comments_of(lines, kind);
  const bool is_shown = path.starts_with("src/") || path.starts_with("include/");
  const bool has_messages = is_shown && path != kGrammar;
  if (has_messages) {
    std::istringstream again(lines.str());
    for (Paragraph& message : messages_in(again, path.ends_with(".js")))
      all.push_back(std::move(message));
  }
  return all;
}

/// Returns the files below a path of the project, or the path itself if it is a file.
std::vector<std::string> files_below(const std::string& path) {
  if (fs::is_regular_file(kProject / path)) return {path};
  std::vector<std::string> files;
  if (!fs::exists(kProject / path)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(kProject / path)) {
    const bool is_cache = contains(entry.path().generic_string(), "__pycache__");
    if (entry.is_regular_file() && !is_cache) {
      files.push_back(entry.path().lexically_relative(kProject).generic_string());
    }
  }
  std::ranges::sort(files);
  return files;
}

TEST(Words, ArePlainInCommentsDocumentsMessagesAndGoldenFiles) {
  std::size_t read = 0;
  for (const char* root : {"README.md", "CMakeLists.txt", ".cmake", ".ci", ".github", "datasets",
                           "examples", "include", "src", "tests"}) {
    for (const std::string& path : files_below(root)) {
      const std::optional<Kind> kind = kind_of(path);
      if (!kind || path == kSentences) continue;
      ++read;
      for (const Paragraph& paragraph : prose_of(path, *kind)) {
        for (const std::string& fault : faults_of(paragraph.text)) {
          ADD_FAILURE() << path << ":" << paragraph.line << ": " << fault;
        }
      }
    }
  }
  EXPECT_GT(read, 500u);
}

TEST(Words, ForbiddenWordsAndOpeningsAreFound) {
  const std::vector<std::string> word = {"the word beside"};
  EXPECT_EQ(faults_of("It lies beside it."), word);
  EXPECT_EQ(faults_of("Nothing is left. Nobody asks.").size(), 1u);
  EXPECT_EQ(faults_of("What is left.").size(), 1u);
  EXPECT_EQ(faults_of("The rest is gone. Of these, two stay.").size(), 1u);
  EXPECT_EQ(faults_of("A row: Those of the run.").size(), 1u);
}

TEST(Words, QuotesQuestionsAndAllowedUsesAreLeftOut) {
  EXPECT_TRUE(faults_of("A token `beside` another, and \"nobody\".").empty());
  EXPECT_TRUE(faults_of("What is left?").empty());
  EXPECT_TRUE(faults_of("By default the first run is used.").empty());
  EXPECT_TRUE(faults_of("A star stands for any number.").empty());
}

TEST(Words, AreReadAfterCodeInMessagesAndOutsideOfCodeBlocks) {
  std::istringstream code(
      "int a = 1;  "
      "// stands here\nfail(\"nobody can read it\");\n");
  EXPECT_EQ(comments_of(code, Kind::slashes).at(0).text, "stands here");
  std::istringstream same(code.str());
  EXPECT_EQ(messages_in(same, false).at(0).text, "nobody can read it");
  std::istringstream document("Text.\n\n```\nWhat stands here\n```\n- item\n- item\n");
  EXPECT_EQ(paragraphs_of(document).size(), 3u);
  std::istringstream row("| What is it? | Those. |\n");
  EXPECT_EQ(paragraphs_of(row).at(1).text, " What is it? ");
}

/// Openings of a test's name that leave its subject to be guessed.
const std::regex kRiddles(
    R"(^(Of|That|What|Whose|Who|Those|By|And)(?=[A-Z])|(Is|Are)Th(at|ose)Of)");

TEST(Words, NamesOfTestsSayWhatIsAsserted) {
  static const std::regex declared(R"(^\s*(?:TYPED_)?TEST(?:_[FP])?\((\w+), (\w+)\))");
  std::size_t read = 0;
  expect_none({"tests"}, [&](const Source& file) {
    Problems problems;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      std::smatch found;
      if (!std::regex_search(file.lines[i], found, declared)) continue;
      ++read;
      const std::string name = found[2].str();
      if (std::regex_search(name, kRiddles)) problems.push_back(at(file, i, "a riddle: " + name));
    }
    return problems;
  });
  EXPECT_GT(read, 1500u);
}

}  // namespace
}  // namespace headlab::structure
