// Sixteen blocks of the random generator of base/random.h at once, for dropout: one block at a time
// costs more than the products of a narrow attention head. The loop is over lanes, so that
// compilers vectorise it.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "headlab/kernels/scalar.h"

namespace headlab::inline HEADLAB_SCALAR {

inline constexpr Index kPhiloxLanes = 16;

/// bits[word][lane] = philox(key, low + lane * low_step, high)[word].
struct PhiloxLanes {
  std::array<std::array<std::uint32_t, kPhiloxLanes>, 4> bits;

  PhiloxLanes(std::uint64_t key, std::uint64_t low, std::uint64_t low_step, std::uint64_t high);
};

/// Bits below this are dropped.
inline std::uint32_t dropout_limit(Scalar p) {
  return static_cast<std::uint32_t>(std::ldexp(static_cast<double>(p), 32));
}

/// Applies dropout to the elements that a row of bits is for.
struct DropoutLanes {
  std::uint32_t limit;
  Scalar scale;

  explicit DropoutLanes(Scalar p) : limit(dropout_limit(p)), scale(1 / (1 - p)) {}
  void operator()(const std::array<std::uint32_t, kPhiloxLanes>& bits, Index count, const Scalar* x,
                  Scalar* y) const {
    for (Index i = 0; i < count; ++i) {
      y[i] = x[i] * (bits[static_cast<std::size_t>(i)] >= limit ? scale : 0);
    }
  }
};

}  // namespace headlab::inline HEADLAB_SCALAR
