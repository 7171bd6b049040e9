// Loss and accuracy on held-out examples. The examples are the same for every run of a task, so
// that two models can be compared.
// Read next: trainer.h, which evaluates while it trains.
#pragma once

#include <string>
#include <vector>

#include "headlab/base/json.h"
#include "headlab/model/transformer.h"
#include "headlab/tasks/task.h"

namespace headlab {

struct TargetScore {
  std::string name;
  double loss = 0;      // nats per target
  double accuracy = 0;  // right targets / targets
  Index count = 0;      // targets
};
Json to_json(const TargetScore& target);  // name, loss, accuracy

struct Evaluation {
  double loss = 0, accuracy = 0;  // over all targets together
  Index count = 0;
  std::vector<TargetScore> targets;  // each of the K apart
};

struct EvaluateOptions {
  Index examples = 512;  // at most; the different ones that there are
  Index batch = 64;      // in one forward pass; the result does not depend on it beyond rounding
  Key key{};             // which examples; the default is the held-out set
  std::vector<HeadEdits> edits{};  // applied to every forward pass; gates of shape [H]
};

/// `count`, or as many different sequences as there are held out: nothing is judged twice.
Index at_most_different(const Task& task, Index count);
/// Held-out examples with their truth: the first `count` of those that `evaluate` uses, as far as
/// there are different ones.
Example held_out_examples(const Task& task, Index count);

/// The loss of each target in nats, 0 where there is none: logits [B, T, K*V], result [B, T, K].
Tensor target_losses(const Tensor& logits, const Batch& batch);

/// The loss of each held-out example on each of the K targets, summed over its positions, and how
/// many positions ask: [examples, K, 2] in this order.
std::vector<float> losses_by_example(const Transformer& model, const Task& task,
                                     const EvaluateOptions& options = {});

/// Runs the model without recording. Errors: a task without any target in these examples; a loss
/// that is not finite, with the first tensor that is not.
Evaluation evaluate(const Transformer& model, const Task& task,
                    const EvaluateOptions& options = {});

}  // namespace headlab
