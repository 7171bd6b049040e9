// Kernels over the rows of a matrix. A row fits in L1, so each is read from memory once and the
// passes over it (maximum, sum, result) run from cache. The bound is exp for softmax and memory for
// the others. Rows are divided into tasks of about 16 K numbers. Sums over rows add fixed blocks of
// rows, then the blocks in order. Read next: simd.h for each_vector and map, vector_math.h for exp.
#include "core/kernels/rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/kernels/pieces.h"
#include "core/kernels/vector_math.h"
#include "headlab/core/base/error.h"
#include "headlab/core/base/pool.h"
#include "headlab/core/base/threads.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

namespace {

constexpr Scalar kLowest = -std::numeric_limits<Scalar>::infinity();

Scalar row_max(Index n, const Scalar* x) {
  Vec m = broadcast(kLowest);
  each_vector(
      n, kLowest, [&](Vec v) { m = max(m, v); }, x);
  return max_lanes(m);
}

/// Returns the sum of f(x...); lanes without an x use f(fill...).
template <class F, class... Input>
Scalar sum_of(Index n, Scalar fill, F f, const Input*... x) {
  Vec sum{};
  const auto add = [&](auto... v) { sum += f(v...); };
  each_vector(n, fill, add, x...);
  return sum_lanes(sum);
}

constexpr auto kItself = [](Vec v) { return v; };
constexpr auto kProduct = [](Vec a, Vec b) { return a * b; };

/// Returns log(sum(exp(x))); -inf for a row of -inf.
Scalar row_log_sum_exp(Index n, const Scalar* x) {
  const Scalar m = row_max(n, x);
  const auto share = [m](Vec v) { return exp_bounded(v - m); };
  return m == kLowest ? kLowest : m + std::log(sum_of(n, kLowest, share, x));
}

/// Computes dx = f(inputs...), or dx += f(inputs...), for the n numbers from `at` on.
template <class F, class... Input>
void map_or_add(const GradientSlot& slot, Index at, Index n, F f, const Input*... inputs) {
  Scalar* dx = slot.data + at;
  if (slot.accumulate) {
    map(
        n, [&](Vec old, auto... v) { return old + f(v...); }, dx, dx, inputs...);
  } else {
    map(n, f, dx, inputs...);
  }
}

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

}  // namespace

void layer_norm_forward(const LayerNormForward& p) {
  for_rows(p.rows, p.n, [&](Index row) {
    const Scalar* x = p.x + row * p.n;
    const Scalar count = static_cast<Scalar>(p.n),
                 m = p.centred ? sum_of(p.n, 0, kItself, x) / count : 0;
    const auto square = [m](Vec v) { return (v - m) * (v - m); };
    const Scalar r = 1 / std::sqrt(sum_of(p.n, m, square, x) / count + p.eps);
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
    p.mean[row] = m;
    p.rstd[row] = r;
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

/// Makes the first pass over a row: returns the sums of g and of g h, and adds dy h to sums[0, n)
/// and, if it is not null, dy to sums[n, 2n).
std::pair<Scalar, Scalar> layer_norm_sums(const LayerNormBackward& p, Index row, Scalar* sums) {
  const Scalar *x = p.x + row * p.n, *dy = p.dy + row * p.n;
  const Scalar m = p.mean[row], r = p.rstd[row];
  Vec sum_g{}, sum_gh{};
  Index j = 0;
  for (; j + kLanes <= p.n; j += kLanes) {
    const Vec d = load(dy + j);
    const LayerNormTerms<Vec> terms(m, r, load(x + j), d, load(p.gain + j));
    sum_g += terms.g;
    sum_gh += terms.g * terms.h;
    if (!sums) continue;
    store(sums + j, load(sums + j) + d * terms.h);
    store(sums + p.n + j, load(sums + p.n + j) + d);
  }
  Scalar total_g = sum_lanes(sum_g), total_gh = sum_lanes(sum_gh);
  for (; j < p.n; ++j) {
    const LayerNormTerms<Scalar> terms(m, r, x[j], dy[j], p.gain[j]);
    total_g += terms.g;
    total_gh += terms.g * terms.h;
    if (!sums) continue;
    sums[j] += dy[j] * terms.h;
    sums[p.n + j] += dy[j];
  }
  return {total_g, total_gh};
}

void layer_norm_backward_row(const LayerNormBackward& p, Index row, Scalar* sums) {
  const auto [sum_g, sum_gh] = layer_norm_sums(p, row, sums);
  if (!p.dx) return;
  const Scalar m = p.mean[row], r = p.rstd[row], count = static_cast<Scalar>(p.n);
  const Scalar mean_g = p.centred ? sum_g / count : 0, mean_gh = sum_gh / count;
  const auto slope = [=](Vec x, Vec dy, Vec gain) {
    const LayerNormTerms<Vec> terms(m, r, x, dy, gain);
    return r * (terms.g - mean_g - terms.h * mean_gh);
  };
  const Index at = row * p.n;
  map_or_add(p.dx, at, p.n, slope, p.x + at, p.dy + at, p.gain);
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
                        for (Index row = first; row < end; ++row) {
                          layer_norm_backward_row(p, row, parameters ? block_sums : nullptr);
                        }
                      });
  const auto add = [](Vec a, Vec b) { return a + b; };
  if (p.dgain) map(p.n, add, p.dgain, p.dgain, sums);
  if (p.dbias) map(p.n, add, p.dbias, p.dbias, sums + p.n);
}

void cross_entropy_forward(const CrossEntropyForward& p) {
  for_rows(p.rows, p.n, [&](Index row) {
    const Scalar* x = p.x + row * p.n;
    const std::int32_t target = p.targets[row];
    p.log_sum_exp[row] = target < 0 ? 0 : row_log_sum_exp(p.n, x);
    p.losses[row] = target < 0 ? 0 : p.log_sum_exp[row] - x[target];
  });
}

void cross_entropy_backward(const CrossEntropyBackward& p) {
  for_rows(p.rows, p.n, [&](Index row) {
    Scalar* dx = p.dx.data + row * p.n;
    if (p.targets[row] < 0) {
      if (!p.dx.accumulate) std::fill_n(dx, p.n, Scalar{0});
      return;
    }
    const auto slope = [lse = p.log_sum_exp[row], scale = p.scale](Vec v) {
      return scale * exp_bounded(v - lse);
    };
    map_or_add(p.dx, row * p.n, p.n, slope, p.x + row * p.n);
    dx[p.targets[row]] -= p.scale;
  });
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
