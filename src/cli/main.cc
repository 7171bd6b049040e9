// The program's entry. Everything it does is in the library, so that tests and other programs can
// call it: see include/headlab/cli/command.h. Read next: src/cli/commands.cc, the table of
// commands.
#include "headlab/base/threads.h"
#include "headlab/cli/command.h"

int main(int count, char** values) {
  headlab::spin_briefly(values);
  return headlab::cli::run_program(count, values);
}
