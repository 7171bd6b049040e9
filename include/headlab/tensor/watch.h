// Watching the tape: who wants to know which ops run, and how long each takes, is told at the end
// of each. For profiles, cost models and tests; training needs none of it. Read next:
// bench/profile.h.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "headlab/tensor/tape.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// What has just ended on this thread: an op, the backward of an op, or other work (note_work).
struct WorkEvent {
  enum class Kind { forward, backward, other };
  const char* name;
  Kind kind;
  const Shape* output = nullptr;  // null for other work
  std::span<const Tensor> inputs{};
};

/// While one of these lives, it is told of all work on this thread, recorded or not; of several,
/// the youngest.
class WorkWatch {
 public:
  using Tell = std::function<void(const WorkEvent&)>;
  explicit WorkWatch(Tell tell);
  ~WorkWatch();
  WorkWatch(const WorkWatch&) = delete;
  WorkWatch& operator=(const WorkWatch&) = delete;

 private:
  friend class Tape;
  Tell tell_;
  WorkWatch* before_;
};
/// Tells the watch of this thread that work which is no op has ended: "optimizer".
void note_work(const char* name);

/// While one of these lives, it keeps the names of the ops that ran on this thread.
class OpLog {
 public:
  const std::set<std::string>& names() const { return names_; }

 private:
  std::set<std::string> names_;
  WorkWatch watch_{[this](const WorkEvent& event) {
    if (event.kind == WorkEvent::Kind::forward) names_.insert(event.name);
  }};
};

}}  // namespace headlab
