// Loss and accuracy on held-out examples. The examples are the same for every run of a task, so
// that two models can be compared.
// Read next: trainer.h, which evaluates while it trains.
#pragma once

#include <string>
#include <vector>

#include "headlab/base/members.h"
#include "headlab/base/progress.h"
#include "headlab/model/model.h"
#include "headlab/tasks/task.h"

namespace headlab {

struct TargetScore {
  std::string name;
  double loss = 0;      // nats per target
  double accuracy = 0;  // right targets / targets
  Index count = 0;      // targets

  void members(auto&& f) { f("name", name), f("loss", loss), f("accuracy", accuracy); }
};

struct Evaluation {
  double loss = 0, accuracy = 0;  // over all targets together
  Index count = 0;
  std::vector<TargetScore> targets;  // for each of the K targets
};

struct EvaluateOptions {
  /// At most so many; fewer where the task has fewer different ones. Time grows in proportion.
  Index examples = 512;
  Index batch = 64;  // in one forward pass; the result does not depend on it beyond rounding
  Key key{};         // which examples: one of train/streams.h; the default is the held-out set
  Split split = Split::validation;
  std::vector<HeadEdits> edits{};  // applied to every forward pass; gates of shape [H]
};

/// Calls use(part, first) for the sequences of a batch, at most `size` >= 1 at a time; `first` is
/// the index of the part's first sequence in the batch.
template <class Use>
void for_parts(const Batch& batch, Index size, Use&& use) {
  Steps steps((batch.size + size - 1) / size);
  for (Index first = 0; first < batch.size; first += size) {
    use(batch.rows(first, first + size < batch.size ? first + size : batch.size), first);
    steps.done();
  }
}

/// `count`, or the number of different held-out sequences if that is smaller: none is judged twice.
Index at_most_different(const Task& task, Index count, Split split = Split::validation);
/// The first at_most_different(task, count) of the examples that `evaluate` uses, with their truth.
Example held_out_examples(const Task& task, Index count);

/// The cross-entropy of each target in nats, 0 where there is none: logits [B, T, K*V], result
/// [B, T, K].
Tensor target_losses(const Tensor& logits, const Batch& batch);

/// For each held-out example and each of the K targets, the sum of the losses over its positions
/// and the number of positions that have such a target: [examples, K, 2], row-major. Error for
/// options below 1.
std::vector<float> losses_by_example(const Model& model, const Task& task,
                                     const EvaluateOptions& options = {});

/// Mean loss and accuracy, computed without a tape. Errors: options below 1; no target in any of
/// the examples; a loss that is not finite, with the name of the first tensor that is not.
Evaluation evaluate(const Model& model, const Task& task, const EvaluateOptions& options = {});

}  // namespace headlab
