// The inner loop of gemm and attention: a tile of C, 14 rows by two vectors of columns (with
// 512-bit vectors), kept in registers while k runs. Each step reads two vectors of B and 14 numbers
// of A for 28 multiply-adds, so loads never limit it. Tiles of every height exist: 32 rows are
// three tiles of 11, 11 and 10, and there is no slow path for remaining rows. Read next: gemm.cc.
#pragma once

#include "core/kernels/simd.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

#if defined(__AVX512F__)
inline constexpr int kTileRows = 14;  // 28 of 32 registers hold C
#else
inline constexpr int kTileRows = 6;  // 12 of 16
#endif
inline constexpr Index kTileColumns = 2 * kLanes;

/// Memory layout of A [m, k], with its stride as leading dimension: row-major (a[i * stride + k])
/// or column-major (a[k * stride + i]).
enum class Layout { kRowMajor, kColumnMajor };
struct PanelA {
  const Scalar* data;
  Index stride;
  Layout layout = Layout::kRowMajor;
};

/// The product c[i, j] (+)= bias[j] + sum over p of a(i, p) b[p, j] for m rows and up to
/// kTileColumns columns. All columns of b up to the next whole vector must be readable; only
/// `columns` of c are accessed.
struct PanelProduct {
  Index m, columns, k;
  PanelA a;
  ConstRows b;
  MutableRows c;
  bool accumulate = false;
  const Scalar* bias = nullptr;  // null: none; not together with accumulate
};
/// Computes a panel product. Each sum starts at zero, runs over p in order, and is then added to c
/// (accumulate) or the bias, or replaces c.
void multiply_panel(const PanelProduct& product);

}}  // namespace headlab
