// The pool as a library of its own: blocks, containers and scratch memory. Its use in training
// is tested with tensors (tests/tensor/tensor_test.cc) and steps (tests/train/allocations_test.cc).
#include "headlab/core/base/pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "headlab/core/base/threads.h"

namespace headlab { namespace {

TEST(Scratch, IsAlignedWhateverItsSize) {
  for (const std::int64_t count : {1, 100, 5000, 3000000}) {
    const Scratch<float> block(count);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.data()) % 64, 0u);
    std::fill_n(block.data(), count, 1.0f);
  }
}

TEST(Scratch, GivesAThreadWhatItHadBefore) {
  const auto place = [] { return Scratch<float>(1000).data(); };
  const float* here = place();
  EXPECT_EQ(place(), here);
  const float* there = nullptr;
  std::thread([&] {
    there = place();
    EXPECT_EQ(place(), there);
    EXPECT_EQ(Scratch<float>(1000).data(), there);
  }).join();
  EXPECT_EQ(place(), here);
}

TEST(Scratch, GrowsToWhatANestOfScopesNeeds) {
  const std::size_t before = pool_statistics().bytes_in_use;
  for (const bool grown : {false, true}) {
    const Scratch<char> outer(3 << 20);
    const Scratch<char> inner(2 << 20);
    EXPECT_EQ(pool_statistics().bytes_in_use == before, grown);
    EXPECT_TRUE(inner.data() >= outer.data() + (3 << 20) || inner.data() < outer.data());
  }
  {
    const Scratch<char> large(9 << 20);
    EXPECT_GT(pool_statistics().bytes_in_use, before);
  }
  EXPECT_EQ(pool_statistics().bytes_in_use, before);
}

TEST(Scratch, GrowsToTheMostThatWasInUseAndNotToTheLast) {
  std::thread([] {  // whose stack is new
    const std::size_t before = pool_statistics().bytes_in_use;
    for (const bool grown : {false, true}) {
      const Scratch<char> outer(2 << 20);
      {
        const Scratch<char> inner(1 << 20);
        EXPECT_EQ(pool_statistics().bytes_in_use == before, grown);
      }
      const Scratch<char> last(1);
    }
  })
      .join();
}

TEST(Scratch, EmptyScratchIsNull) { EXPECT_EQ(Scratch<double>(0).data(), nullptr); }

TEST(Scratch, IsItsTasksAloneOnEveryThread) {
  const int threads = thread_count();
  set_thread_count(3);
  std::vector<int> wrong(64, 0);
  parallel_for(64, [&](std::int64_t task) {
    const Scratch<std::int64_t> block(1000 + task);
    std::fill_n(block.data(), 1000 + task, task);
    wrong[static_cast<std::size_t>(task)] =
        static_cast<int>(std::count_if(block.data(), block.data() + 1000 + task,
                                       [task](std::int64_t value) { return value != task; }));
  });
  for (const int count : wrong) EXPECT_EQ(count, 0);
  set_thread_count(threads);
}

TEST(Pool, KnowsLengthsThatComeBack) {
  const auto step = [](std::size_t length) {
    std::vector<std::pair<void*, std::size_t>> blocks;
    for (const std::size_t width : {4, 64, 100, 4000})
      for (int layer = 0; layer < 3; ++layer)
        blocks.emplace_back(pool_allocate(length * width), length * width);
    for (const auto& [block, bytes] : blocks) pool_free(block, bytes);
  };
  for (const std::size_t length : {7, 100, 3000}) step(length);
  const std::size_t asked = pool_statistics().system_allocations;
  for (const std::size_t length : {100, 7, 3000, 7}) step(length);
  EXPECT_EQ(pool_statistics().system_allocations, asked);
  EXPECT_GT(asked, 0u);
}

TEST(Pool, HoldsLittleMoreThanItsBlocks) {
  for (const std::size_t bytes : {1, 64, 65, 1000, 4096, 5000, 1000000, 77777777}) {
    const std::size_t before = pool_statistics().bytes_in_use;
    void* block = pool_allocate(bytes);
    const std::size_t taken = pool_statistics().bytes_in_use - before;
    EXPECT_GE(taken, bytes);
    EXPECT_LE(taken, std::max<std::size_t>({64, bytes + 4096, bytes + bytes / 8}));
    pool_free(block, bytes);
  }
}

TEST(Machine, HasMemory) { EXPECT_GT(machine_memory(), std::size_t{1} << 20); }

}  // namespace
}  // namespace headlab
