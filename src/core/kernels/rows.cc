// Kernels over the rows of a matrix. A row fits in L1, so each is read from memory once and the
// passes over it (maximum, sum, result) run from cache. The bound is exp for softmax and memory for
// the others. Rows are divided into tasks of about 16 K numbers. Sums over rows add fixed blocks of
// rows, then the blocks in order. Read next: simd.h for each_vector and map, vector_math.h for exp.
#include "core/kernels/rows.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/kernels/pieces.h"
#include "core/kernels/row_sums.h"
#include "core/kernels/vector_math.h"
#include "headlab/core/base/error.h"
#include "headlab/core/base/pool.h"
#include "headlab/core/base/threads.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

namespace {

/// Adds to sums[0, width) the result of body(first_row, end_row, block_sums) for each block of
/// rows: at most 64 blocks of at least 32 rows, whose sums are stored separately and then added in
/// order.
template <class Body>
void add_over_row_blocks(Index rows, Index width, LoopWork work, Scalar* sums, Body body) {
  const Index block = std::max<Index>(32, (rows + 63) / 64);
  const Index blocks = (rows + block - 1) / block;
  const Scratch<Scalar> memory(blocks * width);
  Scalar* partial = memory.data();
  parallel_for(blocks, work, [&](Index i) {
    std::fill_n(partial + i * width, width, Scalar{0});
    body(i * block, std::min(rows, (i + 1) * block), partial + i * width);
  });
  for (Index i = 0; i < blocks; ++i) {
    map(
        width, [](Vec sum, Vec v) { return sum + v; }, sums, sums, partial + i * width);
  }
}

}  // namespace

void softmax_forward(Index rows, Index n, const Scalar* x, Scalar* y) {
  for_rows(rows, n, [&](Index row) {
    const Scalar* xr = x + row * n;
    Scalar* yr = y + row * n;
    const Scalar m = row_max(n, xr);
    if (m == kLowest) {  // only -inf and NaN
      std::replace_copy(xr, xr + n, yr, kLowest, Scalar{0});
      return;
    }
    map(
        n, [m](Vec v) { return exp_bounded(v - m); }, yr, xr);
    const Scalar inverse = 1 / sum_of(n, 0, kItself, yr);
    map(
        n, [inverse](Vec v) { return v * inverse; }, yr, yr);
  });
}

void softmax_backward(const SoftmaxBackward& p) {
  for_rows(p.rows, p.n, [&](Index row) {
    const Scalar *y = p.y + row * p.n, *dy = p.dy + row * p.n;
    const auto slope = [dot = sum_of(p.n, 0, kProduct, y, dy)](Vec weight, Vec d) {
      return weight * (d - dot);
    };
    map_or_add(p.dx, row * p.n, p.n, slope, y, dy);
  });
}

namespace {

/// Computes a row of layer norm whose sum or squares overflow. The row is divided by its largest
/// absolute value first, so every finite row has a finite result. A row with an infinity or a NaN
/// becomes NaN completely.
void layer_norm_large_row(const LayerNormForward& p, Index row) {
  const Scalar* x = p.x + row * p.n;
  Scalar* y = p.y + row * p.n;
  Scalar largest = 0;
  for (Index j = 0; j < p.n; ++j) largest = std::max(largest, std::abs(x[j]));
  const auto count = static_cast<double>(p.n);
  const auto scale = static_cast<double>(largest);
  double mean = 0;
  for (Index j = 0; p.centred && j < p.n; ++j) mean += static_cast<double>(x[j]) / scale / count;
  double variance = 0;
  for (Index j = 0; j < p.n; ++j) {
    const double deviation = static_cast<double>(x[j]) / scale - mean;
    variance += deviation * deviation / count;
  }
  const double rstd = 1 / std::sqrt(variance + static_cast<double>(p.eps) / scale / scale);
  for (Index j = 0; j < p.n; ++j) {
    const double h = (static_cast<double>(x[j]) / scale - mean) * rstd;
    const double shift = p.bias != nullptr ? static_cast<double>(p.bias[j]) : 0;
    y[j] = static_cast<Scalar>(h * static_cast<double>(p.gain[j]) + shift);
  }
  p.mean[row] = static_cast<Scalar>(mean * scale);
  p.rstd[row] = static_cast<Scalar>(rstd / scale);
}

/// Computes the mean and rstd of rows [row, row + count), count <= kLanes, one per lane.
void layer_norm_statistics(const LayerNormForward& p, Index row, Index count) {
  const Scalar* x = p.x + row * p.n;
  const auto numbers = static_cast<Scalar>(p.n);
  Vec sums[kLanes] = {};
  for (Index i = 0; i < count && p.centred; ++i)
    sums[i] = partial_sums(p.n, 0, kItself, x + i * p.n);
  store_first(p.mean + row, count, sum_lanes_of_each(sums) / numbers);
  std::fill_n(sums, kLanes, Vec{});
  for (Index i = 0; i < count; ++i) {
    const auto square = [m = p.mean[row + i]](Vec v) { return (v - m) * (v - m); };
    sums[i] = partial_sums(p.n, p.mean[row + i], square, x + i * p.n);
  }
  const Vec variance = sum_lanes_of_each(sums) / numbers;
  const auto inverse_root = [](Scalar v) { return 1 / std::sqrt(v); };
  store_first(p.rstd + row, count, each_lane(variance + p.eps, inverse_root));
}

void layer_norm_row(const LayerNormForward& p, Index row) {
  const Scalar* x = p.x + row * p.n;
  const Scalar m = p.mean[row], r = p.rstd[row];
  if (!(r > 0)) {  // the sum of squares is infinite or NaN
    layer_norm_large_row(p, row);
    return;
  }
  const auto scaled = [m, r](Vec v, Vec g) { return (v - m) * r * g; };
  const auto shifted = [scaled](Vec v, Vec g, Vec b) { return scaled(v, g) + b; };
  if (p.bias) {
    map(p.n, shifted, p.y + row * p.n, x, p.gain, p.bias);
  } else {
    map(p.n, scaled, p.y + row * p.n, x, p.gain);
  }
}

}  // namespace

void layer_norm_forward(const LayerNormForward& p) {
  for_row_groups(p.rows, p.n, kLanes, [&](Index first, Index count) {
    layer_norm_statistics(p, first, count);
    for (Index row = first; row < first + count; ++row) layer_norm_row(p, row);
  });
}

namespace {

/// Values h and g of one element, or of a vector of elements.
template <class Number>
struct LayerNormTerms {
  Number h, g;

  LayerNormTerms(Scalar mean, Scalar rstd, Number x, Number dy, Number gain)
      : h((x - mean) * rstd), g(dy * gain) {}
};

/// Sums of g and of g h: of each lane, or of a row.
template <class Number>
struct LayerNormSums {
  Number g{}, gh{};

  void add(const LayerNormTerms<Number>& terms) {
    g += terms.g;
    gh += terms.g * terms.h;
  }
};

/// Makes the first pass over the whole vectors of a row: returns the sums, and adds dy h to sums[0,
/// n) and, if it is not null, dy to sums[n, 2n).
LayerNormSums<Vec> layer_norm_sums(const LayerNormBackward& p, Index row, Scalar* sums) {
  const Scalar *x = p.x + row * p.n, *dy = p.dy + row * p.n;
  LayerNormSums<Vec> result;
  for (Index j = 0; j + kLanes <= p.n; j += kLanes) {
    const Vec d = load(dy + j);
    const LayerNormTerms<Vec> terms(p.mean[row], p.rstd[row], load(x + j), d, load(p.gain + j));
    result.add(terms);
    if (!sums) continue;
    store(sums + j, load(sums + j) + d * terms.h);
    store(sums + p.n + j, load(sums + p.n + j) + d);
  }
  return result;
}

/// Does the same for the numbers after the whole vectors: adds to `result`.
void layer_norm_rest(const LayerNormBackward& p, Index row, Scalar* sums,
                     LayerNormSums<Scalar>& result) {
  const Scalar *x = p.x + row * p.n, *dy = p.dy + row * p.n;
  for (Index j = p.n / kLanes * kLanes; j < p.n; ++j) {
    const LayerNormTerms<Scalar> terms(p.mean[row], p.rstd[row], x[j], dy[j], p.gain[j]);
    result.add(terms);
    if (!sums) continue;
    sums[j] += dy[j] * terms.h;
    sums[p.n + j] += dy[j];
  }
}

void write_layer_norm_slopes(const LayerNormBackward& p, Index row,
                             const LayerNormSums<Scalar>& sums) {
  const Scalar m = p.mean[row], r = p.rstd[row], count = static_cast<Scalar>(p.n);
  const Scalar mean_g = p.centred ? sums.g / count : 0, mean_gh = sums.gh / count;
  const auto slope = [=](Vec x, Vec dy, Vec gain) {
    const LayerNormTerms<Vec> terms(m, r, x, dy, gain);
    return r * (terms.g - mean_g - terms.h * mean_gh);
  };
  const Index at = row * p.n;
  map_or_add(p.dx, at, p.n, slope, p.x + at, p.dy + at, p.gain);
}

/// Differentiates rows [row, row + count), count <= kLanes.
void layer_norm_backward_rows(const LayerNormBackward& p, Index row, Index count, Scalar* sums) {
  Vec g[kLanes] = {}, gh[kLanes] = {};
  for (Index i = 0; i < count; ++i) {
    const LayerNormSums<Vec> of_row = layer_norm_sums(p, row + i, sums);
    g[i] = of_row.g;
    gh[i] = of_row.gh;
  }
  const Vec all_g = sum_lanes_of_each(g), all_gh = sum_lanes_of_each(gh);
  for (Index i = 0; i < count; ++i) {
    LayerNormSums<Scalar> of_row{all_g[i], all_gh[i]};
    layer_norm_rest(p, row + i, sums, of_row);
    if (p.dx) write_layer_norm_slopes(p, row + i, of_row);
  }
}

}  // namespace

void layer_norm_backward(const LayerNormBackward& p) {
  const Scratch<Scalar> memory(2 * p.n);
  Scalar* sums = memory.data();
  std::fill_n(sums, 2 * p.n, Scalar{0});
  const bool parameters = p.dgain || p.dbias;
  // Without parameters the sums have width 0.
  add_over_row_blocks(p.rows, parameters ? 2 * p.n : 0, pass_over(2 * p.rows * p.n), sums,
                      [&](Index first, Index end, Scalar* block_sums) {
                        Scalar* block = parameters ? block_sums : nullptr;
                        for (Index row = first; row < end; row += kLanes) {
                          const Index count = std::min(kLanes, end - row);
                          layer_norm_backward_rows(p, row, count, block);
                        }
                      });
  const auto add = [](Vec a, Vec b) { return a + b; };
  if (p.dgain) map(p.n, add, p.dgain, p.dgain, sums);
  if (p.dbias) map(p.n, add, p.dbias, p.dbias, sums + p.n);
}

/// Each task has its own columns of the table, so the order of the additions is that of i for any
/// number of threads.
void scatter_add_rows(const ScatterAdd& p) {
  for (Index i = 0; p.ids && i < p.count; ++i) {
    require(p.ids[i] >= 0 && p.ids[i] < p.table_rows, "cannot compute scatter_add_rows: id ",
            p.ids[i], " at ", i, " is not in [0, ", p.table_rows, ")");
  }
  const Index tasks =
      p.count * p.n < kPiece ? 1 : std::max<Index>(1, std::min<Index>(16, p.n / 32));
  const auto add = [](Vec a, Vec b) { return a + b; };
  parallel_for(tasks, pass_over(p.count * p.n), [&](Index task) {
    const Index first = p.n * task / tasks, width = p.n * (task + 1) / tasks - first;
    for (Index i = 0; i < p.count; ++i) {
      Scalar* row = p.table + (p.ids ? p.ids[i] * p.n : 0) + first;
      map(width, add, row, row, p.rows + i * p.n + first);
    }
  });
}

}}  // namespace headlab
