// Numbers of 16 bits, in which weights over training are kept in a page: half the bytes of float,
// with 11 bits of fraction.
// Private to these layers. Read next: half.cc.
#pragma once

#include <cstdint>

namespace headlab {

/// The nearest number of 16 bits (IEEE 754 binary16), ties to even; too large becomes infinite.
std::uint16_t half_of(float value);
float float_of_half(std::uint16_t half);

}  // namespace headlab
