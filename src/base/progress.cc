// A depth and a watcher for each thread: a training that runs on another thread of the program
// counts for itself.
// Read next: include/headlab/base/progress.h.
#include "headlab/base/progress.h"

#include <utility>

namespace headlab {
namespace {

thread_local StepsWatch steps_watch;
thread_local int depth = 0;

}  // namespace

Steps::Steps(std::int64_t all) : all_(all) { ++depth; }
Steps::~Steps() { --depth; }

void Steps::done() {
  ++done_;
  if (depth == 1 && steps_watch) steps_watch(done_, all_);
}

void watch_steps(StepsWatch watch) { steps_watch = std::move(watch); }

}  // namespace headlab
