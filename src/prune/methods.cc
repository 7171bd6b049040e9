// The table of pruning methods, joined from the rows at the end of the files that hold them, and
// the one way to call them. On a converged model gradients vanish, so the scores made from
// gradients may do no better than `random`: that is no bug, it is what a curve shows.
// Read next: rankings.cc, search.cc, gates.cc, schedule.cc.
#include "headlab/prune/methods.h"

#include <algorithm>

#include "prune/subsets.h"

namespace headlab {

Settings settings_of(PruneSettings& settings) {
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  Settings s;
  s.integer("examples", settings.examples, 1, 1 << 24,
            "training examples on which heads are chosen");
  s.integer("per_layer_min", settings.per_layer_min, 0, 1 << 20,
            "heads that each attention module keeps");
  s.integer("gate_steps", settings.gate_steps, 1, 1 << 30,
            "steps of training in the methods l0 and subset");
  s.real("lambda", settings.penalty, 0, 1000, "penalty of the method l0 for each open head");
  s.integer("seed", settings.seed, 0, kMost, "of random choices");
  return s;
}

PruneProblem problem_of(const Run& run, const PruneSettings& settings) {
  return {run.model, *run.task, settings, run.config.train};
}

std::span<const PruneMethod> prune_table() {
  static const std::vector<PruneMethod> table = [] {
    std::vector<PruneMethod> all;
    for (const auto rows :
         {ranking_methods(), search_methods(), gate_methods(), schedule_methods()})
      all.insert(all.end(), rows.begin(), rows.end());
    return all;
  }();
  return table;
}

const PruneMethod& find_prune_method(const std::string& name) {
  std::vector<std::string> names;
  for (const PruneMethod& method : prune_table()) {
    if (name == method.name) return method;
    names.emplace_back(method.name);
  }
  throw unknown_name("pruning method", name, names);
}

SizeError::SizeError(Index asked, Index all, Index least)
    : Error(text(asked, " heads cannot stay: ",
                 asked < 0 || asked > all ? text("the model has ", all)
                                          : text("the modules keep ", least, " at least"))),
      size(asked),
      heads(all),
      fewest(least) {}

void check_sizes(const PruneProblem& problem, std::span<const Index> sizes) {
  const auto heads = std::ssize(all_heads(problem.model));
  const Index fewest = fewest_heads(problem);
  for (const Index size : sizes)
    if (size < fewest || size > heads) throw SizeError(size, heads, fewest);
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

}  // namespace headlab
