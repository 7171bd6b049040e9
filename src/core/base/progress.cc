// Progress of loops (progress.h): a chain of loops and a watch for each thread, so that training on
// another thread of the program is counted separately. A loop reports only through the outermost
// loop of its thread. Read next: include/headlab/core/base/progress.h.
#include "headlab/core/base/progress.h"

#include <algorithm>
#include <utility>

namespace headlab {
namespace {

thread_local StepsWatch steps_watch;
thread_local std::function<void()> steps_asked;
thread_local Steps* innermost = nullptr;

}  // namespace

Steps::Steps(std::int64_t all)
    : all_(std::max<std::int64_t>(1, all)), outer_(std::exchange(innermost, this)) {
  if (outer_ == nullptr && steps_watch) steps_watch(0, all_);
}

Steps::~Steps() {
  innermost = outer_;
  if (outer_ == nullptr && done_ < all_ && steps_watch) {
    steps_watch(static_cast<double>(all_), all_);
  }
}

void Steps::done() {
  done_ += weight_;
  tell(0);
  if (steps_asked) steps_asked();
}

/// Reports progress; `inside` is the finished share of the current step.
void Steps::tell(double inside) {
  if (!steps_watch) return;
  const auto all = static_cast<double>(all_), weight = static_cast<double>(weight_);
  reached_ = std::max(reached_, std::min(all, static_cast<double>(done_) + inside * weight));
  if (outer_ != nullptr) {
    outer_->tell(reached_ / all);
  } else {
    steps_watch(reached_, all_);
  }
}

void watch_steps(StepsWatch watch) { steps_watch = std::move(watch); }

std::function<bool()>& stop_wanted() {
  static std::function<bool()> asked;
  return asked;
}

StepsAsked::StepsAsked(std::function<void()> ask)
    : before_(std::exchange(steps_asked, std::move(ask))) {}

StepsAsked::~StepsAsked() { steps_asked = std::move(before_); }

}  // namespace headlab
