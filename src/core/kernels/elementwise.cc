// Kernels over plain arrays. Activations are limited by arithmetic and run on vectors
// (vector_math.h). Kernels that only move numbers (add_scaled, adam_step ...) are limited by
// memory, so a plain loop that the compiler vectorises is as fast as any. Long arrays are divided
// into pieces (pieces.h), one task each; sums add the pieces in order. Read next: vector_math.h,
// rows.cc.
#include "core/kernels/elementwise.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>

#include "core/kernels/dropout.h"
#include "core/kernels/pieces.h"
#include "core/kernels/vector_math.h"
#include "headlab/core/base/error.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

namespace {

/// Computes y = f(x ...) of [0, n), piece by piece.
template <class F, class... Input>
void map_pieces(Index n, F f, Scalar* y, const Input*... x) {
  for_pieces(n, [&](Index at, Index end) { map(end - at, f, y + at, (x + at)...); });
}

constexpr Scalar kRootTwoOverPi = static_cast<Scalar>(0.797884560802865355879892);
constexpr Scalar kCubic = static_cast<Scalar>(0.044715);

/// Values shared by the two passes of GELU. Beyond |x| = 8 gelu(x) is x or 0 to the last bit.
/// Clamping also keeps the sigmoid above 1e-22: subnormal numbers would make the backward pass many
/// times slower.
struct GeluParts {
  Vec above;    // x, at least -8
  Vec clamped;  // x within [-8, 8]
  Vec e;        // exp(-2u), u = sqrt(2/pi) (x + 0.044715 x^3)
  Vec sigmoid;  // (1 + tanh(u)) / 2 = 1 / (1 + e)

  explicit GeluParts(Vec x) {
    above = select(x < -8, broadcast(-8), x);
    clamped = select(above > 8, broadcast(8), above);
    e = exp_bounded(-2 * kRootTwoOverPi * clamped * (1 + kCubic * (clamped * clamped)));
    sigmoid = 1 / (1 + e);
  }

  Vec value() const { return above * sigmoid; }
  /// Returns d/dx x s(2u) = s + x s (1 - s) 2 u', u' = sqrt(2/pi) (1 + 3 * 0.044715 x^2); 1 - s is
  /// computed as e s, without rounding.
  Vec slope() const {
    const Vec slope_of_2u = 2 * kRootTwoOverPi * (1 + 3 * kCubic * (clamped * clamped));
    return sigmoid + clamped * sigmoid * (e * sigmoid) * slope_of_2u;
  }
};

/// SiLU, x s(x). Below -80 it is practically 0, and the sigmoid would become subnormal.
struct SiluParts {
  Vec x, e, sigmoid;  // e = exp(-x)

  explicit SiluParts(Vec given) : x(select(given < -80, broadcast(-80), given)) {
    e = exp_bounded(-x);
    sigmoid = 1 / (1 + e);
  }

  Vec value() const { return x * sigmoid; }
  /// Returns s + x s (1 - s), with 1 - s = e s.
  Vec slope() const { return sigmoid + x * sigmoid * (e * sigmoid); }
};

/// Rotates the pairs of one head: (a, b) becomes (a cos - b sin, b cos + a sin), with a table whose
/// sines are -sin, sin.
void rotate_head(const Rotation& r, Index at, const Scalar* cosines, const Scalar* sines) {
  const Scalar back = r.back ? -1 : 1;
  const auto rotated = [back](Vec x, Vec cos, Vec sin) {
    return x * cos + neighbours<1>(x) * (back * sin);
  };
  const auto added = [&](Vec x, Vec cos, Vec sin, Vec old) { return old + rotated(x, cos, sin); };
  if (r.accumulate) {
    map(r.head, added, r.y + at, r.x + at, cosines, sines, r.y + at);
  } else {
    map(r.head, rotated, r.y + at, r.x + at, cosines, sines);
  }
}

constexpr auto kGelu = [](Vec x) { return GeluParts(x).value(); };
[[gnu::always_inline]] inline Vec gelu_slope(Vec x) { return GeluParts(x).slope(); }

double sum_of_squares_piece(Index n, const Scalar* x) {
  constexpr Index kSums = 32;  // independent sums; with one sum each addition would wait for the
                               // last
  double sums[kSums] = {};
  Index i = 0;
  constexpr Index kAhead = 1024;  // prefetch distance: the hardware prefetcher is too slow here
  for (; i + kSums <= n; i += kSums) {
    for (Index j = 0; j < kSums; j += kLanes) __builtin_prefetch(x + i + kAhead + j);
    for (Index j = 0; j < kSums; ++j) {
      const double value = static_cast<double>(x[i + j]);
      sums[j] += value * value;
    }
  }
  for (; i < n; ++i) sums[i % kSums] += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  double total = 0;
  for (double sum : sums) total += sum;
  return total;
}

}  // namespace

void exp_array(Index n, const Scalar* x, Scalar* y) {
  const auto f = [](Vec v) { return exp(v); };
  map_pieces(n, f, y, x);
}

void tanh_array(Index n, const Scalar* x, Scalar* y) {
  const auto f = [](Vec v) { return tanh(v); };
  map_pieces(n, f, y, x);
}

void gelu_forward(Index n, const Scalar* x, Scalar* y) { map_pieces(n, kGelu, y, x); }

void gelu_with_slope(Index n, const Scalar* x, Scalar* y, Scalar* slope) {
  const auto both = [](Vec* out, Vec v) {
    const GeluParts parts(v);
    out[0] = parts.value();
    out[1] = parts.slope();
  };
  for_pieces(n, [&](Index at, Index end) {
    map_to(end - at, both, std::array{y + at, slope + at}, x + at);
  });
}

void gelu_backward(Index n, const Scalar* x, const Scalar* dy, Scalar* dx, bool accumulate) {
  const auto set = [](Vec v, Vec d) { return d * gelu_slope(v); };
  const auto add = [](Vec v, Vec d, Vec old) { return old + d * gelu_slope(v); };
  if (accumulate) {
    map_pieces(n, add, dx, x, dy, dx);
  } else {
    map_pieces(n, set, dx, x, dy);
  }
}

namespace {

template <class Parts>
void gate_forward(Index n, const Scalar* gate, const Scalar* x, Scalar* y) {
  const auto f = [](Vec g, Vec v) { return Parts(g).value() * v; };
  map_pieces(n, f, y, gate, x);
}

template <class Parts>
void gate_backward(const GateBackward& p) {
  const auto f = [](Vec* out, Vec g, Vec v, Vec d) {
    const Parts parts(g);
    const Vec open = parts.value();
    out[0] = open * v, out[1] = d * parts.slope() * v, out[2] = d * open;
  };
  for_pieces(p.n, [&](Index at, Index end) {
    map_to(end - at, f, std::array{p.y + at, p.dgate + at, p.dx + at}, p.gate + at, p.x + at,
           p.dy + at);
  });
}

}  // namespace

const Gate kGeluGate{gate_forward<GeluParts>, gate_backward<GeluParts>};
const Gate kSiluGate{gate_forward<SiluParts>, gate_backward<SiluParts>};

void rotate(const Rotation& r) {
  for_rows(r.rows, r.width, [&](Index row) {
    const Index place = row % r.length * r.head;
    for (Index at = row * r.width; at < (row + 1) * r.width; at += r.head) {
      rotate_head(r, at, r.cosines + place, r.sines + place);
    }
  });
}

void fill_array(Index n, Scalar value, Scalar* y) {
  for_pieces(n, [=](Index at, Index end) { std::fill(y + at, y + end, value); });
}

void add_scaled(Index n, Scalar a, const Scalar* x, Scalar* y) {
  const auto f = [a](Vec u, Vec v) { return u + a * v; };
  map_pieces(n, f, y, y, x);
}

void scale_array(Index n, Scalar a, Scalar* y) {
  const auto f = [a](Vec v) { return a * v; };
  map_pieces(n, f, y, y);
}

double sum_of_squares(Index n, const Scalar* x) {
  constexpr Index kGroup = 64;  // number of pieces whose sums are stored before they are added in
                                // order
  double total = 0;
  for (Index start = 0; start < n; start += kGroup * kPiece) {
    std::array<double, kGroup> sums{};
    for_pieces(std::min(n - start, kGroup * kPiece), [&](Index at, Index end) {
      sums[at / kPiece] = sum_of_squares_piece(end - at, x + start + at);
    });
    for (double sum : sums) total += sum;
  }
  return total;
}

/// Returns whether all elements are finite: x - x is 0 exactly if x is finite.
bool all_finite(Index n, const Scalar* x) {
  std::atomic<bool> finite = true;
  for_pieces(n, [&](Index at, Index end) {
    unsigned char any = 0;
    for (; at < end; ++at) any |= !(x[at] - x[at] == 0);
    if (any != 0) finite = false;
  });
  return finite;
}

void dropout_array(Index n, Scalar p, std::uint64_t key, const Scalar* x, Scalar* y) {
  require(p >= 0 && p < 1, "cannot compute dropout: probability ", p, " is not in [0, 1)");
  const DropoutFactor factor(p);
  for_pieces(n, [&](Index at, Index end) {
    const DropoutRow row(key, at / kPiece, 0);
    const Index length = end - at;
    BitsVec place{};
    for (Index lane = 0; lane < kLanes; ++lane) place[lane] = static_cast<std::uint32_t>(lane);
    for (Index i = 0; i < length; i += kLanes, place += static_cast<std::uint32_t>(kLanes)) {
      const Vec factors =
          factor(dropout_bits(row.first - BitsVec{}, row.second - BitsVec{}, place));
      const Index count = std::min(kLanes, length - i);
      Scalar* out = y + at + i;
      if (count == kLanes) {
        store(out, load(x + at + i) * factors);
      } else {
        store_first(out, count, load_first(x + at + i, count) * factors);
      }
    }
  });
}

void adam_step(Index n, const AdamStep& step, const AdamArrays& arrays) {
  const Scalar rate = step.lr / step.correction1;
  const Scalar root_correction = 1 / std::sqrt(step.correction2);
  const Scalar shrink = 1 - step.lr * step.decay;
  const auto update = [=, one_minus_beta1 = step.one_minus_beta1,
                       one_minus_beta2 = step.one_minus_beta2, eps = step.eps,
                       grad_scale = step.grad_scale](Index count, const Scalar* __restrict g,
                                                     Scalar* __restrict wp, Scalar* __restrict mp,
                                                     Scalar* __restrict vp) {
    for (Index i = 0; i < count; ++i) {
      const Scalar gi = grad_scale * g[i];
      mp[i] += one_minus_beta1 * (gi - mp[i]);
      vp[i] += one_minus_beta2 * (gi * gi - vp[i]);
      wp[i] = shrink * wp[i] - rate * mp[i] / (std::sqrt(vp[i]) * root_correction + eps);
    }
  };
  for_pieces(n, [&update, a = arrays](Index at, Index end) {
    update(end - at, a.grad + at, a.w + at, a.m + at, a.v + at);
  });
}

}}  // namespace headlab
