// Prepares the scored queries of a report: those of the relations of the task, with permutations of
// their ground-truth keys, and those of the patterns that every head is compared with. See
// scoring_job.h; the queries are found in asked_gold.cc.
#include "heads/scores/scoring_job.h"

namespace headlab {

void ScoringJob::add_relations(Index permutations) {
  for (std::size_t r = 0; r < relations.size(); ++r) {
    asked.push_back(asked_relation(r, permutations));
  }
}

AskedGold ScoringJob::asked_relation(std::size_t r, Index permutations) const {
  const Index window = widest_window(model, relations[r].kind);
  const QuerySet set = relation_queries(example, relations, r, causal, window);
  const Key key = Key{}.fold("permutations").fold(relations[r].name);
  return {set, PermutedGold::of(set, permutations, key)};
}

void ScoringJob::add_patterns(const Task& task) {
  const std::vector<TokenFacts> facts = facts_of(example.batch, task);
  for (const AttentionModule& module : model.attention_modules()) {
    if (module.attention->heads.empty() || patterns.contains(module.kind)) continue;
    patterns[module.kind] = asked.size();
    const Mask mask{example.batch, module.kind, causal};
    for (const ScoreEntry& row : score_table()) {
      if (row.from.weight == nullptr) continue;
      gold.push_back(pattern_gold(row, mask, facts));
      const QuerySet set = lone_queries(gold.back(), mask);
      asked.push_back({set, std::make_shared<PermutedGold>(set, 0, Key{})});
    }
  }
}

}  // namespace headlab
