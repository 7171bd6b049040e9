// Threads: loops whose tasks run on all processors, by one team. Work is cut into tasks by its size
// alone, never by the number of threads, and a task owns what it writes: that is why every result
// is bit-identical for any count, and whoever runs a task. Read next: src/base/threads.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace headlab {

/// Whether this build has threads (HEADLAB_THREADS). Without them everything runs on the caller's.
bool has_threads();
/// How long a thread without work looks for some before it sleeps: longer than the pauses within a
/// training step. Threads that have no processor of their own sleep at once.
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

/// Memory for one purpose, a block for each thread, which grows and stays. All threads get what one
/// of them needed, at the end of the loop in which it grew: so nobody asks the system for memory
/// later, whoever does which task. Objects are static and live to the end.
class ThreadMemory {
 public:
  /// Error beyond 64 objects.
  ThreadMemory();
  ThreadMemory(const ThreadMemory&) = delete;
  ThreadMemory& operator=(const ThreadMemory&) = delete;
  /// This thread's block: at least `bytes`, on a 64-byte boundary, holding whatever it holds; valid
  /// until its next call in this thread.
  void* get(std::size_t bytes);

 private:
  std::size_t place_;  // in the table of each thread
};

namespace detail {
void parallel_for(std::int64_t tasks, void (*run)(void* body, std::int64_t task), void* body);
/// Grows the calling thread's blocks to what any thread needed.
void grow_thread_memory();
/// Changes whenever a block grew beyond what any thread had.
int thread_memory_generation();
}  // namespace detail

/// Calls body(task) for each task in [0, tasks), on all threads, in no particular order; each
/// thread begins with neighbouring tasks of its own, so that consecutive loops over the same rows
/// find them in its cache, and then helps the others. Inside another parallel_for, or while another
/// thread of the caller is in one, it runs the tasks one after the other. `body` must not throw.
/// Allocates nothing once the team has started.
template <class Body>
void parallel_for(std::int64_t tasks, Body&& body) {
  using Plain = std::remove_reference_t<Body>;
  detail::parallel_for(
      tasks, [](void* b, std::int64_t task) { (*static_cast<Plain*>(b))(task); },
      const_cast<void*>(static_cast<const void*>(std::addressof(body))));
}

}  // namespace headlab
