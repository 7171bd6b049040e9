// Writing tokens one after the other, as a model of text or the decoder of an encoder-decoder does:
// drawn, or always the likeliest. Keys and values of what was read are kept (ModelCache), so that a
// token costs the same however many stand before it, but for attention itself. The same key draws
// the same tokens. Read next: transformer.h.
#pragma once

#include <vector>

#include "headlab/model/transformer.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

struct GenerationOptions {
  Index tokens = 200;      // how many to add at most
  double temperature = 1;  // logits are divided by it; 0: always the likeliest token
  Index top_k = 0;         // draw among the k likeliest; 0: among all
  /// Of these, draw among the fewest likeliest that together have this probability (nucleus
  /// sampling, Holtzman et al. 2020).
  double top_p = 1;
  Key key{};
  std::int32_t stop = -1;              // the token after which to stop; -1: none
  std::vector<std::int32_t> source{};  // what an encoder-decoder reads
};

/// `prompt` and what follows it: each token drawn from softmax(logits / temperature) at the last
/// position, given the last config.length tokens. Once the prompt and what was added are longer
/// than that, positions move with each token, and the context is read anew. Errors: an empty
/// prompt, a token outside the vocabulary, an encoder, several targets at each position; a source
/// that an encoder-decoder lacks or another model is given.
std::vector<std::int32_t> generate(const Transformer& model, std::vector<std::int32_t> prompt,
                                   const GenerationOptions& options);

}}  // namespace headlab
