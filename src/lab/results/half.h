// Rounding to 16-bit numbers, in which pages store weights. The inverse, float_of_half, is part of
// reading tensors, because checkpoints of other programs hold such numbers. Read next:
// core/base/stored_tensor.h.
#pragma once

#include <cstdint>

namespace headlab {

/// Returns the nearest 16-bit number (IEEE 754 binary16), ties to even; values out of range become
/// infinite.
std::uint16_t half_of(float value);

}  // namespace headlab
