// What the commands share: the signal that stops them, the progress line, and how results are
// printed.
#pragma once

#include <cstdint>
#include <string>

#include "headlab/base/json.h"
#include "headlab/base/settings.h"
#include "headlab/train/run.h"

namespace headlab::cli {

/// Whether Ctrl-C (SIGINT) or SIGTERM has come. The first asks for a clean stop, the second ends
/// the program at once.
bool interrupted();
void catch_interrupts();

/// Colour belongs on a terminal only, and never where NO_COLOR is set.
bool stdout_wants_color();

/// Settings that every command has.
struct CommonFlags {
  bool json = false, help = false;
  std::int64_t threads = 0;  // 0: all processors

  Settings settings();
  void apply() const;  // sets the number of threads
};

void print(const std::string& text);
void print(const Json& json);
/// A line on stderr.
void note(const std::string& text);

/// Shows training on stderr: one line, redrawn on a terminal; in a file a plain line now and then.
class Progress {
 public:
  explicit Progress(Index steps);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void show(const StepRecord& record);
  void show(const EvaluationRecord& record);

 private:
  void clear();
  Index steps_;
  Index first_ = -1;  // the step before the first one seen
  double first_seconds_ = 0;
  bool terminal_;
  bool drawn_ = false;
  double last_drawn_ = -1e9;
};

/// Callbacks that show progress and stop at Ctrl-C.
RunCallbacks watch(Progress& progress);

}  // namespace headlab::cli
