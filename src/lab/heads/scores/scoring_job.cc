// Prepares the scored queries of a report: those of the relations of the task, with permutations of
// their ground-truth keys, and those of the patterns that every head is compared with. See
// scoring_job.h; the queries are found in scored_queries.cc.
#include "lab/heads/scores/scoring_job.h"

namespace headlab {

void ScoringJob::add_relations(Index permutations) {
  for (std::size_t r = 0; r < relations.size(); ++r) {
    scored.push_back(scored_queries(r, permutations));
  }
}

ScoredQueries ScoringJob::scored_queries(std::size_t r, Index permutations) const {
  const Index window = widest_window(model, relations[r].kind);
  const QuerySet set = relation_queries(example, relations, r, causal, window);
  const Key key = Key{}.fold("permutations").fold(relations[r].name);
  return {set, PermutedTruth::of(set, permutations, key)};
}

void ScoringJob::add_patterns(const Task& task) {
  const std::vector<TokenFacts> facts = facts_of(example.batch, task);
  for (const AttentionLayer& attention_layer : model.attention_layers()) {
    if (attention_layer.attention->heads.empty() || patterns.contains(attention_layer.kind)) {
      continue;
    }
    patterns[attention_layer.kind] = scored.size();
    const Mask mask{example.batch, attention_layer.kind, causal};
    for (const ScoreEntry& row : score_table()) {
      if (row.from.weight == nullptr) continue;
      truth.push_back(pattern_truth(row, mask, facts));
      const QuerySet set = lone_queries(truth.back(), mask);
      scored.push_back({set, std::make_shared<PermutedTruth>(set, 0, Key{})});
    }
  }
}

}  // namespace headlab
