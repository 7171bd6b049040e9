// Code around each command: prints its result, and converts an error of any command to `error:
// ...`, `hint: ...` and an exit status. Output on a terminal names the program as it was typed;
// JSON and files say `headlab`. Read next: commands.cc, the table of commands; results.cc, the
// commands that reproduce results.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <optional>

#include "app/cli/advice.h"
#include "app/cli/commands.h"
#include "core/base/digest.h"
#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/results/words.h"

namespace headlab::cli {
namespace {

/// Returns the hint for a path that is no run: the runs that it contains, and the command on one.
std::string hint_of_missing(const Invocation& call, const std::string& path) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> runs = runs_near(path);
  if (runs.empty()) return "pass a folder created by `headlab train --out`";
  const std::string command = call.again_with(path, runs[0]);
  if (runs.size() == 1) return command;
  const std::size_t count = runs.size();
  runs.resize(std::min(count, kMost));
  const std::string more = count > kMost ? text(" ... (", count, ")") : "";
  return text("name one of the runs in ", path, ": ", join(runs, ", "), more, "; `", command, "`");
}

/// Runs a command. The library's errors name settings and folders; here they become flags and
/// commands.
Output result_in_words(Invocation& call) {
  try {
    return call.command().run(call);
  } catch (const HelpWanted& help) {
    return {.text = help.text};
  } catch (const FolderTaken& error) {
    throw Error(
        error.what(),
        "use --force to replace it, or another --out; `headlab train --resume` continues a run");
  } catch (const MissingRun& error) {
    throw Error(error.what(), hint_of_missing(call, error.path.string()));
  } catch (const UsageError& error) {
    throw UsageError(call.in_flags(error.what()), call.in_flags(error.hint()));
  } catch (const Error& error) {
    throw Error(call.in_flags(error.what()), call.in_flags(error.hint()));
  }
}

/// Returns the words of a command line. A word in single quotes may contain spaces.
std::vector<std::string> words_of_line(std::string_view line) {
  std::vector<std::string> words(1);
  bool is_quoted = false;
  for (const char c : line) {
    if (c == '\'') is_quoted = !is_quoted;
    if (c == ' ' && !is_quoted) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

/// Returns the same words, with each flag and its values joined into one.
std::vector<std::string> flags_with_values(const std::vector<std::string>& words) {
  std::vector<std::string> parts;
  bool follows_flag = false;
  for (const std::string& word : words) {
    const bool is_flag = word.starts_with('-');
    const bool begins_command = word == "&&";
    if (follows_flag && !is_flag && !begins_command) {
      parts.back() += " " + word;
    } else {
      parts.push_back(word);
    }
    follows_flag = is_flag || (follows_flag && !begins_command);
  }
  return parts;
}

constexpr std::size_t kWidest = 78;  // of a command line: two columns are for " \"

/// Returns a command line folded into several lines that a shell reads as one. Lines end between
/// flags, or between words if a flag with its values is too long for a line.
std::string folded_command(std::string_view line) {
  const std::string indent(4, ' ');
  std::vector<std::string> lines(1);
  const auto add = [&](const std::string& part) {
    const bool is_first = lines.back().empty();
    const bool fits = lines.back().size() + 1 + part.size() <= kWidest;
    if (is_first) {
      lines.back() = part;
    } else if (fits) {
      lines.back() += " " + part;
    } else {
      lines.push_back(indent + part);
    }
  };
  for (const std::string& part : flags_with_values(words_of_line(line))) {
    if (indent.size() + part.size() <= kWidest) {
      add(part);
      continue;
    }
    for (const std::string& word : words_of_line(part)) add(word);
  }
  return join(lines, " \\\n");
}

/// Returns a piece of a result for a terminal.
std::string shown_words(const TonedText::Piece& piece, bool quotes_data) {
  if (piece.tone != Tone::command) return quotes_data ? piece.words : as_typed(piece.words);
  const std::string line = as_typed(piece.words);
  return line.size() > kWidest ? folded_command(line) : line;
}

TonedText shown_text(const Output& output) {
  TonedText shown;
  for (const TonedText::Piece& piece : output.text.pieces()) {
    shown += TonedText(harmless(shown_words(piece, output.quotes_data), true), piece.tone);
  }
  return shown;
}

/// Whether the command line asks for JSON and none was printed yet: stdout holds one object.
bool json_is_wanted = false;

/// Returns JSON with all steering characters escaped: `dump` escapes those of ASCII alone.
std::string harmless_json(std::string_view dumped) {
  std::string out;
  while (!dumped.empty()) {
    const std::string_view character = first_character(dumped);
    const char32_t point = code_point(character);
    const bool is_escaped = is_steering(point) && point != '\n';
    out += is_escaped ? "\\u" + hexadecimal(point, 4) : std::string(character);
    dumped.remove_prefix(character.size());
  }
  return out;
}

void print_json(const Json& json) {
  json_is_wanted = false;
  print(harmless_json(json.dump(2)) + "\n");
}

/// Prints the result of a command, with the command that reproduces it.
Output carry_out(Invocation& call) {
  Output output;
  const StepsShown steps;
  with_threads([&] { output = result_in_words(call); });
  if (output.json.is_object() && output.json.find("command") == nullptr) {
    output.json["command"] = call.again();
  }
  return output;
}

int run_command(const std::string& name, std::span<const std::string> words) {
  Invocation call(find_command(name), words);
  const AllowedCommands allowed(call.tasks_named());  // no other word allows a program
  const Output output = carry_out(call);
  if (!call.json() && call.wants_table()) print(harmless(call.table_text(output.tables), true));
  if (!call.json() && !call.wants_table()) print_shown(shown_text(output));
  if (call.json() && !output.json.is_null()) print_json(call.json_of(output));
  if (!output.note.empty()) note(output.note);
  if (output.unwritten) throw *output.unwritten;
  return output.status;
}

/// Returns the words with the flags before the command's name moved after it: they have the same
/// meaning there.
std::vector<std::string> command_first(std::vector<std::string> words) {
  const std::vector<std::string> alone = {"--help", "--version"};
  auto first = words.begin();
  while (first != words.end() && first->starts_with("--") &&
         std::ranges::find(alone, *first) == alone.end()) {
    first += *first == "--threads" && first + 1 != words.end() ? 2 : 1;
  }
  if (first != words.end()) std::rotate(words.begin(), first, words.end());
  return words;
}

/// Returns a message on one line of bounded length: text from files and command lines may contain
/// anything, including escape sequences.
std::string line_of(std::string_view message) {
  constexpr std::size_t kMost = 2000;  // bytes
  const std::size_t more = message.size() > kMost ? message.size() - kMost : 0;
  const std::string line = harmless(message.substr(0, kMost));
  return more == 0 ? line : text(line, " ... (", more, " bytes more)");
}

/// Prints a failure; with --json also an object {"error", "hint", "status"} on stdout.
int report(const char* what, const std::string& hint, int status) {
  if (json_is_wanted) {
    const auto named = [](std::string_view said) {
      return with_program(line_of(said), program_name());
    };
    Json json = Json::object({{"error", named(what)}, {"hint", named(hint)}});
    json["status"] = status;
    print_json(json);
  }
  complain("error: " + line_of(what));
  if (!hint.empty()) complain("hint: " + line_of(hint));
  return status;
}

/// Prints the message without allocating memory, as none is left.
int report_no_memory() {
  constexpr std::string_view kLine = "error: out of memory\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kLine.data(), kLine.size());
  return 1;
}

int run_and_report(const std::vector<std::string>& words) {
  const auto end_of_flags = std::ranges::find(words, "--");
  json_is_wanted = std::any_of(words.begin(), end_of_flags, [](const std::string& word) {
    return word == "--json" || word == "--json=true";
  });
  try {
    return run_words(command_first(words));
  } catch (const UsageError& error) {
    return report(error.what(), error.hint(), 2);
  } catch (const Error& error) {
    return report(error.what(), error.hint(), 1);
  } catch (const Stopped&) {
    complain("interrupted: unfinished results are not kept");
    return 130;
  } catch (const std::bad_alloc&) {
    return report("out of memory", "use a smaller batch, length or model", 1);
  } catch (const std::filesystem::filesystem_error& error) {  // what() is the C++ library's text
    const std::string reason = error.code().message();
    return report(text("cannot use '", error.path1().string(), "': ", reason).c_str(),
                  "check the path, and who may read and write there", 1);
  } catch (const std::exception& error) {
    return report(text("internal error: ", error.what()).c_str(), "", 1);
  }
}

}  // namespace

std::string Invocation::in_flags(const std::string& message) const {
  std::string said = message;
  for (const std::string& name : settings_.names()) {
    for (std::size_t at; (at = said.find("`" + name + "`")) != said.npos;) {
      said.replace(at, name.size() + 2, flag_of(name));
    }
  }
  return said;
}

/// Throws a UsageError for a word that is not UTF-8 if the command writes JSON, which repeats its
/// command line.
void Invocation::check_words() const {
  const bool stores = settings_.find("out") != nullptr && !stores_if_asked_;
  const bool writes_json =
      given("json") || given("out") || stores || settings_.find("jobs") != nullptr;
  std::size_t ignored = 0;
  for (const Argument& argument : arguments_) {
    const std::string word = argument.value.value_or("");
    if (!writes_json || valid_utf8(word, ignored)) continue;
    throw UsageError(text("cannot write JSON about '", word, "': the name is not UTF-8"),
                     "rename it");
  }
}

Output output_of_words(const std::vector<std::string>& words, bool keeps_results) {
  Invocation call(find_command(words[0]), std::span(words).subspan(1));
  call.keeps_results = keeps_results;
  const AllowedCommands allowed(call.tasks_named());
  return carry_out(call);
}

Output result_of_words(const std::vector<std::string>& words) {
  Output output = output_of_words(words, true);
  if (output.unwritten) throw *output.unwritten;
  return output;
}

int run_words(const std::vector<std::string>& words) {
  const std::string first = words.empty() ? "--help" : words[0];
  if (first.starts_with("--") && first != "--help" && first != "--version") {
    throw UsageError("missing command", "headlab --help");
  }
  const bool help = first == "--help" || first == "-h" || first == "help";
  const bool all = help && words.size() == 2 && words[1] == "all";
  if (help && words.size() > 1 && !all) {
    return run_command(words[1], std::vector<std::string>{"--help"});
  }
  if (!help && first != "--version") return run_command(first, std::span(words).subspan(1));
  const bool json = words.size() == 2 && words[1] == "--json";
  if (words.size() > 1 && !json && !all) {
    throw UsageError(text("unexpected argument '", words[1], "'"), "headlab --version");
  }
  if (help) {
    print(as_typed(all ? full_program_help() : program_help()));
  } else if (json) {
    print(stamped({{"build", build()}}).dump(2) + "\n");
  } else {
    print(program_text() + "\n");
  }
  return 0;
}

bool end_in_words() {
  std::set_terminate([] { std::_Exit(report_no_memory()); });
  return true;
}

int run_program(int count, char** values, Additions additions) {
  const bool ours = count == 0 || std::filesystem::path(values[0]).filename() == "headlab";
  program_name() = ours ? "headlab" : values[0];
  typed_program() = count == 0 ? "headlab" : shell_word(harmless(values[0]));
  return run_program(std::vector<std::string>(values + 1, values + count), std::move(additions));
}

int run_program(const std::vector<std::string>& words, Additions additions) {
  open_standard_files();
  std::signal(SIGXFSZ, SIG_IGN);  // a file size limit becomes an error of write with a message
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe does not end a training
  say_when_interrupted();
  stop_wanted() = interrupted;
  end_in_words();
  try {
    own_tasks() = std::move(additions.tasks);
    own_scores() = std::move(additions.scores);
    own_methods() = std::move(additions.methods);
    own_optimizers() = std::move(additions.optimizers);
    own_attention_functions() = std::move(additions.attention_functions);
    own_block_wirings() = std::move(additions.block_wirings);
    set_own_commands(additions.commands);
    return run_and_report(words);
  } catch (const std::exception&) {  // no memory for the message
    return report_no_memory();
  }
}

std::string program_text() { return text("headlab ", version(), " (", build(), ")"); }

}  // namespace headlab::cli
