// Threads: parallel loops over tasks, run by OpenMP. Results are bit-identical for any number of
// threads because every loop follows two rules: each output is written by exactly one task, and the
// order in which its terms are added depends on sizes alone. The number of tasks may depend on the
// number of threads; the thread that runs a task is arbitrary. Read next: src/core/base/threads.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace headlab {

/// Returns whether this build has threads: HEADLAB_THREADS, and a compiler with OpenMP. Without
/// them everything runs on the caller's thread.
bool has_threads();
/// Returns the number of processors that this process may use.
int processor_count();
/// Returns the number of threads of `parallel_for`: initially processor_count(), or OMP_NUM_THREADS
/// if it is set.
int thread_count();
/// Sets the number of threads. Error unless 1 <= count <= 1024. Within with_threads it is limited
/// to the number of threads started there.
void set_thread_count(int count);
/// Returns whether the caller is one of several tasks of parallel_for. Its own loops then run on
/// its thread alone.
bool in_parallel_for();

namespace detail {
inline constexpr int kMostThreads = 1024;
void parallel_for(std::int64_t tasks, void (*run)(void* body, std::int64_t task), void* body,
                  int most);
int threads_of_loop(double nanoseconds);
void with_threads(void (*run)(void* body), void* body);
}  // namespace detail

/// Calls body(task) for each task in [0, tasks) on all threads; each thread takes the next task.
/// The tasks run sequentially inside another parallel_for, while another thread of the caller uses
/// the threads, and in the child of a fork. An exception of a task is thrown here once no task is
/// running; if there are several, the first. Tasks that have not started by then may be skipped. At
/// most `most` threads take part.
template <class Body>
void parallel_for(std::int64_t tasks, Body&& body, int most = detail::kMostThreads) {
  using Plain = std::remove_reference_t<Body>;
  detail::parallel_for(
      tasks, [](void* b, std::int64_t task) { (*static_cast<Plain*>(b))(task); },
      const_cast<void*>(static_cast<const void*>(std::addressof(body))), most);
}

/// Estimated work of a loop: how long it takes on one thread.
struct LoopWork {
  double nanoseconds;
};
/// Returns how many threads a loop is worth, at most thread_count(). Starting a thread takes about
/// kThreadNanoseconds, one after the other, so n threads take work / n + n kThreadNanoseconds; the
/// result is the n with the shortest time. More threads are therefore never slower by this model.
int threads_worth(LoopWork work);
inline constexpr double kThreadNanoseconds = 500;
/// Calls body(task) for each task, on as many threads as the work is worth and never on more than
/// there are processors.
template <class Body>
void parallel_for(std::int64_t tasks, LoopWork work, Body&& body) {
  parallel_for(tasks, body, detail::threads_of_loop(work.nanoseconds));
}

/// Calls body() while threads are kept ready for its loops, which makes loops cheaper: if other
/// processes are busy, a loop waits only for tasks that have started and not for threads. Use it
/// for a whole training run or analysis; the program runs every command in it. The number of
/// threads is that of processors, or thread_count() if that is larger; set_thread_count cannot
/// exceed it until body ends. Exceptions of body are thrown.
template <class Body>
void with_threads(Body&& body) {
  using Plain = std::remove_reference_t<Body>;
  detail::with_threads([](void* b) { (*static_cast<Plain*>(b))(); },
                       const_cast<void*>(static_cast<const void*>(std::addressof(body))));
}

}  // namespace headlab
