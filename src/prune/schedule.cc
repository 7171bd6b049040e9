// Pruning while training. The model is trained again from its initial values; between two points of
// the schedule the gradients of the gates are watched, and at each point the head through which
// least has flowed goes, so that the others have the rest of the training to take over.
// Read next: prune.cc, what becomes of a choice.
#include <algorithm>
#include <cmath>

#include "headlab/model/initial.h"
#include "headlab/train/streams.h"
#include "prune/subsets.h"

namespace headlab {
namespace {

constexpr double kFirstRemoval = 0.3, kLastRemoval = 0.6;  // as shares of the steps

/// A training in which heads go one by one until `keep` are left.
class ThinningTraining {
 public:
  ThinningTraining(const PruneProblem& problem, Index keep)
      : problem_(problem),
        config_(problem.train),
        model_(std::make_shared<Transformer>(problem.model.clone())),
        left_(all_heads(problem.model)),
        flow_(left_.size()),
        removals_(std::ssize(left_) - keep) {
    config_.seed += problem.settings.seed;
    initialize(*model_, streams::initial_values(config_.seed));
  }

  Choice run(PassCount& cost) {
    Trainer trainer(*model_, problem_.task, config_);
    trainer.run({.edits = [&](Index) { return new_gates(); },
                 .after_step = [&](Index step) { watch(step); }});
    cost.forward += config_.steps * config_.batch;
    cost.backward += config_.steps * config_.batch;
    return {in_model_order(*model_, left_), model_};
  }

 private:
  /// When removal i, counted from 0, is due.
  Index due(Index i) const {
    const double share =
        removals_ > 1 ? static_cast<double>(i) / static_cast<double>(removals_ - 1) : 1;
    const double at = kFirstRemoval + share * (kLastRemoval - kFirstRemoval);
    return static_cast<Index>(std::lround(at * static_cast<double>(config_.steps)));
  }

  /// 1 for each head that is left, 0 for the others; with gradients.
  std::vector<HeadEdits> new_gates() {
    gates_ = gates_for(*model_, left_);
    for (HeadEdits& edits : gates_) edits.gate.set_requires_grad();
    return gates_;
  }

  /// Adds up |dL/dgate|, and removes what is due.
  void watch(Index step) {
    std::size_t head = 0;
    for (const HeadEdits& edits : gates_) {
      const Tensor grad = edits.gate.grad();
      for (Index h = 0; h < edits.gate.count(); ++h, ++head)
        if (grad.defined()) flow_[head] += std::abs(static_cast<double>(grad.values()[h]));
    }
    while (removed_ < removals_ && step >= due(removed_)) remove_lowest();
  }

  void remove_lowest() {
    const LayerMinimum minimum(problem_);
    const std::vector<HeadId> heads = all_heads(*model_);
    std::size_t lowest = heads.size();
    for (std::size_t h = 0; h < heads.size(); ++h) {
      if (!contains(left_, heads[h]) || !minimum.allows(without(left_, heads[h]))) continue;
      if (lowest == heads.size() || flow_[h] < flow_[lowest]) lowest = h;
    }
    left_ = without(left_, heads[lowest]);
    std::ranges::fill(flow_, 0.0);
    ++removed_;
  }

  const PruneProblem& problem_;
  TrainConfig config_;
  std::shared_ptr<Transformer> model_;
  std::vector<HeadId> left_;
  std::vector<double> flow_;  // by head of the model, since the last removal
  Index removals_, removed_ = 0;
  std::vector<HeadEdits> gates_;
};

std::vector<Choice> train_thinner(const PruneProblem& problem, std::span<const Index> sizes,
                                  PassCount& cost) {
  std::vector<Choice> choices;
  for (const Index size : sizes) choices.push_back(ThinningTraining(problem, size).run(cost));
  return choices;
}

constexpr PruneMethod kScheduled[] = {
    {"flow", MethodKind::training,
     "trained again from the start; on the way, the head with the least gradient of its gate goes, "
     "one by one; a whole training for each size",
     "", nullptr, train_thinner},
};

}  // namespace

std::span<const PruneMethod> schedule_methods() { return kScheduled; }

}  // namespace headlab
