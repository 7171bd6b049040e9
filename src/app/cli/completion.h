// Completions of single values, for completion.cc: by the placeholder of an argument or flag, and
// by the words before it, which may name a run.
// Read next: completion_values.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/cli/commands.h"

namespace headlab::cli {

using Words = std::vector<std::string>;

/// Returns the kind of a flag's value, by its name if that is more specific than its placeholder.
std::string kind_of_value(const Setting& flag);
/// Returns the completions of a flag's value or an argument of one of these kinds: "pre|post",
/// "[RUN". `before`: the words before it, the command first.
Words values_of(std::string_view kinds, const Words& before, const std::string& begun);
/// Returns the names of the topics of `explain`.
Words explain_topics();

}  // namespace headlab::cli
