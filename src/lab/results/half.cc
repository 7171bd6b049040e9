// Rounding to 16 bits (half.h): the lower bits of the fraction are dropped after half of the last
// kept bit is added. A carry into the exponent is right, because the next exponent follows the
// largest fraction. Read next: src/app/report/page_blocks.cc.
#include "lab/results/half.h"

#include <bit>
#include <cmath>

namespace headlab {

std::uint16_t half_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000U;
  const float size = std::abs(value);
  if (!(size < 65520.0F)) return static_cast<std::uint16_t>(sign | 0x7c00U);
  if (size < 0x1p-14F) {  // subnormal: multiples of 2^-24
    return static_cast<std::uint16_t>(sign |
                                      static_cast<std::uint32_t>(std::nearbyint(size * 0x1p24F)));
  }
  const std::uint32_t odd = bits >> 13 & 1U;
  const std::uint32_t rounded = (bits & 0x7fffffffU) + 0xfffU + odd;
  return static_cast<std::uint16_t>(sign | ((rounded >> 13) - (112U << 10)));
}

}  // namespace headlab
