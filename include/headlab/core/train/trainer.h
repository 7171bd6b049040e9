// The training loop: batch, forward, loss, backward, clip, step. All randomness is keyed by (seed,
// purpose, step). The state is therefore parameters, moments and the step, and a run resumes bit
// for bit from any step; a new source of randomness must follow the same rule. Callbacks let
// experiments observe a run, intervene on heads during training, and add terms to the loss. Read
// next: run.h.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "headlab/core/base/error.h"
#include "headlab/core/base/mean.h"
#include "headlab/core/train/evaluate.h"
#include "headlab/core/train/optimizer.h"

namespace headlab {

struct StepRecord {
  Index step = 0;   // steps done, including this one
  double loss = 0;  // of the training batch, including extra terms; NaN if it has no target
  double lr = 0;
  double gradient_norm = 0;  // before clipping
  double seconds = 0;        // in steps since the start of the run, including earlier sessions
  double tokens_per_s = 0;   // in this step
};

/// An evaluation and the step before it.
struct EvaluationRecord {
  StepRecord last;
  double train_loss = 0;  // mean over the steps since the previous evaluation; NaN if none of them
                          // had a target
  Evaluation held_out;
};

/// Hooks of the training loop; any of them may be empty. `interventions` and `loss_terms` are
/// called before a step with its number, counted from 0; `after_step` is called with the number of
/// steps done.
struct TrainCallbacks {
  std::function<void(const StepRecord&)> on_step{};
  std::function<void(const EvaluationRecord&)> on_evaluation{};
  /// Interventions for the forward passes of the step; called for each micro-batch.
  std::function<std::vector<HeadInterventions>(Index step)> interventions{};
  std::function<Tensor(Index step)> loss_terms{};  // added to the loss of the step; one element
  std::function<void(Index step)> after_step{};
  std::function<void()> save{};  // called every save_every steps, at the end and when stopped
  std::function<bool()> should_stop{};  // called after every step
};

class Trainer {
 public:
  /// Binds the parameters of `model`; all three must outlive the trainer.
  Trainer(Model& model, const Task& task, const TrainConfig& config);

  /// Returns the optimizer. Use it to add parameters of an experiment (gates ...) before the first
  /// step or `load`.
  Optimizer& optimizer() { return optimizer_; }
  Index step() const { return step_; }
  double seconds() const { return seconds_; }

  /// Trains to config.steps, or until should_stop returns true. Returns whether config.steps was
  /// reached. Throws an Error that names step and tensor if the loss or a gradient is not finite
  /// (the parameters are then those of the last good step), or if a step produced such numbers,
  /// no matter who notices it: the step, an evaluation or a callback. The error is NotFinite, and
  /// nothing is saved then. Throws Stopped if stop_wanted() ends the wait for a batch; the steps
  /// before it are saved.
  bool run(const TrainCallbacks& callbacks = {});

  /// Adds everything that `load` needs to continue bit for bit.
  void store(TensorFile& file) const;
  /// Restores a stored state. Error if the file does not belong to this model and optimizer.
  void load(const TensorFile& file);
  /// Returns the number of steps of the trainer that stored the file.
  static Index steps_in(const TensorFile& file);

 private:
  bool run_steps(const TrainCallbacks& callbacks);
  void save(const TrainCallbacks& callbacks);
  StepRecord train_step(const TrainCallbacks& callbacks);
  std::optional<double> accumulate_gradients(const TrainCallbacks& callbacks);
  NotFinite not_finite(const std::string& reason) const;
  void require_finite(double loss, double norm) const;
  void require_undamaged() const;
  void finish_step(const StepRecord& record, const TrainCallbacks& callbacks);
  EvaluationRecord evaluate_now(const StepRecord& record);

  Model& model_;
  const Task& task_;
  TrainConfig config_;
  Optimizer optimizer_;
  Index step_ = 0, saved_ = 0;  // saved_: the step of the last save
  double seconds_ = 0;          // in steps
  Mean losses_;                 // since the last evaluation
};

}  // namespace headlab
