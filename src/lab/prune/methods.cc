// The table of pruning methods, joined from the rows at the end of the files of methods, the
// function that runs a method, and shared code: the losses of subsets of heads are computed with
// the other heads ablated, on the same examples each time, so that differences are paired. On a
// converged model gradients vanish, so gradient scores may be no better than `random`: this is not
// a bug but a result. Read next: rankings.cc, search.cc, gates.cc.
#include "headlab/lab/prune/methods.h"

#include <algorithm>
#include <numeric>

#include "headlab/core/train/streams.h"
#include "lab/prune/subsets.h"

namespace headlab {

Settings settings_of(PruneSettings& settings) {
  Settings s;
  s.integer("examples", settings.examples, 1, 1 << 24,
            "training examples on which heads are chosen");
  s.integer("per_layer_min", settings.per_layer_min, 0, 1 << 20,
            "heads that each attention layer keeps");
  s.integer("gate_steps", settings.gate_steps, 1, 1 << 30,
            "training steps of the methods l0 and subset");
  s.real("lambda", settings.penalty, 0, 1000, "penalty of the method l0 for each open head");
  s.integer("seed", settings.seed, 0, kMostExact, "random seed for choices");
  return s;
}

PruneProblem problem_of(const Run& run, const PruneSettings& settings) {
  return {run.model, *run.task, settings, run.config.train};
}

std::span<const PruneMethod> prune_table() {
  static const std::vector<PruneMethod> table = [] {
    std::vector<PruneMethod> all;
    for (const auto rows : {ranking_methods(), search_methods(), gate_methods(),
                            std::span<const PruneMethod>(own_methods())}) {
      all.insert(all.end(), rows.begin(), rows.end());
    }
    return all;
  }();
  return table;
}

std::vector<PruneMethod>& own_methods() {
  static std::vector<PruneMethod> own;
  return own;
}

const PruneMethod& find_prune_method(std::string_view name) {
  for (const std::span<const PruneMethod> methods : {prune_table(), variant_methods()}) {
    for (const PruneMethod& method : methods) {
      if (name == method.name) return method;
    }
  }
  throw unknown_name("pruning method", name, texts_of(prune_table(), &PruneMethod::name));
}

void check_sizes(const PruneProblem& problem, std::span<const Index> sizes) {
  const auto heads = std::ssize(all_heads(problem.model));
  const Index fewest = fewest_heads(problem);
  for (const Index size : sizes) {
    if (size < fewest || size > heads) {
      throw Error(text("cannot keep ", size, " heads: ",
                       size < 0 || size > heads
                           ? text("the model has ", heads, " heads")
                           : text("the attention layers keep ", fewest, " at least")),
                  text("keep from ", fewest, " to ", heads, " heads, or change `per_layer_min`"));
    }
  }
}

std::vector<Choice> choose_heads(const PruneProblem& problem, const PruneMethod& method,
                                 std::span<const Index> sizes, PassCount* cost) {
  check_sizes(problem, sizes);
  PassCount unused;
  PassCount& count = cost != nullptr ? *cost : unused;
  if (method.scores != nullptr) return keep_highest(problem, method.scores(problem, count), sizes);
  return method.choose(problem, sizes, count);
}

Choice choose_heads(const PruneProblem& problem, const PruneMethod& method, Index size) {
  return choose_heads(problem, method, std::span(&size, 1))[0];
}

// ---- shared code

Batch choosing_examples(const PruneProblem& problem) {
  const Index count = problem.settings.examples;
  Batch examples = problem.task.make_batch(streams::choosing(), count, Split::train);
  require(examples.target_count() > 0, "cannot prune: none of the ", count,
          " examples has a target, so there is no loss to judge heads by");
  return examples;
}

SubsetLoss::SubsetLoss(const PruneProblem& problem, PassCount& cost, AblationKind kind)
    : heads_(all_heads(problem.model)),
      examples_(problem.settings.examples),
      ablation_(problem.model, choosing_examples(problem),
                {.kind = kind, .batch = kChoosingBatch, .seed = problem.settings.seed}),
      cost_(cost) {
  if (kind != AblationKind::zero) {
    cost_.forward += examples_;  // for the replacements of the outputs
  }
}

std::vector<double> SubsetLoss::operator()(std::span<const HeadSet> kept) const {
  std::vector<HeadSet> ablated;
  for (const HeadSet& set : kept) {
    ablated.push_back(heads_);
    std::erase_if(ablated.back(), [&](const HeadId& head) { return contains(set, head); });
  }
  cost_.forward += examples_ * std::ssize(kept);
  return ablation_.mean_losses(ablated);
}

LayerMinimum::LayerMinimum(const PruneProblem& problem) {
  for (const auto& heads : problem.model.head_numbers()) {
    least_.push_back(std::min(problem.settings.per_layer_min, std::ssize(heads)));
  }
}

Index LayerMinimum::missing(std::span<const HeadId> kept) const {
  std::vector<Index> left = least_;
  for (const HeadId& head : kept) --left[head.attention_layer];
  Index sum = 0;
  for (const Index count : left) sum += std::max<Index>(0, count);
  return sum;
}

Index fewest_heads(const PruneProblem& problem) { return LayerMinimum(problem).missing({}); }

bool contains(std::span<const HeadId> heads, const HeadId& head) {
  return std::ranges::find(heads, head) != heads.end();
}

std::vector<HeadId> in_model_order(const HeadedModel& model, std::span<const HeadId> heads) {
  std::vector<HeadId> ordered = all_heads(model);
  std::erase_if(ordered, [&](const HeadId& head) { return !contains(heads, head); });
  return ordered;
}

void enter_choice(const PruneProblem& problem, std::span<const HeadId> kept,
                  std::span<const Index> sizes, std::vector<Choice>& choices) {
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == std::ssize(kept)) choices[i].kept = in_model_order(problem.model, kept);
  }
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
