// Initial values. The values of a parameter depend only on the key and its name, so adding a layer
// does not change the initial values of the other layers. The recipe affects what heads learn:
// small models learn to attend much sooner from the wider values of `uniform`.
#pragma once

#include "headlab/core/model/transformer.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// Sets the initial values by config.init. uniform: W uniform(+-1/sqrt(inputs)), embeddings and
/// positions normal(0, 0.5). gpt2: all normal(0, 0.02), W_O and W_out divided by sqrt(2 x layers)
/// (Radford et al. 2019), or by sqrt(3 x layers) in a decoder with cross-attention. Both: biases 0,
/// gains 1.
void initialize(Transformer& model, Key key);

}}  // namespace headlab
