// Reductions over the numbers of a row, shared by the kernels of rows.h. A sum of a row has one
// order: partial sums per lane, then the lanes by halving. Reducing one row at a time takes longer
// than reading it if the row is short, so kLanes rows can be reduced at once, with the same bits.
// Read next: rows.cc, cross_entropy.cc.
#pragma once

#include <limits>

#include "core/kernels/simd.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

inline constexpr Scalar kLowest = -std::numeric_limits<Scalar>::infinity();

inline Scalar row_max(Index n, const Scalar* x) {
  Vec m = broadcast(kLowest);
  each_vector(
      n, kLowest, [&](Vec v) { m = max(m, v); }, x);
  return max_lanes(m);
}

/// Returns the sum of f(x...), one partial sum per lane; lanes without an x use f(fill...).
template <class F, class... Input>
Vec partial_sums(Index n, Scalar fill, F f, const Input*... x) {
  Vec sum{};
  const auto add = [&](auto... v) { sum += f(v...); };
  each_vector(n, fill, add, x...);
  return sum;
}
template <class F, class... Input>
Scalar sum_of(Index n, Scalar fill, F f, const Input*... x) {
  return sum_lanes(partial_sums(n, fill, f, x...));
}

/// Returns x[0] + x[1] + ..., lane by lane, added by halving as in sum_lanes. It changes x.
inline Vec sum_by_halving(Vec (&x)[kLanes]) {
  for (Index half = kLanes / 2; half > 0; half /= 2) {
    for (Index i = 0; i < half; ++i) x[i] += x[i + half];
  }
  return x[0];
}
/// Returns { sum_lanes(x[0]), sum_lanes(x[1]), ... }: the sums of kLanes rows for a tenth of the
/// instructions. It changes x.
inline Vec sum_lanes_of_each(Vec (&x)[kLanes]) {
  transpose(x);
  return sum_by_halving(x);
}

inline constexpr auto kItself = [](Vec v) { return v; };
inline constexpr auto kProduct = [](Vec a, Vec b) { return a * b; };

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

}}  // namespace headlab
