// The program: `headlab COMMAND ...`. A command is a function in the file of its name, and a row of
// the table in src/cli/commands.cc. It declares its flags, calls the library, and returns what it
// found; printing, errors and exit statuses are the program's. Read next: arguments.h.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "headlab/base/json.h"

namespace headlab::cli {

class Invocation;

/// What a command found. Results go to stdout, as JSON where --json asks for it, else as text.
struct Result {
  Json json{};         // null: --json prints nothing
  std::string text{};  // ends with a newline
  std::string note{};  // a line on stderr, after the result
  int status = 0;      // the exit status of the program
};

struct Command {
  const char* name;
  const char* summary;      // one line, for `headlab --help`
  const char* example;      // leads the command's own help, and the hints of errors
  std::string positionals;  // what it takes beside flags: "RUN", "RUN [RUN ...]"
  Result (*run)(Invocation& call);
};

std::span<const Command> commands();

/// Runs a command line without the program's name and returns the exit status: 0 done, 1 it could
/// not be done, 2 the command line is wrong, 130 interrupted. Errors are printed as `error: ...`
/// and `hint: ...`.
int run_program(const std::vector<std::string>& words);

}  // namespace headlab::cli
