// Rows of kLanes problems side by side in the lanes of vectors. A loop over the columns of such a
// row has every lane busy, whatever the width of the row:
//
//   in memory, rows of 4 numbers         in lanes, 4 vectors (kLanes = 8)
//   problem 0   a0 a1 a2 a3              column 0   a0 b0 c0 d0 e0 f0 g0 h0
//   problem 1   b0 b1 b2 b3      <->     column 1   a1 b1 c1 d1 e1 f1 g1 h1
//   ...                                  column 2   a2 b2 c2 d2 e2 f2 g2 h2
//   problem 7   h0 h1 h2 h3              column 3   a3 b3 c3 d3 e3 f3 g3 h3
//
// A lane never reads another lane, so results do not depend on the problems next to them. Products
// of such matrices are tiles of kRows x kColumns sums. Read next: short_attention.cc,
// lane_rows.cc.
#pragma once

#include <array>

#include "core/kernels/simd.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// A matrix for each lane, with rows of `width` numbers, `stride` apart. Lanes from `live` on
/// repeat an earlier problem: they are read, but not written.
template <class T>
struct LaneRows {
  std::array<T*, kLanes> first;  // row 0 of each lane
  Index width, stride;
  Index live = kLanes;
};

/// Returns the number of vectors that hold a row: its width, rounded up to a multiple of 4.
inline Index padded_to_four(Index width) { return (width + 3) / 4 * 4; }

/// Computes out[j] = factor * x(lane, row, j) for j < width, and zeros up to the padded width.
void pack_row(const LaneRows<const Scalar>& x, Index row, Scalar factor, Vec* out);
/// Packs rows [0, rows) one after the other, and rows of zeros up to a multiple of 4.
void pack_rows(const LaneRows<const Scalar>& x, Index rows, Scalar factor, Vec* out);
/// Computes out(lane, row, j) = x[j], or += x[j] if `accumulate`, for rows [first, first + count)
/// and j < width. The rows of x follow each other, with the padded width.
void unpack_rows(const Vec* x, Index first, Index count, const LaneRows<Scalar>& out,
                 bool accumulate = false);

/// A matrix in lanes whose entry (i, p) is data[i * row + p * step].
struct Entries {
  const Vec* data;
  Index row, step;
};

/// Size of a tile of sums in registers, of which AVX-512 has 32 and other targets 16.
inline constexpr int kRows = kVectorBytes == 64 ? 4 : 2;
inline constexpr int kColumns = 4;

/// Keeps x in a register. Without it g++ 12 reads an operand again in every multiply-add, 20 loads
/// for a tile instead of 8.
[[gnu::always_inline]] inline Vec in_register(Vec x) {
#if defined(__x86_64__) && !defined(__clang__)
  asm("" : "+v"(x));
#endif
  return x;
}

/// Calls take(i, j, sum over p < steps of a(i, p) b(j, p)) for i < kRows, j < kColumns. Each sum
/// starts at zero and runs over p in order.
template <class Take>
[[gnu::always_inline]] inline void multiply(Index steps, const Entries& a, const Entries& b,
                                            Take take) {
  Vec sum[kRows][kColumns];
  unrolled<kRows>([&](auto i) { unrolled<kColumns>([&](auto j) { sum[i][j] = Vec{}; }); });
  const Vec *x = a.data, *y = b.data;
  for (Index p = 0; p < steps; ++p) {
    Vec column[kColumns];
    unrolled<kColumns>([&](auto j) { column[j] = in_register(y[j * b.row]); });
    unrolled<kRows>([&](auto i) {
      const Vec entry = in_register(x[i * a.row]);
      unrolled<kColumns>([&](auto j) { sum[i][j] += entry * column[j]; });
    });
    x += a.step;
    y += b.step;
  }
  unrolled<kRows>([&](auto i) { unrolled<kColumns>([&](auto j) { take(i, j, sum[i][j]); }); });
}

}}  // namespace headlab
