// How a set of heads is judged: its gates are open and all others are closed, on one unchanged
// model; the loss is over the same examples each time.
// Read next: search.cc.
#include "prune/judge.h"

#include <algorithm>
#include <numeric>

#include "headlab/base/error.h"
#include "headlab/tensor/tape.h"

namespace headlab::inline HEADLAB_SCALAR {

Batch choosing_examples(const PruneProblem& problem) {
  const Key key = problem.in_sample ? Key{} : Key{}.fold("prune");
  const Split split = problem.in_sample ? Split::validation : Split::train;
  Batch examples = problem.task.make(key, problem.examples, split).batch;
  require(examples.target_count() > 0, "none of the ", problem.examples,
          " examples has a target, so there is no loss to judge heads by");
  return examples;
}

double loss_with(const PruneProblem& problem, const Batch& examples, std::span<const HeadId> kept,
                 PassCount& cost) {
  const NoGrad no_grad;
  const auto targets = static_cast<double>(examples.target_count());
  const ModelHooks hooks{.edits = gates_for(problem.model, kept)};
  double loss = 0;
  for (Index begin = 0; begin < examples.size; begin += kJudgeBatch) {
    const Batch part = examples.rows(begin, std::min(examples.size, begin + kJudgeBatch));
    loss += static_cast<double>(problem.model.loss(part, {}, hooks, targets).item());
  }
  cost.forward += examples.size;
  return loss;
}

LayerMinimum::LayerMinimum(const PruneProblem& problem) {
  for (const auto& heads : problem.model.head_numbers()) {
    least_.push_back(std::min(problem.per_layer_min, static_cast<Index>(heads.size())));
  }
}

Index LayerMinimum::missing(std::span<const HeadId> kept) const {
  std::vector<Index> left = least_;
  for (const HeadId& head : kept) --left[static_cast<std::size_t>(head.layer)];
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
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (std::ssize(left) == sizes[i]) choices[i].kept = left;
    }
    while (lowest != order.end() && !minimum.allows(without(left, heads[*lowest]))) ++lowest;
    if (lowest == order.end()) return choices;
    left = without(left, heads[*lowest++]);
  }
}

}  // namespace headlab::inline HEADLAB_SCALAR
