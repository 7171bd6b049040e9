// The pool: regions from the system, cut into blocks, in lists by size class with a bit for each
// list that has any, so that a fitting block is found in a few instructions (TLSF: Masmano, Ripoll,
// Crespo and Real 2004). A free block is joined with its free neighbours: what the activations of
// one layer leave is room for the gradients of another, and a step of any length fits into what a
// longer one held. Between steps everything is free again, so each step finds what the one before
// it found. Small blocks have regions of their own, and large ones are whole pages: all arrays
// begin at the same place of a page, against 4K aliasing (a load some bytes ahead of a store,
// modulo 4096, waits for it). Lists by size class alone, 120 lines less, were measured in turns on
// two cores: steps take as long (at best .99 times in `toy`, 1.01 in `char`), but hold up to 1.14
// times the memory (`medium`) and ask the system again, up to 28 times, at each length that none
// had before. Read next: tape.cc, its greatest user.
#include "headlab/base/pool.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>

#include "headlab/base/error.h"

namespace headlab {
namespace {

constexpr std::size_t kUnit = 64;   // alignment, and the unit of sizes
constexpr std::size_t kSteps = 32;  // size classes per power of two: a block is 1/32 too large
constexpr std::size_t kClasses = 36 * kSteps;
constexpr std::size_t kPage = 4096 / kUnit;  // blocks from here on are whole pages
constexpr std::align_val_t kRegionAlignment{kPage * kUnit};
constexpr std::size_t kLeastRegion = std::size_t{1} << 25, kMostRegion = std::size_t{1} << 30;

/// What stands before each block. Blocks of a region follow one another.
struct alignas(kUnit) Block {
  std::size_t units;                // with this header
  Block* before;                    // its neighbour in memory; null: the first of its region
  Block *next, *previous;           // in its list, while it is free
  bool free = false, last = false;  // last: of its region

  char* data() { return reinterpret_cast<char*>(this + 1); }
  Block* after() { return last ? nullptr : this + units; }
};

/// The units of a block for `bytes`: any number below kSteps, then kSteps steps for each power of
/// two.
std::size_t units_for(std::size_t bytes) {
  const std::size_t units = 1 + std::max<std::size_t>(1, (bytes + kUnit - 1) / kUnit);
  if (units < kSteps) return units;
  const std::size_t step = std::max(std::bit_floor(units) / kSteps, units < kPage ? 1 : kPage);
  return (units + step - 1) / step * step;
}

/// The largest class that is not above `units`.
std::size_t class_of(std::size_t units) {
  if (units < kSteps) return units;
  const auto shift = static_cast<std::size_t>(std::bit_width(units / kSteps)) - 1;
  return shift * kSteps + (units >> shift);
}

class Pool {
 public:
  std::mutex mutex;
  PoolStatistics statistics{};

  /// A block of at least `units`, marked as used.
  Block* take(std::size_t units) {
    Block* block = find(class_of(units));
    if (block == nullptr) {
      grow(units);
      block = find(class_of(units));
    }
    unlink(block);
    if (block->units > units + 1) split(block, units);
    return block;
  }

  void give(Block* block) {
    if (Block* after = block->after(); after != nullptr && after->free) {
      unlink(after);
      absorb(block, after);
    }
    if (Block* before = block->before; before != nullptr && before->free) {
      unlink(before);
      absorb(before, block);
      block = before;
    }
    link(block);
  }

  /// Returns the regions of which nothing is in use.
  void release() {
    for (Block* list : lists_) {
      while (list != nullptr) {
        Block* block = std::exchange(list, list->next);
        if (block->before != nullptr || !block->last) continue;
        unlink(block);
        statistics.bytes_held -= block->units * kUnit;
        ::operator delete(block, kRegionAlignment);
      }
    }
  }

 private:
  /// The first block of the lists from `index` on.
  Block* find(std::size_t index) {
    std::uint64_t bits = filled_[index / 64] >> (index % 64) << (index % 64);
    for (std::size_t word = index / 64;; bits = filled_[word]) {
      if (bits != 0) return lists_[word * 64 + std::countr_zero(bits)];
      if (++word == filled_.size()) return nullptr;
    }
  }

  void link(Block* block) {
    const std::size_t index = class_of(block->units);
    block->free = true;
    block->previous = nullptr;
    block->next = std::exchange(lists_[index], block);
    if (block->next != nullptr) block->next->previous = block;
    filled_[index / 64] |= std::uint64_t{1} << (index % 64);
  }

  void unlink(Block* block) {
    const std::size_t index = class_of(block->units);
    block->free = false;
    if (block->next != nullptr) block->next->previous = block->previous;
    (block->previous != nullptr ? block->previous->next : lists_[index]) = block->next;
    if (lists_[index] == nullptr) filled_[index / 64] &= ~(std::uint64_t{1} << (index % 64));
  }

  /// Leaves `units` to a block; the rest is another, free one.
  void split(Block* block, std::size_t units) {
    Block* rest = new (block + units) Block;
    rest->units = block->units - units;
    rest->before = block;
    rest->last = std::exchange(block->last, false);
    block->units = units;
    if (Block* after = rest->after()) after->before = rest;
    link(rest);
  }

  /// Adds its neighbour to a block.
  static void absorb(Block* block, Block* after) {
    block->units += after->units;
    block->last = after->last;
    if (Block* next = block->after()) next->before = block;
  }

  /// Asks the system for room for `units`, and for as much again as there is: what stays untouched
  /// is only an address, and a large region can be cut in more ways. Never for more than the
  /// machine has: a system that promises that ends the process, without a word, when the memory is
  /// used.
  void grow(std::size_t units) {
    static const std::size_t limit = machine_memory();
    const std::size_t needed = units * kUnit;
    for (const std::size_t bytes :
         {std::max(needed, std::clamp(statistics.bytes_held, kLeastRegion, kMostRegion)), needed}) {
      if (bytes > limit || statistics.bytes_held > limit - bytes) continue;
      void* memory = ::operator new(bytes, kRegionAlignment, std::nothrow);
      if (memory == nullptr) continue;
      statistics.bytes_held += bytes / kUnit * kUnit;
      ++statistics.system_allocations;
      auto* region = new (memory) Block;
      region->units = bytes / kUnit;
      region->before = nullptr;
      region->last = true;
      link(region);
      return;
    }
    throw Error(text("out of memory: ", needed >> 20, " MB more were needed"),
                "use a smaller batch, length or model");
  }

  std::array<Block*, kClasses> lists_{};
  std::array<std::uint64_t, kClasses / 64> filled_{};  // a bit for each list that is not empty
};

/// One for small blocks and one for whole pages. Never destroyed: tensors with static lifetime may
/// outlive any other static object.
std::array<Pool, 2>& pools() {
  static auto& instances = *new std::array<Pool, 2>;
  return instances;
}

Pool& pool_for(std::size_t units) { return pools()[units < kPage ? 0 : 1]; }

/// A block for `bytes`; those of stacks of scratch memory are not `counted` as in use.
void* take(std::size_t bytes, bool counted = true) {
  require(bytes < (std::size_t{1} << 40), "out of memory: ", bytes, " bytes were asked for");
  const std::size_t units = units_for(bytes);
  Pool& p = pool_for(units);
  const std::lock_guard lock(p.mutex);
  Block* block = p.take(units);
  if (counted) p.statistics.bytes_in_use += block->units * kUnit;
  return block->data();
}

void give(void* memory, std::size_t bytes, bool counted = true) noexcept {
  Pool& p = pool_for(units_for(bytes));
  const std::lock_guard lock(p.mutex);
  Block* block = static_cast<Block*>(memory) - 1;
  if (counted) p.statistics.bytes_in_use -= block->units * kUnit;
  p.give(block);
}

constexpr std::size_t kMostScratch = std::size_t{8} << 20;

/// The scratch memory of one thread: a block of the pool, cut into whole pages, one behind the
/// other, so that all begin where the pool's do in theirs. What does not fit comes from the pool
/// itself, and once nothing is in use the stack grows to what was needed.
class ScratchStack {
 public:
  ScratchStack() = default;
  ~ScratchStack() {
    if (size_ > 0) headlab::give(memory_, size_, false);
  }
  ScratchStack(const ScratchStack&) = delete;
  ScratchStack& operator=(const ScratchStack&) = delete;

  /// Null where the block must come from the pool.
  void* take(std::size_t bytes) {
    if (used_ == 0 && needed_ > size_) grow();
    const std::size_t at = used_;
    used_ += pages(bytes);
    needed_ = std::max(needed_, used_);
    return used_ <= size_ ? memory_ + at : nullptr;
  }
  /// Whether `block`, the last one taken, was the stack's.
  bool give(void* block, std::size_t bytes) {
    used_ -= pages(bytes);
    return size_ > 0 && block == memory_ + used_;
  }

 private:
  static std::size_t pages(std::size_t bytes) {
    constexpr std::size_t kBytes = kPage * kUnit;
    return (bytes + kBytes - 1) / kBytes * kBytes;
  }
  void grow() {
    if (size_ > 0) headlab::give(memory_, std::exchange(size_, 0), false);
    memory_ = static_cast<char*>(headlab::take(needed_, false));
    size_ = needed_;
  }

  char* memory_ = nullptr;
  std::size_t size_ = 0, used_ = 0;  // used: those of the pool included
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
  for (Pool& p : pools()) {
    const std::lock_guard lock(p.mutex);
    p.release();
  }
}

PoolStatistics pool_statistics() {
  PoolStatistics sum{};
  for (Pool& p : pools()) {
    const std::lock_guard lock(p.mutex);
    sum.bytes_in_use += p.statistics.bytes_in_use;
    sum.bytes_held += p.statistics.bytes_held;
    sum.system_allocations += p.statistics.system_allocations;
  }
  return sum;
}

std::size_t machine_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && bytes > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(bytes)
                                : SIZE_MAX;
}

}  // namespace headlab
