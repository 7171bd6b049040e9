// How long a training step takes, beside what the machine can do. A step is forward, cross-entropy,
// backward, clip and AdamW on random tokens. Ratios carry over to other machines, times do not.
// Read next: machine.h for the limits, tensor/pool.h for why a step asks for no memory.
#pragma once

#include <string>
#include <vector>

#include "headlab/base/json.h"
#include "headlab/base/settings.h"
#include "headlab/model/transformer.h"
#include "headlab/train/optimizer.h"

namespace headlab {

struct BenchOptions {
  std::string config = "toy";  // the name under which results are shown
  Index batch = 64;
  Index steps = 30;    // timed, or rounds of a table; a third as many come before, for warm-up
  bool quick = false;  // tables: one round at the smallest sizes
  TransformerConfig model{};
};

/// The configurations that have names: toy, char, medium, long, gpt2.
std::vector<std::string> bench_config_names();
/// Options of a named configuration. Error that lists the names.
BenchOptions bench_options(const std::string& config);
/// batch, steps and every setting of the model.
Settings settings_of(BenchOptions& options);

/// A model with an optimizer and a batch that stays the same.
class TrainingStep {
 public:
  /// Random tokens, or a batch that fits the model.
  explicit TrainingStep(const BenchOptions& options);
  TrainingStep(const BenchOptions& options, Batch batch);
  TrainingStep(const TrainingStep&) = delete;
  TrainingStep& operator=(const TrainingStep&) = delete;

  /// Forward, cross-entropy, backward, norm, clip and AdamW.
  void run();
  const Transformer& model() const { return model_; }
  const Batch& batch() const { return batch_; }

 private:
  Transformer model_;
  Optimizer optimizer_;
  Batch batch_;
};

/// What a benchmark ran with: config, threads, how they wait, processors, load of the machine.
Json bench_about(const BenchOptions& options);

struct BenchResult {
  std::string config;
  int threads = 1;
  double median_ms = 0, min_ms = 0;
  double tokens_per_s = 0;
  /// Model operations: 6 B T (weights that multiply a token + layers x 2 T x H D).
  double gflops = 0;
  double peak_gflops = 0, fraction_of_peak = 0;
  double triad_gbs = 0;
  double peak_memory_mb = 0;          // of the training, measured before the machine's limits
  Json about;                         // bench_about
  std::vector<std::string> warnings;  // "this build has no threads ..."
};
Json to_json(const BenchResult& result);

BenchResult bench_step(const BenchOptions& options);

}  // namespace headlab
