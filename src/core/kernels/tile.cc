// The register tile of matrix products (tile.h). The loops over rows and vectors have constant
// bounds, so compilers unroll them and keep `sum` in registers; the speed depends on this. Look at
// the assembly after any change: a spilled register costs half the speed.
#include "core/kernels/tile.h"

#include <algorithm>
#include <array>
#include <utility>

namespace headlab { inline namespace HEADLAB_SCALAR {

namespace {

/// A row-major A is read through one pointer for every three rows: an instruction addresses 0, 1
/// and 2 strides from it, and the pointers stay in registers. A pointer for each of 14 rows would
/// not fit, and reloading spilled ones costs some percent of the speed.
constexpr int kRowsOfPointer = 3;
/// The prefetch distance, in steps along k, of B and of a column-major A. Their rows are a leading
/// dimension apart, which the hardware prefetcher does not follow.
constexpr Index kPrefetchSteps = 16;

/// Pointers to the parts of A and B that a tile of `Height` rows and `Vectors` vectors of columns
/// reads.
template <int Height, int Vectors, Layout ALayout>
class Operands {
 public:
  explicit Operands(const PanelProduct& t)
      : a_(t.a.data), b_(t.b.data), a_stride_(t.a.stride), b_stride_(t.b.stride) {
    unrolled<kPointers>([&](auto i) { rows_[i] = a_ + i * kRowsOfPointer * a_stride_; });
  }

  /// One step along k.
  [[gnu::always_inline]] void step(Vec (&sum)[Height][Vectors]) {
    Vec columns[Vectors];
    unrolled<Vectors>([&](auto v) { columns[v] = load(b_ + v * kLanes); });
    unrolled<Height>([&](auto r) {
      const Vec entry = broadcast(entry_of_row(r));
      unrolled<Vectors>([&](auto v) { sum[r][v] += entry * columns[v]; });
    });
    unrolled<kPointers>([&](auto i) { ++rows_[i]; });
    if constexpr (ALayout == Layout::kColumnMajor) {
      __builtin_prefetch(a_ + kPrefetchSteps * a_stride_);
      __builtin_prefetch(a_ + kPrefetchSteps * a_stride_ + Height - 1);
      a_ += a_stride_;
    }
    unrolled<Vectors>(
        [&](auto v) { __builtin_prefetch(b_ + kPrefetchSteps * b_stride_ + v * kLanes); });
    b_ += b_stride_;
  }

 private:
  static constexpr int kPointers = (Height + kRowsOfPointer - 1) / kRowsOfPointer;

  Scalar entry_of_row(int r) const {
    return ALayout == Layout::kRowMajor ? rows_[r / kRowsOfPointer][r % kRowsOfPointer * a_stride_]
                                        : a_[r];
  }

  const Scalar *a_, *b_, *rows_[kPointers];
  Index a_stride_, b_stride_;
};

/// Computes a tile; m and columns of the product are not read.
template <int Height, int Vectors, Layout ALayout>
void multiply_tile(const PanelProduct& t) {
  Vec sum[Height][Vectors];
  unrolled<Height>([&](auto r) { unrolled<Vectors>([&](auto v) { sum[r][v] = Vec{}; }); });
  Operands<Height, Vectors, ALayout> operands(t);
  Scalar* const c = t.c.data;
  const Index c_stride = t.c.stride;
  // C is needed at the end and prefetched in the first steps, one row per step: all rows at once
  // would fill the core's queue of outstanding cache misses, and loads of A and B would wait.
  const Index first = std::min(t.k, Index{Height});
  for (Index p = 0; p < first; ++p) {
    unrolled<Vectors>([&](auto v) { __builtin_prefetch(c + p * c_stride + v * kLanes, 1); });
    operands.step(sum);
  }
  for (Index p = first; p < t.k; ++p) operands.step(sum);
  const Scalar* const base = t.accumulate ? c : t.bias;
  const Index base_stride = t.accumulate ? c_stride : 0;
  if (base) {
    unrolled<Height>([&](auto r) {
      unrolled<Vectors>([&](auto v) { sum[r][v] += load(base + r * base_stride + v * kLanes); });
    });
  }
  unrolled<Height>([&](auto r) {
    unrolled<Vectors>([&](auto v) { store(c + r * c_stride + v * kLanes, sum[r][v]); });
  });
}

using TileFunction = void (*)(const PanelProduct&);

/// The tiles of heights 1 to kTileRows.
template <int Vectors, Layout ALayout, int... Below>
constexpr std::array<TileFunction, kTileRows> tiles(std::integer_sequence<int, Below...>) {
  return {multiply_tile<Below + 1, Vectors, ALayout>...};
}
constexpr auto kHeights = std::make_integer_sequence<int, kTileRows>{};
constexpr std::array<TileFunction, kTileRows> kTiles[2][2] = {
    {tiles<1, Layout::kRowMajor>(kHeights), tiles<1, Layout::kColumnMajor>(kHeights)},
    {tiles<2, Layout::kRowMajor>(kHeights), tiles<2, Layout::kColumnMajor>(kHeights)}};

/// Computes the tile through a buffer, for columns that end inside a vector.
void multiply_ragged(TileFunction tile, PanelProduct t, Index height) {
  Scalar buffer[kTileRows * kTileColumns];
  const auto [c, c_stride] = std::exchange(t.c, {buffer, kTileColumns});
  const bool accumulate = std::exchange(t.accumulate, false);
  const Scalar* const bias = std::exchange(t.bias, nullptr);
  tile(t);
  for (Index r = 0; r < height; ++r) {
    for (Index j = 0; j < t.columns; ++j) {
      const Scalar sum = buffer[r * kTileColumns + j];
      Scalar& out = c[r * c_stride + j];
      const Scalar biased = bias ? sum + bias[j] : sum;
      out = accumulate ? sum + out : biased;
    }
  }
}

}  // namespace

void transpose_copy(Index m, Index n, const ConstRows& from, const MutableRows& to) {
  for (Index i = 0; i < m; i += kLanes) {
    const Scalar* block = from.data + i * from.stride;
    const Index height = std::min(kLanes, m - i);
    Index j = 0;
    for (; height == kLanes && j + kLanes <= n; j += kLanes) {
      Vec rows[kLanes];
      unrolled<kLanes>([&](auto r) { rows[r] = load(block + r * from.stride + j); });
      transpose(rows);
      unrolled<kLanes>([&](auto r) { store(to.data + (j + r) * to.stride + i, rows[r]); });
    }
    for (; j < n; ++j) {
      for (Index r = 0; r < height; ++r) {
        to.data[j * to.stride + i + r] = block[r * from.stride + j];
      }
    }
  }
}

void multiply_panel(const PanelProduct& product) {
  const bool ragged = product.columns % kLanes != 0;
  const auto& tile_of_height =
      kTiles[product.columns > kLanes][product.a.layout == Layout::kColumnMajor];
  const Index row_step = product.a.layout == Layout::kRowMajor ? product.a.stride : 1;
  PanelProduct t = product;
  for (Index left = (product.m + kTileRows - 1) / kTileRows, done = 0; left > 0; --left) {
    const Index height = (product.m - done + left - 1) / left;
    const TileFunction tile = tile_of_height[height - 1];
    t.a.data = product.a.data + done * row_step;
    t.c.data = product.c.data + done * product.c.stride;
    if (ragged) {
      multiply_ragged(tile, t, height);
    } else {
      tile(t);
    }
    done += height;
  }
}

}}  // namespace headlab
