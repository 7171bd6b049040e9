// Checks of the weights of stored patterns. Rows and keys after the last token of an example are
// padding: rows may hold anything that is a weight, and queries may give such keys no weight.
// Padding in front of the tokens is refused. A message names the first fault. Read next:
// stored_patterns.cc.
#include <cmath>
#include <numeric>
#include <utility>

#include "headlab/core/base/text.h"
#include "lab/heads/scores/stored_input.h"

namespace headlab {
namespace {

constexpr float kLargestMasked = 1e-6F;  // weights on masked keys that count as 0

/// Calls each(example, layer, head) for every pattern.
template <class Each>
void for_patterns(const StoredInput& input, const Each& each) {
  for (Index b = 0; b < input.examples; ++b) {
    for (Index m = 0; m < input.layers; ++m) {
      for (Index h = 0; h < input.heads; ++h) each(b, m, h);
    }
  }
}

std::string place_text(Index b, Index m, Index h) {
  return text("example ", b, ", head ", m, ".", h);
}

/// Number of queries and keys of an example without padding.
struct Lengths {
  Index queries, keys;
};

Lengths lengths_of(const StoredInput& input, Index b) {
  const Index queries = std::ssize(input.sequences.tokens[b]);
  return {queries, input.is_cross() ? std::ssize(input.sequences.source[b]) : queries};
}

void require_weight(float weight, const StoredInput& input, const std::string& place, Index cell) {
  const bool is_weight = std::isfinite(weight) && weight >= 0;
  if (is_weight) return;
  const auto number = static_cast<double>(weight);
  const std::string shown = std::isfinite(weight) ? significant(number) : text(number);
  throw Error(text(place, ", query ", cell / input.keys, ", key ", cell % input.keys,
                   ": the weight is ", shown),
              "save the weights after the softmax, with 0 for masked keys");
}

void require_row(std::span<const float> row, Index keys, bool normalises,
                 const std::string& place) {
  double sum = 0;
  double beyond = 0;
  for (std::size_t s = 0; s < row.size(); ++s) {
    double& part = std::cmp_less(s, keys) ? sum : beyond;
    part += static_cast<double>(row[s]);
  }
  require(beyond <= StoredPatterns::kSumTolerance, place, ": a weight of ", significant(beyond),
          " lies on keys after the last of ", keys, " tokens");
  if (normalises && std::abs(sum - 1) > StoredPatterns::kSumTolerance) {
    throw Error(text(place, ": the weights sum to ", significant(sum), ", not 1"),
                "pass --unnormalised if the attention function does not normalise rows");
  }
}

double sum_of(std::span<const float> weights) {
  return std::accumulate(weights.begin(), weights.end(), 0.0);
}

/// Returns whether a pattern has the words of an example at the end of its axes: its last queries
/// have weights, and none on the keys in front of the last ones.
bool has_words_at_the_end(const StoredInput& input, std::span<const float> pattern,
                          const Lengths& lengths) {
  const Index front = input.keys - lengths.keys;
  for (Index t = input.queries - lengths.queries; t < input.queries; ++t) {
    const std::span<const float> row = pattern.subspan(t * input.keys, input.keys);
    const bool is_empty = !(sum_of(row.subspan(front)) > 0);
    if (is_empty || sum_of(row.first(front)) > static_cast<double>(kLargestMasked)) return false;
  }
  return true;
}

/// Throws an Error if all patterns of a shorter example have its words at the end: their rows would
/// be read as those of other words.
void refuse_padding_in_front(const StoredInput& input, Index b) {
  const Lengths lengths = lengths_of(input, b);
  if (lengths.keys == input.keys) return;
  for (Index m = 0; m < input.layers; ++m) {
    for (Index h = 0; h < input.heads; ++h) {
      if (!has_words_at_the_end(input, input.pattern(b, m, h), lengths)) return;
    }
  }
  throw Error(text("example ", b, " has ", lengths.keys, " tokens, and all weights of its last ",
                   lengths.queries, " queries lie on the last ", lengths.keys, " of ", input.keys,
                   " keys: is it padded in front?"),
              "give the patterns of this example without padding, or with padding at the end");
}

}  // namespace

void check_weights(const StoredInput& input) {
  for (Index b = 0; b < input.examples; ++b) refuse_padding_in_front(input, b);
  for_patterns(input, [&](Index b, Index m, Index h) {
    const std::span<const float> pattern = input.pattern(b, m, h);
    const std::string place = place_text(b, m, h);
    for (Index cell = 0; cell < input.cells(); ++cell) {
      require_weight(pattern[cell], input, place, cell);
    }
    const Lengths lengths = lengths_of(input, b);
    for (Index t = 0; t < lengths.queries; ++t) {
      const std::span<const float> row = pattern.subspan(t * input.keys, input.keys);
      require_row(row, lengths.keys, input.normalises, text(place, ", query ", t));
    }
  });
}

std::string later_key_text(const StoredInput& input) {
  std::string found;
  for_patterns(input, [&](Index b, Index m, Index h) {
    const std::span<const float> pattern = input.pattern(b, m, h);
    for (Index t = 0; t < input.queries && found.empty(); ++t) {
      for (Index s = t + 1; s < input.keys && found.empty(); ++s) {
        if (!(pattern[t * input.keys + s] > kLargestMasked)) continue;
        found = text(place_text(b, m, h), ", query ", t, " attends to key ", s);
      }
    }
  });
  return found;
}

}  // namespace headlab
