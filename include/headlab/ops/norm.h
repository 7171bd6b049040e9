// Layer norm and dropout: what stands between the matrix products of a block.
// Dropout takes a key and not a generator, so that a step can be made again
// from its number. Read next: attention.h.
#pragma once

#include "headlab/base/random.h"
#include "headlab/tensor/tensor.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// y = (x - mean) / sqrt(variance + eps) gain + bias over the last axis C (variance divided by C);
/// gain, bias [C]. With h the normalised x and g = dy gain: dx = (g - mean(g) - h mean(g h)) /
/// sqrt(variance + eps), dgain = sum(dy h), dbias = sum(dy). Ba, Kiros, Hinton 2016.
Tensor layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias,
                  Scalar eps = Scalar(1e-5));

/// Each element is 0 with probability p, else x / (1 - p). The key and the position of an element
/// decide whether it is dropped: the same key drops the same elements again. dx is dy with the same
/// elements dropped. p = 0 returns x itself. Error unless 0 <= p < 1.
Tensor dropout(const Tensor& x, Scalar p, Key key);

}}  // namespace headlab
