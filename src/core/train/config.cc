// Training settings with their limits, and the learning rate of each step. Limits are wide: they
// exclude impossible values (a negative size, a seed that JSON would round), not unwise ones. Read
// next: trainer.cc.
#include "headlab/core/train/config.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"
#include "headlab/core/train/optimizer.h"

namespace headlab {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000'000;

}  // namespace

void TrainConfig::validate() const {
  TrainConfig checked = *this;  // the ranges of a config filled in by code have not been checked
                                // yet
  const Settings settings = settings_of(checked);
  settings.set_all(settings.to_json(), "training");
  require(batch % accumulate == 0, "cannot train: batch ", batch,
          " does not divide into accumulate ", accumulate, " micro-batches");
  require(min_lr <= lr, "cannot train: min_lr ", min_lr, " is above lr ", lr);
}

Settings settings_of(TrainConfig& c) {
  Settings s;
  s.integer("steps", c.steps, 0, kMostSteps, "optimizer steps");
  s.integer("batch", c.batch, 1, 1 << 20, "sequences in a step");
  s.integer("accumulate", c.accumulate, 1, 1 << 20, "micro-batches in a step");
  s.choice("optimizer", c.optimizer, texts_of(optimizer_table(), &OptimizerEntry::name),
           "optimizer");
  s.real("lr", c.lr, 0, 1000, "learning rate");
  s.real("beta1", c.beta1, 0, 0.999999, "decay rate of the mean of gradients");
  s.real("beta2", c.beta2, 0, 0.999999, "decay rate of the mean of squared gradients");
  s.real("eps", c.eps, 0, 1, "added to the root of the mean square");
  s.real("momentum", c.momentum, 0, 0.999999, "momentum");
  s.real("decay", c.decay, 0, 10, "weight decay of matrices");
  s.real("clip", c.clip, 0, 1e9, "largest norm of the gradient (0: no limit)");
  s.choice("schedule", c.schedule, {"cosine", "linear", "constant"}, "how the learning rate falls");
  s.integer("warmup", c.warmup, 0, kMostSteps, "steps in which the learning rate rises");
  s.real("min_lr", c.min_lr, 0, 1000, "learning rate at the end");
  s.integer("eval_every", c.eval_every, 0, kMostSteps,
            "steps between evaluations (0: at the end only)");
  s.integer("eval_examples", c.eval_examples, 1, 1 << 24, "held-out sequences of an evaluation");
  s.integer("save_every", c.save_every, 0, kMostSteps, "steps between saves (0: at the end only)");
  s.integer("seed", c.seed, 0, kMostExact, "random seed for initial values, batches, dropout");
  return s;
}

double learning_rate(const TrainConfig& c, Index step) {
  if (step < c.warmup) return c.lr * static_cast<double>(step + 1) / static_cast<double>(c.warmup);
  const auto span = static_cast<double>(std::max<Index>(1, c.steps - 1 - c.warmup));
  const double done = std::min(1.0, static_cast<double>(step - c.warmup) / span);
  switch (c.schedule) {
    case ScheduleKind::constant:
      return c.lr;
    case ScheduleKind::linear:
      return c.lr + (c.min_lr - c.lr) * done;
    case ScheduleKind::cosine:
      break;
  }
  return c.min_lr + (c.lr - c.min_lr) * 0.5 * (1 + std::cos(std::numbers::pi * done));
}

}  // namespace headlab
