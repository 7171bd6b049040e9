// Time, pace and memory of a training step: forward, cross-entropy, backward, clip and AdamW on
// random tokens. `train --profile` times the ops of a real one, and tests/tools/yardstick compares
// steps with the limits of the machine. Read next: profile.h.
#pragma once

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
  std::vector<int> threads{};  // a row for each; empty: thread_count()
  TransformerConfig model{};
};

/// Returns the names of the configurations: toy, char, medium, long, gpt2.
std::vector<std::string> bench_config_names();
/// Returns the options of a named configuration, or the recommended model and batch of a task
/// ("relations", "relations:length=32"). Error that lists the names.
BenchOptions bench_options(const std::string& config);
/// Returns the settings batch, steps and every setting of the model.
Settings settings_of(BenchOptions& options);

/// Returns the largest resident memory of the process so far, in MB; 0 if the system does not
/// report it.
double peak_memory_mb();

/// Times the training step, `steps` of them after a third as many for warm-up: median and shortest
/// time, tokens and operations a second, memory of the process so far. It counts 6 B (weights x the
/// tokens that they multiply + attention over all T x S keys) operations. A row for each number of
/// threads, with its pace compared with that of the first row. The result reports its environment:
/// version and build, config, threads, processors, load average. If `steps` is 0 the table has
/// columns and no rows, and nothing is run.
Result bench_step(const BenchOptions& options);

}  // namespace headlab
