// From a score's question about one key to the gold of a whole batch. Counts of tokens are taken
// over the same examples, sources included, so "rare" means rare in what the model sees. Read next:
// score_table.cc, where the questions are.
#include "heads/patterns.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "headlab/heads/activations.h"

namespace headlab {
namespace {

constexpr std::array<std::string_view, 11> kSeparators = {"|",     ".",    ",",    ";",
                                                          ":",     "\n",   "\\n",  "[SEP]",
                                                          "<sep>", "</s>", "<eos>"};

}  // namespace

std::vector<TokenFacts> facts_of(const Batch& batch, const Task& task) {
  std::vector<TokenFacts> facts(task.shape().vocab);
  for (Index b = 0; b < batch.size; ++b) {
    for (Index t = 0; t < batch.length_of(b); ++t) ++facts[batch.token(b, t)].count;
    for (Index s = 0; s < batch.source_length_of(b); ++s) ++facts[batch.source_token(b, s)].count;
  }
  for (std::size_t token = 0; token < facts.size(); ++token) {
    const std::string shown = task.token_text(static_cast<std::int32_t>(token));
    facts[token].separator = std::ranges::find(kSeparators, shown) != kSeparators.end();
  }
  return facts;
}

Gold pattern_gold(const ScoreEntry& score, const Sight& sight, std::span<const TokenFacts> facts) {
  Gold gold;
  const auto count_of = [&](std::int32_t token) { return facts[token].count; };
  for (Index b = 0; b < sight.batch.size; ++b) {
    const auto queries = query_tokens(sight.batch, sight.kind, b);
    const auto keys = key_tokens(sight.batch, sight.kind, b);
    for (Index t = 0; t < std::ssize(queries); ++t) {
      const auto visible = keys.first(sight.visible(b, t));
      if (visible.size() < 2) continue;  // there is no choice
      const PatternQuery query{.t = t,
                               .token = queries[t],
                               .keys = visible,
                               .same_sequence = sight.kind != AttentionKind::cross,
                               .facts = facts,
                               .rarest = count_of(std::ranges::min(visible, {}, count_of))};
      std::vector<std::int32_t> wanted;
      for (Index s = 0; s < std::ssize(visible); ++s)
        if (score.from.wants(query, s)) wanted.push_back(static_cast<std::int32_t>(s));
      if (!wanted.empty() && wanted.size() < visible.size()) gold.add(b, t, wanted);
    }
  }
  return gold;
}

}  // namespace headlab
