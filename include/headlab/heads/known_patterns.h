// Patterns that heads are known for, made by rule: the token before, the first token, a local
// window, all keys alike, induction, the same token. A head is near to one if the Jensen-Shannon
// distance of its rows from the pattern's rows is small; how far uniform attention is from the same
// rows says what is not small. Read next: scores.h, which scores heads against the truth of a task
// instead.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlab/base/json.h"
#include "headlab/heads/edits.h"
#include "headlab/heads/matrix.h"
#include "headlab/tasks/task.h"

namespace headlab {

/// The sequences that a pattern joins.
struct PatternInput {
  std::span<const std::int32_t> queries, keys;  // tokens
  bool causal = true;                           // query t sees the keys [0, t]
  bool same_sequence = true;                    // false in cross-attention
};

struct KnownPattern {
  const char* name;
  const char* meaning;
  /// The weight of key s for query t, before the row is normalised over the visible keys.
  double (*weight)(const PatternInput& input, Index t, Index s);
};
/// previous, first, window, uniform, induction, same. Adding one is adding a row, here and in
/// src/report/page/learn_worlds.js, whose lesson shows them (a test holds the two together).
std::span<const KnownPattern> known_patterns();

/// Weights [T, S]. A row sums to 1, or is 0 where the pattern says nothing: before the first token
/// there is none, and what was not there before cannot be continued. previous: key t - 1; first:
/// key 0; window: 1 / (1 + |t - s|) for |t - s| <= 2, normalised; uniform: all visible keys;
/// induction: the keys behind earlier places of the query's token, alike; same: these places
/// themselves. In cross-attention the last two say nothing. Error for a name that is not in the
/// table.
Matrix known_pattern(std::string_view name, const PatternInput& input);

/// One head against all known patterns.
struct PatternDistances {
  HeadId head;
  /// By known pattern: 0 the same, sqrt(ln 2) = .8326 nothing in common; NaN where the pattern says
  /// nothing; and the same of uniform attention in the head's place.
  std::vector<double> distances, of_uniform;
  /// What it is most like: of the patterns from which it is less than half as far as uniform
  /// attention is, that with the smallest share; `uniform` if it is nearer than .2 to that and no
  /// other is so near; else none.
  std::optional<std::size_t> like{};
};
struct LikenessReport {
  std::vector<PatternDistances> heads;
  Index examples = 0;
};
/// Means over the held-out examples, at queries that see two keys or more and of which the pattern
/// speaks. Error: fewer than one example.
LikenessReport compare_with_known(const Transformer& model, const Task& task, Index examples = 64);
/// {"examples", "patterns": names, "heads": [{"layer", "head", "distances", "of_uniform",
/// "like"}]}.
Json to_json(const LikenessReport& report);

}  // namespace headlab
