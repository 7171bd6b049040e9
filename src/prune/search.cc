// Searches: they judge sets of heads by the loss that the set has, and so see what no score of a
// single head can: two heads that do the same job look useless one by one, yet one of them must
// stay. Exhaustive search is the truth that all others are measured by.
// Read next: learned.cc.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "headlab/base/error.h"
#include "prune/judge.h"

namespace headlab {
namespace {

constexpr std::size_t kMostHeads = 16;

/// Fills in the choices of this size.
void take(std::span<const Index> sizes, const PruneProblem& problem, std::span<const HeadId> kept,
          std::vector<Choice>& choices) {
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] == std::ssize(kept)) choices[i].kept = in_model_order(problem, kept);
}

/// The candidate with the lowest loss; of equals the first.
HeadSet best_of(const Judge& judge, const std::vector<HeadSet>& candidates) {
  const std::vector<double> losses = judge.losses(candidates);
  return candidates[std::min_element(losses.begin(), losses.end()) - losses.begin()];
}

std::vector<HeadId> heads_of_mask(const std::vector<HeadId>& heads, std::uint32_t mask) {
  std::vector<HeadId> kept;
  for (std::size_t h = 0; h < heads.size(); ++h)
    if ((mask >> h & 1U) != 0) kept.push_back(heads[h]);
  return kept;
}

}  // namespace

std::vector<Choice> greedy_choices(const PruneProblem& problem, std::span<const Index> sizes,
                                   PassCount& cost) {
  std::vector<Choice> choices(sizes.size());
  if (sizes.empty()) return choices;
  const LayerMinimum minimum(problem);
  const Judge judge(problem, cost);
  const Index smallest = *std::min_element(sizes.begin(), sizes.end());
  std::vector<HeadId> left = all_heads(problem.model);
  take(sizes, problem, left, choices);
  while (std::ssize(left) > smallest) {
    std::vector<HeadSet> candidates;
    for (const HeadId& head : left) {
      candidates.push_back(without(left, head));
      if (!minimum.allows(candidates.back())) candidates.pop_back();
    }
    left = best_of(judge, candidates);
    take(sizes, problem, left, choices);
  }
  return choices;
}

std::vector<Choice> forward_choices(const PruneProblem& problem, std::span<const Index> sizes,
                                    PassCount& cost) {
  std::vector<Choice> choices(sizes.size());
  if (sizes.empty()) return choices;
  const LayerMinimum minimum(problem);
  const Judge judge(problem, cost);
  const Index largest = *std::max_element(sizes.begin(), sizes.end());
  std::vector<HeadId> kept;
  take(sizes, problem, kept, choices);
  while (std::ssize(kept) < largest) {
    std::vector<HeadSet> candidates;
    for (const HeadId& head : all_heads(problem.model)) {
      if (std::find(kept.begin(), kept.end(), head) != kept.end()) continue;
      candidates.push_back(kept);
      candidates.back().push_back(head);
      // until every module has its minimum, only heads that a module misses are added
      if (minimum.missing(kept) > 0 && minimum.missing(candidates.back()) >= minimum.missing(kept))
        candidates.pop_back();
    }
    kept = best_of(judge, candidates);
    take(sizes, problem, kept, choices);
  }
  return choices;
}

std::vector<Choice> exhaustive_choices(const PruneProblem& problem, std::span<const Index> sizes,
                                       PassCount& cost) {
  const std::vector<HeadId> heads = all_heads(problem.model);
  if (heads.size() > kMostHeads) {
    throw Error(text("an exhaustive search over ", heads.size(), " heads has 2^", heads.size(),
                     " subsets to judge; ", kMostHeads, " heads are the most it takes"),
                "use --method greedy or forward, or prune some heads away first");
  }
  const LayerMinimum minimum(problem);
  const Judge judge(problem, cost);
  std::vector<HeadSet> subsets;
  for (std::uint32_t mask = 0; mask < std::uint32_t{1} << heads.size(); ++mask) {
    const HeadSet kept = heads_of_mask(heads, mask);
    const bool wanted = std::find(sizes.begin(), sizes.end(), std::ssize(kept)) != sizes.end();
    if (wanted && minimum.allows(kept)) subsets.push_back(kept);
  }
  const std::vector<double> losses = judge.losses(subsets);
  std::vector<double> lowest(heads.size() + 1, std::numeric_limits<double>::infinity());
  std::vector<Choice> choices(sizes.size());
  for (std::size_t i = 0; i < subsets.size(); ++i) {
    if (losses[i] >= lowest[subsets[i].size()]) continue;
    lowest[subsets[i].size()] = losses[i];
    take(sizes, problem, subsets[i], choices);
  }
  return choices;
}

}  // namespace headlab
