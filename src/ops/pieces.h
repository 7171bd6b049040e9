// How elementwise ops use the threads: long arrays in fixed pieces, short ones in place. The pieces
// depend on the length alone, and each output is written by one of them, so results are
// bit-identical for any number of threads.
#pragma once

#include <algorithm>

#include "headlab/base/threads.h"
#include "headlab/kernels/scalar.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// Calls body(begin, end) for pieces that cover [0, n); pieces do not depend on the number of
/// threads.
template <class Body>
void for_pieces(Index n, Body&& body) {
  constexpr Index kPiece = 16384;
  if (n <= kPiece) {
    body(Index{0}, n);
    return;
  }
  parallel_for((n + kPiece - 1) / kPiece,
               [&](Index piece) { body(piece * kPiece, std::min(n, (piece + 1) * kPiece)); });
}

}}  // namespace headlab
