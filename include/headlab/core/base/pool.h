// The memory pool. Each training step frees the memory that the next step needs, so freed blocks
// are kept and reused: after the second step the system is no longer asked for memory. Thread-safe.
// Tensors, the tape and token ids use the pool; kernels also use a stack of scratch memory per
// thread. Read next: src/core/base/pool.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headlab {

/// Returns a block of at least `bytes`, aligned to 64. Error if the system has no more memory.
void* pool_allocate(std::size_t bytes);
/// Returns a block from pool_allocate(bytes) to the pool.
void pool_free(void* block, std::size_t bytes) noexcept;
/// Returns unused blocks to the system.
void pool_release();

struct PoolStatistics {
  std::size_t bytes_in_use;  // allocated and not yet freed, without the stacks of scratch memory
  std::size_t bytes_held;    // in use or kept for the next request
  std::size_t system_allocations;  // number of requests to the system so far
};
PoolStatistics pool_statistics();

/// Returns the memory of this machine in bytes; SIZE_MAX if the system does not report it.
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

/// Allocates scratch memory: one stack per thread, without locks; blocks must be freed by the same
/// thread in reverse order. A thread reuses memory that is in the caches of its own core; a block
/// that two cores pass back and forth moves between their caches line by line. Blocks larger than 8
/// MB come from the pool.
void* scratch_allocate(std::size_t bytes);
void scratch_free(void* block, std::size_t bytes) noexcept;

/// Scratch memory for the duration of a scope: `count` elements, aligned to 64 bytes, not
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
