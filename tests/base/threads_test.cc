// Threads: every task runs once, whatever the counts, and a nested loop neither deadlocks nor
// multiplies threads. Built without threads the same tests hold on one. Read next:
// src/base/threads.cc.
#include "headlab/base/threads.h"

#include <gtest/gtest.h>
#ifdef __linux__
#include <sched.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <new>
#include <set>
#include <thread>
#include <vector>

#include "headlab/base/error.h"

namespace {

std::atomic<std::int64_t> allocations = 0;

}  // namespace

// Counts what the program asks for. Not inlined, or GCC sees a malloc behind a new and warns.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {
bool forked = false;
}

/// Asked by LeakSanitizer: in the child of a fork the other threads are gone, and what they held
/// seems lost.
extern "C" int __lsan_is_turned_off() { return forked ? 1 : 0; }

namespace headlab { namespace {

class Threads : public testing::Test {
 protected:
  ~Threads() override { set_thread_count(before_); }
  int before_ = thread_count();
};

TEST_F(Threads, StartWithAtLeastOneProcessor) {
  EXPECT_GE(processor_count(), 1);
  EXPECT_GE(thread_count(), 1);
  const bool free = has_threads() && std::getenv("OMP_NUM_THREADS") == nullptr;
  EXPECT_TRUE(!free || thread_count() == processor_count());
}

TEST_F(Threads, RefuseCountsThatMakeNoSense) {
  for (const int count : {0, -1, 1025}) EXPECT_THROW(set_thread_count(count), Error) << count;
}

TEST_F(Threads, KeepTheCountTheyAreGiven) {
  set_thread_count(3);
  EXPECT_EQ(thread_count(), has_threads() ? 3 : 1);
}

TEST_F(Threads, RunEveryTaskOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    set_thread_count(threads);
    for (const std::int64_t tasks : {0, 1, 2, 3, 7, 1000}) {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(tasks));
      parallel_for(tasks, [&](std::int64_t task) { ++runs[static_cast<std::size_t>(task)]; });
      for (const auto& count : runs) ASSERT_EQ(count, 1) << threads << " threads";
    }
  }
}

TEST_F(Threads, RunNothingForFewerThanOneTask) {
  parallel_for(-3, [](std::int64_t) { FAIL(); });
}

TEST_F(Threads, ReallyRunAtTheSameTime) {
  if (!has_threads()) GTEST_SKIP() << "built without threads";
  set_thread_count(2);
  std::atomic<int> arrived = 0;
  parallel_for(2, [&](std::int64_t) {  // ends only if both tasks wait for each other
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

#ifdef __linux__
/// Two tasks at the same time, one on the caller and one on the thread beside it; returns the
/// processor of the latter.
int processor_of_the_other() {
  std::atomic<int> arrived = 0, processor = -1;
  const auto caller = std::this_thread::get_id();
  parallel_for(2, [&](std::int64_t) {
    if (std::this_thread::get_id() != caller) processor = sched_getcpu();
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  return processor;
}

TEST_F(Threads, KeepOffTheProcessorOfTheirCaller) {
  if (!has_threads() || processor_count() < 2) GTEST_SKIP() << "one processor, or no threads";
  set_thread_count(2);
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  for (int round = 0; round < 20; ++round) {
    const int there = processor_of_the_other();
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(there), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);  // the caller comes to where the other is
    // Not always at once: a thread that has not yet left the loop before goes on where it is.
    int loops = 1;
    while (processor_of_the_other() == there && loops < 20) ++loops;
    EXPECT_LT(loops, 20) << round;
    cpu_set_t now;
    ASSERT_EQ(sched_getaffinity(0, sizeof now, &now), 0);
    EXPECT_TRUE(CPU_EQUAL(&now, &one)) << "the caller was moved";
    ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  }
}
#endif

TEST_F(Threads, RunOneTaskOnTheCaller) {
  set_thread_count(4);
  std::thread::id runner;
  parallel_for(1, [&](std::int64_t) { runner = std::this_thread::get_id(); });
  EXPECT_EQ(runner, std::this_thread::get_id());
}

TEST_F(Threads, RunEverythingOnTheCallerWhenThereIsOne) {
  set_thread_count(1);
  std::vector<std::int64_t> order;
  parallel_for(5, [&](std::int64_t task) { order.push_back(task); });
  EXPECT_EQ(order, (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
}

TEST_F(Threads, RunNestedLoopsInOrderOnOneThread) {
  set_thread_count(4);
  std::array<std::vector<std::int64_t>, 8> orders;
  std::array<std::set<std::thread::id>, 8> runners;
  std::atomic<int> inside = 0;
  EXPECT_FALSE(in_parallel_for());
  parallel_for(8, [&](std::int64_t outer) {
    inside += in_parallel_for();
    parallel_for(10, [&](std::int64_t inner) {
      orders[static_cast<std::size_t>(outer)].push_back(inner);
      runners[static_cast<std::size_t>(outer)].insert(std::this_thread::get_id());
    });
  });
  EXPECT_FALSE(in_parallel_for());
  EXPECT_EQ(inside, 8);
  for (std::size_t outer = 0; outer < 8; ++outer) {
    EXPECT_TRUE(std::is_sorted(orders[outer].begin(), orders[outer].end()));
    EXPECT_EQ(orders[outer].size(), 10u);
    EXPECT_EQ(runners[outer].size(), 1u);
  }
}

TEST_F(Threads, KeepNestedLoopsToThemselvesAlsoWhereThereIsOneThread) {
  set_thread_count(1);
  int inside = 0;
  parallel_for(3, [&](std::int64_t) {
    parallel_for(2, [&](std::int64_t) { inside += in_parallel_for(); });
    inside += in_parallel_for();
  });
  EXPECT_EQ(inside, 9);
  EXPECT_FALSE(in_parallel_for());
}

TEST_F(Threads, ServeSeveralCallersAtOnce) {
  set_thread_count(2);
  std::atomic<int> runs = 0;
  {
    std::array<std::jthread, 3> callers;
    for (auto& caller : callers)
      caller = std::jthread([&] { parallel_for(100, [&](std::int64_t) { ++runs; }); });
  }
  EXPECT_EQ(runs, 300);
}

TEST_F(Threads, DoTheTasksOfOneThatIsHeldUp) {
  if (!has_threads()) GTEST_SKIP() << "built without threads";
  set_thread_count(2);
  std::atomic<int> others = 0;
  parallel_for(100, [&](std::int64_t task) {  // ends only if task 0 waits alone
    if (task != 0) ++others;
    while (task == 0 && others < 99) std::this_thread::yield();
  });
  EXPECT_EQ(others, 99);
}

TEST_F(Threads, WakeUpAfterTheyHaveSlept) {
  set_thread_count(2);
  for (int i = 0; i < 5; ++i) {
    std::atomic<int> runs = 0;
    parallel_for(10, [&](std::int64_t) { ++runs; });
    EXPECT_EQ(runs, 10);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

TEST_F(Threads, AreNotMissedByTheChildOfAFork) {
  set_thread_count(2);
  parallel_for(10, [](std::int64_t) {});  // the team has started
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    forked = true;
    std::atomic<int> runs = 0;
    parallel_for(10, [&](std::int64_t) { ++runs; });
    std::exit(runs == 10 ? 0 : 1);  // statics are destroyed, while the team sleeps
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(Threads, AllocateNothingInALoop) {
  set_thread_count(2);
  std::array<double, 64> out{};
  const auto body = [&](std::int64_t i) { out[static_cast<std::size_t>(i)] = std::sqrt(i); };
  parallel_for(64, body);
  const std::int64_t before = allocations;
  for (int i = 0; i < 100; ++i) parallel_for(64, body);
  EXPECT_EQ(allocations, before);
}

TEST_F(Threads, AcceptConstAndMutableBodies) {
  set_thread_count(1);
  int sum = 0;
  auto changes = [&sum, calls = 0](std::int64_t) mutable { sum = ++calls; };
  parallel_for(3, changes);
  EXPECT_EQ(sum, 3);
}

}  // namespace
}  // namespace headlab
