// Tensors of NumPy's random numbers, in the order in which np.random.randn fills an array: with
// them articles print figures that tests of the engine come out at. Read next:
// src/base/numpy_random.h.
#pragma once

#include "base/numpy_random.h"
#include "headlab/tensor/tensor.h"

namespace headlab {

/// scale * np.random.randn(*shape), the next numbers of `random`.
inline Tensor normals(NumPyRandom& random, const Shape& shape, double scale = 1) {
  Tensor x = Tensor::empty(shape);
  for (Scalar& value : x.values()) value = static_cast<Scalar>(scale * random.normal());
  return x;
}

/// The same, the first numbers after np.random.seed(seed).
inline Tensor numpy_normals(std::uint32_t seed, const Shape& shape) {
  NumPyRandom random(seed);
  return normals(random, shape);
}

}  // namespace headlab
