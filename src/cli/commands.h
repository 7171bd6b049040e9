// What the commands share: results that say how to make them again, files beside a run, names of
// heads, texts as settings. The table of commands and the program around them are in commands.cc.
// Read next: eval.cc, the shortest command on a run, and terminal.h.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "headlab/cli/arguments.h"
#include "headlab/cli/command.h"
#include "headlab/heads/edits.h"
#include "headlab/prune/methods.h"

namespace headlab::cli {

/// A result that ends with the command that makes it again; with a `file`, the JSON is written
/// there first: what a user has seen is kept.
Result reproducible(const Invocation& call, Json json, const std::string& text,
                    const std::filesystem::path& file = {});

/// UsageError, with the nearest name, unless `name` is known.
void require_known(const char* kind, const std::string& name,
                   const std::vector<std::string>& known);

/// A number of heads that does not fit, in the words of the flag that gave it.
UsageError usage_of(const SizeError& error, const std::string& setting, Index per_layer_min,
                    const std::string& hint);

/// A text setting that help shows as `--name PLACEHOLDER`.
Setting named_text(std::string name, std::string placeholder, std::string& value, std::string help);

/// The head that a flag names, as "0.2": module 0, born as 2. UsageError if the text is no such
/// name.
HeadId parse_head(const std::string& flag, const std::string& name);

/// What `bench` takes beside flags: step and the names of the benchmarks.
std::vector<std::string> benchmark_names();

}  // namespace headlab::cli
