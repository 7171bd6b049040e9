// The pool as a library of its own: blocks, containers and scratch memory. What training asks of it
// is tested with tensors (tests/tensor/tensor_test.cc) and steps (tests/train/allocations_test.cc).
#include "headlab/base/pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "headlab/base/threads.h"

namespace headlab { namespace {

TEST(PoolBlock, IsAlignedAndReturnsAtTheEndOfItsScope) {
  const std::size_t before = pool_statistics().bytes_in_use;
  for (const std::int64_t count : {1, 100, 5000}) {
    const PoolBlock<float> block(count);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.data()) % 64, 0u);
    std::fill_n(block.data(), count, 1.0f);
    EXPECT_GE(pool_statistics().bytes_in_use, before + static_cast<std::size_t>(count) * 4);
  }
  EXPECT_EQ(pool_statistics().bytes_in_use, before);
}

TEST(PoolBlock, OfNothingIsNull) { EXPECT_EQ(PoolBlock<double>(0).data(), nullptr); }

TEST(PoolBlock, IsItsTasksAloneOnEveryThread) {
  const int threads = thread_count();
  set_thread_count(3);
  std::vector<int> wrong(64, 0);
  parallel_for(64, [&](std::int64_t task) {
    const PoolBlock<std::int64_t> block(1000 + task);
    std::fill_n(block.data(), 1000 + task, task);
    wrong[static_cast<std::size_t>(task)] =
        static_cast<int>(std::count_if(block.data(), block.data() + 1000 + task,
                                       [task](std::int64_t value) { return value != task; }));
  });
  for (const int count : wrong) EXPECT_EQ(count, 0);
  set_thread_count(threads);
}

TEST(Machine, HasMemory) { EXPECT_GT(machine_memory(), std::size_t{1} << 20); }

}  // namespace
}  // namespace headlab
