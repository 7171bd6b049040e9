// The program: `headlab COMMAND ...`. A command is a function in the file of its name, and a row of
// the table in src/app/cli/commands.cc. It declares its flags, calls the library, and returns what
// it found; printing, errors and exit statuses are the program's. Read next: arguments.h.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headlab/base/error.h"
#include "headlab/base/table.h"
#include "headlab/heads/scores.h"
#include "headlab/prune/methods.h"
#include "headlab/tasks/table.h"
#include "headlab/train/optimizer.h"

namespace headlab::cli {

class Invocation;

/// What a command found. Results go to stdout, as JSON where --json asks for it, else as text.
struct Result {
  Json json{};         // null: --json prints nothing
  std::string text{};  // ends with a newline
  std::string note{};  // a line on stderr, after the result
  int status = 0;      // the exit status of the program
  /// Whether the text holds words of data or scripts: those are shown as they are, and only lines
  /// that begin with "again: " name the program as it was typed.
  bool quotes_data = false;
  /// What kept the result from being written to its file: reported after it, with exit status 1.
  std::optional<Error> unwritten{};
  std::vector<Table> tables{};  // what --csv and --latex choose from
};

using TableNames = std::vector<std::string>;

struct Command {
  const char* name;
  const char* want;         // what one wants: the group in `headlab --help`
  const char* summary;      // one line, for `headlab --help`
  const char* example;      // leads the command's own help, and the hints of errors
  std::string positionals;  // what it takes beside flags: "RUN", "RUN [RUN ...]"
  Result (*run)(Invocation& call);
  /// The names of the tables of its results: --csv, --latex and --table choose from them. An empty
  /// list: it has none, and does not offer these flags. nullopt: known only when it is done.
  std::optional<TableNames> tables{};
};

std::span<const Command> commands();

/// What a program adds to ours: rows of the tables from which commands, help, lists and JSON are
/// read. The tables are read once, so the first call decides.
struct Additions {
  std::vector<TaskEntry> tasks{};
  std::vector<ScoreEntry> scores{};
  std::vector<PruneMethod> methods{};
  std::vector<OptimizerEntry> optimizers{};
  std::vector<AttentionFunctionEntry> attention_functions{};
  std::vector<BlockWiring> block_wirings{};
  std::vector<Command> commands{};
};

/// From now on the process ends with a sentence and status 1 where memory is missing and no one can
/// catch it: before `main`, and in a thread of OpenMP's own. run_program does it; who wants it
/// before initialises a variable with it. Returns true.
bool end_in_words();
/// Runs a command line without the program's name and returns the exit status: 0 done, 1 it could
/// not be done, 2 the command line is wrong, 130 interrupted. Errors are printed as `error: ...`
/// and `hint: ...`.
int run_program(const std::vector<std::string>& words, Additions additions = {});
/// The same with the arguments of `main`, which it makes a line: `return run_program(count, values,
/// {.tasks = {...}});` is headlab with your own tasks and whatever else Additions holds, under its
/// own name.
int run_program(int count, char** values, Additions additions = {});

}  // namespace headlab::cli
