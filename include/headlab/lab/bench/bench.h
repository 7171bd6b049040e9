// Time of a training step compared with the limits of the machine, in total and op by op. A step is
// forward, cross-entropy, backward, clip and AdamW on random tokens. Ratios carry over to other
// machines, times do not. Read next: profile.h.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "headlab/core/base/settings.h"
#include "headlab/core/model/transformer.h"
#include "headlab/lab/results/table.h"

namespace headlab {

struct BenchOptions {
  std::string config = "toy";  // the name under which results are shown
  Index batch = 64;            // sequences in a step
  Index steps = 30;            // timed steps, after a third as many for warm-up
  std::vector<int> threads{};  // step and forward: a row for each; empty: thread_count()
  TransformerConfig model{};
};

/// Returns the names of the configurations: toy, char, medium, long, gpt2.
std::vector<std::string> bench_config_names();
/// Returns the options of a named configuration. Error that lists the names.
BenchOptions bench_options(const std::string& config);
/// Returns the settings batch, steps and every setting of the model.
Settings settings_of(BenchOptions& options);

// ---- limits of the machine, measured in the same run and shown next to every speed

/// Measures multiply-adds whose operands stay in registers, on all threads of thread_count().
/// Returns 10^9 operations a second, a multiply-add counting two; the best of several short runs.
double measure_fma_peak();

/// Measures square products of 192 to 512 whose operands stay in the caches, one for each thread.
/// Returns 10^9 operations a second of the fastest size. No product is faster: loads of operands
/// take part of the time of multiply-adds, in every library.
double measure_best_product();

/// Measures a[i] = b[i] + s c[i] over arrays far larger than the caches, on all threads. Returns
/// 10^9 bytes a second, 12 bytes an element (24 in double), as the STREAM triad counts (McCalpin
/// 1995); the best of several runs.
double measure_triad();

/// Returns the largest resident memory of the process so far, in MB; 0 if the system does not
/// report it.
double peak_memory_mb();

// ---- tables. If `steps` is 0 they have columns and no rows, and nothing is run.

struct Benchmark {
  const char* name;
  const char* summary;
  Result (*run)(const BenchOptions& options);
};
/// Returns the benchmarks step, forward, ops and generation. Each reports its environment: version
/// and build, config, threads, processors, load average.
///
/// step: the training step, `steps` of them after a third as many for warm-up: median and shortest
/// time, and its operations compared with the limits of the machine. It counts 6 B (weights x the
/// tokens that they multiply + attention over all T x S keys), so skipping causal tiles shows as a
/// larger share of the peak. The memory is that of the training so far, measured before the limits
/// of the machine. A row for each number of threads: its pace compared with that of the first row,
/// and the loops counted as if there were as many processors (core/base/threads.h, count_loops):
/// their number, the largest share of their work over the mean share, and the pace compared with
/// one thread that this and the work outside of loops allow.
///
/// forward: the same for a forward pass to the logits, without a tape: 2 B (...) operations, a
/// third of those of a step.
///
/// generation: one more token for each sequence after 63, 255 ... others: the time with their keys
/// and values cached, the part of it spent in attention, which alone grows, and the time without a
/// cache.
///
/// ops: every op of a step, forward and backward, and the other work of the step: milliseconds and
/// share of the step, GFLOP/s compared with the FMA peak and the fastest product, or GB/s compared
/// with the triad. For ops of linear maps also the time of the same products alone, cold, in the
/// same run, as a share of the time of the op: 1 if the op costs nothing but its products.
std::span<const Benchmark> benchmarks();

}  // namespace headlab
