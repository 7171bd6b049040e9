// The training loop. The loss of a step is divided by the number of targets in the whole batch, not
// in each micro-batch, so that gradient accumulation changes nothing but memory. Nothing is updated
// before loss and gradient are known to be finite. note_work measures time for profiles and can be
// skipped when reading. Read next: model/transformer.cc.
#include "headlab/core/train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "headlab/core/base/progress.h"
#include "headlab/core/base/threads.h"
#include "headlab/core/model/checkpoint.h"
#include "headlab/core/ops/arithmetic.h"
#include "headlab/core/tensor/watch.h"
#include "headlab/core/train/streams.h"

namespace headlab {
namespace {

/// Tensors of the state. Sums [3]: the losses since the last evaluation, the number of these steps,
/// seconds. Steps [2]: steps of the trainer, of the optimizer.
constexpr const char *kStateSums = "trainer.sums", *kStateSteps = "trainer.steps";
constexpr double kMostSums = 1e15;  // steps since the last evaluation: a larger number means a
                                    // damaged file

bool due(Index step, Index every, Index steps) {
  return step == steps || (every > 0 && step % every == 0);
}

}  // namespace

Trainer::Trainer(Model& model, const Task& task, const TrainConfig& config)
    : model_(model), task_(task), config_(config), optimizer_(config) {
  config_.validate();
  model_.visit(
      [&](const std::string& name, const Tensor& parameter) { optimizer_.add(name, parameter); });
}

bool Trainer::run(const TrainCallbacks& callbacks) {
  bool finished = false;
  with_threads([&] { finished = run_steps(callbacks); });
  return finished;
}

bool Trainer::run_steps(const TrainCallbacks& callbacks) {
  optimizer_.zero_grad();
  std::optional<Steps> steps;  // progress, if no callback shows it
  if (!callbacks.on_step) steps.emplace(config_.steps - step_);
  while (step_ < config_.steps) {
    StepRecord record;
    const auto begin = std::chrono::steady_clock::now();
    try {
      record = train_step(callbacks);
    } catch (const Stopped&) {  // it waited for the batch: the last step is complete
      if (callbacks.save && saved_ < step_) save(callbacks);
      throw;
    }
    const double took =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    seconds_ += took;
    record.seconds = seconds_;
    record.tokens_per_s =
        static_cast<double>(config_.batch * model_.shape().tokens_per_sequence()) /
        std::max(took, 1e-9);
    finish_step(record, callbacks);
    if (steps) steps->done();
    const bool stop = callbacks.should_stop && callbacks.should_stop();
    if (callbacks.save && (stop || due(step_, config_.save_every, config_.steps))) save(callbacks);
    note_work("other");
    if (stop) return step_ == config_.steps;
  }
  return true;
}

void Trainer::save(const TrainCallbacks& callbacks) {
  require_undamaged();
  callbacks.save();
  saved_ = step_;
}

StepRecord Trainer::train_step(const TrainCallbacks& callbacks) {
  StepRecord record;
  const std::optional<double> loss = accumulate_gradients(callbacks);
  record.loss = loss.value_or(std::numeric_limits<double>::quiet_NaN());
  record.gradient_norm = optimizer_.gradient_norm();
  note_work("gradient norm");
  require_finite(loss.value_or(0), record.gradient_norm);
  record.lr = learning_rate(config_, step_);
  optimizer_.step(record.lr, record.gradient_norm);
  note_work("optimizer");
  record.step = ++step_;
  if (loss) losses_.add(*loss);
  return record;
}

/// Computes the gradient of the whole batch, micro-batch by micro-batch; returns its loss, nothing
/// if the batch has no target.
std::optional<double> Trainer::accumulate_gradients(const TrainCallbacks& callbacks) {
  const Key seed = streams::seeded(config_.seed);
  const auto number = static_cast<std::uint64_t>(step_);
  const Batch batch =
      task_.make_batch(seed.fold("batch").fold(number), config_.batch, Split::train);
  const Index targets = batch.target_count();
  const auto divisor = static_cast<double>(std::max<Index>(1, targets));
  note_work("make batch");
  const Index rows = config_.batch / config_.accumulate;
  double total = 0;
  for (Index micro = 0; micro < config_.accumulate; ++micro) {
    const ForwardContext context{true, seed.fold("dropout").fold(number).fold(
                                           static_cast<std::uint64_t>(micro))};
    ModelHooks hooks;
    if (callbacks.interventions) hooks.interventions = callbacks.interventions(step_);
    Tensor loss =
        model_.loss(batch.rows(micro * rows, (micro + 1) * rows), context, hooks, divisor);
    if (micro == 0 && callbacks.loss_terms) loss = loss + callbacks.loss_terms(step_);
    total += static_cast<double>(loss.item());
    backward(loss);
  }
  return targets > 0 ? std::optional(total) : std::nullopt;
}

/// Returns the error of a training that diverged, with settings that differ from the present ones.
NotFinite Trainer::not_finite(const std::string& reason) const {
  std::vector<std::string> changes = {"a smaller `lr`", "a longer `warmup`"};
  const bool clips = config_.clip > 0 && config_.clip <= 1;
  if (!clips) changes.emplace_back("`clip` 1");
  const std::string begin = saved_ > 0 ? text("begin a new run by `from`, as the save of step ",
                                              saved_, " is kept, with ")
                                       : "train with ";
  return NotFinite("cannot go on training: " + reason, begin + join(changes, " or "));
}

void Trainer::require_finite(double loss, double norm) const {
  if (std::isfinite(loss) && std::isfinite(norm)) return;
  const std::string tensor = optimizer_.first_not_finite();
  throw not_finite(text("the ", std::isfinite(loss) ? "gradient" : "loss",
                        " is not finite at step ", step_ + 1,
                        tensor.empty() ? std::string() : ": first in the gradient of " + tensor));
}

/// Throws an Error if the state holds a number that is not finite: such a state cannot be read
/// again, so it must not replace a valid one.
void Trainer::require_undamaged() const {
  const std::string tensor = optimizer_.first_damaged();
  if (tensor.empty()) return;
  throw not_finite(text("step ", step_, " left numbers that are not finite in ", tensor));
}

void Trainer::finish_step(const StepRecord& record, const TrainCallbacks& callbacks) {
  try {
    if (callbacks.after_step) callbacks.after_step(step_);
    if (callbacks.on_step) callbacks.on_step(record);
    if (callbacks.on_evaluation && due(step_, config_.eval_every, config_.steps)) {
      callbacks.on_evaluation(evaluate_now(record));
    }
  } catch (const NotFinite& error) {
    throw not_finite(text("after step ", step_, ", ", error.what()));
  }
}

EvaluationRecord Trainer::evaluate_now(const StepRecord& record) {
  EvaluationRecord evaluation;
  evaluation.last = record;
  evaluation.train_loss = losses_.or_nan();
  note_work("other");
  evaluation.held_out = evaluate(model_, task_, {.examples = config_.eval_examples});
  note_work("evaluation");
  losses_ = {};
  return evaluation;
}

void Trainer::store(TensorFile& file) const {
  store_parameters(model_, file, "model.");
  optimizer_.store(file);
  const std::vector<double> sums{losses_.sum(), static_cast<double>(losses_.count()), seconds_};
  file.tensors.push_back(StoredTensor::of(kStateSums, {3}, std::span<const double>(sums)));
  const std::vector<std::int64_t> steps{step_, optimizer_.steps()};
  file.tensors.push_back(StoredTensor::of(kStateSteps, {2}, std::span<const std::int64_t>(steps)));
}

Index Trainer::steps_in(const TensorFile& file) {
  return file.at(kStateSteps).numbers<std::int64_t>().at(0);
}

void Trainer::load(const TensorFile& file) {
  const std::vector<std::int64_t> steps = file.at(kStateSteps).numbers<std::int64_t>();
  const std::vector<double> sums = file.at(kStateSums).numbers<double>();
  const bool whole = steps.size() == 2 && sums.size() == 3 && steps[0] >= 0 && steps[1] >= 0 &&
                     std::isfinite(sums[0]) && sums[1] >= 0 && sums[1] <= kMostSums &&
                     std::isfinite(sums[2]);
  require(whole, "cannot continue training: the counts in ", kStateSteps, " and ", kStateSums,
          " are damaged");
  load_parameters(model_, file, "model.");
  model_.visit([&](const std::string& name, const Tensor&) { file.at("optimizer.m." + name); });
  optimizer_.load(file, steps[1]);
  step_ = saved_ = steps[0];
  losses_ = {sums[0], static_cast<Index>(sums[1])};
  seconds_ = sums[2];
}

}  // namespace headlab
