// The memory pool. Training frees in each step what it needs again in the next, so freed blocks are
// kept, by size, and handed out again: after the second step nobody asks the system for memory.
// Safe to use from any thread. `pool_release` gives unused blocks back.
#pragma once

#include <cstddef>
#include <vector>

#include "headlab/kernels/scalar.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

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

}}  // namespace headlab
