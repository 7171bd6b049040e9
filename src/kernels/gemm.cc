// Matrix products near the FMA peak. Three ideas carry it: C is cut into tiles that stay in
// registers (tile.h); k is cut into blocks of kBlockK, so that what a tile reads comes from L1 and
// L2; and operands that lie badly are copied first ("packed") into the order in which the tile
// reads them, once per block, while operands that lie well are read in place. Threads cut C only,
// and every element adds the same terms in the same order (a chain of multiply-adds per block of k,
// blocks added in order), so the result does not depend on the cut. Bound: one multiply-add per
// lane, unit and cycle. Measured: 80-96% of it from 128 x 128 x 128 up.
#include "headlab/kernels/gemm.h"

#include <algorithm>

#include "headlab/base/threads.h"
#include "kernels/scratch.h"
#include "kernels/tile.h"

namespace headlab::inline HEADLAB_SCALAR {

namespace {

constexpr Index kBlockM =
    8 * kTileRows;  // kBlockM x kBlockK numbers of A fit L2 beside a panel of B
constexpr Index kBlockK = 512;
constexpr Index kBlockN = 1024;

Index round_up(Index n, Index unit) { return (n + unit - 1) / unit * unit; }

const Scalar* at(const ConstMatrix& x, Index i, Index j) {
  return x.data + i * x.row_stride + j * x.column_stride;
}
/// x from row i and column j on.
ConstMatrix part(const ConstMatrix& x, Index i, Index j) {
  return {at(x, i, j), x.row_stride, x.column_stride};
}

/// Copies b [k, columns] to [k][kTileColumns], zeros to the right.
void pack_b_panel(const ConstMatrix& b, Index k, Index columns, Scalar* panel) {
  if (columns < kTileColumns) std::fill_n(panel, k * kTileColumns, Scalar{0});
  if (b.row_stride == 1) {
    transpose_copy(columns, k, {b.data, b.column_stride}, {panel, kTileColumns});
    return;
  }
  for (Index i = 0; i < k; ++i) {
    const Scalar* row = b.data + i * b.row_stride;
    for (Index j = 0; j < columns; ++j) panel[i * kTileColumns + j] = row[j * b.column_stride];
  }
}

/// A block of A where the tile can read it.
struct BlockOfA {
  Rows rows;
  const Scalar* data;
  Index stride;
};

/// Copies a [m, k] to [k][stride].
void pack_a(const ConstMatrix& a, Index m, Index k, const MutableRows& block) {
  for (Index step = 0; step < k; ++step) {
    const Scalar* column = a.data + step * a.column_stride;
    for (Index i = 0; i < m; ++i) block.data[step * block.stride + i] = column[i * a.row_stride];
  }
}

BlockOfA block_of_a(const Gemm& g, Index i, Index p, Index m, Index k) {
  if (g.a.column_stride == 1) return {Rows::kApart, at(g.a, i, p), g.a.row_stride};
  if (g.a.row_stride == 1 && g.m <= 128) {
    return {Rows::kSideBySide, at(g.a, i, p), g.a.column_stride};
  }
  thread_local Scratch scratch;
  constexpr Index kLine = 64 / static_cast<Index>(sizeof(Scalar));
  // An odd number of cache lines: rows a power of two apart would share a few sets of the cache.
  const Index stride = (round_up(m, kLine) / kLine | 1) * kLine;
  Scalar* block = scratch.get(kBlockK * stride);
  pack_a(part(g.a, i, p), m, k, {block, stride});
  return {Rows::kSideBySide, block, stride};
}

/// C[:, j ... j + n) (+)= A[:, p ... p + k) B[p ... p + k, j ... j + n) for one block of k and n.
void multiply_block(const Gemm& g, Index p, Index k, Index j, Index n) {
  thread_local Scratch scratch;
  Scalar* packed = scratch.get(k * round_up(n, kTileColumns));
  const bool rows_in_place =
      g.b.column_stride == 1 &&
      (g.m <= 2 * kTileRows || g.b.row_stride * static_cast<Index>(sizeof(Scalar)) <= 2048);
  const auto in_place = [&](Index column) {
    return rows_in_place && (n - column >= kTileColumns || n - column == kLanes);
  };
  for (Index column = 0; column < n; column += kTileColumns) {
    if (in_place(column)) continue;
    pack_b_panel(part(g.b, p, j + column), k, std::min(kTileColumns, n - column),
                 packed + column * k);
  }
  for (Index i = 0; i < g.m; i += kBlockM) {
    const Index m = std::min(kBlockM, g.m - i);
    const BlockOfA a = block_of_a(g, i, p, m, k);
    for (Index column = 0; column < n; column += kTileColumns) {
      const bool direct = in_place(column);
      multiply_panel({.m = m,
                      .columns = std::min(kTileColumns, n - column),
                      .k = k,
                      .a_rows = a.rows,
                      .a = a.data,
                      .a_stride = a.stride,
                      .b = direct ? at(g.b, p, j + column) : packed + column * k,
                      .b_stride = direct ? g.b.row_stride : kTileColumns,
                      .c = g.c + i * g.c_stride + j + column,
                      .c_stride = g.c_stride,
                      .accumulate = g.accumulate || p > 0});
    }
  }
}

/// Rows [i, i + m) and columns [j, j + n) of the product.
Gemm slice(const Gemm& g, Index i, Index m, Index j, Index n) {
  return {m,          n,           g.k, part(g.a, i, 0), part(g.b, 0, j), g.c + i * g.c_stride + j,
          g.c_stride, g.accumulate};
}

double work(const Gemm& g) {
  return static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
}
constexpr double kWorthThreads = 64.0 * 64.0 * 64.0;

}  // namespace

void gemm_plain(const Gemm& g) {
  for (Index i = 0; i < g.m; ++i) {
    for (Index j = 0; j < g.n; ++j) {
      double sum = 0;
      for (Index p = 0; p < g.k; ++p)
        sum += static_cast<double>(*at(g.a, i, p)) * static_cast<double>(*at(g.b, p, j));
      Scalar& c = g.c[i * g.c_stride + j];
      c = static_cast<Scalar>((g.accumulate ? static_cast<double>(c) : 0) + sum);
    }
  }
}

void gemm_serial(const Gemm& g) {
  if (g.k == 0 && !g.accumulate) {
    for (Index i = 0; i < g.m; ++i) std::fill_n(g.c + i * g.c_stride, g.n, Scalar{0});
  }
  for (Index j = 0; j < g.n; j += kBlockN) {
    for (Index p = 0; p < g.k; p += kBlockK)
      multiply_block(g, p, std::min(kBlockK, g.k - p), j, std::min(kBlockN, g.n - j));
  }
}

void gemm(const Gemm& g) {
  const Index threads = thread_count();
  if (threads == 1 || work(g) < kWorthThreads) {
    gemm_serial(g);
    return;
  }
  // A grid of slices, one per thread, that reads as little of A and B as it can.
  const auto reads = [&](Index cuts) { return g.m / cuts + g.n / (threads / cuts); };
  Index row_cuts = 1;
  for (Index cuts = 2; cuts <= threads; ++cuts) {
    if (threads % cuts == 0 && reads(cuts) <= reads(row_cuts)) row_cuts = cuts;
  }
  const Index column_cuts = threads / row_cuts;
  const Index m = (g.m + row_cuts - 1) / row_cuts;
  const Index n = round_up((g.n + column_cuts - 1) / column_cuts, kTileColumns);
  parallel_for(row_cuts * column_cuts, [&](Index task) {
    const Index i = std::min(g.m, task / column_cuts * m);
    const Index j = std::min(g.n, task % column_cuts * n);
    gemm_serial(slice(g, i, std::min(m, g.m - i), j, std::min(n, g.n - j)));
  });
}

void gemm_batched(const GemmBatch& batch) {
  const auto product = [&](Index i) {
    Gemm g = batch.first;
    g.a.data += i * batch.a_step;
    g.b.data += i * batch.b_step;
    g.c += i * batch.c_step;
    return g;
  };
  if (batch.count < thread_count()) {
    for (Index i = 0; i < batch.count; ++i) gemm(product(i));
    return;
  }
  const double each = std::max(1.0, work(batch.first));
  const Index per_task = std::clamp(static_cast<Index>(kWorthThreads / each), Index{1},
                                    std::max<Index>(1, batch.count));
  parallel_for((batch.count + per_task - 1) / per_task, [&](Index task) {
    const Index end = std::min(batch.count, (task + 1) * per_task);
    for (Index i = task * per_task; i < end; ++i) gemm_serial(product(i));
  });
}

}  // namespace headlab::inline HEADLAB_SCALAR
