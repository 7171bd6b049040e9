// Threads: parallel loops over tasks, which OpenMP's threads run. Results are bit-identical for any
// number of threads, by two rules that every loop keeps: an output is written by one task alone,
// and the order in which its terms are added depends on sizes alone. How many tasks there are may
// depend on the number of threads; which thread runs a task is left to chance. Read next:
// src/core/base/threads.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace headlab {

/// Whether this build has threads: HEADLAB_THREADS, and a compiler with OpenMP. Without them
/// everything runs on the caller's thread.
bool has_threads();
/// The processors that this process may use.
int processor_count();
/// How many threads `parallel_for` uses: at first processor_count(), or what OMP_NUM_THREADS says.
int thread_count();
/// Error unless 1 <= count <= 1024. Within with_threads at most the threads that it started.
void set_thread_count(int count);
/// To be called first in `main`, with its arguments: lets threads that wait for work spin for
/// microseconds and then sleep. libgomp lets them spin for milliseconds, which beside a second
/// program with threads makes both several times slower (tests/tools/yardstick). As libgomp reads
/// its limit, GOMP_SPINCOUNT, before main, this starts the program once more with the limit set.
/// Does nothing if it or OMP_WAIT_POLICY is set, with other OpenMP libraries, and where there is no
/// /proc.
void spin_briefly(char** arguments);
/// Whether the caller is one of several tasks of parallel_for: its own loops run on its thread
/// alone.
bool in_parallel_for();

namespace detail {
void parallel_for(std::int64_t tasks, void (*run)(void* body, std::int64_t task), void* body);
void with_threads(void (*run)(void* body), void* body);
}  // namespace detail

/// Calls body(task) for each task in [0, tasks), on all threads, which take one after the other.
/// Inside another parallel_for, while another thread of the caller has the threads, and in the
/// child of a fork, it runs the tasks one after the other. What a task throws is thrown here once
/// no task runs any more; of several exceptions the first. Tasks that nobody has begun by then may
/// be left out.
template <class Body>
void parallel_for(std::int64_t tasks, Body&& body) {
  using Plain = std::remove_reference_t<Body>;
  detail::parallel_for(
      tasks, [](void* b, std::int64_t task) { (*static_cast<Plain*>(b))(task); },
      const_cast<void*>(static_cast<const void*>(std::addressof(body))));
}

/// Calls body() while the threads stand ready for its loops, which then cost less: beside other
/// processes a loop waits for work that has begun and not for threads. For a whole training run or
/// analysis; the program runs every command in it. There are as many threads as processors, or
/// thread_count() if that is more; set_thread_count cannot ask for more until body ends. What body
/// throws is thrown.
template <class Body>
void with_threads(Body&& body) {
  using Plain = std::remove_reference_t<Body>;
  detail::with_threads([](void* b) { (*static_cast<Plain*>(b))(); },
                       const_cast<void*>(static_cast<const void*>(std::addressof(body))));
}

}  // namespace headlab
