// Entry point of the program. All code is in the library, so that tests and other programs can call
// it: see include/headlab/app/cli/command.h.
// Read next: src/app/cli/commands.cc, the table of commands.
#include "headlab/app/cli/command.h"
#include "headlab/core/base/threads.h"

// Initialised first, because this file is linked first: tables allocate memory before main.
[[maybe_unused]] static const bool ends_in_words = headlab::cli::end_in_words();

int main(int count, char** values) {
  headlab::spin_briefly(values);
  return headlab::cli::run_program(count, values);
}
