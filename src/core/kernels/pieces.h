// Division of long arrays into tasks: pieces of one length for any number of threads. A sum that
// adds piece after piece therefore has its terms in the same order on every machine, and the random
// numbers of a piece depend only on its position. Read next: headlab/base/threads.h.
#pragma once

#include <algorithm>

#include "headlab/base/threads.h"
#include "headlab/kernels/scalar.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// Elements of a piece: few enough for L2, enough to be worth a task.
inline constexpr Index kPiece = 1 << 14;

/// Calls body(begin, end) for each piece of [0, n), in parallel.
template <class Body>
void for_pieces(Index n, Body&& body, Index piece = kPiece) {
  parallel_for((n + piece - 1) / piece,
               [&](Index i) { body(i * piece, std::min(n, (i + 1) * piece)); });
}
/// Calls body(row) for each of rows of n numbers; a task takes enough rows to be worth its
/// overhead.
template <class Body>
void for_rows(Index rows, Index n, Body&& body) {
  const auto each = [&](Index row, Index end) {
    for (; row < end; ++row) body(row);
  };
  for_pieces(rows, each, std::max<Index>(1, kPiece / std::max<Index>(n, 1)));
}

}}  // namespace headlab
