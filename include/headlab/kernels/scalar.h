// The number type of all tensors. The engine is built twice from the same sources, with float
// (library headlab) and with double (library headlab_f64, made with HEADLAB_F64 defined), in an
// inline namespace named after the type, so that one program may link both. Double is for gradient
// checks: central differences agree to 1e-8.
#pragma once

#include <cstdint>

#ifdef HEADLAB_F64
#define HEADLAB_SCALAR f64
#else
#define HEADLAB_SCALAR f32
#endif

namespace headlab { inline namespace HEADLAB_SCALAR {

#ifdef HEADLAB_F64
using Scalar = double;
#else
using Scalar = float;
#endif

/// Sizes, strides and positions.
using Index = std::int64_t;

/// Where the gradient of an input goes: set `data`, or add to it if `accumulate`.
struct GradientSlot {
  Scalar* data;  // null: this input wants no gradient
  bool accumulate;
  explicit operator bool() const { return data != nullptr; }
};

}}  // namespace headlab
