// How a set of heads is judged: all others are silenced on one unchanged model, and the loss is
// over the same examples each time.
// Read next: search.cc.
#include "prune/judge.h"

#include <algorithm>
#include <numeric>

#include "headlab/base/error.h"

namespace headlab {

Batch choosing_examples(const PruneProblem& problem) {
  const Key key = problem.in_sample ? Key{} : Key{}.fold("prune");
  const Split split = problem.in_sample ? Split::validation : Split::train;
  Batch examples = problem.task.make_batch(key, problem.examples, split);
  require(examples.target_count() > 0, "none of the ", problem.examples,
          " examples has a target, so there is no loss to judge heads by");
  return examples;
}

Judge::Judge(const PruneProblem& problem, PassCount& cost, AblationKind kind)
    : heads_(all_heads(problem.model)),
      examples_(problem.examples),
      ablation_(problem.model, choosing_examples(problem),
                {.kind = kind, .batch = kJudgeBatch, .seed = problem.seed}),
      cost_(cost) {
  if (kind != AblationKind::zero) cost_.forward += examples_;  // for what replaces the outputs
}

std::vector<double> Judge::losses(std::span<const HeadSet> kept) const {
  std::vector<HeadSet> silenced;
  for (const HeadSet& set : kept) {
    silenced.push_back(heads_);
    std::erase_if(silenced.back(), [&](const HeadId& head) {
      return std::find(set.begin(), set.end(), head) != set.end();
    });
  }
  cost_.forward += examples_ * std::ssize(kept);
  return ablation_.mean_losses(silenced);
}

LayerMinimum::LayerMinimum(const PruneProblem& problem) {
  for (const auto& heads : problem.model.head_numbers())
    least_.push_back(std::min(problem.per_layer_min, static_cast<Index>(heads.size())));
}

Index LayerMinimum::missing(std::span<const HeadId> kept) const {
  std::vector<Index> left = least_;
  for (const HeadId& head : kept) --left[head.layer];
  Index sum = 0;
  for (const Index count : left) sum += std::max<Index>(0, count);
  return sum;
}

Index fewest_heads(const PruneProblem& problem) { return LayerMinimum(problem).missing({}); }

std::vector<HeadId> without(std::span<const HeadId> heads, const HeadId& gone) {
  std::vector<HeadId> rest;
  std::copy_if(heads.begin(), heads.end(), std::back_inserter(rest),
               [&](const HeadId& head) { return !(head == gone); });
  return rest;
}

std::vector<HeadId> in_model_order(const PruneProblem& problem, std::span<const HeadId> heads) {
  std::vector<HeadId> ordered = all_heads(problem.model);
  std::erase_if(ordered, [&](const HeadId& head) {
    return std::find(heads.begin(), heads.end(), head) == heads.end();
  });
  return ordered;
}

std::vector<Choice> keep_highest(const PruneProblem& problem, const std::vector<double>& scores,
                                 std::span<const Index> sizes) {
  const LayerMinimum minimum(problem);
  const std::vector<HeadId> heads = all_heads(problem.model);
  std::vector<std::size_t> order(heads.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return scores[a] < scores[b]; });
  std::vector<Choice> choices(sizes.size());
  std::vector<HeadId> left = heads;
  auto lowest = order.begin();
  for (;;) {
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (std::ssize(left) == sizes[i]) choices[i].kept = left;
    while (lowest != order.end() && !minimum.allows(without(left, heads[*lowest]))) ++lowest;
    if (lowest == order.end()) return choices;
    left = without(left, heads[*lowest++]);
  }
}

}  // namespace headlab
