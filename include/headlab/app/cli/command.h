// The program: `headlab COMMAND ...`. A command is a function in the file of its name, and a row of
// the table in src/app/cli/commands.cc. It declares its flags, calls the library and returns a
// result; the program handles printing, errors and exit statuses. Read next: arguments.h.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlab/app/report/toned_text.h"
#include "headlab/core/base/error.h"
#include "headlab/core/tasks/table.h"
#include "headlab/core/train/optimizer.h"
#include "headlab/lab/heads/scores/scores.h"
#include "headlab/lab/prune/methods.h"
#include "headlab/lab/results/table.h"

namespace headlab::cli {

class Invocation;

/// Result of a command, printed to stdout as JSON with --json and as text otherwise.
struct Output {
  Json json{};         // null: --json prints nothing
  TonedText text{};    // ends with a newline
  std::string note{};  // a line on stderr, after the result
  int status = 0;      // the exit status of the program
  /// Whether the text contains words of data or scripts. If so, it is printed unchanged, and only
  /// the command that reproduces the result names the program as it was typed.
  bool quotes_data = false;
  /// The error that prevented the result from being written to its file: reported after it, with
  /// exit status 1.
  std::optional<Error> unwritten{};
  std::vector<Table> tables{};  // tables available to --csv and --latex
};

/// Kind of thing that a word on the command line names. Completion offers things of this kind.
enum class ValueKind {
  other,  // a number, a text, or one of a few words
  on_off,
  file,
  folder,
  run,
  task,
  method,
  measure,
  layout,
  relation,
  table,
  heads,
  topic
};

/// Word of help, in capitals, for everything of a kind: RUN.
struct Placeholder {
  std::string_view name;
  ValueKind kind;
};

/// Argument of a command that is no flag. It is one of some words, or names something.
struct Positional {
  enum class Times { once, optional, repeated };  // repeated: any number of times, or never
  std::vector<Placeholder> names{};
  std::vector<std::string> choices{};  // words that are typed as they are
  Times times = Times::once;
};

struct Command {
  const char* name;
  const char* want;     // the user's goal: the group in `headlab --help`
  const char* summary;  // one line, for `headlab --help`
  const char* example;  // the first line of the command's help, and the hint of errors
  std::vector<Positional> positionals;
  Output (*run)(Invocation& call);
  /// Returns the tables of its results without rows, from which --csv, --latex and --table choose.
  /// Null: the registry has them (src/app/report/results.cc), or there are none.
  Result (*shape)() = nullptr;
};

std::span<const Command> commands();

/// Extensions of another program: rows of the tables from which commands, help, lists and JSON are
/// read. The tables are read once, so only the first call has an effect.
struct Additions {
  std::vector<TaskEntry> tasks{};
  std::vector<ScoreEntry> scores{};
  std::vector<PruneMethod> methods{};
  std::vector<OptimizerEntry> optimizers{};
  std::vector<AttentionFunctionEntry> attention_functions{};
  std::vector<BlockWiring> block_wirings{};
  std::vector<Command> commands{};
};

/// Makes the process end with a message and status 1 if memory runs out and nothing can catch it:
/// before `main`, and in a thread of OpenMP. run_program calls it; to have the effect earlier,
/// initialise a global variable with it. Returns true.
bool end_in_words();
/// Runs a command line without the program's name and returns the exit status: 0 success, 1
/// failure, 2 wrong command line, 130 interrupted. Errors are printed as `error: ...` and `hint:
/// ...`.
int run_program(const std::vector<std::string>& words, Additions additions = {});
/// Runs the arguments of `main`: `return run_program(count, values, {.tasks = {...}});` is headlab
/// with your own tasks and other Additions, under its own name.
int run_program(int count, char** values, Additions additions = {});

}  // namespace headlab::cli
