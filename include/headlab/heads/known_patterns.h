// Patterns that heads are known for, made by rule: the token before, the first token, a local
// window, all keys alike, induction, the same token. A head is like one if the Jensen-Shannon
// distance between its rows and the pattern's is small beside the distance of uniform attention
// from the same rows. Read next: scores.h, which scores heads against the truth of a task instead.
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
/// src/report/page/worlds.js, whose lesson shows them (a test holds the two together).
std::span<const KnownPattern> known_patterns();

/// Weights [T, S]. A row sums to 1, or is 0 where the pattern has no key: the first token has no
/// previous one, and a token that did not occur before has no induction. previous: key t - 1;
/// first: key 0; window: 1 / (1 + |t - s|) for |t - s| <= 2, normalised; uniform: all visible keys;
/// induction: the keys after earlier occurrences of the query's token, with equal weights; same:
/// these occurrences themselves. In cross-attention the last two have no keys. Error for a name
/// that is not in the table.
Matrix known_pattern(std::string_view name, const PatternInput& input);

/// One head against all known patterns.
struct PatternDistances {
  HeadId head;
  /// By known pattern, the mean distance of the head and of uniform attention from it: 0 for equal
  /// rows, sqrt(ln 2) = .8326 for rows without a common key, NaN where the pattern has no key.
  std::vector<double> distances, of_uniform;
  /// What it is most like: the pattern with the smallest ratio distances / of_uniform, if that is
  /// below 1/2; otherwise `uniform` if its distance is below .2; otherwise none.
  std::optional<std::size_t> like{};
};
struct LikenessReport {
  std::vector<PatternDistances> heads;
  Index examples = 0;
};
/// Means over held-out examples, at queries that see two keys or more and for which the pattern has
/// one. Error: fewer than one example.
LikenessReport compare_with_known(const Transformer& model, const Task& task, Index examples = 64);
/// {"examples", "patterns": names, "heads": [{"layer", "head", "distances", "of_uniform",
/// "like"}]}.
Json to_json(const LikenessReport& report);

}  // namespace headlab
