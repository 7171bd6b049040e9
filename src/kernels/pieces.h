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
void for_pieces(Index n, Body&& body) {
  parallel_for((n + kPiece - 1) / kPiece,
               [&](Index piece) { body(piece * kPiece, std::min(n, (piece + 1) * kPiece)); });
}

}}  // namespace headlab
