// Checks of the weights of stored patterns. Rows and keys after the last token of an example are
// padding: rows may hold anything that is a weight, and queries may give such keys no weight. A
// message names the first fault. Read next: stored_patterns.cc.
#include <cmath>
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

}  // namespace

void check_weights(const StoredInput& input) {
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
