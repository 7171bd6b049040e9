// Parallel loops on OpenMP, whose threads take one task after the other. Within with_threads the
// helpers are OpenMP tasks of one parallel region that stays open. A loop then ends when its tasks
// are done, and a thread that the system preempted before it began does not delay it; the barrier
// at the end of a `parallel for` would wait for every thread. Outside of with_threads each loop
// opens its own region. This is the only file that uses OpenMP; without OpenMP everything runs on
// the caller's thread. Read next: src/core/kernels/gemm.h, the main user.
#include "headlab/core/base/threads.h"

#ifdef _OPENMP
#include <omp.h>
#endif
#if __has_include(<pthread.h>)
#include <pthread.h>
#endif

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <thread>
#include <utility>

#include "headlab/core/base/error.h"

namespace headlab {
namespace {

using detail::kMostThreads;
using Run = void (*)(void* body, std::int64_t task);

#ifndef _OPENMP
int omp_get_num_procs() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}
int omp_get_max_threads() { return 1; }
int omp_get_num_threads() { return 1; }
#endif

/// True while this thread runs a task; a loop inside it then runs on this thread.
thread_local bool inside_loop = false;
/// The thread that started the program.
const std::thread::id first_thread = std::this_thread::get_id();
/// The threads of the region that with_threads opened on this thread; 0 outside.
thread_local int region_size = 0;
/// True while a caller uses the threads, which serve one at a time.
std::atomic<bool> taken = false;
/// True in the child of a fork, which does not inherit the threads.
std::atomic<bool> forked = false;

/// The current loop. OpenMP orders writes before a region or task with reads inside it; `next_` and
/// `finished_` express the same to ThreadSanitizer, which cannot see into OpenMP.
class Loop {
 public:
  void publish(std::int64_t tasks, Run run, void* body) {
    run_ = run;
    body_ = body;
    end_ = tasks;
    failed_.store(false, std::memory_order_relaxed);
    next_.store(0, std::memory_order_release);
  }

  /// Runs tasks that have not started. No exception leaves it, because none may leave an OpenMP
  /// region: the first one is kept for `join`.
  void work() {
    inside_loop = true;
    try {
      for (std::int64_t task; (task = next_.fetch_add(1, std::memory_order_acquire)) < end_;) {
        run_(body_, task);
      }
    } catch (...) {
      if (!failed_.exchange(true, std::memory_order_relaxed)) error_ = std::current_exception();
    }
    inside_loop = false;
    finished_.fetch_add(1, std::memory_order_release);
  }
  /// Call it when every thread has left `work`; throws the exception of a task.
  void join() {
    finished_.load(std::memory_order_acquire);
    if (failed_.load(std::memory_order_relaxed)) {
      std::rethrow_exception(std::exchange(error_, nullptr));
    }
  }

 private:
  Run run_ = nullptr;
  void* body_ = nullptr;
  std::int64_t end_ = 0;
  // Separate cache lines: some processors fetch the neighbour of a line with it.
  alignas(128) std::atomic<std::int64_t> next_{0};
  alignas(128) std::atomic<int> finished_{0};
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;  // of the first task that threw
};
Loop loop;

/// The right to use the threads, for the lifetime of the object.
class Hold {
 public:
  ~Hold() {
    if (held_) taken.store(false, std::memory_order_release);
  }
  explicit operator bool() const { return held_; }

 private:
  bool held_ = !taken.exchange(true, std::memory_order_acquire);
};

/// Marks this thread as inside a loop for its lifetime, if it `enters` one or already was in one.
class Inside {
 public:
  explicit Inside(bool enters) { inside_loop = inside_loop || enters; }
  ~Inside() { inside_loop = before_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  bool before_ = inside_loop;
};

/// Returns whether work started by this thread must stay on it.
bool is_alone() {
#if __has_include(<pthread.h>)
  [[maybe_unused]] static const int watched =
      pthread_atfork(nullptr, nullptr, [] { forked = true; });
#endif
  return inside_loop || forked;
}

/// Runs helpers as tasks of the open region; helpers that start late find no tasks left.
void run_in_region(int count) {
#pragma omp taskgroup
  {
    for (int i = 1; i < count; ++i) {
#pragma omp task
      loop.work();
    }
    loop.work();
  }
}

void run_on_threads(std::int64_t tasks, Run run, void* body, int count) {
  loop.publish(tasks, run, body);
  if (region_size > 0) {
    run_in_region(count);
  } else {
#pragma omp parallel num_threads(count)
    loop.work();
  }
  loop.join();
}

std::atomic<int>& threads() {
  static std::atomic<int> count = std::clamp(omp_get_max_threads(), 1, kMostThreads);
  return count;
}

}  // namespace

bool has_threads() {
#ifdef _OPENMP
  return true;
#else
  return false;
#endif
}

int processor_count() { return omp_get_num_procs(); }

int thread_count() { return threads().load(std::memory_order_relaxed); }

void set_thread_count(int count) {
  require(count >= 1 && count <= kMostThreads,
          "cannot start threads: their number must be from 1 to ", kMostThreads, ", got ", count);
  const int most_here = has_threads() ? kMostThreads : 1;
  const int most = region_size > 0 ? region_size : most_here;
  threads().store(std::min(count, most), std::memory_order_relaxed);
}

bool in_parallel_for() { return inside_loop; }

int threads_worth(LoopWork work) {
  const double best = std::sqrt(std::max(0.0, work.nanoseconds) / kThreadNanoseconds);
  return static_cast<int>(std::clamp(best, 1.0, static_cast<double>(thread_count())));
}

int detail::threads_of_loop(double nanoseconds) {
  static const int processors = processor_count();
  return std::min(threads_worth({nanoseconds}), processors);
}

void detail::parallel_for(std::int64_t tasks, Run run, void* body, int most) {
  const int count = static_cast<int>(std::min<std::int64_t>(tasks, std::min(thread_count(), most)));
  if (count > 1 && !is_alone()) {
    if (region_size > 0) return run_on_threads(tasks, run, body, count);
    if (const Hold hold; hold) return run_on_threads(tasks, run, body, count);
  }
  const Inside inside(tasks > 1);
  for (std::int64_t task = 0; task < tasks; ++task) run(body, task);
}

void detail::with_threads(void (*run)(void* body), void* body) {
#ifdef __clang__
  // LLVM's OpenMP frees the tasks of a thread that ends, although others may still hold them, and
  // then stops with "Assertion failure at kmp_alloc.cpp" (seen in version 14).
  if (std::this_thread::get_id() != first_thread) return run(body);
#endif
  const int count = std::max(thread_count(), processor_count());
  if (count == 1 || region_size > 0 || is_alone()) return run(body);
  const Hold hold;
  if (!hold) return run(body);
  std::exception_ptr error;
#pragma omp parallel num_threads(count)
#pragma omp master
  {
    region_size = omp_get_num_threads();
    try {
      run(body);
    } catch (...) {  // must not leave a region
      error = std::current_exception();
    }
    region_size = 0;
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace headlab
