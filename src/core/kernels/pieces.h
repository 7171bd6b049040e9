// Division of long arrays into tasks: pieces of one length for any number of threads. A sum that
// adds piece after piece therefore has its terms in the same order on every machine, and the random
// numbers of a piece depend only on its position. Read next: headlab/core/base/threads.h.
#pragma once

#include <algorithm>

#include "headlab/core/base/threads.h"
#include "headlab/core/kernels/scalar.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// Elements of a piece: few enough for L2, enough to be worth a task.
inline constexpr Index kPiece = 1 << 14;

/// Returns the work of a pass over this many numbers, at the pace of memory.
inline LoopWork pass_over(Index numbers) { return {0.5 * static_cast<double>(numbers)}; }
/// Returns the work of this many multiply-adds in products.
inline LoopWork multiply_adds(double count) { return {count / 64}; }

/// Calls body(begin, end) for each piece of [0, n), in parallel.
template <class Body>
void for_pieces(Index n, Index piece, LoopWork work, Body&& body) {
  parallel_for((n + piece - 1) / piece, work,
               [&](Index i) { body(i * piece, std::min(n, (i + 1) * piece)); });
}
template <class Body>
void for_pieces(Index n, Body&& body) {
  for_pieces(n, kPiece, pass_over(n), body);
}
/// Calls body(row) for each of rows of n numbers; a task takes enough rows to be worth its
/// overhead.
template <class Body>
void for_rows(Index rows, Index n, Body&& body) {
  const auto each = [&](Index row, Index end) {
    for (; row < end; ++row) body(row);
  };
  for_pieces(rows, std::max<Index>(1, kPiece / std::max<Index>(n, 1)), pass_over(rows * n), each);
}

}}  // namespace headlab
