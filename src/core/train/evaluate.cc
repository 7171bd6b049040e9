// Evaluation: sums of losses and correct answers over held-out examples, one for each target. The
// examples do not depend on the seed of a run, so two runs of a task are compared on the same ones.
// Read next: trainer.cc.
#include "headlab/core/train/evaluate.h"

#include <algorithm>
#include <cmath>

#include "core/kernels/elementwise.h"
#include "core/kernels/rows.h"
#include "headlab/core/base/error.h"
#include "headlab/core/base/mean.h"
#include "headlab/core/tensor/tape.h"
#include "headlab/core/train/streams.h"

namespace headlab {
namespace {

/// Losses and correct answers of one target.
struct TargetMeans {
  Mean loss, accuracy;

  void add(const TargetMeans& other) {
    loss.add(other.loss);
    accuracy.add(other.accuracy);
  }
};

/// Adds losses and correct answers of a batch to the means of each of the K targets.
void add_scores(const Tensor& logits, const Batch& batch, Index outputs,
                std::vector<TargetMeans>& means) {
  const Tensor losses = target_losses(logits, batch);
  for (Index row = 0; row < losses.count(); ++row) {
    const std::int32_t target = batch.targets[row];
    if (target < 0) continue;
    const Scalar* x = logits.data() + row * outputs;
    const bool is_right = std::max_element(x, x + outputs) - x == target;
    TargetMeans& of_target = means[row % batch.targets_per_position];
    of_target.loss.add(static_cast<double>(losses.data()[row]));
    of_target.accuracy.add(is_right ? 1 : 0);
  }
}

/// Returns the means of each target, and over all of them together.
Evaluation evaluation_of(const std::vector<TargetMeans>& means,
                         const std::vector<std::string>& names) {
  TargetMeans all;
  std::vector<TargetScore> targets;
  for (std::size_t k = 0; k < means.size(); ++k) {
    const auto& [loss, accuracy] = means[k];
    all.add(means[k]);
    targets.push_back({names[k], loss.or_nan(), accuracy.or_nan(), loss.count()});
  }
  require(all.loss.count() > 0, "cannot evaluate: the held-out examples have no target at all");
  return {all.loss.or_nan(), all.accuracy.or_nan(), all.loss.count(), std::move(targets)};
}

/// Runs the model on the held-out examples in parts, and calls use(batch, its logits, the index of
/// its first example). Returns all examples.
template <class Use>
Batch for_held_out(const Model& model, const Task& task, const EvaluateOptions& options,
                   const Use& use) {
  require(options.examples >= 1 && options.batch >= 1, "cannot evaluate ", options.examples,
          " examples, ", options.batch, " at a time");
  const NoGrad no_grad;
  const ModelHooks hooks{.interventions = options.interventions};
  Batch all =
      task.make_batch(streams::evaluated(options.key),
                      at_most_different(task, options.examples, options.split), options.split);
  const Index at_once = model.shape().at_once(options.batch, all.length);
  for_parts(all, at_once, [&](const Batch& part, Index first) {
    use(part, model.forward(part, {}, hooks), first);
  });
  return all;
}

bool has_finite_values(const Tensor& x) { return all_finite(x.count(), x.data()); }

/// Returns the name of the first tensor, in order of computation, that holds a number which is not
/// finite: a parameter, a residual stream, or the logits.
std::string first_not_finite(const Model& model, const Batch& batch, ModelHooks hooks) {
  std::string first;
  model.visit([&](const std::string& name, const Tensor& parameter) {
    if (first.empty() && !has_finite_values(parameter)) first = "the parameter " + name;
  });
  if (!first.empty()) return first;
  const NoGrad no_grad;
  ActivationCache activations;
  activations.wants_patterns = false;
  hooks.activations = &activations;
  model.forward(batch, {}, hooks);
  const std::vector<Tensor>& streams = activations.residual;
  const auto stream = std::ranges::find_if_not(streams, has_finite_values);
  if (stream == streams.end()) return "the logits";
  return text("the residual stream number ", stream - streams.begin(), " of ", streams.size(),
              ", where the embeddings are number 0");
}

}  // namespace

Index at_most_different(const Task& task, Index count, Split split) {
  const Index different = task.different(split);
  return different > 0 ? std::min(count, different) : count;
}

Example held_out_examples(const Task& task, Index count) {
  return task.make(streams::evaluated(), at_most_different(task, count), Split::validation);
}

Tensor target_losses(const Tensor& logits, const Batch& batch) {
  const auto rows = static_cast<Index>(batch.targets.size());
  const Tensor log_sum_exp = Tensor::empty({rows});
  Tensor losses = Tensor::empty({batch.size, batch.length, batch.targets_per_position});
  require(losses.count() == rows && rows > 0, "cannot evaluate: the batch has no targets");
  cross_entropy_forward({rows, logits.count() / rows, logits.data(), batch.targets.data(),
                         losses.data(), log_sum_exp.data()});
  return losses;
}

Evaluation evaluate(const Model& model, const Task& task, const EvaluateOptions& options) {
  const std::vector<std::string> names = task.target_names();
  std::vector<TargetMeans> means(names.size());
  const Batch all =
      for_held_out(model, task, options, [&](const Batch& batch, const Tensor& logits, Index) {
        add_scores(logits, batch, model.shape().outputs(), means);
      });
  Evaluation evaluation = evaluation_of(means, names);
  if (!std::isfinite(evaluation.loss)) {
    throw NotFinite("cannot evaluate: the loss is not finite: first in " +
                        first_not_finite(model, all, {.interventions = options.interventions}),
                    "go back to an earlier checkpoint: the weights are too large, or damaged");
  }
  return evaluation;
}

std::vector<float> losses_by_example(const Model& model, const Task& task,
                                     const EvaluateOptions& options) {
  const Index K = task.shape().targets;
  std::vector<float> sums;
  for_held_out(model, task, options, [&](const Batch& batch, const Tensor& logits, Index first) {
    sums.resize(sums.size() + batch.size * K * 2);
    const Tensor losses = target_losses(logits, batch);
    for (Index i = 0; i < losses.count(); ++i) {
      if (batch.targets[i] < 0) continue;
      float* sum = sums.data() + ((first + i / (batch.length * K)) * K + i % K) * 2;
      sum[0] += static_cast<float>(losses.data()[i]);
      sum[1] += 1;
    }
  });
  return sums;
}

}  // namespace headlab
