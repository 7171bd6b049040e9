// The number type of all tensors. The sources that compute are compiled twice: with float
// (libraries headlab::core, headlab::headlab) and with double (those named _f64, HEADLAB_F64
// defined). An inline namespace named after the type lets one program link both. Double is for
// gradient checks, where central differences agree to 1e-8.
#pragma once

#include <cstdint>

#ifdef HEADLAB_F64
#define HEADLAB_SCALAR f64
#else
#define HEADLAB_SCALAR f32
#endif

#ifdef __FAST_MATH__
#error "headlab cannot be compiled with -ffast-math or -Ofast: tests for NaN would vanish"
#endif
#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "headlab cannot be compiled with -ffinite-math-only: tests for NaN would vanish"
#endif

namespace headlab { inline namespace HEADLAB_SCALAR {

#ifdef HEADLAB_F64
using Scalar = double;
#else
using Scalar = float;
#endif

/// Sizes, strides and positions.
using Index = std::int64_t;

/// Destination of an input's gradient: set `data`, or add to it if `accumulate`.
struct GradientSlot {
  Scalar* data;  // null: the input requires no gradient
  bool accumulate;
  explicit operator bool() const { return data != nullptr; }
};

}}  // namespace headlab
