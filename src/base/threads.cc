// A thread pool with work stealing that lasts as long as the program. A loop is cut into one range
// of tasks for each thread; a thread that has finished its own range steals tasks from the others',
// one at a time. So a thread that the system has preempted, or that still sleeps, delays the one
// task that it holds and not its whole range: beside other processes a loop slows down by about
// what they take, where OpenMP's barrier after a static schedule waits for every thread. An idle
// thread first spins, which saves the wake-up (some 50 us) between the loops of a training step,
// and then sleeps on a futex (std::atomic::wait), which leaves the processor to others. Read next:
// kernels/gemm.h, the heaviest user.
#include "headlab/base/threads.h"

#ifdef __linux__
#include <sched.h>
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>

#include "headlab/base/error.h"

namespace headlab {
namespace {

constexpr int kMostThreads = 1024;
using Run = void (*)(void* body, std::int64_t task);

/// Whether this thread is running a task: then a loop inside it runs right here.
thread_local bool inside_loop = false;

/// Waits until `number` is no longer `old`: spins for `spin`, then sleeps.
void await_change(const std::atomic<int>& number, int old, std::chrono::microseconds spin) {
  const auto begin = std::chrono::steady_clock::now();
  while (number.load(std::memory_order_acquire) == old) {
    if (std::chrono::steady_clock::now() - begin < spin) continue;
    number.wait(old, std::memory_order_acquire);
  }
}

/// The processor that this thread is on; -1 where the system does not tell.
int current_processor() {
#ifdef __linux__
  return sched_getcpu();
#else
  return -1;
#endif
}

/// The affinity of a thread of the team. Linux likes to wake a thread on its waker's processor,
/// also if another is idle, and may leave both there for many training steps, each of which then
/// takes twice as long. So the team's own threads exclude the caller's processor from their
/// affinity mask where they find themselves on it; the mask of the caller is left alone.
class Affinity {
 public:
  /// Leaves `processor` if this thread is on it and may use another.
  void leave([[maybe_unused]] int processor) const {
#ifdef __linux__
    if (processor < 0 || sched_getcpu() != processor || CPU_COUNT(&allowed_) < 2) return;
    cpu_set_t others = allowed_;
    CPU_CLR(static_cast<std::size_t>(processor), &others);
    sched_setaffinity(0, sizeof others, &others);  // refused: it stays where it is
#endif
  }

 private:
#ifdef __linux__
  static cpu_set_t of_this_thread() {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) CPU_ZERO(&set);
    return set;
  }
  cpu_set_t allowed_ = of_this_thread();
#endif
};

/// The tasks of one thread that nobody has taken yet, and what it sleeps on.
struct alignas(64) Share {
  std::atomic<std::uint64_t> tasks{0};  // [next, end), as next << 32 | end: taken in one exchange
  std::atomic<int> calls{0};            // grows when there is work

  bool take(std::int64_t& task) {
    std::uint64_t seen = tasks.load(std::memory_order_relaxed);
    while (seen >> 32 < (seen & 0xffffffff)) {
      if (tasks.compare_exchange_weak(seen, seen + (std::uint64_t{1} << 32),
                                      std::memory_order_acquire, std::memory_order_relaxed)) {
        task = static_cast<std::int64_t>(seen >> 32);
        return true;
      }
    }
    return false;
  }
};

/// Its caller is thread 0. What `loop` writes is published by the ranges, and a thread reads it
/// only after it has taken a task: the loop cannot end, and be followed by another, before that
/// task is done.
class Team {
 public:
  /// False if another caller has the team, or there is nobody else in it.
  bool loop(int tasks, Run run, void* body) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    const int count = lock.owns_lock() ? start(thread_count()) : 1;
    if (count == 1) return false;
    run_ = run;
    body_ = body;
    count_.store(count, std::memory_order_relaxed);
    unfinished_.store(tasks, std::memory_order_relaxed);
    callers_processor_.store(own_processors() ? current_processor() : -1,
                             std::memory_order_relaxed);
    // All ranges are published before anyone is called, because a thread steals from any of them.
    const auto first = [&](std::int64_t thread) { return tasks * thread / count; };
    for (std::int64_t i = 0; i < count; ++i) publish(i, first(i), first(i + 1));
    for (std::int64_t i = 1; i < count; ++i)
      if (first(i) < first(i + 1)) call(i);
    work(0);
    for (int left; (left = unfinished_.load(std::memory_order_acquire)) != 0;)
      await_change(unfinished_, left, spin_time());
    return true;
  }

 private:
  /// Starts what is missing; returns how many threads there are for a loop.
  int start(int wanted) {
    try {
      for (; started_ < wanted; ++started_)
        std::thread([this, me = started_] { serve(me); }).detach();
    } catch (const std::system_error&) {  // the system gives no more: those that there are will do
    }
    return std::min(wanted, started_);
  }

  void publish(std::int64_t thread, std::int64_t next, std::int64_t end) {
    shares_[thread].tasks.store(static_cast<std::uint64_t>(next << 32 | end),
                                std::memory_order_release);
  }
  void call(std::int64_t thread) {
    Share& share = shares_[thread];
    share.calls.fetch_add(1, std::memory_order_release);
    share.calls.notify_one();
  }

  void serve(int me) {
    Share& share = shares_[me];
    const Affinity affinity;
    for (int seen = 0;;) {
      await_change(share.calls, seen, spin_time());
      seen = share.calls.load(std::memory_order_acquire);
      affinity.leave(callers_processor_.load(std::memory_order_relaxed));
      work(me);
    }
  }

  /// Runs the tasks of thread `me`, then steals those that others have not begun.
  void work(int me) {
    inside_loop = true;
    int done = 0;
    const int count = count_.load(std::memory_order_relaxed);
    for (int i = 0; i < count; ++i) {
      Share& share = shares_[(me + i) % count];
      for (std::int64_t task; share.take(task); ++done) run_(body_, task);
    }
    inside_loop = false;
    if (done > 0 && unfinished_.fetch_sub(done, std::memory_order_acq_rel) == done)
      unfinished_.notify_one();
  }

  /// Whether there is a processor for each thread.
  bool own_processors() const {
    static const int processors = processor_count();
    return count_.load(std::memory_order_relaxed) <= processors;
  }
  /// With more threads than processors a spinning thread would only keep another from working.
  std::chrono::microseconds spin_time() const {
    return std::chrono::microseconds(own_processors() ? kSpinMicroseconds : 0);
  }

  std::mutex mutex_;
  int started_ = 1;  // the caller included
  Run run_ = nullptr;
  void* body_ = nullptr;
  std::atomic<int> count_{1}, unfinished_{0}, callers_processor_{-1};
  std::array<Share, kMostThreads> shares_;
};

/// Never destroyed: its threads sleep on it while the program ends. After a fork they are gone, and
/// the caller does all tasks.
Team& team() {
  static Team& instance = *new Team;
  return instance;
}

int default_threads() {
  const char* wish = std::getenv("OMP_NUM_THREADS");
  const int count = wish == nullptr ? 0 : std::atoi(wish);
  return std::clamp(count > 0 ? count : processor_count(), 1, has_threads() ? kMostThreads : 1);
}

std::atomic<int>& threads() {
  static std::atomic<int> count = default_threads();
  return count;
}

}  // namespace

bool has_threads() {
#ifdef HEADLAB_ONE_THREAD
  return false;
#else
  return true;
#endif
}

int processor_count() {
#ifdef __linux__
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int thread_count() { return threads().load(std::memory_order_relaxed); }

void set_thread_count(int count) {
  require(count >= 1 && count <= kMostThreads, "the number of threads is between 1 and ",
          kMostThreads, ", not ", count);
  threads().store(has_threads() ? count : 1, std::memory_order_relaxed);
}

bool in_parallel_for() { return inside_loop; }

void detail::parallel_for(std::int64_t tasks, Run run, void* body) {
  const bool outermost = tasks > 1 && !inside_loop;
  const bool shared = outermost && tasks <= std::numeric_limits<int>::max() && thread_count() > 1;
  if (shared && team().loop(static_cast<int>(tasks), run, body)) return;
  if (outermost) inside_loop = true;
  for (std::int64_t task = 0; task < tasks; ++task) run(body, task);
  if (outermost) inside_loop = false;
}

}  // namespace headlab
