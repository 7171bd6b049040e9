// The benchmarks beside the training step: tables of measurements, each with what they were
// measured on. All take turns: in every round each variant runs once, and medians are shown, so
// that a machine that grows slower does so for all. Read next: bench.h (the step), profile.h.
#pragma once

#include <span>

#include "headlab/base/timing.h"
#include "headlab/bench/bench.h"
#include "headlab/bench/bench_table.h"

namespace headlab {

struct Benchmark {
  const char* name;
  const char* summary;
  BenchTable (*run)(const BenchOptions& options);
};
/// ops, gemm, attention, scaling, tasks, pruned.
std::span<const Benchmark> benchmarks();

/// Every op of a step, forward and backward, with the other work of it: milliseconds and share of
/// the step, GFLOP/s beside the FMA peak or GB/s beside the triad.
BenchTable bench_ops(const BenchOptions& options);
/// Matrix products: squares, the shapes of a training step, and their transposes.
BenchTable bench_gemm(const BenchOptions& options);
/// Fused against composed attention over lengths: forward, and forward with backward.
BenchTable bench_attention(const BenchOptions& options);
/// The step with one size changed at a time. At a fixed d_model the number of heads costs nothing.
BenchTable bench_scaling(const BenchOptions& options);
/// For each task: the time to make a batch as a share of the training step of its recommended
/// model.
BenchTable bench_tasks(const BenchOptions& options);
/// Forward and backward of the model with all heads, with half of them behind gates of 0, and with
/// half of them removed, at batch 1, 4, 16 and 64; attention alone; and what of the whole that
/// implies. `steps` is the number of turns.
BenchTable bench_pruned(const BenchOptions& options);

}  // namespace headlab
