// The pool: free blocks in lists by size class, eight per power of two, so that allocating and
// freeing take a few instructions and each step finds the blocks of the one before. A size seen for
// the first time is requested from the system, and its blocks stay until pool_release. Blocks of
// less than a page are cut from larger ones. All others are whole pages, with all arrays at the
// same offset in a page, to avoid 4K aliasing (a load some bytes ahead of a store, modulo 4096,
// waits for it). The system is asked for huge pages (2 MB): with pages of 4 KB, rows of a matrix
// lie on different pages, and no hardware prefetcher crosses the end of one. Read next:
// src/core/tensor/tape.cc, its main user.
#include "headlab/core/base/pool.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>

#include "headlab/core/base/error.h"

namespace headlab {
namespace {

constexpr std::size_t kUnit = 64;  // alignment, and the unit of sizes
constexpr std::size_t kSteps = 8;  // size classes per power of two
constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kCut = 16 * kPage;  // small blocks are cut from blocks of this size
/// Blocks below the size of a huge page are cut from ranges of this size.
constexpr std::size_t kRange = 32 * kHugePage;

struct FreeBlock {
  FreeBlock* next;
};

/// Returns pages from the system that begin with a huge page, or null. Pages take memory once they
/// are used.
char* map_pages(std::size_t bytes) {
  void* range = mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(range);
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(range) % kHugePage;
  if (before > 0) munmap(begin, before);
  munmap(begin + before + bytes, kHugePage - before);
  return begin + before;
}

/// Asks for huge pages. A system that has none uses small ones.
void prefer_huge_pages([[maybe_unused]] char* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  madvise(memory, bytes, MADV_HUGEPAGE);
#endif
}

/// A size class: the bytes of its blocks, and its index among the lists.
struct SizeClass {
  std::size_t bytes, index;
  std::size_t asked;  // bytes that the caller uses

  explicit SizeClass(std::size_t wanted) : asked(wanted) {
    require(wanted < (std::size_t{1} << 40), "cannot allocate ", wanted, " bytes: out of memory");
    bytes = std::max(wanted, kUnit);
    const std::size_t step =
        std::max(std::bit_floor(bytes) / kSteps, bytes < kPage ? kUnit : kPage);
    bytes = (bytes + step - 1) / step * step;
    const auto power = static_cast<std::size_t>(std::bit_width(bytes / kUnit)) - 1;
    index = power * kSteps + bytes / (std::bit_floor(bytes) / kSteps) % kSteps;
  }
  bool is_small() const { return bytes < kPage; }
};

class Pool {
 public:
  std::mutex mutex;
  PoolStatistics statistics{};

  void* take(const SizeClass& of) {
    FreeBlock*& list = lists_[of.index];
    if (list == nullptr) grow(of);
    return std::exchange(list, list->next);
  }
  void give(void* block, const SizeClass& of) {
    lists_[of.index] = new (block) FreeBlock{lists_[of.index]};
  }
  /// Returns the large blocks that are not in use to the system.
  void release() {
    for (std::size_t bytes = kPage; bytes < kMost; bytes = SizeClass(bytes + 1).bytes) {
      FreeBlock*& list = lists_[SizeClass(bytes).index];
      while (list != nullptr) {
        munmap(std::exchange(list, list->next), bytes);
        statistics.bytes_held -= bytes;
      }
    }
  }

 private:
  /// Requests one block, or several small ones, from the system, but never more than the machine
  /// has: a system that grants that kills the process without a message when the memory is used.
  void grow(const SizeClass& of) {
    static const std::size_t limit = machine_memory();
    const std::size_t bytes = of.is_small() ? kCut : of.bytes;
    if (statistics.bytes_held + bytes > limit) release();
    char* memory = nullptr;
    if (statistics.bytes_held + bytes <= limit) {
      memory = bytes < kHugePage ? cut_from_range(bytes) : map_block(of);
    }
    if (memory == nullptr) {
      throw Error(text("cannot allocate ", bytes >> 20, " MB more: out of memory"),
                  "use a smaller batch, length or model");
    }
    statistics.bytes_held += bytes;
    ++statistics.system_allocations;
    for (std::size_t at = 0; at + of.bytes <= bytes; at += of.bytes) {
      give(memory + at, of);
    }
  }

  /// Returns whole pages from the current range, or from a new one if they do not fit; or null.
  char* cut_from_range(std::size_t bytes) {
    if (range_left_ < bytes) {
      range_ = map_pages(kRange);
      range_left_ = range_ == nullptr ? 0 : kRange;
      if (range_ == nullptr) return nullptr;
      prefer_huge_pages(range_, kRange);
    }
    range_left_ -= bytes;
    return std::exchange(range_, range_ + bytes);
  }

  /// Returns a block with pages of its own, or null. The bytes that fill up its class are never
  /// used, so they must not lie on a huge page that is mostly theirs.
  static char* map_block(const SizeClass& of) {
    char* const memory = map_pages(of.bytes);
    if (memory == nullptr) return nullptr;
    const std::size_t filled = std::min(of.bytes, of.asked + of.asked / 16);
    prefer_huge_pages(memory, filled / kHugePage * kHugePage);
    return memory;
  }

  static constexpr std::size_t kMost = std::size_t{1} << 40;
  std::array<FreeBlock*, 36 * kSteps> lists_{};
  char* range_ = nullptr;  // the next pages to cut
  std::size_t range_left_ = 0;
};

/// Returns the pool. It is never destroyed, because tensors with static lifetime may outlive any
/// other static object.
Pool& pool() {
  static auto& instance = *new Pool;
  return instance;
}

/// Allocates a block for `bytes`. Blocks of scratch stacks are not `counted` as in use.
void* take(std::size_t bytes, bool counted = true) {
  const SizeClass of(bytes);
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  void* block = p.take(of);
  if (counted) p.statistics.bytes_in_use += of.bytes;
  return block;
}

void give(void* memory, std::size_t bytes, bool counted = true) noexcept {
  const SizeClass of(bytes);
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  if (counted) p.statistics.bytes_in_use -= of.bytes;
  p.give(memory, of);
}

constexpr std::size_t kMostScratch = std::size_t{8} << 20;

/// The scratch memory of one thread: a block of the pool, divided into whole pages in sequence,
/// with the same offset as blocks of the pool. Requests that do not fit are served by the pool, and
/// once nothing is in use the stack grows to the required size.
class ScratchStack {
 public:
  ScratchStack() = default;
  ~ScratchStack() {
    if (size_ > 0) headlab::give(memory_, size_, false);
  }
  ScratchStack(const ScratchStack&) = delete;
  ScratchStack& operator=(const ScratchStack&) = delete;

  /// Returns null if the block must come from the pool.
  void* take(std::size_t bytes) {
    if (used_ == 0 && needed_ > size_) grow();
    const std::size_t at = used_;
    used_ += pages(bytes);
    needed_ = std::max(needed_, used_);
    return used_ <= size_ ? memory_ + at : nullptr;
  }
  /// Returns whether `block`, the last one taken, was the stack's.
  bool give(void* block, std::size_t bytes) {
    used_ -= pages(bytes);
    return size_ > 0 && block == memory_ + used_;
  }

 private:
  static std::size_t pages(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }
  void grow() {
    if (size_ > 0) headlab::give(memory_, std::exchange(size_, 0), false);
    memory_ = static_cast<char*>(headlab::take(needed_, false));
    size_ = needed_;
  }

  char* memory_ = nullptr;
  std::size_t size_ = 0, used_ = 0;  // used: including blocks from the pool
  std::size_t needed_ = std::size_t{1} << 18;
};

ScratchStack& scratch() {
  thread_local ScratchStack stack;
  return stack;
}

}  // namespace

void* pool_allocate(std::size_t bytes) { return take(bytes); }
void pool_free(void* memory, std::size_t bytes) noexcept { give(memory, bytes); }

void* scratch_allocate(std::size_t bytes) {
  if (bytes > kMostScratch) return pool_allocate(bytes);
  ScratchStack& stack = scratch();
  if (void* block = stack.take(bytes)) return block;
  try {
    return pool_allocate(bytes);
  } catch (...) {
    stack.give(nullptr, bytes);
    throw;
  }
}

void scratch_free(void* block, std::size_t bytes) noexcept {
  if (bytes > kMostScratch || !scratch().give(block, bytes)) pool_free(block, bytes);
}

void pool_release() {
  const std::lock_guard lock(pool().mutex);
  pool().release();
}

PoolStatistics pool_statistics() {
  const std::lock_guard lock(pool().mutex);
  return pool().statistics;
}

std::size_t machine_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && bytes > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(bytes)
                                : SIZE_MAX;
}

}  // namespace headlab
