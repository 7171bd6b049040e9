// How far a long computation is, for whoever wants to show it: loops count their steps, and a
// program that watches is told. A loop inside a step of another counts as its share of that step,
// so what is told is always about the outermost. Costs nothing where nobody watches. Read next:
// src/app/cli/terminal.cc, which draws it.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>

namespace headlab {

/// The steps of one loop on this thread.
class Steps {
 public:
  explicit Steps(std::int64_t all);
  /// A loop that ends early, by an error too, is told as done.
  ~Steps();
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;
  /// The next step counts as `weight` of them; until this is called each counts as 1.
  void next(std::int64_t weight) { weight_ = weight; }
  /// The step is done.
  void done();

 private:
  void tell(double inside);

  std::int64_t all_, done_ = 0, weight_ = 1;
  double reached_ = 0;  // the most that was told: it never goes back
  Steps* outer_;
};

/// Told when the outermost loop of this thread begins (0 of all), after each step of it or of loops
/// inside it, and when it ends (all of all). `done` has fractions where a step is on the way. An
/// empty function ends it.
using StepsWatch = std::function<void(double done, std::int64_t all)>;
void watch_steps(StepsWatch watch);

/// Thrown by work that was told to stop. It is no Error: nothing failed.
class Stopped : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

/// Whether the user wants the work to stop. It is asked every tenth of a second while the library
/// waits for another process, which may never answer; then Stopped is thrown. Empty: never asked.
std::function<bool()>& stop_wanted();

/// While it lives, `ask` is called after each step of any loop of this thread. What it throws ends
/// the work: for what nobody saves on the way.
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
