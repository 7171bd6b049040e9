// Benchmarks for developers: passes, ops and generation compared with the limits of the machine.
// They print the same rows as `headlab bench`, and more; README.md of this folder has results. The
// program `yardstick` runs them, tests/bench tests them. Read next: benchmarks.cc; machine.h.
#pragma once

#include <span>

#include "headlab/lab/bench/bench.h"

namespace headlab {

struct Benchmark {
  const char* name;
  const char* summary;
  Result (*run)(const BenchOptions& options);
};

/// Returns the benchmarks step, forward, ops and generation. If `steps` is 0 their tables have
/// columns and no rows, and nothing is run.
///
/// step: the row of `headlab bench` with the limits of the machine, measured in the same run. The
/// memory is that of the training, before the limits are measured.
///
/// forward: the same for a forward pass to the logits, without a tape.
///
/// ops: every op of a step, forward and backward, and the other work of the step: milliseconds and
/// share of the step, GFLOP/s compared with the FMA peak and the fastest product, or GB/s compared
/// with the triad. For ops of linear maps also the time of the same products alone, cold, in the
/// same run, as a share of the time of the op: 1 if the op costs nothing but its products.
///
/// generation: one more token for each sequence after 63, 255 ... others: the time with their keys
/// and values cached, the part of it spent in attention, which alone grows, and the time without a
/// cache.
std::span<const Benchmark> benchmarks();

}  // namespace headlab
