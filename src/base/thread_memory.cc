// What each thread has is in a table of its own; what any thread ever needed is in one for all. A
// thread that needs more than all before it writes the number there, and the team (threads.cc) then
// lets every thread catch up, once.
// Read next: threads.cc.
#include <array>
#include <atomic>
#include <memory>
#include <new>

#include "headlab/base/error.h"
#include "headlab/base/threads.h"

namespace headlab {
namespace {

constexpr std::size_t kMostPurposes = 64;
constexpr std::align_val_t kAlignment{64};

struct Free {
  void operator()(std::byte* p) const { ::operator delete(p, kAlignment); }
};

struct Block {
  std::unique_ptr<std::byte, Free> data{};
  std::size_t bytes = 0;

  void grow(std::size_t wanted) {
    data.reset();
    bytes = 0;
    data.reset(static_cast<std::byte*>(::operator new(wanted, kAlignment)));
    bytes = wanted;
  }
};

std::array<std::atomic<std::size_t>, kMostPurposes> needed{};
std::atomic<std::size_t> purposes = 0;
std::atomic<int> generation = 0;
thread_local std::array<Block, kMostPurposes> blocks;

}  // namespace

ThreadMemory::ThreadMemory() : place_(purposes.fetch_add(1)) {
  require(place_ < kMostPurposes, "there is memory for ", kMostPurposes, " purposes in a thread");
}

void* ThreadMemory::get(std::size_t bytes) {
  Block& block = blocks[place_];
  if (bytes > block.bytes) {
    const std::size_t pages = (bytes + 4095) / 4096 * 4096;
    std::size_t most = needed[place_].load();
    while (pages > most && !needed[place_].compare_exchange_weak(most, pages)) {
    }
    if (pages > most) ++generation;
    block.grow(std::max(pages, most));
  }
  return block.data.get();
}

int detail::thread_memory_generation() { return generation.load(std::memory_order_relaxed); }

void detail::grow_thread_memory() {
  for (std::size_t place = 0; place < kMostPurposes; ++place) {
    const std::size_t wanted = needed[place].load();
    if (blocks[place].bytes < wanted) blocks[place].grow(wanted);
  }
}

}  // namespace headlab
