// The command line: flags are settings (base/settings.h), so that `--d-model 64`, `--d-model=64`, a
// config file and a recommended setting all mean the same and fail with the same words. Read next:
// command.h.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "headlab/base/settings.h"

namespace headlab::cli {

/// What a command takes beside flags, and a command line that is right: hints show it.
struct Signature {
  std::vector<std::string> positionals;  // names for usage ("RUN"), all required
  std::string example;
  bool repeats = false;  // more may follow the last positional
};

/// d_model as --d-model.
std::string flag_of(const std::string& setting);

/// Whether --help or -h is among the arguments: then nothing else matters.
bool wants_help(std::span<const std::string> arguments);

/// Sets `settings` from the flags and returns the positionals. `--name value`, `--name=value`; a
/// value that begins with -- needs the second form; a boolean is set by `--name` and cleared by
/// `--no-name`. `given` receives the names of the settings that were set. UsageError: an unknown
/// flag (nearest match named), a missing or impossible value, the wrong number of positionals.
std::vector<std::string> parse_arguments(std::span<const std::string> arguments,
                                         const Signature& signature, const Settings& settings,
                                         std::vector<std::string>* given = nullptr);

/// The last value of a flag, before all of them can be parsed (what --task recommends are the
/// defaults of the others); "" if it is not there.
std::string find_value(std::span<const std::string> arguments, const std::string& flag);

/// The flags with their help and present values, a line each.
std::string flags_help(const Settings& settings);

/// A word as a shell reads it: quoted where it holds anything but letters, digits and -_=+:,./
std::string shell_word(const std::string& word);

}  // namespace headlab::cli
