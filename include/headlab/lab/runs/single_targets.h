// Single targets of held-out examples: the model's answer and loss for each, and their means by
// position and by right answer. The in-context score measures how much more context lowers the
// loss (Olsson et al. 2022, "In-context Learning and Induction Heads"). Read next:
// core/train/evaluate.h, the means over everything.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headlab/core/train/evaluate.h"
#include "headlab/lab/results/statistics.h"
#include "headlab/lab/results/table.h"

namespace headlab {

/// A target of one held-out example, with the output that has the largest logit.
struct SingleTarget {
  Index example = 0, position = 0;  // from 0, in the order of `evaluate`
  Index k = 0;                      // index of the target, if there are several at each position
  std::int32_t token = -1;          // at this position; -1 if inputs are vectors
  std::int32_t target = 0, predicted = 0;
  double loss = 0;  // nats
};

/// The answers of a model, and its logits [examples, T, K, V] if they were asked for: NaN
/// after the end of a sequence.
struct AnsweredTargets {
  std::vector<SingleTarget> targets;
  std::vector<float> logits{};
  Index examples = 0, length = 0;
};
/// Runs the model on the examples of `evaluate(model, task, options)`. Errors: those of `evaluate`.
AnsweredTargets answer_targets(const Model& model, const Task& task, const EvaluateOptions& options,
                               bool logits = false);

/// Name of the table of single targets; "targets" has the means of `evaluate`.
inline constexpr const char* kSingleTargets = "single_targets";
/// Returns that table: a row for each target.
Table single_target_table(const Task& task, const std::vector<SingleTarget>& targets);

/// Ways to group targets; "target" is the table of `evaluate`.
enum class TargetGroups { target, position, answer };
/// Returns the table "positions" or "answers": loss, accuracy and number of targets by position or
/// by right answer; `groups` is one of these two.
Table grouped_table(const Task& task, const std::vector<SingleTarget>& targets,
                    TargetGroups groups);

/// Mean over examples of the loss at position `late` minus the loss at position `early`, both
/// counted from 0 and averaged over the targets there; below 0 if context helps. Olsson et al. use
/// the 500th and the 50th token: 499 and 49.
struct InContextScore {
  Index early = 4, late = 49;
  Index examples = 0;     // with a target at both positions
  Interval difference{};  // of 95%, over examples
};
/// Returns the score of two positions, in either order. Nothing if no example has targets at both.
/// Error if they are equal or beyond the length.
std::optional<InContextScore> in_context_score(const AnsweredTargets& answered, Index one_position,
                                               Index other_position);
Json to_json(const InContextScore& score);

}  // namespace headlab
