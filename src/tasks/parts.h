// What the tasks share: their text form and the letters that stand for their tokens. A task is a
// pair of files, include/headlab/tasks/NAME.h and src/tasks/NAME.cc, and a row in table.cc: a
// struct of options with its table of settings, and a class that is made from the options. Read
// next: relations.cc.
#pragma once

#include <string>
#include <string_view>

#include "headlab/base/error.h"
#include "headlab/base/settings.h"
#include "headlab/tasks/task.h"

namespace headlab::inline HEADLAB_SCALAR {

/// "NAME:a=1,b=2", all settings named, so that make_task makes the same task from it.
std::string spec_text(std::string_view name, const Settings& settings);

/// Error that begins with "NAME: " if a value is outside its range: options may come from code,
/// where no one has checked them.
void check_ranges(const Settings& settings, std::string_view name);

/// Symbols as letters: a ... z, A ... Z, then #52, #53 ... Error for a token that is not in
/// [0, vocab).
std::string letter_text(std::int32_t token, Index vocab);

}  // namespace headlab::inline HEADLAB_SCALAR
