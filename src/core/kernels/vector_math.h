// exp and tanh on whole vectors, whereas libm takes one number at a time: about ten multiply-adds
// and no table, so multiply-adds are the bound. In double (the build for gradient checks) they call
// the std:: functions. The polynomials interpolate at Chebyshev nodes, with coefficients rounded to
// float. Read next: elementwise.cc, which applies them to arrays.
#pragma once

#include <bit>
#include <cmath>

#include "core/kernels/simd.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// Applies f to each lane.
template <class F>
inline Vec each_lane(Vec x, F f) {
  Vec y{};
  for (Index i = 0; i < kLanes; ++i) y[i] = f(x[i]);
  return y;
}

#ifdef HEADLAB_F64

inline Vec exp(Vec x) {
  return each_lane(x, [](Scalar s) { return std::exp(s); });
}
inline Vec exp_bounded(Vec x) { return exp(x); }
inline Vec tanh(Vec x) {
  return each_lane(x, [](Scalar s) { return std::tanh(s); });
}
inline Vec log_of_sum(Vec x) {
  return each_lane(x, [](Scalar s) { return std::log(s); });
}

#else

/// Parts of e^x: x = n ln 2 + r with n whole and |r| <= ln(2)/2, with ln 2 in two parts so that n *
/// high is exact (Cody and Waite 1980); e^r by a polynomial.
struct ExpParts {
  IntVec n;  // n + high bits left by adding 1.5 * 2^23, which << 23 shifts out
  Vec e_r;

  explicit ExpParts(Vec x) {
    const Vec shift = broadcast(12582912.0f);  // 1.5 * 2^23: adding it rounds to a whole number
    const Vec shifted = x * 1.44269504f + shift;
    const Vec whole = shifted - shift;
    const Vec r = (x - whole * 0.693145752f) - whole * 1.42860677e-6f;
    Vec p = broadcast(1.98910799e-4f);
    p = p * r + 1.39337312e-3f;
    p = p * r + 8.33331048e-3f;
    p = p * r + 4.16664630e-2f;
    p = p * r + 1.66666672e-1f;
    p = p * r + 0.5f;
    e_r = p * (r * r) + r + 1.0f;
    n = std::bit_cast<IntVec>(shifted);
  }
};

/// Returns e^x for x <= 88; 0 below -87, -inf included; NaN for NaN. 2^n is added to the exponent
/// bits, unsigned, since it may overflow in a lane that ends up as 0.
inline Vec exp_bounded(Vec x) {
  using Bits [[gnu::vector_size(kVectorBytes)]] = std::uint32_t;
  const ExpParts parts(x);
  const Bits power = std::bit_cast<Bits>(parts.n) << 23;
  const Vec y = std::bit_cast<Vec>(std::bit_cast<Bits>(parts.e_r) + power);
  return select(x < -87.0f, Vec{}, y);
}

/// Returns e^x for any x, within 1 ulp: subnormal results, 0 below, inf above the range, NaN for
/// NaN. 2^n is two factors, since 2^128 and 2^-149 are not normal floats.
inline Vec exp(Vec x) {
  x = select(x > 89.0f, broadcast(89.0f), x);
  x = select(x < -104.0f, broadcast(-104.0f), x);
  const ExpParts parts(x);
  const IntVec n = parts.n - std::bit_cast<Int>(12582912.0f);
  const IntVec half = n >> 1;
  const auto power = [](IntVec i) { return std::bit_cast<Vec>((i + 127) << 23); };
  return parts.e_r * power(half) * power(n - half);
}

/// Returns ln x for a sum x of exponentials, with x >= 2^-126 or x = 0; x itself for 0 and NaN.
/// With x = 2^n m and m in [sqrt(1/2), sqrt(2)): n ln 2 + ln m, with ln 2 in two parts and ln m by
/// a polynomial in r = m - 1 (coefficients of logf in Cephes, Moshier 1989).
inline Vec log_of_sum(Vec x) {
  const IntVec bits = std::bit_cast<IntVec>(x);
  const IntVec n = (bits - 0x3F3504F3) >> 23;  // 0x3F3504F3: sqrt(1/2)
  const Vec r = std::bit_cast<Vec>(bits - (n << 23)) - 1.0f;
  const Vec whole = __builtin_convertvector(n, Vec);
  Vec p = broadcast(7.0376836292e-2f);
  p = p * r - 1.1514610310e-1f;
  p = p * r + 1.1676998740e-1f;
  p = p * r - 1.2420140846e-1f;
  p = p * r + 1.4249322787e-1f;
  p = p * r - 1.6668057665e-1f;
  p = p * r + 2.0000714765e-1f;
  p = p * r - 2.4999993993e-1f;
  p = p * r + 3.3333331174e-1f;
  p = p * r - 0.5f;
  // Each step adds one product, so that every compiler contracts it in the same way.
  const Vec low = r - whole * 2.12194440e-4f;
  const Vec ln_m = (r * r) * p + low;
  return select(x > 0, ln_m + whole * 0.693359375f, x);
}

/// Returns tanh(x): near 0 an odd polynomial, elsewhere 1 - 2 / (e^2|x| + 1) with the sign of x.
inline Vec tanh(Vec x) {
  const Vec size = select(x < 0.0f, -x, x);
  const Vec far = 1.0f - 2.0f / (exp(2.0f * size) + 1.0f);
  const Vec s = x * x;
  Vec p = broadcast(-5.99295553e-3f);
  p = p * s + 2.09241435e-2f;
  p = p * s - 5.38351387e-2f;
  p = p * s + 1.33326635e-1f;
  p = p * s - 3.33333284e-1f;
  const Vec near = x + x * s * p;
  return select(size < 0.625f, near, select(x < 0.0f, -far, far));
}

#endif

}}  // namespace headlab
