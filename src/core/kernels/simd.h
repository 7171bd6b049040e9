// Vectors of Scalar, through the vector extensions that GCC and Clang share: `a * b + c` on a Vec
// is one instruction per register. The width is the target's, so the same source is AVX-512, AVX2,
// SSE2 or NEON; a width that the target lacks would be split into scalars, so an #if prevents it.
// Not installed: files compiled for different targets must not share a Vec, so only the library's
// own files may include this. Read next: vector_math.h, tile.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#include "headlab/core/kernels/scalar.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif

/// Scalars per vector.
inline constexpr Index kLanes = kVectorBytes / static_cast<Index>(sizeof(Scalar));

/// The integer as wide as a Scalar; comparing two Vec gives an IntVec of 0 and -1.
using Int = std::conditional_t<sizeof(Scalar) == 4, std::int32_t, std::int64_t>;

using Vec [[gnu::vector_size(kVectorBytes)]] = Scalar;
using IntVec [[gnu::vector_size(kVectorBytes)]] = Int;

inline Vec broadcast(Scalar s) { return s - Vec{}; }
inline IntVec broadcast_int(Int i) { return i - IntVec{}; }

/// Reads kLanes scalars; no alignment needed.
inline Vec load(const Scalar* p) {
  Vec v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline void store(Scalar* p, Vec v) { std::memcpy(p, &v, sizeof v); }

/// Reads the first n < kLanes scalars; the other lanes are `fill`. g++ makes one masked load
/// of a loop over all lanes where the target has it; a loop over n of them goes lane by lane.
inline Vec load_first(const Scalar* p, Index n, Scalar fill = 0) {
  std::array<Scalar, kLanes> lanes;
  for (Index i = 0; i < kLanes; ++i) lanes[i] = i < n ? p[i] : fill;
  return load(lanes.data());
}
inline void store_first(Scalar* p, Index n, Vec v) {
  std::array<Scalar, kLanes> lanes;
  store(lanes.data(), v);
  for (Index i = 0; i < kLanes; ++i) {
    if (i < n) p[i] = lanes[i];
  }
}

inline IntVec lane_numbers() {
  IntVec v{};
  for (Index i = 0; i < kLanes; ++i) v[i] = static_cast<Int>(i);
  return v;
}

inline Vec select(IntVec mask, Vec if_set, Vec otherwise) { return mask ? if_set : otherwise; }
inline Vec max(Vec a, Vec b) { return select(b > a, b, a); }  // keeps a NaN of a

inline Vec absolute(Vec v) { return max(v, -v); }
inline Vec lane_values() { return __builtin_convertvector(lane_numbers(), Vec); }

/// Calls body(0), body(1) ... body(N - 1), with each number as a constant: an array that is indexed
/// only by constants becomes registers. This requires inlining, so both have attributes: without
/// the inner one g++ 12 does not inline the closure when it tunes for Skylake-AVX512 and its
/// successors, and the array goes through memory.
template <int N, class Body>
[[gnu::always_inline]] inline void unrolled(Body body) {
  [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
    (body(std::integral_constant<int, I>{}), ...);
  }
  (std::make_integer_sequence<int, N>{});
}

/// Returns, in every lane, the lane Distance away (lane ^ Distance).
template <int Distance>
inline Vec neighbours(Vec v) {
  return [&]<int... Lane>(std::integer_sequence<int, Lane...>) {
    return __builtin_shufflevector(v, v, (Lane ^ Distance)...);
  }
  (std::make_integer_sequence<int, static_cast<int>(kLanes)>{});
}

/// Return sum and maximum of the lanes by halving, always in the same order.
template <int Half = static_cast<int>(kLanes / 2)>
inline Scalar sum_lanes(Vec v) {
  if constexpr (Half == 0) {
    return v[0];
  } else {
    return sum_lanes<Half / 2>(v + neighbours<Half>(v));
  }
}
template <int Half = static_cast<int>(kLanes / 2)>
inline Scalar max_lanes(Vec v) {
  if constexpr (Half == 0) {
    return v[0];
  } else {
    return max_lanes<Half / 2>(max(v, neighbours<Half>(v)));
  }
}

/// Transposes every block of Size x Size numbers of Size vectors: block b of vectors [0, Size) has
/// lanes [b * Size, (b + 1) * Size). It exchanges the off-diagonal quarters of every 2 Half x 2
/// Half block, for all powers of two from Half down, with log2(Size) shuffles per vector.
template <int Size, int Half = Size / 2>
[[gnu::always_inline]] inline void transpose(Vec (&rows)[Size]) {
  constexpr int lanes = static_cast<int>(kLanes);
  [&]<int... Lane>(std::integer_sequence<int, Lane...>) {
    unrolled<Size>([&](auto i) {
      if constexpr ((i & Half) == 0) {
        const Vec a = rows[i];
        const Vec b = rows[i + Half];
        rows[i] = __builtin_shufflevector(a, b, ((Lane & Half) ? lanes + Lane - Half : Lane)...);
        rows[i + Half] =
            __builtin_shufflevector(a, b, ((Lane & Half) ? lanes + Lane : Lane + Half)...);
      }
    });
  }
  (std::make_integer_sequence<int, lanes>{});
  if constexpr (Half > 1) transpose<Size, Half / 2>(rows);
}

/// Rows `stride` apart.
struct ConstRows {
  const Scalar* data;
  Index stride;
};
struct MutableRows {
  Scalar* data;
  Index stride;
};
/// to(j, i) = from(i, j) for i < m, j < n.
void transpose_copy(Index m, Index n, const ConstRows& from, const MutableRows& to);

/// Computes y[i] = f(x[i], ...) one vector at a time. If the array is not a whole number of
/// vectors, its end is one more vector that overlaps the last. Its inputs are read before any
/// output is written, so y may be an input, and every element is computed by the same instructions
/// at any position.
template <class F, class... Input>
inline void map(Index n, F f, Scalar* y, const Input*... x) {
  if (n < kLanes) {
    store_first(y, n, f(load_first(x, n)...));
    return;
  }
  const Index last = n - kLanes;
  const Vec end = f(load(x + last)...);
  for (Index i = 0; i < last; i += kLanes) store(y + i, f(load(x + i)...));
  store(y + last, end);
}

/// Computes several results at once: f(out, x[i] ...) fills Vec out[K], which go to y[k][i]. No y
/// may overlap an input, because the last whole vector overlaps the one before it.
template <std::size_t K, class F, class... Input>
inline void map_to(Index n, F f, const std::array<Scalar*, K>& y, const Input*... x) {
  Vec out[K];
  if (n < kLanes) {
    f(out, load_first(x, n)...);
    for (std::size_t k = 0; k < K; ++k) store_first(y[k], n, out[k]);
    return;
  }
  for (Index i = 0; i < n; i += kLanes) {
    const Index at = std::min(i, n - kLanes);
    f(out, load(x + at)...);
    for (std::size_t k = 0; k < K; ++k) store(y[k] + at, out[k]);
  }
}

/// Calls f(load(x + i)...) for all whole vectors of n elements, and once more for the rest, whose
/// missing lanes hold `fill`. It is for reductions, where no element may be used twice.
template <class F, class... Input>
inline void each_vector(Index n, Scalar fill, F f, const Input*... x) {
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes) f(load(x + i)...);
  if (i == n) return;
  if (n < kLanes) {
    f(load_first(x, n, fill)...);
    return;
  }
  const IntVec fresh = lane_numbers() >= broadcast_int(static_cast<Int>(kLanes - (n - i)));
  f(select(fresh, load(x + n - kLanes), broadcast(fill))...);
}

}}  // namespace headlab
