// Rounding is done on the bits of the fraction; only numbers below 2^-14, which have fewer bits,
// are rounded as multiples of 2^-24.
// Read next: half.h.
#include "base/half.h"

#include <bit>
#include <cmath>

namespace headlab {

std::uint16_t half_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000U;
  const float size = std::abs(value);
  if (!(size < 65520.0F)) return static_cast<std::uint16_t>(sign | 0x7c00U);
  if (size < 0x1p-14F)  // subnormal: multiples of 2^-24
    return static_cast<std::uint16_t>(sign |
                                      static_cast<std::uint32_t>(std::nearbyint(size * 0x1p24F)));
  const std::uint32_t odd = bits >> 13 & 1U;
  const std::uint32_t rounded = (bits & 0x7fffffffU) + 0xfffU + odd;
  return static_cast<std::uint16_t>(sign | ((rounded >> 13) - (112U << 10)));
}

float float_of_half(std::uint16_t half) {
  const std::uint32_t exponent = half >> 10 & 31U, fraction = half & 1023U;
  const float size = exponent == 0 ? static_cast<float>(fraction) * 0x1p-24F
                                   : std::ldexp(static_cast<float>(1024 + fraction),
                                                static_cast<int>(exponent) - 25);
  return (half & 0x8000U) != 0 ? -size : size;
}

}  // namespace headlab
