// Threads: every task runs once, whatever the counts, and a nested loop neither deadlocks nor
// multiplies threads. Built without threads the same tests hold on one. Read next:
// src/core/base/threads.cc.
#include "headlab/core/base/threads.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <new>
#include <set>
#include <thread>
#include <vector>

#include "headlab/core/base/error.h"

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

/// Exit status of a forked child that runs a loop of its own.
int status_of_child() {
  const pid_t child = fork();
  if (child == 0) {
    forked = true;
    std::atomic<int> runs = 0;
    parallel_for(10, [&](std::int64_t) { ++runs; });
    _exit(runs == 10 ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

TEST_F(Threads, AreNotMissedByTheChildOfAFork) {
  set_thread_count(2);
  parallel_for(10, [](std::int64_t) {});  // they have started
  EXPECT_EQ(status_of_child(), 0);
}

TEST_F(Threads, AreNotMissedByTheChildOfAForkWhileAnotherThreadUsesThem) {
  set_thread_count(2);
  std::atomic<bool> stop = false;
  std::jthread busy([&] {
    while (!stop) parallel_for(10, [](std::int64_t) {});
  });
  for (int round = 0; round < 40; ++round) EXPECT_EQ(status_of_child(), 0) << round;
  stop = true;
}

TEST_F(Threads, StandReadyForEveryLoopOfABody) {
  set_thread_count(2);
  std::atomic<int> runs = 0, at_once = 0;
  with_threads([&] {
    for (int i = 0; i < 100; ++i) parallel_for(10, [&](std::int64_t) { ++runs; });
    with_threads([&] { parallel_for(10, [&](std::int64_t) { ++runs; }); });
    parallel_for(2, [&](std::int64_t) {  // ends only if both tasks wait for each other
      ++at_once;
      while (has_threads() && at_once < 2) std::this_thread::yield();
    });
  });
  EXPECT_EQ(runs, 1010);
  EXPECT_EQ(at_once, 2);
}

/// Nanoseconds of a loop by the model of threads_worth.
double modelled(double work, int threads) { return work / threads + threads * kThreadNanoseconds; }

TEST_F(Threads, AreNeverSlowerIfThereAreMoreByTheModel) {
  if (!has_threads()) GTEST_SKIP() << "built without threads";
  for (const double work : {0.0, 400.0, 2500.0, 8e3, 1e5, 1e7}) {
    double before = HUGE_VAL;
    for (const int count : {1, 2, 3, 5, 8, 16, 64}) {
      set_thread_count(count);
      const int worth = threads_worth({work});
      EXPECT_GE(worth, 1);
      EXPECT_LE(worth, count);
      EXPECT_LE(modelled(work, worth), before) << work << " ns, " << count << " threads";
      before = modelled(work, worth);
    }
  }
  set_thread_count(16);
  EXPECT_EQ(threads_worth({1e3}), 1);
  EXPECT_EQ(threads_worth({2.1e3}), 2);
  EXPECT_EQ(threads_worth({1e6}), 16);
}

TEST_F(Threads, ShortLoopsUseFewThreads) {
  set_thread_count(8);
  std::set<std::thread::id> runners;
  parallel_for(64, LoopWork{100},
               [&](std::int64_t) { runners.insert(std::this_thread::get_id()); });
  EXPECT_EQ(runners, std::set{std::this_thread::get_id()});
  std::atomic<int> runs = 0;
  parallel_for(64, LoopWork{1e9}, [&](std::int64_t) { ++runs; });
  EXPECT_EQ(runs, 64);
}

TEST_F(Threads, RethrowExceptionsOfABody) {
  set_thread_count(2);
  EXPECT_THROW(with_threads([] { throw Error("no"); }), Error);
  int ran = 0;
  with_threads([&] { ++ran; });  // they are free again
  EXPECT_EQ(ran, 1);
}

/// Loops of 64 tasks in which `fails` selects the tasks without memory; each ends with the
/// exception, and the next loop runs as if nothing had been.
template <class Fails>
void expect_thrown(const Fails& fails) {
  const auto caller = std::this_thread::get_id();
  for (int i = 0; i < 20; ++i) {
    std::atomic<bool> failed = false;
    const auto body = [&](std::int64_t) {
      const bool failing = fails(std::this_thread::get_id() == caller);
      while (!failing && !failed) std::this_thread::yield();  // the other thread will
      if (!failing) return;
      failed = true;
      throw std::bad_alloc();
    };
    EXPECT_THROW(parallel_for(64, body), std::bad_alloc);
    EXPECT_FALSE(in_parallel_for());
    std::atomic<int> runs = 0;
    parallel_for(64, [&](std::int64_t) { ++runs; });
    EXPECT_EQ(runs, 64);
  }
}

TEST_F(Threads, RethrowExceptionsOfATaskOnAnyThread) {
  const auto always = [](bool) { return true; };
  const auto on_helpers = [](bool on_caller) { return !on_caller; };
  set_thread_count(1);
  expect_thrown(always);
  set_thread_count(2);
  if (!has_threads()) return;
  expect_thrown(on_helpers);
  with_threads([&] { expect_thrown(on_helpers); });
}

TEST_F(Threads, AreNoMoreThanABodyStartedWith) {
  set_thread_count(2);
  const int most = std::max(2, processor_count());
  with_threads([&] { set_thread_count(1000); });
  EXPECT_EQ(thread_count(), has_threads() ? most : 1);
}

TEST_F(Threads, ServeTheirHolderAloneWhileOthersGoOnByThemselves) {
  set_thread_count(2);
  std::atomic<int> runs = 0;
  with_threads([&] {
    std::jthread other([&] {
      const auto me = std::this_thread::get_id();
      parallel_for(50, [&](std::int64_t) { runs += std::this_thread::get_id() == me; });
    });
  });
  EXPECT_EQ(runs, 50);
}

TEST_F(Threads, OutliveTheirCallers) {
  std::atomic<int> runs = 0;
  const auto run_loops = [&] {
    with_threads([&] {
      for (int i = 0; i < 200; ++i) parallel_for(64, [&](std::int64_t) { ++runs; });
    });
  };
  for (int round = 0; round < 40; ++round) {
    set_thread_count(1 + round % 8);
    std::jthread(run_loops).join();
    run_loops();
  }
  EXPECT_EQ(runs, 40 * 2 * 200 * 64);
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
