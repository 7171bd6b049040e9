// Settings of training: optimizer, schedule, batch, evaluation. One flat table; with the settings
// of the model and the task it forms config.json. Each comment states what the option costs and
// when to change it. A new option needs a row in settings_of. Read next: trainer.h.
#pragma once

#include "headlab/core/base/settings.h"
#include "headlab/core/kernels/scalar.h"

namespace headlab {

enum class OptimizerKind { adamw, adam, sgd };  // rows of optimizer_table()
enum class ScheduleKind { cosine, linear, constant };

struct TrainConfig {
  /// Optimizer steps. Time grows in proportion. The schedule covers all steps, so a run that is
  /// stopped early differs from a run with fewer steps.
  Index steps = 1000;
  /// Sequences per step. Time and memory of a step grow in proportion.
  Index batch = 64;
  /// Number of micro-batches per step, a divisor of `batch`. The gradient stays the same up to
  /// rounding and memory shrinks by this factor; small micro-batches use the processors less
  /// efficiently.
  Index accumulate = 1;
  /// adamw suits transformers. adam adds weight decay to the gradient (L2 regularisation). sgd
  /// keeps one moment instead of two, and needs a much larger learning rate.
  OptimizerKind optimizer = OptimizerKind::adamw;
  /// Learning rate after the warm-up. Tune it first: if the loss is not finite, divide it by 3.
  /// Tasks recommend a value.
  double lr = 1e-3;
  /// Decay of the running means of gradients and of their squares (adamw, adam). A smaller beta2,
  /// such as 0.95, follows changes of the gradient faster. Leave eps as it is.
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  /// Decay of the running mean of gradients (sgd).
  double momentum = 0.9;
  /// Weight decay of tensors with two axes or more: biases and layer norms do not decay.
  double decay = 0.01;
  /// Gradient clipping: the largest global norm; a larger gradient is scaled down to it. 0: no
  /// limit. Costs nothing, because the norm is computed anyway. Leave it on unless you study
  /// divergence.
  double clip = 1;
  /// Shape of the decrease of the learning rate from `lr` to `min_lr` after the warm-up.
  ScheduleKind schedule = ScheduleKind::cosine;
  /// Steps over which the learning rate rises from 0. A tenth of `steps` is a good value.
  Index warmup = 100;
  /// Learning rate of the last step.
  double min_lr = 0;
  /// Steps between evaluations, and held-out sequences per evaluation; if 0, only the end is
  /// evaluated. An evaluation costs about a third of a training step on as many sequences.
  Index eval_every = 200;
  Index eval_examples = 512;
  /// Steps between saves; if 0, only the end is saved. A killed run loses at most this many steps.
  /// A save writes three times the size of the model and waits for the disk.
  Index save_every = 500;
  /// Seed of initial values, batches and dropout. The same seed gives the same run, bit for bit.
  std::int64_t seed = 0;

  /// Throws an Error that names the setting that is out of range, or the settings that do not fit
  /// together.
  void validate() const;
  friend bool operator==(const TrainConfig&, const TrainConfig&) = default;
};

Settings settings_of(TrainConfig& config);

/// Returns the learning rate of a step, counted from 0: lr (step + 1) / warmup while step < warmup,
/// then from lr down to min_lr, reached at the last step, along half a cosine or a line, or
/// constant lr. If the warm-up leaves a single step, that step uses lr.
double learning_rate(const TrainConfig& config, Index step);

}  // namespace headlab
