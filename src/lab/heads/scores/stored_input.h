// The files of stored patterns, read and checked: weights, tokens, and ground truth. Errors name
// the file and the place, because the files come from other programs. Private to this layer. Read
// next: stored_input.cc.
#pragma once

#include <vector>

#include "headlab/lab/heads/scores/stored_patterns.h"
#include "lab/data/sequences.h"

namespace headlab {

struct StoredInput {
  Index examples = 0, layers = 0, heads = 0, queries = 0, keys = 0;
  bool normalises = true;
  std::vector<float> weights{};  // [examples, layers, heads, queries, keys]
  Header header{};               // architecture, vocabulary and relations
  Sequences sequences{};         // tokens and ground truth of each example

  bool is_cross() const { return header.architecture == Architecture::encoder_decoder; }
  AttentionKind kind() const { return is_cross() ? AttentionKind::cross : AttentionKind::self; }
  Index cells() const { return queries * keys; }
  /// Returns the pattern of a head on an example, [queries, keys].
  std::span<const float> pattern(Index example, Index layer, Index head) const {
    const Index at = (example * layers + layer) * heads + head;
    return std::span(weights).subspan(at * cells(), cells());
  }
};

/// Reads the files. Errors: those of StoredPatterns.
StoredInput read_stored_input(const StoredPatternFiles& files);

/// Throws an Error unless all weights are finite and not negative, and each row of a query sums to
/// 1 over the keys of its example, if rows are normalised, or has no weight on other keys.
void check_weights(const StoredInput& input);
/// Returns the first weight of a query on a later key as a text such as "example 0, head 1.2: query
/// 3 attends to key 5"; "" if there is none. Only for self-attention.
std::string later_key_text(const StoredInput& input);

}  // namespace headlab
