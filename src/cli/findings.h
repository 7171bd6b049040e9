// What commands that analyse a run do with what they found: keep it as JSON beside the run, with
// the command that makes it again, and print it as text or as that JSON. And how a flag names a
// head.
// Read next: ablate.cc.
#pragma once

#include <string>

#include "cli/all_commands.h"
#include "cli/terminal.h"
#include "headlab/heads/edits.h"

namespace headlab::cli {

struct Finding {
  std::string file;  // in the folder of the run
  Json json;
  std::string text;
  std::string settings;  // in words: on which examples, with which seed
};

/// Writes and prints a finding; returns the exit status.
int keep(const Run& run, Finding finding, const std::string& command, const CommonFlags& common);

/// The head that a flag names, as "0.2": module 0, born as 2. UsageError if the text is no such
/// name.
HeadId parse_head(const std::string& flag, const std::string& name);

}  // namespace headlab::cli
