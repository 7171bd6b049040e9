// How far a long computation is, for whoever wants to show it: loops count their steps, and a
// program that watches is told. Loops inside counted loops are silent, so the steps are those of
// the outermost. Costs nothing where nobody watches. Read next: src/cli/terminal.cc, which draws
// it.
#pragma once

#include <cstdint>
#include <functional>

namespace headlab {

/// The steps of one loop on this thread.
class Steps {
 public:
  explicit Steps(std::int64_t all);
  ~Steps();
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;
  /// One more is done.
  void done();

 private:
  std::int64_t all_, done_ = 0;
};

/// Told after each step of the outermost loop of this thread; an empty function ends it.
using StepsWatch = std::function<void(std::int64_t done, std::int64_t all)>;
void watch_steps(StepsWatch watch);

}  // namespace headlab
