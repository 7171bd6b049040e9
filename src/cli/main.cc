// The program's entry. Everything is in the library: see src/cli/commands.cc.
#include <string>
#include <vector>

#include "headlab/cli/command.h"

int main(int count, char** values) {
  return headlab::cli::run_program(std::vector<std::string>(values + 1, values + count));
}
