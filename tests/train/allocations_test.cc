// After the second step no memory is requested: every operator new of this program is counted while
// a model trains. Pool, scratch memory of kernels, tape, keys and optimizer must find what they
// need in what they have. Read next: src/core/base/pool.cc.
#include <atomic>
#include <cstdlib>
#include <new>

#include "headlab/core/base/threads.h"
#include "headlab/core/model/initial.h"
#include "headlab/core/train/optimizer.h"
#include "support/models.h"

namespace {

std::atomic<std::int64_t> allocations = 0;

void* counted(std::size_t size, std::size_t alignment) {
  ++allocations;
  return std::aligned_alloc(alignment, (size + alignment) / alignment * alignment);
}

}  // namespace

// Not inlined: otherwise GCC sees that a new calls malloc, and warns.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return counted(size, 16);
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment,
                                     const std::nothrow_t&) noexcept {
  return counted(size, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  if (void* memory = operator new(size, alignment, std::nothrow)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace headlab { namespace {

/// A training step, as the trainer takes it.
class TrainingSteps {
 public:
  explicit TrainingSteps(const TransformerConfig& config) : model_(config), optimizer_(train()) {
    initialize(model_, Key{1});
    model_.visit([&](const std::string& name, const Tensor& p) { optimizer_.add(name, p); });
  }

  /// Counts the allocations of a step on sequences of `length`.
  std::int64_t allocations_of(Index length, Index padding = 0) {
    Batch batch = random_batch(model_.config(), 3, length);
    if (padding > 0) batch.lengths = {static_cast<std::int32_t>(length - padding), 1, 2};
    const std::int64_t before = allocations;
    backward(model_.loss(batch, {.training = true, .key = Key{static_cast<std::uint64_t>(++n_)}}));
    optimizer_.step(1e-3, optimizer_.gradient_norm());
    return allocations - before;
  }

 private:
  static TrainConfig train() {
    TrainConfig config;
    config.clip = 1;
    return config;
  }

  Transformer model_;
  Optimizer optimizer_;
  Index n_ = 0;
};

/// Everything that may be in a step: several layers, attention, dropout, threads that have work.
TransformerConfig rich_config() {
  return small_config("heads=4 d_model=64 d_ff=256 length=70 dropout=0.1");
}

class Allocations : public testing::TestWithParam<int> {
 protected:
  ~Allocations() override { set_thread_count(before_); }
  int before_ = thread_count();
};

TEST_P(Allocations, EndWithTheSecondStep) {
  set_thread_count(GetParam());
  const std::int64_t before = allocations;
  TrainingSteps steps(rich_config());
  EXPECT_GT(allocations, before);  // or nothing is counted
  steps.allocations_of(70);
  steps.allocations_of(70);
  for (int step = 3; step < 10; ++step) EXPECT_EQ(steps.allocations_of(70), 0) << "step " << step;
}

TEST_P(Allocations, DoNotComeBackWithALengthThatWasThere) {
  set_thread_count(GetParam());
  TrainingSteps steps(rich_config());
  steps.allocations_of(70);
  steps.allocations_of(70, 5);
  const std::size_t longest = pool_statistics().bytes_held;
  for (Index length = 2; length < 70; ++length) steps.allocations_of(length, length > 8 ? 3 : 0);
  EXPECT_LT(pool_statistics().bytes_held, 5 * longest);  // all lengths together
  Generator random(Key{3});
  for (int step = 0; step < 60; ++step) {
    const auto length = static_cast<Index>(2 + random.below(69));
    EXPECT_EQ(steps.allocations_of(length, length > 8 ? 3 : 0), 0) << "length " << length;
  }
}

INSTANTIATE_TEST_SUITE_P(OnThreads, Allocations, testing::Values(1, 2));

}  // namespace
}  // namespace headlab
