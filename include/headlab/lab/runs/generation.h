// Token-by-token generation with a language model or the decoder of an encoder-decoder, by sampling
// or by always taking the most likely token. Keys and values of processed tokens are cached
// (ModelCache), so the cost of a token grows with the context only in attention itself. The same
// key generates the same tokens. Read next:
// headlab/core/model/transformer.h.
#pragma once

#include <vector>

#include "headlab/core/model/transformer.h"

namespace headlab {

struct GenerationOptions {
  Index tokens = 200;      // maximum number of tokens to add
  double temperature = 1;  // divides the logits; 0: always the most likely token
  Index top_k = 0;         // sample from the k most likely tokens; 0: from all
  /// Sample from the smallest set of these tokens with at least this total probability (nucleus
  /// sampling, Holtzman et al. 2020).
  double top_p = 1;
  Key key{};
  std::int32_t stop = -1;              // stop after this token; -1: none
  std::vector<std::int32_t> source{};  // source of an encoder-decoder
};

/// Returns `prompt` and its continuation: each token is sampled from softmax(logits / temperature)
/// at the last position, given the last config.length tokens. If the text is longer than that,
/// positions shift with each token and the context is processed again. Errors: an empty prompt; a
/// token outside the vocabulary; an encoder; several targets at each position; a missing source for
/// an encoder-decoder, or a source for another model.
std::vector<std::int32_t> generate(const Transformer& model, std::vector<std::int32_t> prompt,
                                   const GenerationOptions& options);

}  // namespace headlab
