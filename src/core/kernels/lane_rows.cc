// Rows to lanes and back (lane_rows.h), by parts of kLanes, kLanes / 2 ... 4 columns. A part of
// Width columns joins kLanes / Width rows, Width rows apart, into one vector, Width times, and then
// transposes every block of Width x Width numbers. The transpose is its own inverse, so the way
// back is the same with the loads replaced by stores. The columns that remain, three at most, are
// copied one number at a time.
#include "core/kernels/lane_rows.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

constexpr int kWidest = static_cast<int>(kLanes);

template <int Width>
using Part [[gnu::vector_size(Width * sizeof(Scalar))]] = Scalar;

/// Returns Count parts in one vector: part i is read from rows[i * Width] + at.
template <int Width, int Count = kWidest / Width>
[[gnu::always_inline]] inline auto join(const Scalar* const* rows, Index at) {
  if constexpr (Count == 1) {
    Part<Width> part;
    std::memcpy(&part, rows[0] + at, sizeof part);
    return part;
  } else {
    const auto low = join<Width, Count / 2>(rows, at);
    const auto high = join<Width, Count / 2>(rows + Count / 2 * Width, at);
    return [&]<int... Lane>(std::integer_sequence<int, Lane...>) {
      return __builtin_shufflevector(low, high, Lane...);
    }
    (std::make_integer_sequence<int, Width * Count>{});
  }
}

/// Returns lanes [First, First + Width).
template <int Width, int First>
[[gnu::always_inline]] inline Part<Width> part_of(Vec x) {
  return [&]<int... Lane>(std::integer_sequence<int, Lane...>) {
    return __builtin_shufflevector(x, x, (First + Lane)...);
  }
  (std::make_integer_sequence<int, Width>{});
}

template <int Width>
void pack_part(const LaneRows<const Scalar>& rows, Index at, Scalar factor, Vec* out) {
  Vec x[Width];
  unrolled<Width>([&](auto i) { x[i] = join<Width>(rows.first.data() + i, at); });
  transpose(x);
  unrolled<Width>([&](auto j) { out[j] = x[j] * factor; });
}

template <int Width>
[[gnu::always_inline]] inline void store_part(Scalar* to, Part<Width> part, bool accumulate) {
  Part<Width> before;
  std::memcpy(&before, to, sizeof before);
  if (accumulate) part = before + part;
  std::memcpy(to, &part, sizeof part);
}

template <int Width>
void unpack_part(const Vec* in, const LaneRows<Scalar>& rows, Index at, bool accumulate) {
  Vec x[Width];
  unrolled<Width>([&](auto j) { x[j] = in[j]; });
  transpose(x);
  unrolled<Width>([&](auto i) {
    unrolled<kWidest / Width>([&](auto block) {
      constexpr int lane = block * Width + i;
      if (lane >= rows.live) return;
      const auto part = part_of<Width, block * Width>(x[i]);
      store_part<Width>(rows.first[lane] + at, part, accumulate);
    });
  });
}

/// Calls body(j, Width) for parts [j, j + Width) of [from, width), each as wide as fits; returns
/// the first column that is in no part.
template <int Width = kWidest, class Body>
Index for_parts(Index from, Index width, Body body) {
  for (; from + Width <= width; from += Width) body(from, std::integral_constant<int, Width>{});
  if constexpr (Width > 4) {
    return for_parts<Width / 2>(from, width, body);
  } else {
    return from;
  }
}

}  // namespace

void pack_row(const LaneRows<const Scalar>& x, Index row, Scalar factor, Vec* out) {
  const Index at = row * x.stride;
  const auto pack = [&](Index j, auto part) { pack_part<part>(x, at + j, factor, out + j); };
  for (Index j = for_parts(0, x.width, pack); j < padded_to_four(x.width); ++j) {
    out[j] = Vec{};
    for (Index lane = 0; j < x.width && lane < kLanes; ++lane) {
      out[j][lane] = x.first[lane][at + j] * factor;
    }
  }
}

void pack_rows(const LaneRows<const Scalar>& x, Index rows, Scalar factor, Vec* out) {
  const Index step = padded_to_four(x.width);
  for (Index row = 0; row < rows; ++row) pack_row(x, row, factor, out + row * step);
  std::fill(out + rows * step, out + padded_to_four(rows) * step, Vec{});
}

void unpack_rows(const Vec* x, Index first, Index count, const LaneRows<Scalar>& out,
                 bool accumulate) {
  for (Index row = first; row < first + count; ++row) {
    const Index at = row * out.stride;
    const auto unpack = [&](Index j, auto part) {
      unpack_part<part>(x + j, out, at + j, accumulate);
    };
    for (Index j = for_parts(0, out.width, unpack); j < out.width; ++j) {
      for (Index lane = 0; lane < out.live; ++lane) {
        Scalar& to = out.first[lane][at + j];
        to = accumulate ? to + x[j][lane] : x[j][lane];
      }
    }
    x += padded_to_four(out.width);
  }
}

}}  // namespace headlab
