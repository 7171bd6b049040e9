// What commands share with the terminal: the signal that stops them, the progress line, and how
// words get out. Results go to stdout, all else to stderr, so that `--json` can be piped. Read
// next: src/cli/train.cc.
#pragma once

#include <cstdint>
#include <string>

#include "headlab/cli/command.h"
#include "headlab/train/run.h"

namespace headlab::cli {

/// From here on the first Ctrl-C (SIGINT) or SIGTERM asks for a clean stop, which `interrupted`
/// tells; the second ends the program at once.
void catch_interrupts();
bool interrupted();

/// Colour belongs on a terminal only, and never where NO_COLOR is set.
bool stdout_wants_color();

void print(const std::string& text);
/// A line on stderr.
void note(const std::string& text);

/// Shows training on stderr: one line, redrawn on a terminal; in a file a plain line now and then,
/// and one for each evaluation.
class Progress {
 public:
  explicit Progress(Index steps);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void show(const StepRecord& record);
  void show(const EvaluationRecord& record);
  /// Takes the line off the terminal, for other output.
  void clear();
  /// If Ctrl-C came before the last step: the exit status is 130, and the note says how to continue
  /// the run at `path`.
  Result interrupted_or(Result result, const std::string& path) const;

 private:
  Index steps_;
  Index first_ = -1;  // the step before the first one seen
  Index last_ = 0;    // the last one seen
  double first_seconds_ = 0;
  bool terminal_;
  bool drawn_ = false;
  double last_drawn_ = -1e9;
};

/// Callbacks that show progress and stop at Ctrl-C.
RunCallbacks watch(Progress& progress);

}  // namespace headlab::cli
