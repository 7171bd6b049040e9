// Subsets of the heads of one model. Their losses are taken with the other heads silenced, on the
// same examples each time, so that differences are paired; removal follows later, once.
// Read next: search.cc.
#include "prune/subsets.h"

#include <algorithm>
#include <numeric>

#include "headlab/train/streams.h"

namespace headlab {

Batch choosing_examples(const PruneProblem& problem) {
  const Index count = problem.settings.examples;
  Batch examples = problem.task.make_batch(streams::choosing(), count, Split::train);
  require(examples.target_count() > 0, "none of the ", count,
          " examples has a target, so there is no loss to judge heads by");
  return examples;
}

SubsetLoss::SubsetLoss(const PruneProblem& problem, PassCount& cost, AblationKind kind)
    : heads_(all_heads(problem.model)),
      examples_(problem.settings.examples),
      ablation_(problem.model, choosing_examples(problem),
                {.kind = kind, .batch = kChoosingBatch, .seed = problem.settings.seed}),
      cost_(cost) {
  if (kind != AblationKind::zero) cost_.forward += examples_;  // for what replaces the outputs
}

std::vector<double> SubsetLoss::operator()(std::span<const HeadSet> kept) const {
  std::vector<HeadSet> silenced;
  for (const HeadSet& set : kept) {
    silenced.push_back(heads_);
    std::erase_if(silenced.back(), [&](const HeadId& head) { return contains(set, head); });
  }
  cost_.forward += examples_ * std::ssize(kept);
  return ablation_.mean_losses(silenced);
}

LayerMinimum::LayerMinimum(const PruneProblem& problem) {
  for (const auto& heads : problem.model.head_numbers())
    least_.push_back(std::min(problem.settings.per_layer_min, std::ssize(heads)));
}

Index LayerMinimum::missing(std::span<const HeadId> kept) const {
  std::vector<Index> left = least_;
  for (const HeadId& head : kept) --left[head.layer];
  Index sum = 0;
  for (const Index count : left) sum += std::max<Index>(0, count);
  return sum;
}

Index fewest_heads(const PruneProblem& problem) { return LayerMinimum(problem).missing({}); }

bool contains(std::span<const HeadId> heads, const HeadId& head) {
  return std::ranges::find(heads, head) != heads.end();
}

std::vector<HeadId> without(std::span<const HeadId> heads, const HeadId& gone) {
  std::vector<HeadId> rest(heads.begin(), heads.end());
  std::erase(rest, gone);
  return rest;
}

std::vector<HeadId> in_model_order(const Transformer& model, std::span<const HeadId> heads) {
  std::vector<HeadId> ordered = all_heads(model);
  std::erase_if(ordered, [&](const HeadId& head) { return !contains(heads, head); });
  return ordered;
}

void enter_choice(const PruneProblem& problem, std::span<const HeadId> kept,
                  std::span<const Index> sizes, std::vector<Choice>& choices) {
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] == std::ssize(kept)) choices[i].kept = in_model_order(problem.model, kept);
}

std::vector<Choice> keep_highest(const PruneProblem& problem, const std::vector<double>& scores,
                                 std::span<const Index> sizes) {
  const LayerMinimum minimum(problem);
  const std::vector<HeadId> heads = all_heads(problem.model);
  std::vector<std::size_t> order(heads.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t h) { return scores[h]; });
  std::vector<Choice> choices(sizes.size());
  std::vector<HeadId> left = heads;
  enter_choice(problem, left, sizes, choices);
  for (const std::size_t lowest : order) {
    const std::vector<HeadId> fewer = without(left, heads[lowest]);
    if (!minimum.allows(fewer)) continue;
    left = fewer;
    enter_choice(problem, left, sizes, choices);
  }
  return choices;
}

}  // namespace headlab
