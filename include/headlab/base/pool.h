// The memory pool. Training frees in each step what it needs again in the next, so freed blocks are
// kept and handed out again: after the second step nobody asks the system for memory. Safe to use
// from any thread. Tensors, the tape and token ids live in it; kernels have scratch memory beside
// it. Read next: src/core/base/pool.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headlab {

/// A block of at least `bytes`, aligned to 64. Error when the system has no more memory.
void* pool_allocate(std::size_t bytes);
/// Gives back a block that pool_allocate(bytes) returned.
void pool_free(void* block, std::size_t bytes) noexcept;
/// Returns the blocks that are not in use to the system.
void pool_release();

struct PoolStatistics {
  std::size_t bytes_in_use;  // handed out and not yet given back, stacks of scratch memory aside
  std::size_t bytes_held;    // in use or kept for the next request
  std::size_t system_allocations;  // how often the system was asked, ever
};
PoolStatistics pool_statistics();

/// The memory of this machine in bytes; SIZE_MAX where the system does not tell.
std::size_t machine_memory();

/// The pool as an allocator of the standard containers.
template <class T>
struct PoolAllocator {
  using value_type = T;
  PoolAllocator() = default;
  template <class U>
  PoolAllocator(const PoolAllocator<U>&) {}
  T* allocate(std::size_t count) { return static_cast<T*>(pool_allocate(count * sizeof(T))); }
  void deallocate(T* block, std::size_t count) noexcept { pool_free(block, count * sizeof(T)); }
  friend bool operator==(const PoolAllocator&, const PoolAllocator&) { return true; }
};
template <class T>
using PoolVector = std::vector<T, PoolAllocator<T>>;

/// Whole numbers: token ids, lengths, head numbers.
using Ids = PoolVector<std::int32_t>;
/// Flags, one byte each.
using Flags = PoolVector<std::uint8_t>;

/// The same for scratch memory: a stack for each thread, without locks, whose blocks are given back
/// by the thread that took them, the last one first. What a thread takes it has used before, so it
/// lies in the caches of its own core; a block that two cores hand to and fro crosses from one to
/// the other each time, line by line. Larger blocks than 8 MB come from the pool.
void* scratch_allocate(std::size_t bytes);
void scratch_free(void* block, std::size_t bytes) noexcept;

/// Scratch memory for the length of a scope: room for `count` elements, aligned to 64 bytes, not
/// initialised. Null for 0.
template <class T>
class Scratch {
 public:
  explicit Scratch(std::int64_t count) : bytes_(static_cast<std::size_t>(count) * sizeof(T)) {}
  ~Scratch() {
    if (data_ != nullptr) scratch_free(data_, bytes_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  T* data() const { return data_; }

 private:
  std::size_t bytes_;
  T* data_ = bytes_ == 0 ? nullptr : static_cast<T*>(scratch_allocate(bytes_));
};

}  // namespace headlab
