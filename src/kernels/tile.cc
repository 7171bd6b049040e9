// See tile.h. The loops over rows and vectors have constant bounds: compilers unroll them and keep
// `sum` in registers, which is the whole trick. Look at the assembly after any change: a spill
// costs half the speed.
#include "kernels/tile.h"

#include <array>
#include <utility>

namespace headlab::inline HEADLAB_SCALAR {

namespace {

/// A tile of `Height` rows and `Vectors` vectors of columns; m and columns of the product are not
/// read.
template <int Height, int Vectors, Rows ARows>
void multiply_tile(const PanelProduct& t) {
  Vec sum[Height][Vectors] = {};
  const Scalar* a = t.a;
  const Scalar* b = t.b;
  for (int r = 0; r < Height; ++r) __builtin_prefetch(t.c + r * t.c_stride, 1);
  for (Index p = 0; p < t.k; ++p) {
    Vec columns[Vectors];
    for (int v = 0; v < Vectors; ++v) columns[v] = load(b + v * kLanes);
    for (int r = 0; r < Height; ++r) {
      const Vec row = broadcast(ARows == Rows::kApart ? a[r * t.a_stride] : a[r]);
      for (int v = 0; v < Vectors; ++v) sum[r][v] += row * columns[v];
    }
    a += ARows == Rows::kApart ? 1 : t.a_stride;
    b += t.b_stride;
  }
  for (int r = 0; r < Height; ++r) {
    for (int v = 0; v < Vectors; ++v) {
      Scalar* c = t.c + r * t.c_stride + v * kLanes;
      store(c, t.accumulate ? load(c) + sum[r][v] : sum[r][v]);
    }
  }
}

using TileFunction = void (*)(const PanelProduct&);

/// The tiles of heights 1 to kTileRows.
template <int Vectors, Rows ARows, int... Below>
constexpr std::array<TileFunction, kTileRows> tiles(std::integer_sequence<int, Below...>) {
  return {multiply_tile<Below + 1, Vectors, ARows>...};
}
constexpr auto kHeights = std::make_integer_sequence<int, kTileRows>{};
constexpr std::array<TileFunction, kTileRows> kTiles[2][2] = {
    {tiles<1, Rows::kApart>(kHeights), tiles<1, Rows::kSideBySide>(kHeights)},
    {tiles<2, Rows::kApart>(kHeights), tiles<2, Rows::kSideBySide>(kHeights)}};

/// The tile through a buffer, for columns that end inside a vector.
void multiply_ragged(TileFunction tile, PanelProduct t, Index height) {
  Scalar buffer[kTileRows * kTileColumns];
  Scalar* c = std::exchange(t.c, buffer);
  const Index c_stride = std::exchange(t.c_stride, kTileColumns);
  const bool accumulate = std::exchange(t.accumulate, false);
  tile(t);
  for (Index r = 0; r < height; ++r) {
    for (Index j = 0; j < t.columns; ++j) {
      const Scalar sum = buffer[r * kTileColumns + j];
      Scalar& out = c[r * c_stride + j];
      out = accumulate ? out + sum : sum;
    }
  }
}

}  // namespace

void multiply_panel(const PanelProduct& product) {
  const bool ragged = product.columns % kLanes != 0;
  const auto& tile_of_height =
      kTiles[product.columns > kLanes][product.a_rows == Rows::kSideBySide];
  const Index row_step = product.a_rows == Rows::kApart ? product.a_stride : 1;
  PanelProduct t = product;
  for (Index left = (product.m + kTileRows - 1) / kTileRows, done = 0; left > 0; --left) {
    const Index height = (product.m - done + left - 1) / left;
    const TileFunction tile = tile_of_height[static_cast<std::size_t>(height - 1)];
    t.a = product.a + done * row_step;
    t.c = product.c + done * product.c_stride;
    if (ragged) {
      multiply_ragged(tile, t, height);
    } else {
      tile(t);
    }
    done += height;
  }
}

}  // namespace headlab::inline HEADLAB_SCALAR
