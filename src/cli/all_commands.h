// The commands, each a function; src/cli/commands.cc lists them and runs them, and what all of them
// say in the same words (help, the right command line, how to make a number again) is here. Read
// next: terminal.h.
#pragma once

#include <string>
#include <vector>

#include "headlab/base/error.h"
#include "headlab/base/settings.h"
#include "headlab/bench/bench_table.h"
#include "headlab/cli/arguments.h"
#include "headlab/cli/command.h"
#include "headlab/prune/methods.h"
#include "headlab/train/run.h"

namespace headlab::cli {

int train_command(Arguments arguments);
int eval_command(Arguments arguments);
int sample_command(Arguments arguments);
int heads_command(Arguments arguments);
int ablate_command(Arguments arguments);
int circuits_command(Arguments arguments);
int attribute_command(Arguments arguments);
int patch_command(Arguments arguments);
int prune_command(Arguments arguments);
int curve_command(Arguments arguments);
int reproduce_command(Arguments arguments);
int sweep_command(Arguments arguments);
int bench_command(Arguments arguments);
int check_command(Arguments arguments);
int list_command(Arguments arguments);

/// The part of `heads` that shows how heads developed.
int show_heads_over_training(const Run& run, bool json, Arguments arguments);

/// The positionals of a command, with its example from the table.
Signature signature_of(const char* command, std::vector<std::string> positionals);

/// A table of measurements as text.
std::string table_text(const BenchTable& bench);

/// Prints the help of a command, example first, then usage and flags, and returns 0.
int print_help(const char* command, const std::string& positionals, const Settings& settings);

/// The command line that makes the printed numbers again: the words as they were given, without
/// those that change no number (--json, --force, --threads, --help).
std::string again(const char* command, Arguments arguments);

/// A number of heads that does not fit, in the words of the flag that gave it.
UsageError usage_of(const SizeError& error, const std::string& setting, Index per_layer_min,
                    const std::string& hint);

/// Runs `action`; an Error that it throws means that the command line is wrong (status 2).
template <class Action>
auto as_usage(const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    throw UsageError(error.what(), error.hint());
  }
}

}  // namespace headlab::cli
