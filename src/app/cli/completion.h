// Completions of single values, for completion.cc: by the kind of an argument or flag, and by the
// words before it, which may name a run.
// Read next: completion_values.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/cli/commands.h"

namespace headlab::cli {

using Words = std::vector<std::string>;

/// Returns the completions of a flag's value: the words among which the flag chooses, and names of
/// its kind. `before`: the words before it, the command first.
Words values_of_flag(const Setting& flag, ValueKind kind, const Words& before,
                     const std::string& begun);
/// Returns the completions of an argument that is no flag.
Words values_of_argument(const Positional& argument, const Words& before, const std::string& begun);
/// Returns the names of the topics of `explain`.
Words explain_topics();

}  // namespace headlab::cli
