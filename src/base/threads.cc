// The only file that knows OpenMP; without it (_OPENMP undefined) all of this is serial. The team
// has the same size in every region, even where there are fewer tasks: OpenMP libraries end and
// start threads when the size changes, which costs more than an idle thread. Read next:
// kernels/gemm.h, the heaviest user.
#include "headlab/base/threads.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "headlab/base/error.h"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace headlab {
namespace {

constexpr int kMostThreads = 1024;

int default_threads() {
#ifdef _OPENMP
  return std::clamp(omp_get_max_threads(), 1, kMostThreads);
#else
  return 1;
#endif
}

std::atomic<int>& threads() {
  static std::atomic<int> count = default_threads();
  return count;
}

#ifdef _OPENMP
bool inside_parallel() { return omp_in_parallel() != 0; }

void run_parallel(std::int64_t tasks, void (*run)(void*, std::int64_t), void* body) {
  const int count = thread_count();
#pragma omp parallel for schedule(static) num_threads(count)
  for (std::int64_t task = 0; task < tasks; ++task) run(body, task);
}
#else
bool inside_parallel() { return true; }

void run_parallel(std::int64_t, void (*)(void*, std::int64_t), void*) {}
#endif

}  // namespace

bool has_openmp() {
#ifdef _OPENMP
  return true;
#else
  return false;
#endif
}

int processor_count() {
#ifdef _OPENMP
  return std::max(1, omp_get_num_procs());
#else
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
#endif
}

int thread_count() { return threads().load(std::memory_order_relaxed); }

void set_thread_count(int count) {
  require(count >= 1 && count <= kMostThreads, "the number of threads is between 1 and ",
          kMostThreads, ", not ", count);
  threads().store(has_openmp() ? count : 1, std::memory_order_relaxed);
}

void detail::parallel_for(std::int64_t tasks, void (*run)(void* body, std::int64_t task),
                          void* body) {
  if (tasks > 1 && thread_count() > 1 && !inside_parallel()) {
    run_parallel(tasks, run, body);
    return;
  }
  for (std::int64_t task = 0; task < tasks; ++task) run(body, task);
}

}  // namespace headlab
