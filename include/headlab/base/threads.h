// Threads. The one place that knows OpenMP. Work is cut into tasks by its size alone, never by the
// number of threads, and a task owns what it writes: that is why every result is bit-identical for
// any count. Read next: src/base/threads.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace headlab {

/// Whether this build has OpenMP. Without it everything runs on one thread.
bool has_openmp();
/// The processors that this process may use.
int processor_count();
/// How many threads `parallel_for` uses: at first processor_count(), or what OMP_NUM_THREADS says.
int thread_count();
/// Error unless 1 <= count <= 1024.
void set_thread_count(int count);

namespace detail {
void parallel_for(std::int64_t tasks, void (*run)(void* body, std::int64_t task), void* body);
}

/// Calls body(task) for each task in [0, tasks), on all threads, in no particular order; each
/// thread gets neighbouring tasks, so that consecutive loops over the same rows find them in its
/// cache. Inside another parallel_for it runs the tasks one after the other. `body` must not throw.
/// Allocates nothing.
template <class Body>
void parallel_for(std::int64_t tasks, Body&& body) {
  using Plain = std::remove_reference_t<Body>;
  detail::parallel_for(
      tasks, [](void* b, std::int64_t task) { (*static_cast<Plain*>(b))(task); },
      const_cast<void*>(static_cast<const void*>(std::addressof(body))));
}

}  // namespace headlab
