// Guards: conditions that a conclusion must meet before a report draws it. A report that draws no
// conclusion because of a guard stores the guard's name as `guard`, next to the conclusion. `list
// verdicts` lists the guards of each conclusion. Read next: src/lab/runs/guards.cc,
// lab/studies/conclusions.h.
#pragma once

#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "headlab/core/model/model.h"
#include "headlab/core/tasks/task.h"
#include "headlab/lab/results/statistics.h"

namespace headlab {

struct Guard {
  const char *name, *rule;
};
/// Returns all guards, in the order in which reports ask them.
std::span<const Guard> guards();

// Names of guards, for `guard` in JSON.
inline constexpr const char *kGuessingGuard = "guessing", *kExamplesGuard = "examples",
                            *kControlGuard = "control", *kSizeGuard = "size", *kArmsGuard = "arms",
                            *kSizesGuard = "sizes", *kFailuresGuard = "failures",
                            *kSeedsGuard = "seeds";

/// The conclusion in place of one that the guard `guessing` refuses.
inline constexpr const char* kAtGuessing = "train longer: the model is at guessing";

/// Loss of a model compared with guessing, the loss of the best constant answer on the same
/// examples. That loss is the entropy of the answers, computed for each of the K targets of a
/// position.
struct AgainstGuessing {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  double loss = kUnknown, guessing = kUnknown;  // nats per target
  Interval difference{};  // loss - guessing, with its 95% interval over examples
  Index examples = 0;     // number of examples with a target
  /// Whether these are the targets of one relation; false: all targets of the model.
  bool own = false;

  /// Returns whether conclusions are refused. Without any target there is no loss to judge.
  bool is_at_guessing() const { return examples > 0 && !(difference.high < 0); }

  void members(auto&& f) {
    f("loss", loss), f("guessing", guessing), f("difference", difference);
    f("examples", examples), f("own", own);
  }
};
/// Compares losses [examples], each summed over the example's targets, with guessing. The interval
/// is that of a ratio of two sums over examples (Cochran 1977, chapter 6) with Hall's
/// transformation. Error unless there is a loss for each example.
AgainstGuessing against_guessing(std::span<const double> losses, const Batch& examples);
/// Computes the losses of the model, `batch` examples at a time, and compares them with guessing.
AgainstGuessing against_guessing(const Model& model, const Batch& examples, Index batch = 64);
/// Returns the loss of the model at each target, 0 if there is none: [examples, T, K], row-major.
std::vector<float> target_losses_of(const Model& model, const Batch& examples, Index batch);
/// Returns the sum of the losses of each example over its targets: a batch may have fewer targets
/// than the one for which `losses` were computed.
std::vector<double> loss_sums(std::span<const float> losses, const Batch& examples);

/// Examples with only the targets that depend on a relation.
struct RelationTargets {
  Batch examples;
  /// False if the queries are positions of a source, or if there are at least kFewestPaired queries
  /// and none has a target (their result is used later). Then all targets are kept. With fewer
  /// queries, a masked model may have no target at any of them by chance; then no target is left.
  bool own = true;
};
/// Returns whether a target is named after a relation. Such a target depends on this relation
/// alone.
bool has_own_target(const Task& task, const std::string& relation);
/// Returns the targets at the queries of the relation. With several targets at each position, keeps
/// the one with the relation's name, if any.
RelationTargets targets_of(const Task& task, const Example& example, std::size_t relation);

}  // namespace headlab
