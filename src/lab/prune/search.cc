// Searches: they judge subsets of heads by the loss with that subset, and so see what no score of a
// single head can: two heads that do the same job look useless one by one, yet one of them must
// stay. Exhaustive search is the reference that all others are compared with.
// Read next: gates.cc.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>

#include "headlab/core/base/progress.h"
#include "lab/prune/subsets.h"

namespace headlab {
namespace {

constexpr std::size_t kMostHeads = 16;

/// Moves from one subset to the best of its candidates (the first of equals): from all heads down
/// to the smallest size, or from none up to the largest.
std::vector<Choice> search_greedily(
    const PruneProblem& problem, std::span<const Index> sizes, PassCount& cost, HeadSet subset,
    const std::function<std::vector<HeadSet>(const HeadSet&)>& candidates_of) {
  std::vector<Choice> choices(sizes.size());
  if (sizes.empty()) return choices;
  const SubsetLoss loss_of(problem, cost);
  const Index last = subset.empty() ? std::ranges::max(sizes) : std::ranges::min(sizes);
  enter_choice(problem, subset, sizes, choices);
  Steps steps(std::abs(std::ssize(subset) - last));
  while (std::ssize(subset) != last) {
    const std::vector<HeadSet> candidates = candidates_of(subset);
    const std::vector<double> losses = loss_of(candidates);
    subset = candidates[std::ranges::min_element(losses) - losses.begin()];
    enter_choice(problem, subset, sizes, choices);
    steps.done();
  }
  return choices;
}

std::vector<Choice> eliminate_backward(const PruneProblem& problem, std::span<const Index> sizes,
                                       PassCount& cost) {
  const LayerMinimum minimum(problem);
  return search_greedily(problem, sizes, cost, all_heads(problem.model), [&](const HeadSet& left) {
    std::vector<HeadSet> candidates;
    for (const HeadId& head : left) {
      candidates.push_back(without(left, head));
      if (!minimum.allows(candidates.back())) candidates.pop_back();
    }
    return candidates;
  });
}

std::vector<Choice> select_forward(const PruneProblem& problem, std::span<const Index> sizes,
                                   PassCount& cost) {
  const LayerMinimum minimum(problem);
  return search_greedily(problem, sizes, cost, {}, [&](const HeadSet& kept) {
    const Index missing = minimum.missing(kept);
    std::vector<HeadSet> candidates;
    for (const HeadId& head : all_heads(problem.model)) {
      if (contains(kept, head)) continue;
      candidates.push_back(kept);
      candidates.back().push_back(head);
      // Until every attention layer has its minimum, only heads of layers below it are added.
      if (missing > 0 && minimum.missing(candidates.back()) >= missing) candidates.pop_back();
    }
    return candidates;
  });
}

/// Returns the subsets of the requested sizes that leave each attention layer its minimum.
std::vector<HeadSet> subsets_of(const PruneProblem& problem, std::span<const Index> sizes) {
  const std::vector<HeadId> heads = all_heads(problem.model);
  const LayerMinimum minimum(problem);
  std::vector<HeadSet> subsets;
  for (std::uint32_t mask = 0; mask < std::uint32_t{1} << heads.size(); ++mask) {
    HeadSet kept;
    for (std::size_t h = 0; h < heads.size(); ++h) {
      if ((mask >> h & 1U) != 0) kept.push_back(heads[h]);
    }
    const bool wanted = std::ranges::find(sizes, std::ssize(kept)) != sizes.end();
    if (wanted && minimum.allows(kept)) subsets.push_back(std::move(kept));
  }
  return subsets;
}

std::vector<Choice> try_all(const PruneProblem& problem, std::span<const Index> sizes,
                            PassCount& cost) {
  const std::size_t heads = all_heads(problem.model).size();
  if (heads > kMostHeads) {
    throw Error(text("cannot search exhaustively over ", heads, " heads: there are 2^", heads,
                     " subsets, and the limit is ", kMostHeads, " heads"),
                "use --method greedy or --method forward, or prune some heads first");
  }
  const std::vector<HeadSet> subsets = subsets_of(problem, sizes);
  const std::vector<double> losses = SubsetLoss(problem, cost)(subsets);
  std::vector<double> lowest(heads + 1, std::numeric_limits<double>::infinity());
  std::vector<Choice> choices(sizes.size());
  for (std::size_t i = 0; i < subsets.size(); ++i) {
    if (losses[i] >= lowest[subsets[i].size()]) continue;
    lowest[subsets[i].size()] = losses[i];
    enter_choice(problem, subsets[i], sizes, choices);
  }
  return choices;
}

constexpr PruneMethod kSearches[] = {
    {"greedy", MethodKind::search,
     "backward elimination: the head whose removal costs least goes, then all are judged again; "
     "H^2/2 forward passes",
     "", nullptr, eliminate_backward},
    {"forward", MethodKind::search,
     "forward selection: from no head at all, the one that helps most is added; H^2/2 forward "
     "passes",
     "", nullptr, select_forward},
    {"exhaustive", MethodKind::search,
     "the subset with the lowest loss of all of its size; 2^H forward passes, H <= 16", "", nullptr,
     try_all},
};

}  // namespace

std::span<const PruneMethod> search_methods() { return kSearches; }

}  // namespace headlab
