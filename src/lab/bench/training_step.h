// The training step that benchmarks time: that of the trainer without its batches and files. Also
// how a pass is timed: a third as many calls for warm-up, then the median. Private to benchmarks;
// tests/tools/yardstick times other passes in the same way. Read next: bench.cc.
#pragma once

#include <functional>
#include <vector>

#include "headlab/core/model/transformer.h"
#include "headlab/core/train/optimizer.h"
#include "headlab/lab/bench/bench.h"

namespace headlab {

/// Model with an optimizer and a batch of random tokens that stays the same.
struct TrainingStep {
  explicit TrainingStep(const BenchOptions& options);
  /// Runs forward, cross-entropy, backward, norm, clip and AdamW.
  void run();

  Transformer model;
  Batch batch;
  Optimizer optimizer;
};

/// A pass to be timed: `forwards` is its work in forward passes.
struct TimedPass {
  const BenchOptions& options;
  double forwards;
  std::function<void()> run;
};
/// Times a pass with each number of threads: a row each, of the columns of bench_step.
Result time_pass(const TimedPass& pass);

/// Returns the number of untimed calls before `steps` timed ones.
Index warmup_of(Index steps);
/// Returns the milliseconds of each call of `run` after the warm-up, sorted.
std::vector<double> time_steps(const std::function<void()>& run, Index steps);
/// Returns the median of all values from index `first` on.
double median(std::vector<double> values, Index first = 0);

/// Returns an empty result with these options and the machine: one table, "rows", without rows.
Result bench_result(const BenchOptions& options, std::vector<Column> columns);

}  // namespace headlab
