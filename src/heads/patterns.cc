// From a score's question about one key to the gold of a whole batch. Counts of tokens are taken
// over the same examples, sources included, so "rare" means rare in what the model sees. Read next:
// score_table.cc, where the questions are.
#include "heads/patterns.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace headlab {
namespace {

constexpr std::array<std::string_view, 11> kSeparators = {
    "|", ".", ",", ";", ":", "\n", "\\n", "[SEP]", "<sep>", "</s>", "<eos>"};

void add_query(const ScoreEntry& score, const PatternQuery& query, Index b, Gold& gold,
               std::vector<std::int32_t>& keys) {
  keys.clear();
  for (Index s = 0; s < std::ssize(query.keys); ++s)
    if (score.wants(query, s)) keys.push_back(static_cast<std::int32_t>(s));
  if (!keys.empty() && keys.size() < query.keys.size()) gold.add(b, query.t, keys);
}

}  // namespace

std::vector<TokenFacts> facts_of(const Batch& batch, const Task& task) {
  std::vector<TokenFacts> facts(task.shape().vocab);
  const auto count = [&](std::int32_t token) { ++facts[token].count; };
  for (Index b = 0; b < batch.size; ++b) {
    for (Index t = 0; t < batch.length_of(b); ++t) count(batch.token(b, t));
    for (Index s = 0; s < batch.source_length_of(b); ++s) count(batch.source_token(b, s));
  }
  for (std::size_t token = 0; token < facts.size(); ++token) {
    const std::string shown = task.token_text(static_cast<std::int32_t>(token));
    facts[token].separator =
        std::find(kSeparators.begin(), kSeparators.end(), shown) != kSeparators.end();
  }
  return facts;
}

Gold pattern_gold(const ScoreEntry& score, const Sight& sight, std::span<const TokenFacts> facts) {
  Gold gold;
  std::vector<std::int32_t> keys;
  for (Index b = 0; b < sight.batch.size; ++b) {
    const std::span<const std::int32_t> tokens = sight.key_tokens(b);
    for (Index t = 0; t < sight.queries(b); ++t) {
      const auto visible = tokens.first(sight.visible(b, t));
      if (visible.size() < 2) continue;  // there is no choice
      PatternQuery query{.t = t,
                         .token = sight.query_token(b, t),
                         .keys = visible,
                         .same_sequence = sight.kind != AttentionKind::cross,
                         .facts = facts};
      query.rarest = facts[visible[0]].count;
      for (const std::int32_t token : visible)
        query.rarest = std::min(query.rarest, facts[token].count);
      add_query(score, query, b, gold, keys);
    }
  }
  return gold;
}

}  // namespace headlab
