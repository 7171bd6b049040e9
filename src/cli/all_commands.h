// The commands, each in a file of its own; src/cli/commands.cc lists them.
#pragma once

#include <string>

#include "headlab/base/settings.h"
#include "headlab/cli/arguments.h"
#include "headlab/cli/command.h"

namespace headlab::cli {

int train_command(Arguments arguments);
int eval_command(Arguments arguments);
int sample_command(Arguments arguments);
int heads_command(Arguments arguments);
int prune_command(Arguments arguments);
int bench_command(Arguments arguments);
int check_command(Arguments arguments);
int list_command(Arguments arguments);

/// The help of a command: example first, then usage and flags.
void print_help(const char* name, const std::string& usage, const Settings& settings);

}  // namespace headlab::cli
