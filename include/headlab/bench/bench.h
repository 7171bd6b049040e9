// How long a training step takes, beside what the machine can do; and where its time
// goes, op by op. A step is forward, cross-entropy, backward, clip and AdamW on random tokens.
// Ratios carry over to other machines, times do not. Read next: profile.h.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "headlab/base/settings.h"
#include "headlab/base/table.h"
#include "headlab/model/transformer.h"

namespace headlab {

struct BenchOptions {
  std::string config = "toy";  // the name under which results are shown
  Index batch = 64;            // sequences in a step
  Index steps = 30;            // timed ones, after a third as many for warm-up
  TransformerConfig model{};
};

/// The configurations that have names: toy, char, medium, long, gpt2.
std::vector<std::string> bench_config_names();
/// Options of a named configuration. Error that lists the names.
BenchOptions bench_options(const std::string& config);
/// batch, steps and every setting of the model.
Settings settings_of(BenchOptions& options);

// ---- what the machine can do at most: the limits beside which every speed is shown, measured in
// the same run

/// Multiply-adds that stay in registers, on all threads of thread_count(): 10^9 operations a
/// second, a multiply-add counting two. The best of several short runs.
double measure_fma_peak();

/// a[i] = b[i] + s c[i] over arrays far larger than the caches, on all threads: 10^9 bytes a
/// second, 12 bytes an element (24 in double), as the STREAM triad counts (McCalpin 1995). The best
/// of several runs.
double measure_triad();

/// The process's largest resident memory so far, in MB; 0 where the system does not tell.
double peak_memory_mb();

// ---- tables. With `steps` 0 they have columns and no rows, and nothing is run.

struct Benchmark {
  const char* name;
  const char* summary;
  Finding (*run)(const BenchOptions& options);
};
/// step, forward, ops, generation. Each says what it ran on: version and build, config, threads,
/// processors, load average.
///
/// step: the training step, `steps` of them after a third as many for warm-up: median and shortest
/// time, and its operations beside the machine's limits. Counted are 6 B (weights x the tokens that
/// they multiply + attention over all T x S keys), so that skipping causal tiles shows as a larger
/// share of the peak. The memory is that of the training, measured before the machine's limits.
///
/// forward: likewise a forward pass to the logits, without a tape: 2 B (...) operations, a third of
/// the step's.
///
/// generation: one more token for each sequence after 63, 255 ... others: its time with their keys
/// and values kept, how much of that is attention, which alone grows, and the time that reading all
/// anew takes.
///
/// ops: every op of a step, forward and backward, with the other work of it: milliseconds and share
/// of the step, GFLOP/s beside the FMA peak or GB/s beside the triad.
std::span<const Benchmark> benchmarks();

}  // namespace headlab
