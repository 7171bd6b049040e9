// Matrix products near the peak rate of multiply-adds. C is divided into tiles that stay in
// registers (tile.h); k is divided into blocks of kBlockK, so that a tile reads from L1 and L2.
// Operands whose rows are not contiguous, or whose leading dimension suits the caches badly, are
// copied ("packed") once per block into the order in which the tile reads them. Threads divide C
// only, and every element adds the same terms in the same order, so the result does not depend on
// the division. The epilogue (Finish) runs over whole rows of a block of C while they are in L2; on
// panels of a few columns it would be far slower. Bound: one multiply-add per lane, unit and cycle.
#include "core/kernels/gemm.h"

#include <algorithm>

#include "core/kernels/elementwise.h"
#include "core/kernels/pieces.h"
#include "core/kernels/tile.h"
#include "headlab/core/base/pool.h"
#include "headlab/core/base/threads.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

namespace {

constexpr Index kBlockM =
    8 * kTileRows;  // kBlockM x kBlockK numbers of A fit in L2 next to a panel of B
constexpr Index kBlockK = 512;
/// kBlockK x kBlockN numbers of B stay in L2 as well. If A is packed, which happens again for every
/// block of columns, fewer and wider blocks cost less.
constexpr Index kBlockN = 512, kBlockNPackedA = 1024;

/// Rows this far apart share a few sets of L1 and evict one another. Rows that are a multiple of
/// kSetBytes apart share one set, which has fewer ways than a tile has rows.
constexpr Index kFarBytes = 2048, kSetBytes = 4096;

Index bytes(Index scalars) { return scalars * static_cast<Index>(sizeof(Scalar)); }
Index round_up(Index n, Index unit) { return (n + unit - 1) / unit * unit; }

const Scalar* at(const ConstMatrix& x, Index i, Index j) {
  return x.data + i * x.row_stride + j * x.column_stride;
}
/// Returns x from row i and column j on.
ConstMatrix part(const ConstMatrix& x, Index i, Index j) {
  return {at(x, i, j), x.row_stride, x.column_stride};
}

/// Copies b [k, columns] to [k][kTileColumns], with zeros on the right.
void pack_b_panel(const ConstMatrix& b, Index k, Index columns, Scalar* panel) {
  if (columns < kTileColumns) std::fill_n(panel, k * kTileColumns, Scalar{0});
  if (b.row_stride == 1) {
    transpose_copy(columns, k, {b.data, b.column_stride}, {panel, kTileColumns});
    return;
  }
  if (b.column_stride == 1 && columns == kTileColumns) {
    constexpr Index kRowsAhead =
        8;  // the hardware prefetcher does not follow rows that are far apart
    for (Index i = 0; i < k; ++i) {
      const Scalar* row = b.data + i * b.row_stride;
      const Scalar* ahead = row + kRowsAhead * b.row_stride;
      unrolled<kTileColumns / kLanes>([&](auto v) {
        __builtin_prefetch(ahead + v * kLanes);
        store(panel + i * kTileColumns + v * kLanes, load(row + v * kLanes));
      });
    }
    return;
  }
  for (Index i = 0; i < k; ++i) {
    const Scalar* row = b.data + i * b.row_stride;
    for (Index j = 0; j < columns; ++j) panel[i * kTileColumns + j] = row[j * b.column_stride];
  }
}

/// Copies `count` scalars and prefetches those at `ahead`.
void copy_and_prefetch(Index count, const Scalar* from, const Scalar* ahead, Scalar* to) {
  Index i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    __builtin_prefetch(ahead + i);
    store(to + i, load(from + i));
  }
  for (; i < count; ++i) to[i] = from[i];
}

/// Smallest number of columns of C for which a row-major A with an unsuitable stride is packed.
constexpr Index kWorthPackingA = 4 * kTileColumns;

/// Returns whether the tile reads A and whole panels of B in place, instead of packed copies.
bool reads_a_in_place(const Gemm& g) {
  if (g.a.column_stride == 1) return bytes(g.a.row_stride) % kSetBytes != 0 || g.n < kWorthPackingA;
  return g.a.row_stride == 1 && g.m <= 128 && bytes(g.a.column_stride) < kFarBytes;
}
bool reads_b_in_place(const Gemm& g) {
  return g.b.column_stride == 1 && (g.m <= 2 * kTileRows || bytes(g.b.row_stride) <= kFarBytes);
}
Index columns_of_block(const Gemm& g) {
  return g.a.column_stride == 1 && reads_a_in_place(g) ? kBlockN : kBlockNPackedA;
}

/// Returns the leading dimension of a packed block of m rows of A: an odd number of cache lines,
/// because rows a power of two apart share a few sets of the cache.
Index packed_stride(Index m) {
  constexpr Index kLine = 64 / static_cast<Index>(sizeof(Scalar));
  return (round_up(m, kLine) / kLine | 1) * kLine;
}

/// Memory for one packed block of each operand.
struct Packing {
  Scratch<Scalar> a, b;

  explicit Packing(const Gemm& g)
      : a(reads_a_in_place(g) ? 0 : std::min(kBlockK, g.k) * packed_stride(std::min(kBlockM, g.m))),
        b(std::min(kBlockK, g.k) * round_up(std::min(columns_of_block(g), g.n), kTileColumns)) {}
};

/// Returns rows [i, i + m) and columns [p, p + k) of A, packed to [k][stride] if necessary.
PanelA block_of_a(const Gemm& g, Index i, Index p, const MutableRows& packed) {
  const bool by_rows = g.a.column_stride == 1;
  if (reads_a_in_place(g)) {
    return by_rows ? PanelA{at(g.a, i, p), g.a.row_stride}
                   : PanelA{at(g.a, i, p), g.a.column_stride, Layout::kColumnMajor};
  }
  const Index m = std::min(kBlockM, g.m - i), k = std::min(kBlockK, g.k - p);
  if (by_rows) {
    transpose_copy(m, k, {at(g.a, i, p), g.a.row_stride}, packed);
  } else {
    constexpr Index kColumnsAhead = 4;
    for (Index step = 0; step < k; ++step) {
      const Scalar* column = at(g.a, i, p + step);
      Scalar* to = packed.data + step * packed.stride;
      if (g.a.row_stride == 1) {
        copy_and_prefetch(m, column, column + kColumnsAhead * g.a.column_stride, to);
      } else {
        for (Index row = 0; row < m; ++row) to[row] = column[row * g.a.row_stride];
      }
    }
  }
  return {packed.data, packed.stride, Layout::kColumnMajor};
}

/// Applies the epilogue to rows [i, i + m) and columns [j, j + n) of C.
void finish(const Gemm& g, Index i, Index m, Index j, Index n) {
  const auto add = [](Vec x, Vec y) { return x + y; };
  const auto multiply = [](Vec x, Vec y) { return x * y; };
  const Finish& f = g.finish;
  for (Index row = i; row < i + m; ++row) {
    const Index at = row * g.c_stride + j;
    Scalar* c = g.c + at;
    if (f.bias && (g.accumulate || g.k == 0)) map(n, add, c, c, f.bias + j);
    if (f.factor) map(n, multiply, c, c, f.factor + at);
    if (f.gelu) gelu_forward(n, c, f.gelu + at);
  }
}

/// Adds sums[j] += sum over i < k of b[i * stride + j] for j < columns <= kTileColumns. Four
/// independent sums run in parallel; with one, each addition would wait for the last.
void add_panel_sums(Index k, Index columns, const ConstRows& b, Scalar* sums) {
  Vec sum[4][2] = {};
  const auto add = [&](int chain, Index i) {
    for (Index v = 0; v * kLanes < columns; ++v) {
      sum[chain][v] += load(b.data + i * b.stride + v * kLanes);
    }
  };
  Index i = 0;
  for (; i + 4 <= k; i += 4) unrolled<4>([&](auto chain) { add(chain, i + chain); });
  for (; i < k; ++i) add(0, i);
  Scalar total[kTileColumns];
  for (int v = 0; v < 2; ++v) {
    store(total + v * kLanes, (sum[0][v] + sum[1][v]) + (sum[2][v] + sum[3][v]));
  }
  for (Index j = 0; j < columns; ++j) sums[j] += total[j];
}

/// Block [p, p + k) x [j, j + n) of B in a form that the tile can read, in panels of kTileColumns.
class BlockOfB {
 public:
  BlockOfB(const Gemm& g, Index p, Index j, Scalar* packed)
      : b_(part(g.b, p, j)),
        k_(std::min(kBlockK, g.k - p)),
        n_(std::min(columns_of_block(g), g.n - j)),
        in_place_(reads_b_in_place(g)),
        packed_(packed) {
    for (Index column = 0; column < n_; column += kTileColumns) {
      const Index columns = std::min(kTileColumns, n_ - column);
      const ConstRows read = panel(column);
      if (read.data == packed_ + column * k_) {
        pack_b_panel(part(b_, 0, column), k_, columns, packed_ + column * k_);
      }
      if (g.column_sums) add_panel_sums(k_, columns, read, g.column_sums + j + column);
    }
  }

  Index k() const { return k_; }
  Index n() const { return n_; }
  ConstRows panel(Index column) const {
    const bool whole = n_ - column >= kTileColumns || n_ - column == kLanes;
    if (in_place_ && whole) return {at(b_, 0, column), b_.row_stride};
    return {packed_ + column * k_, kTileColumns};
  }

 private:
  ConstMatrix b_;
  Index k_, n_;
  bool in_place_;
  Scalar* packed_;
};

/// Computes C[:, j ... j + n) (+)= A[:, p ... p + k) B[p ... p + k, j ... j + n) for one block of k
/// and n.
void multiply_block(const Gemm& g, Index p, Index j, const Packing& packing) {
  const BlockOfB block(g, p, j, packing.b.data());
  const bool add = g.accumulate || p > 0;
  for (Index i = 0; i < g.m; i += kBlockM) {
    const Index m = std::min(kBlockM, g.m - i);
    const PanelA a = block_of_a(g, i, p, {packing.a.data(), packed_stride(m)});
    for (Index column = 0; column < block.n(); column += kTileColumns) {
      const MutableRows c = {g.c + i * g.c_stride + j + column, g.c_stride};
      const Scalar* bias = add || !g.finish.bias ? nullptr : g.finish.bias + j + column;
      multiply_panel({m, std::min(kTileColumns, block.n() - column), block.k(), a,
                      block.panel(column), c, add, bias});
    }
    if (p + block.k() == g.k) finish(g, i, m, j, block.n());
  }
}

double work(const Gemm& g) {
  return static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
}
/// Multiply-adds that are worth a task.
constexpr double kWorthThreads = 64.0 * 64.0 * 64.0;
/// Smallest number of rows of a piece that has to pack B itself.
constexpr Index kRowsWorthPacking = 192;
/// The part of a thread is divided into up to this many pieces, so that other threads can take some
/// of them if its processor is slower or busy.
constexpr Index kPieces = 4;
constexpr double kWorthPiece = 4 * kWorthThreads;

/// Returns the part of one of `threads` threads: a rectangle of a grid chosen to read as little of
/// A and B as possible. Without rows only columns are divided, since every part with the first row
/// adds column sums.
Gemm slice_of_thread(const Gemm& g, Index thread, Index threads) {
  const auto reads = [&](Index cuts) { return g.m / cuts + g.n / (threads / cuts); };
  Index row_cuts = 1;
  for (Index cuts = 2; cuts <= std::min(threads, g.m); ++cuts) {
    if (threads % cuts == 0 && reads(cuts) <= reads(row_cuts)) row_cuts = cuts;
  }
  const Index column_cuts = threads / row_cuts;
  const Index m = (g.m + row_cuts - 1) / row_cuts;
  const Index n = round_up((g.n + column_cuts - 1) / column_cuts, kTileColumns);
  const Index i = std::min(g.m, thread / column_cuts * m);
  const Index j = std::min(g.n, thread % column_cuts * n);
  return gemm_part(g, i, std::min(m, g.m - i), j, std::min(n, g.n - j));
}

/// Returns piece `piece` of slice_of_thread, divided along the longer side of C. If pieces of rows
/// have to pack all of B each, there are fewer.
Gemm piece_of_slice(const Gemm& g, Index piece, Index pieces) {
  const bool by_rows = g.m >= g.n;
  const Index size = by_rows ? g.m : g.n;
  const Index rows = g.b.column_stride == 1 ? 1 : kRowsWorthPacking;
  const Index unit = by_rows ? rows : kTileColumns;
  const Index step = round_up((size + pieces - 1) / pieces, unit);
  const Index first = std::min(size, piece * step), count = std::min(step, size - first);
  return by_rows ? gemm_part(g, first, count, 0, g.n) : gemm_part(g, 0, g.m, first, count);
}

}  // namespace

Gemm gemm_part(const Gemm& g, Index i, Index m, Index j, Index n) {
  const auto moved = [](auto* x, Index offset) { return x ? x + offset : x; };
  const Index at_c = i * g.c_stride + j;
  return {.m = m,
          .n = n,
          .k = g.k,
          .a = part(g.a, i, 0),
          .b = part(g.b, 0, j),
          .c = moved(g.c, at_c),
          .c_stride = g.c_stride,
          .accumulate = g.accumulate,
          .finish = {.bias = moved(g.finish.bias, j),
                     .factor = moved(g.finish.factor, at_c),
                     .gelu = moved(g.finish.gelu, at_c)},
          .column_sums = i == 0 ? moved(g.column_sums, j) : nullptr};
}

void gemm_serial(const Gemm& g) {
  if (g.m == 0 && !g.column_sums) return;
  if (g.k == 0) {
    for (Index i = 0; i < g.m && !g.accumulate; ++i) std::fill_n(g.c + i * g.c_stride, g.n, 0);
    finish(g, 0, g.m, 0, g.n);
  }
  const Packing packing(g);
  for (Index j = 0; j < g.n; j += columns_of_block(g)) {
    for (Index p = 0; p < g.k; p += kBlockK) multiply_block(g, p, j, packing);
  }
}

void transpose_matrix(Index m, Index n, const Scalar* from, Scalar* to) {
  const auto rows = [&](Index i, Index end) {
    transpose_copy(end - i, n, {from + i * n, n}, {to + i, m});
  };
  for_pieces(m, 64, pass_over(m * n), rows);
}

void gemm(const Gemm& problem) { gemm_together({&problem, 1}); }

void gemm_together(std::span<const Gemm> problems) {
  double total = 0;
  for (const Gemm& g : problems) total += work(g);
  const Index threads = in_parallel_for() ? 1 : threads_worth(multiply_adds(total));
  const double worth = total / (static_cast<double>(threads) * kWorthPiece);
  const Index pieces = threads == 1 ? 1 : std::clamp(static_cast<Index>(worth), Index{1}, kPieces);
  parallel_for(threads * pieces, multiply_adds(total), [&](Index task) {
    for (const Gemm& g : problems) {
      const Gemm part = slice_of_thread(g, task / pieces, threads);
      gemm_serial(piece_of_slice(part, task % pieces, pieces));
    }
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
  const auto products = [&](Index i, Index end) {
    for (; i < end; ++i) gemm_serial(product(i));
  };
  const double all = each * static_cast<double>(batch.count);
  for_pieces(batch.count, per_task, multiply_adds(all), products);
}

}}  // namespace headlab
