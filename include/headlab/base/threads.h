// Threads: parallel loops over tasks, run by one thread pool. Results are bit-identical for any
// number of threads, by two rules that every loop keeps: an output is written by one task alone,
// and the order in which its terms are added depends on sizes alone. How many tasks there are may
// depend on the number of threads; which thread runs a task is left to chance. Read next:
// src/base/threads.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace headlab {

/// Whether this build has threads (HEADLAB_THREADS). Without them everything runs on the caller's.
bool has_threads();
/// How long a thread without work spins before it sleeps: longer than the pauses within a training
/// step. If there are more threads than processors, they sleep at once.
inline constexpr int kSpinMicroseconds = 200;
/// The processors that this process may use.
int processor_count();
/// How many threads `parallel_for` uses: at first processor_count(), or what OMP_NUM_THREADS says.
int thread_count();
/// Error unless 1 <= count <= 1024.
void set_thread_count(int count);
/// Whether the caller is one of several tasks of parallel_for: its own loops run on its thread
/// alone.
bool in_parallel_for();

namespace detail {
void parallel_for(std::int64_t tasks, void (*run)(void* body, std::int64_t task), void* body);
}  // namespace detail

/// Calls body(task) for each task in [0, tasks), on all threads, in no particular order; each
/// thread begins with consecutive tasks of its own, so that successive loops over the same rows
/// find them in its cache, and then steals from the others. Inside another parallel_for, or while
/// another thread of the caller is in one, it runs the tasks one after the other. `body` must not
/// throw. Allocates nothing once the team has started.
template <class Body>
void parallel_for(std::int64_t tasks, Body&& body) {
  using Plain = std::remove_reference_t<Body>;
  detail::parallel_for(
      tasks, [](void* b, std::int64_t task) { (*static_cast<Plain*>(b))(task); },
      const_cast<void*>(static_cast<const void*>(std::addressof(body))));
}

}  // namespace headlab
