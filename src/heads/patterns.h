// Scores that need no gold of a task: which keys they ask for is read off the tokens alone
// (previous token, same token, induction ...). Each becomes a Gold, and is scored as a relation is.
// Private to this layer. Read next: patterns.cc, score_table.cc.
#pragma once

#include "headlab/heads/scores.h"
#include "heads/queries.h"

namespace headlab {

/// What is known of a token of the vocabulary.
struct TokenFacts {
  Index count = 0;  // how often it occurs in the examples
  bool separator = false;
};

/// A query, for a score that asks which of the visible keys it wants.
struct PatternQuery {
  Index t = 0;
  std::int32_t token = 0;              // the query's own
  std::span<const std::int32_t> keys;  // the tokens of the visible keys
  bool same_sequence = true;           // false in cross-attention: key t is not the query itself
  std::span<const TokenFacts> facts;   // by token
  Index rarest = 0;                    // the smallest count among the keys
};

/// Separators are the tokens that the task shows as | . , ; : or a line's end, or by one of the
/// usual names: [SEP], <sep>, </s>, <eos>.
std::vector<TokenFacts> facts_of(const Batch& batch, const Task& task);

/// The keys that a score asks for at every query. A query that wants no visible key, or all of
/// them, is not eligible: no head could be told from another by it.
Gold pattern_gold(const ScoreEntry& score, const Sight& sight, std::span<const TokenFacts> facts);

}  // namespace headlab
