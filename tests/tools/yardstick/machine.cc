// Limits of the machine, measured by the shortest programs that reach them: multiply-adds whose
// operands never leave the registers, products that stay in the caches, and a triad over arrays
// that fit in no cache. Each takes the best of several runs, because other work on the machine can
// only make a run slower. Read next: op_products.cc.
#include "tools/yardstick/machine.h"

#include <algorithm>
#include <atomic>

#include "core/kernels/gemm.h"
#include "core/kernels/simd.h"
#include "headlab/core/base/threads.h"
#include "headlab/core/tensor/tensor.h"
#include "lab/runs/timing.h"

namespace headlab {
namespace {

constexpr int kRuns = 7;

template <class Body>
double best_seconds(Body&& body) {
  double best = 1e300;
  for (int run = 0; run < kRuns; ++run) best = std::min(best, milliseconds(body) / 1e3);
  return best;
}

/// `rounds` times 16 independent multiply-adds of whole vectors.
Scalar multiply_add(Index rounds) {
  constexpr int kChains = 16;
  Vec sums[kChains];
  unrolled<kChains>([&](auto i) { sums[i] = broadcast(static_cast<Scalar>(i)); });
  Vec factor = broadcast(Scalar(0.999)), addend = broadcast(Scalar(0.001));
  for (Index round = 0; round < rounds; ++round) {
    asm volatile("" : "+m"(factor), "+m"(addend));  // the compiler may not know them
    const Vec f = factor, a = addend;
    for (int inner = 0; inner < 16; ++inner) {
      unrolled<kChains>([&](auto i) { sums[i] = sums[i] * f + a; });
    }
  }
  Vec total = sums[0];
  unrolled<kChains - 1>([&](auto i) { total += sums[i + 1]; });
  return sum_lanes(total);
}

}  // namespace

double measure_fma_peak() {
  constexpr Index kRounds = 20000;
  const Index tasks = thread_count();
  std::atomic<Scalar> sink{0};
  const double seconds = best_seconds([&] {
    parallel_for(tasks,
                 [&](Index) { sink.store(multiply_add(kRounds), std::memory_order_relaxed); });
  });
  const double operations = 2.0 * 16 * 16 * static_cast<double>(kLanes * kRounds * tasks);
  return operations / seconds / 1e9;
}

double measure_best_product() {
  const Index tasks = thread_count();
  double best = 0;
  for (const Index size : {192, 256, 384, 512}) {
    const Tensor a = Tensor::full({size, size}, Scalar(0.5));
    const Tensor c = Tensor::zeros({tasks, size, size});
    const double operations = 2.0 * static_cast<double>(size * size * size * tasks);
    const double seconds = best_seconds([&] {
      parallel_for(tasks, [&](Index task) {
        gemm_serial({.m = size,
                     .n = size,
                     .k = size,
                     .a = {a.data(), size},
                     .b = {a.data(), size},
                     .c = c.data() + task * size * size,
                     .c_stride = size});
      });
    });
    best = std::max(best, operations / seconds / 1e9);
  }
  return best;
}

double measure_triad() {
  constexpr Index kElements = 16 << 20, kPieces = 64;
  const Tensor a = Tensor::zeros({kElements}), b = Tensor::full({kElements}, 1),
               c = Tensor::full({kElements}, 2);
  const double seconds = best_seconds([&] {
    parallel_for(kPieces, [&](Index piece) {
      const Index begin = piece * (kElements / kPieces);
      Scalar* to = a.data() + begin;
      const Scalar *x = b.data() + begin, *y = c.data() + begin;
      for (Index i = 0; i < kElements / kPieces; ++i) {
        to[i] = x[i] + Scalar(0.5) * y[i];
      }
    });
  });
  return 3.0 * sizeof(Scalar) * static_cast<double>(kElements) / seconds / 1e9;
}

}  // namespace headlab
