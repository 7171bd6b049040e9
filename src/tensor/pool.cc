// The pool: free blocks in lists by size class, eight classes per power of two, under one lock. A
// block is at most 1/8 too large, and a step that repeats finds every size it needs. Read next:
// tape.cc, its greatest user.
#include "headlab/tensor/pool.h"

#include <unistd.h>

#include <array>
#include <bit>
#include <cstdint>
#include <mutex>
#include <new>

#include "headlab/base/error.h"

namespace headlab::inline HEADLAB_SCALAR {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kSteps =
    8;  // size classes per power of two: a block is at most 1/8 too large
constexpr std::size_t kClasses = 48 * kSteps;

/// Rounds up to a size class: multiples of 64 below 512, then eight steps per power of two.
struct SizeClass {
  std::size_t index, bytes;

  explicit SizeClass(std::size_t wanted) {
    const std::size_t units = (wanted + kAlignment - 1) / kAlignment;
    if (units <= kSteps) {
      index = units;
      bytes = units * kAlignment;
      return;
    }
    const auto power = static_cast<std::size_t>(std::bit_width(units - 1)) - 1;  // 2^power < units
    const std::size_t step = (std::size_t{1} << power) / kSteps;
    const std::size_t steps = (units - (std::size_t{1} << power) + step - 1) / step;
    index = power * kSteps + steps;
    bytes = ((std::size_t{1} << power) + steps * step) * kAlignment;
  }
};

struct FreeBlock {
  FreeBlock* next;
};

struct Pool {
  std::mutex mutex;
  std::array<FreeBlock*, kClasses> free{};
  PoolStatistics statistics{};

  static void to_system(void* block) { ::operator delete (block, std::align_val_t{kAlignment}); }
};

/// Never destroyed: tensors with static lifetime may outlive any other static object.
Pool& pool() {
  static Pool& instance = *new Pool;
  return instance;
}

/// Bytes of memory that the machine has. A system that promises more than that ends the process
/// when the promise is called in, without a word.
std::size_t machine_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && bytes > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(bytes)
                                : SIZE_MAX;
}

void* from_system(std::size_t bytes, std::size_t held) {
  static const std::size_t limit = machine_memory();
  try {
    if (bytes > limit || held > limit - bytes) {
      throw std::bad_alloc();
    }
    return ::operator new (bytes, std::align_val_t{kAlignment});
  } catch (const std::bad_alloc&) {
    throw Error(text("out of memory: ", bytes >> 20, " MB more were needed"),
                "use a smaller batch, length or model");
  }
}

}  // namespace

void* pool_allocate(std::size_t bytes) {
  require(bytes < (std::size_t{1} << 46), "out of memory: ", bytes, " bytes were asked for");
  const SizeClass size(bytes == 0 ? 1 : bytes);
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  FreeBlock* block = p.free[size.index];
  if (block != nullptr) {
    p.free[size.index] = block->next;
  } else {
    block = static_cast<FreeBlock*>(from_system(size.bytes, p.statistics.bytes_held));
    p.statistics.bytes_held += size.bytes;
    ++p.statistics.system_allocations;
  }
  p.statistics.bytes_in_use += size.bytes;
  return block;
}

void pool_free(void* block, std::size_t bytes) noexcept {
  const SizeClass size(bytes == 0 ? 1 : bytes);
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  p.free[size.index] = new (block) FreeBlock{p.free[size.index]};
  p.statistics.bytes_in_use -= size.bytes;
}

void pool_release() {
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  for (FreeBlock*& list : p.free) {
    while (list != nullptr) {
      FreeBlock* next = list->next;
      Pool::to_system(list);
      list = next;
    }
  }
  p.statistics.bytes_held = p.statistics.bytes_in_use;
}

PoolStatistics pool_statistics() {
  const std::lock_guard lock(pool().mutex);
  return pool().statistics;
}

}  // namespace headlab::inline HEADLAB_SCALAR
