// How a model is trained: optimizer, schedule, batch, evaluation. One flat table of settings; with
// those of the model and the task it makes up config.json. Each option says its default, what it
// costs and when to change it. Read next: trainer.h.
#pragma once

#include "headlab/base/settings.h"
#include "headlab/kernels/scalar.h"

namespace headlab {

enum class OptimizerKind { adamw, adam, sgd };  // rows of optimizer_table()
enum class ScheduleKind { cosine, linear, constant };

struct TrainConfig {
  /// Optimizer steps. Time grows in proportion; the schedule is stretched over them, so a run that
  /// is stopped early is not a run with fewer steps.
  Index steps = 1000;
  /// Sequences in a step. Time and memory of a step grow in proportion.
  Index batch = 64;
  /// Micro-batches that a step is cut into, a divisor of `batch`. The gradient stays the same up to
  /// rounding, memory shrinks by this factor; small micro-batches use the processors less well.
  Index accumulate = 1;
  /// adamw suits transformers. adam adds weight decay to the gradient (L2 regularisation). sgd
  /// keeps one moment instead of two, and needs a much larger learning rate.
  OptimizerKind optimizer = OptimizerKind::adamw;
  /// Learning rate after the warm-up. The first thing to tune: if the loss is not finite divide it
  /// by 3; tasks recommend one of their own.
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
  /// How the learning rate falls from `lr` to `min_lr` after the warm-up.
  ScheduleKind schedule = ScheduleKind::cosine;
  /// Steps over which the learning rate rises from 0. A tenth of `steps` is a good value.
  Index warmup = 100;
  /// Learning rate of the last step.
  double min_lr = 0;
  /// Steps between evaluations, and how many held-out sequences each takes; 0 evaluates at the end
  /// only. An evaluation costs about a third of a training step on as many sequences.
  Index eval_every = 200;
  Index eval_examples = 512;
  /// Steps between saves; 0 saves at the end only. A killed run loses at most so many steps. A save
  /// writes three times the size of the model and waits for the disk.
  Index save_every = 500;
  /// The seed of initial values, batches and dropout: the same seed gives the same run, bit for
  /// bit.
  std::int64_t seed = 0;

  /// Error that says which setting is out of range, or which do not fit together.
  void validate() const;
  friend bool operator==(const TrainConfig&, const TrainConfig&) = default;
};

Settings settings_of(TrainConfig& config);

/// The learning rate of a step, counted from 0: lr (step + 1) / warmup while step < warmup, then
/// from lr down to min_lr, reached at the last step, along half a cosine or a line, or constant lr.
/// If the warm-up leaves a single step, that one takes lr.
double learning_rate(const TrainConfig& config, Index step);

/// A sentence if the learning rate never reaches `lr`, because the warm-up is longer than the
/// training; else "".
std::string warmup_note(const TrainConfig& config);
/// A sentence if a run that goes on after `step` steps, with `now` in place of `before`, gets
/// another learning rate at once; else "".
std::string schedule_note(const TrainConfig& before, const TrainConfig& now, Index step);

}  // namespace headlab
