// How work over long arrays is cut into tasks: pieces of one length, whatever the number of
// threads. So a sum that adds piece after piece has its terms in the same order on every machine,
// and the random numbers of a piece depend on its place alone. Read next: base/threads.h.
#pragma once

#include <algorithm>

#include "headlab/base/threads.h"
#include "headlab/kernels/scalar.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// Elements of a piece: small enough for L2, long enough to be worth a task.
inline constexpr Index kPiece = 1 << 14;

/// Calls body(begin, end) for each piece of [0, n), in parallel.
template <class Body>
void for_pieces(Index n, Body&& body, Index piece = kPiece) {
  parallel_for((n + piece - 1) / piece,
               [&](Index i) { body(i * piece, std::min(n, (i + 1) * piece)); });
}
/// Calls body(row) for each of rows of n numbers; a task takes enough of them to be worth it.
template <class Body>
void for_rows(Index rows, Index n, Body&& body) {
  const auto each = [&](Index row, Index end) {
    for (; row < end; ++row) body(row);
  };
  for_pieces(rows, each, std::max<Index>(1, kPiece / std::max<Index>(n, 1)));
}

}}  // namespace headlab
