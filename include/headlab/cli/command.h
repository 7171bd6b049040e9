// The program: `headlab COMMAND ...`. A command parses its flags, calls the library, and prints.
// Results go to stdout, progress and errors to stderr. Adding a command is a function and a row in
// src/cli/commands.cc.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace headlab::cli {

using Arguments = std::span<const std::string>;

struct Command {
  const char* name;
  const char* summary;  // one line, for `headlab --help`
  const char* example;  // leads the command's own help
  int (*run)(Arguments arguments);
};

std::span<const Command> commands();

/// Runs a command line without the program's name and returns the exit status: 0 done, 1 it could
/// not be done, 2 the command line is wrong, 130 interrupted. Errors are printed as `error: ...`
/// and `hint: ...`.
int run_program(const std::vector<std::string>& arguments);

}  // namespace headlab::cli
