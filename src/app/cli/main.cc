// Entry point of the program. All other code is in the library, so that tests and other programs
// can call it: see include/headlab/app/cli/command.h. Read next: src/app/cli/commands.cc, the table
// of commands.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "headlab/app/cli/command.h"
#include "headlab/core/base/threads.h"

// Initialised first, because this file is linked first: tables allocate memory before main.
[[maybe_unused]] static const bool ends_in_words = headlab::cli::end_in_words();

/// Limits how long waiting threads spin before they sleep. libgomp spins for milliseconds by
/// default, which makes two programs with threads on one machine several times slower. It reads its
/// limit, GOMP_SPINCOUNT, before main, so this restarts the program once with the limit set. Does
/// nothing if GOMP_SPINCOUNT or OMP_WAIT_POLICY is set, with other OpenMP libraries, or if there is
/// no /proc.
static void spin_briefly([[maybe_unused]] char** arguments) {
#if defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
  const bool is_set = std::getenv("GOMP_SPINCOUNT") || std::getenv("OMP_WAIT_POLICY");
  if (is_set || !headlab::has_threads()) return;
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return;
  setenv("GOMP_SPINCOUNT", "1000", 1);
  execv(program.c_str(), arguments);  // returns only on failure; nothing has changed then
#endif
}

int main(int count, char** values) {
  spin_briefly(values);
  return headlab::cli::run_program(count, values);
}
