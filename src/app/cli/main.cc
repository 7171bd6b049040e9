// The program's entry. Everything it does is in the library, so that tests and other programs can
// call it: see include/headlab/cli/command.h. Read next: src/app/cli/commands.cc, the table of
// commands.
#include "headlab/base/threads.h"
#include "headlab/cli/command.h"

// The first to be initialised, as this file is linked first: tables ask for memory before main.
[[maybe_unused]] static const bool ends_in_words = headlab::cli::end_in_words();

int main(int count, char** values) {
  headlab::spin_briefly(values);
  return headlab::cli::run_program(count, values);
}
