// Initial values. A parameter's numbers depend on the key and its name alone, so a model with one
// layer more starts with the same values in the others. The recipe decides what heads can learn:
// small models learn to attend much sooner from the wider values of `uniform`.
#pragma once

#include "headlab/model/transformer.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// config.init uniform: W uniform(+-1/sqrt(inputs)), embeddings and positions normal(0, 0.5). gpt2:
/// all normal(0, 0.02), W_O and W_out divided by sqrt(2 x layers) (Radford et al. 2019), or by
/// sqrt(3 x layers) in a decoder with cross-attention. Both: biases 0, gains 1.
void initialize(Transformer& model, Key key);

}}  // namespace headlab
