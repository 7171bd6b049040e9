// Loss and accuracy on held-out examples. The examples are the same for every run of a task, so
// that models can be compared. Changing which examples are drawn changes every reported number.
// Read next: trainer.h, which evaluates during training.
#pragma once

#include <string>
#include <vector>

#include "headlab/core/base/progress.h"
#include "headlab/core/model/model.h"
#include "headlab/core/tasks/task.h"

namespace headlab {

struct TargetScore {
  std::string name;
  double loss = 0;      // nats per target; NaN if no example has this target
  double accuracy = 0;  // correct targets / targets; NaN likewise
  Index count = 0;      // number of targets
};

struct Evaluation {
  double loss = 0, accuracy = 0;  // over all targets together
  Index count = 0;
  std::vector<TargetScore> targets;  // for each of the K targets
};

struct EvaluateOptions {
  /// Maximum number of examples; fewer if the task has fewer distinct ones. Time grows in
  /// proportion.
  Index examples = 512;
  Index batch = 64;  // in one forward pass; the result does not depend on it beyond rounding
  Key key{};         // selects the examples: a stream of core/train/streams.h; the default is the
                     // held-out set
  Split split = Split::validation;
  std::vector<HeadInterventions>
      interventions{};  // applied to every forward pass; gates of shape [H]
};

/// Calls use(part, first) for the sequences of a batch, at most `size` >= 1 at a time. `first` is
/// the index in the batch of the part's first sequence.
template <class Use>
void for_parts(const Batch& batch, Index size, Use&& use) {
  Steps steps((batch.size + size - 1) / size);
  for (Index first = 0; first < batch.size; first += size) {
    use(batch.rows(first, first + size < batch.size ? first + size : batch.size), first);
    steps.done();
  }
}

/// Returns `count`, or the number of distinct sequences of the split if that is smaller, so that no
/// sequence counts twice.
Index at_most_different(const Task& task, Index count, Split split = Split::validation);
/// Returns the first at_most_different(task, count) examples that `evaluate` uses, with their
/// ground truth.
Example held_out_examples(const Task& task, Index count);

/// Returns the cross-entropy of each target in nats, 0 if there is none: logits [B, T, K*V], result
/// [B, T, K].
Tensor target_losses(const Tensor& logits, const Batch& batch);

/// Returns, for each held-out example and each of the K targets, the sum of the losses over its
/// positions and the number of positions that have such a target: [examples, K, 2], row-major.
/// Error if an option is below 1.
std::vector<float> losses_by_example(const Model& model, const Task& task,
                                     const EvaluateOptions& options = {});

/// Returns mean loss and accuracy, computed without a tape. Errors: options below 1; no target in
/// any of the examples; a loss that is not finite, with the name of the first tensor that is not.
Evaluation evaluate(const Model& model, const Task& task, const EvaluateOptions& options = {});

}  // namespace headlab
