// Messages of errors. Each says what could not be done and why, in one of the forms that
// headlab/core/base/error.h lists. The sources are read, not run: the text of a message is the text
// in the quotes of the call that makes it. To let another file give reasons alone, add it to
// kReaders with the file whose in_context() says what could not be done.
#include <optional>
#include <regex>

#include "structure/rules.h"

namespace headlab::structure { namespace {

/// Calls that make an error. The message of require() follows a condition.
const std::regex kCalls(R"(\b(require|[A-Za-z]*Error|NotFinite|RunBusy|FolderTaken|MissingRun)\()");

/// Forms of a message: "cannot X: reason", a check of one value, a name that does not exist.
const std::regex kForms(R"(\bcannot\b|\bmust\b|\bneeds?\b|\bexpected\b|\bno .* found in '|)"
                        R"(^(unknown|missing|unexpected) )");

/// Files that read a part of something and give reasons alone, and a file that calls them, with
/// what it says.
struct Reader {
  std::string_view part;
  std::string_view caller;
  std::string_view context;
};

constexpr Reader kReaders[] = {
    {"src/core/base/json.cc", "src/lab/studies/sweep.cc", "cannot read "},
    {"src/core/base/safetensors.cc", "src/core/base/safetensors.cc",
     "cannot read the tensors of '"},
    {"src/core/base/stored_tensor.cc", "src/core/base/safetensors.cc",
     "cannot read the tensors of '"},
    {"src/core/tasks/", "src/core/tasks/table.cc", "cannot make the task "},
    {"src/lab/data/", "src/core/tasks/table.cc", "cannot make the task "},
    {"src/lab/heads/scores/stored_", "src/lab/heads/scores/stored_input.cc", "cannot read "},
    {"src/lab/layouts/", "src/lab/layouts/layouts.cc", "cannot import "},
    {"src/lab/results/npy_read.cc", "src/lab/data/tokens.cc", "cannot read "},
    {"src/lab/results/npz.cc", "src/lab/results/npz.cc", "cannot write "},
    {"src/lab/results/little_endian.h", "src/lab/data/tokens.cc", "cannot read "},
    {"src/lab/results/table.cc", "src/app/report/page_history.cc", "cannot read "},
    {"src/lab/runs/run_logs.cc", "src/lab/runs/run_logs.cc", "cannot read "},
    {"src/lab/runs/snapshots.cc", "src/lab/runs/snapshots.cc", "cannot read "},
};

const Reader* reader_of(std::string_view path) {
  const auto found = std::ranges::find_if(kReaders, [&](const Reader& reader) {
    return path.starts_with(reader.part);
  });
  return found == std::end(kReaders) ? nullptr : found;
}

/// Returns the code without comments. Line breaks stay.
std::string without_comments(const Source& file) {
  static const std::regex comment(R"re(^((?:[^"/]|/(?!/)|"(?:[^"\\]|\\.)*")*)//.*$)re");
  std::string code;
  for (const std::string& line : file.lines) code += std::regex_replace(line, comment, "$1") + "\n";
  return code;
}

/// Returns the position after the text in quotes that begins at `at`.
std::size_t after_quotes(std::string_view code, std::size_t at) {
  const char quote = code[at++];
  while (at < code.size() && code[at] != quote) at += code[at] == '\\' ? 2 : 1;
  return at + 1;
}

/// Returns whether a text in quotes begins at `at`: 1'000 has none.
bool begins_quotes(std::string_view code, std::size_t at) {
  if (code[at] == '"') return true;
  return code[at] == '\'' && at > 0 && std::isalnum(static_cast<unsigned char>(code[at - 1])) == 0;
}

/// Returns the arguments of the call whose parenthesis opens before `at`.
std::vector<std::string> arguments_of(std::string_view code, std::size_t at) {
  std::vector<std::string> all(1);
  int depth = 0;
  while (at < code.size()) {
    const std::size_t begin = at;
    const char c = code[at];
    at = begins_quotes(code, at) ? after_quotes(code, at) : at + 1;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (depth < 0) return all;
    if (c == ',' && depth == 0) {
      all.emplace_back();
    } else {
      all.back() += code.substr(begin, at - begin);
    }
  }
  return {};
}

/// Returns the text in the quotes of an argument, with "x" for each value between two of them.
std::string words_in(const std::string& argument) {
  std::string words;
  std::string_view code = argument;
  for (std::size_t at = 0; at < code.size();) {
    if (!begins_quotes(code, at)) {
      if (code[at++] == ',' && !words.ends_with("x")) words += "x";
      continue;
    }
    const std::size_t end = after_quotes(code, at);
    words += code.substr(at + 1, end - at - 2);
    at = end;
  }
  return words;
}

/// Returns the message of a call; nothing if it repeats another error's or has no words.
std::optional<std::string> message_of(const std::string& call,
                                      const std::vector<std::string>& arguments) {
  std::string said;
  const bool has_condition = call == "require";
  for (std::size_t i = has_condition ? 1 : 0; i < arguments.size(); ++i) {
    if (!has_condition && i > 0) break;  // the hint
    if (contains(arguments[i], "what()")) return {};
    said += words_in(arguments[i]);
    if (has_condition && i + 1 < arguments.size()) said += "x";
  }
  const bool has_words = contains(said, " ");
  return has_words ? std::optional(said) : std::nullopt;
}

bool has_form(const std::string& message) { return std::regex_search(message, kForms); }

/// A message, and the line of the call that makes it.
struct Message {
  std::size_t line = 0;
  std::string text;
};

std::vector<Message> messages_of(const Source& file) {
  std::vector<Message> all;
  const std::string code = without_comments(file);
  for (std::sregex_iterator at(code.begin(), code.end(), kCalls), end; at != end; ++at) {
    const auto begin = static_cast<std::size_t>(at->position() + at->length());
    const auto message = message_of((*at)[1].str(), arguments_of(code, begin));
    const auto line = std::count(code.begin(), code.begin() + at->position(), '\n');
    if (message) all.push_back({static_cast<std::size_t>(line), *message});
  }
  return all;
}

TEST(Messages, SayWhatCouldNotBeDone) {
  std::size_t read = 0;
  expect_none({"src", "include"}, [&](const Source& file) {
    Problems problems;
    for (const Message& message : messages_of(file)) {
      ++read;
      if (has_form(message.text) || reader_of(file.path) != nullptr) continue;
      problems.push_back(at(file, message.line, "no form of a message: " + message.text));
    }
    return problems;
  });
  EXPECT_GT(read, 400u);
}

TEST(Messages, CallersOfReadersSayWhatCouldNotBeDone) {
  for (const Reader& reader : kReaders) {
    const std::string caller = read_text(std::string(reader.caller));
    EXPECT_TRUE(contains(caller, "\"" + std::string(reader.context))) << reader.part;
  }
}

TEST(Messages, AreFoundInCallsAndTheirFormsAreRecognised) {
  const Source file{"src/a.cc",
                    {"require(a < b, \"it has \", a, \" rows (of \", f(b), \")\");  // \"none\"",
                     "throw Error(text(\"cannot read \", name, \": no\"),", "  \"use another\");",
                     "throw Error(text(name, \": \", error.what()));"}};
  const std::vector<Message> found = messages_of(file);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_FALSE(has_form(found[0].text)) << found[0].text;
  EXPECT_EQ(found[1].text, "cannot read x: no");
  EXPECT_EQ(found[1].line, 1u);
  EXPECT_TRUE(has_form(found[1].text));
  EXPECT_TRUE(has_form("x must be a number, got x"));
  EXPECT_TRUE(has_form("unknown flag 'x'"));
  EXPECT_FALSE(has_form("there is no unknown token"));
}

}  // namespace
}  // namespace headlab::structure
