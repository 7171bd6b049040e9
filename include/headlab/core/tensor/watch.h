// Watching the tape: a callback is called at the end of each op, forward and backward. Profiles,
// cost models and tests use it to learn which ops ran and how long each took; training does not
// need it. Watches are per thread. Read next: headlab/lab/bench/profile.h.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "headlab/core/tensor/tape.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// A piece of work that has just ended on this thread: an op, the backward of an op, or other work
/// (note_work).
struct WorkEvent {
  enum class Kind { forward, backward, other };
  const char* name;
  Kind kind;
  const Shape* output = nullptr;  // null for other work
  std::span<const Tensor> inputs{};
};

/// Calls `tell` for all work on this thread, recorded or not, for the lifetime of the object. If
/// there are several, only the youngest is called.
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
/// Notifies the watch of this thread that work other than an op has ended, such as "optimizer".
void note_work(const char* name);

/// Collects the names of the ops that run on this thread during the lifetime of the object.
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
