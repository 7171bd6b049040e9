// The memory pool. Training frees in each step what it needs again in the next, so freed blocks are
// kept and handed out again: after the second step nobody asks the system for memory. Safe to use
// from any thread. Tensors, the tape, token ids and the scratch memory of kernels all live in it.
// Read next: src/base/pool.cc.
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
  std::size_t bytes_in_use;        // handed out and not yet given back
  std::size_t bytes_held;          // in use or kept for the next request
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

/// Scratch memory: room for `count` elements, not initialised, which returns to the pool at the end
/// of the scope. Null for 0. Costs two uncontended locks.
template <class T>
class PoolBlock {
 public:
  explicit PoolBlock(std::int64_t count) : bytes_(static_cast<std::size_t>(count) * sizeof(T)) {}
  ~PoolBlock() {
    if (data_ != nullptr) pool_free(data_, bytes_);
  }
  PoolBlock(const PoolBlock&) = delete;
  PoolBlock& operator=(const PoolBlock&) = delete;
  T* data() const { return data_; }

 private:
  std::size_t bytes_;
  T* data_ = bytes_ == 0 ? nullptr : static_cast<T*>(pool_allocate(bytes_));
};

}  // namespace headlab
