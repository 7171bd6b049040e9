// How a model is trained: optimizer, schedule, batch, evaluation. One flat table of settings; with
// those of the model and the task it makes up config.json. Read next: trainer.h.
// Sizes are whole numbers, rates are doubles.
#pragma once

#include "headlab/base/settings.h"
#include "headlab/kernels/scalar.h"

namespace headlab {

enum class OptimizerKind { adamw, adam, sgd };
enum class ScheduleKind { cosine, linear, constant };

struct TrainConfig {
  Index steps = 1000;
  Index batch = 64;      // sequences in a step
  Index accumulate = 1;  // micro-batches in a step: less memory, the same gradient
  OptimizerKind optimizer = OptimizerKind::adamw;
  double lr = 1e-3;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;  // adamw, adam
  double momentum = 0.9;                          // sgd
  double decay = 0.01;                            // of tensors with two axes or more
  double clip = 1;                                // global norm of the gradient; 0: no limit
  ScheduleKind schedule = ScheduleKind::cosine;
  Index warmup = 100;  // steps over which lr rises from 0
  double min_lr = 0;   // lr of the last step
  Index eval_every = 200;
  Index eval_examples = 512;
  Index save_every = 500;
  Index track_heads = 0;  // steps between scores of all heads (heads/tracking.h)
  std::int64_t seed = 0;

  /// Error that says which setting is out of range, or which do not fit together.
  void validate() const;
};

Settings settings_of(TrainConfig& config);

/// The learning rate of a step, counted from 0: lr (step + 1) / warmup while step < warmup, then
/// from lr down to min_lr along half a cosine or a line, reached at the last step; or lr for good.
/// A single step after the warm-up takes lr.
double learning_rate(const TrainConfig& config, Index step);

}  // namespace headlab
