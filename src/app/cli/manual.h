// The man page, from the tables of commands, flags and files. `headlab completion man` prints it;
// the test in tests/cli/words_test.cc holds its sections and its width. The sections are in
// manual.cc. Read next: manual.cc.
#pragma once

#include <string>

namespace headlab::cli {

/// Returns the man page in troff with the macros of man(7).
std::string manual();

}  // namespace headlab::cli
