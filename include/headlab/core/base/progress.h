// Progress of long computations: loops count their steps, and a watch function receives the count.
// A loop inside a step of another loop counts as its share of that step, so that the reported
// progress is always that of the outermost loop. It costs nothing if there is no watch. Read next:
// src/app/cli/terminal.cc, which displays it.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>

namespace headlab {

/// The steps of one loop on this thread.
class Steps {
 public:
  explicit Steps(std::int64_t all);
  /// Reports the loop as done, even if it ended early or by an error.
  ~Steps();
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;
  /// Makes the next step count as `weight` steps; the default is 1.
  void next(std::int64_t weight) { weight_ = weight; }
  /// Ends the current step.
  void done();

 private:
  void tell(double inside);

  std::int64_t all_, done_ = 0, weight_ = 1;
  double reached_ = 0;  // largest value reported so far: progress never decreases
  Steps* outer_;
};

/// Called when the outermost loop of this thread begins (0 of all), after each step of it or of
/// loops inside it, and when it ends (all of all). `done` has a fraction during a step. Set an
/// empty function to stop watching.
using StepsWatch = std::function<void(double done, std::int64_t all)>;
void watch_steps(StepsWatch watch);

/// Thrown by work that was asked to stop. It is not an Error, because nothing failed.
class Stopped : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

/// Returns the function that asks whether the user wants the work to stop. It is called every tenth
/// of a second while the library waits for another process, which may never answer; if it returns
/// true, Stopped is thrown. Empty: never called.
std::function<bool()>& stop_wanted();

/// Calls `ask` after each step of any loop of this thread during its lifetime. An exception from it
/// ends the work; use it for work that is not saved in between.
class StepsAsked {
 public:
  explicit StepsAsked(std::function<void()> ask);
  ~StepsAsked();
  StepsAsked(const StepsAsked&) = delete;
  StepsAsked& operator=(const StepsAsked&) = delete;

 private:
  std::function<void()> before_;
};

}  // namespace headlab
