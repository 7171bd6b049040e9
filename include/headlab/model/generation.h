// Writing tokens one after the other: drawn, to see what a model of text has learned, or always the
// likeliest, for the answers of an encoder-decoder. The same key draws the same tokens. Read next:
// transformer.h.
#pragma once

#include <vector>

#include "headlab/model/transformer.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

struct GenerationOptions {
  Index tokens = 200;      // how many to add
  double temperature = 1;  // logits are divided by it; 0: always the likeliest token
  Index top_k = 0;         // draw among the k likeliest; 0: among all
  Key key{};
};

/// `prompt` and what follows it: each token drawn from softmax(logits / temperature) at the last
/// position, given the last config.length tokens. Errors: an empty prompt, a token outside the
/// vocabulary, a model that is no decoder or has several targets at each position.
std::vector<std::int32_t> generate(const Transformer& model, std::vector<std::int32_t> prompt,
                                   const GenerationOptions& options);

/// The batch with `tokens` more at the end of every sequence, each the likeliest after what stands
/// before it. An encoder-decoder answers the sources of `prompts`, whose sequences hold the token
/// that answers start with. Errors: an encoder, several targets at each position, more tokens than
/// config.length has room for, sequences of different lengths.
Batch decode_greedily(const Transformer& model, Batch prompts, Index tokens);

}}  // namespace headlab
