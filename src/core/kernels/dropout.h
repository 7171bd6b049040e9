// Random choice of the numbers that dropout keeps. A block of Philox per number would cost more
// than the products of a narrow attention head, so one block serves a row of numbers: two of its
// words key a hash of the position in the row (multiply and shift, as in the finalizer of
// MurmurHash3 by Appleby), which compilers turn into a few vector instructions.
#pragma once

#include <cmath>

#include "core/kernels/simd.h"
#include "headlab/core/base/random.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// The random words of a row. Two rows share a block of the generator.
struct DropoutRow {
  std::uint32_t first, second;

  DropoutRow(std::uint32_t a, std::uint32_t b) : first(a), second(b) {}
  DropoutRow(std::uint64_t key, Index row, std::uint64_t high) {
    const auto words = philox(key, static_cast<std::uint64_t>(row / 2), high);
    const std::size_t at = row % 2 == 0 ? 0 : 2;
    first = words[at];
    second = words[at + 1];
  }
};

/// As many 32-bit numbers as a Vec has lanes.
using BitsVec [[gnu::vector_size(kLanes * 4)]] = std::uint32_t;

inline BitsVec load_bits(const std::uint32_t* p) {
  BitsVec v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

/// Returns 32 random bits for a position in a row; for one number or for each lane.
template <class Bits>
inline Bits dropout_bits(Bits first, Bits second, Bits place) {
  Bits bits = first + place * 0x9E3779B9U;
  bits = (bits ^ bits >> 16) * 0x85EBCA6BU;
  bits = (bits ^ second ^ bits >> 13) * 0xC2B2AE35U;
  return bits ^ bits >> 16;
}

/// Factor of a number: 0 with probability p, else 1 / (1 - p).
struct DropoutFactor {
  std::uint32_t limit;
  Scalar scale;

  explicit DropoutFactor(Scalar p)
      : limit(static_cast<std::uint32_t>(std::ldexp(static_cast<double>(p), 32))),
        scale(1 / (1 - p)) {}
  Scalar operator()(std::uint32_t bits) const { return bits >= limit ? scale : 0; }
  Vec operator()(BitsVec bits) const {
    return select(__builtin_convertvector(bits >= limit, IntVec), broadcast(scale), Vec{});
  }
};

}}  // namespace headlab
