// What a model is given: tokens and, for training, targets. A task makes it, the model turns it
// into logits. Letters: B sequences, T positions, K targets at each position. Read next:
// transformer.h.
#pragma once

#include "headlab/ops/gather.h"

namespace headlab::inline HEADLAB_SCALAR {

struct Batch {
  Index size = 0;                  // B
  Index length = 0;                // T
  Index targets_per_position = 1;  // K
  Ids tokens;                      // [B, T]
  Ids lengths;                     // [B]: positions that count, the rest is padding; empty: all T
  Ids targets;  // [B, T, K], -1 where there is none; may be empty where no loss is asked

  /// Room for B x T tokens (0) and B x T x K targets (-1).
  static Batch make(Index size, Index length, Index targets_per_position = 1);
  Shape shape() const { return {size, length}; }
  /// The number of targets that are not -1.
  Index target_count() const;
  /// Sequences [begin, end).
  Batch rows(Index begin, Index end) const;
  std::int32_t& token(Index b, Index t) { return tokens[static_cast<std::size_t>(b * length + t)]; }
  std::int32_t token(Index b, Index t) const {
    return tokens[static_cast<std::size_t>(b * length + t)];
  }
  std::int32_t& target(Index b, Index t, Index k = 0) { return targets[place(b, t, k)]; }
  std::int32_t target(Index b, Index t, Index k = 0) const { return targets[place(b, t, k)]; }
  /// Positions of sequence b that are no padding.
  Index length_of(Index b) const {
    return lengths.empty() ? length : lengths[static_cast<std::size_t>(b)];
  }

 private:
  std::size_t place(Index b, Index t, Index k) const {
    return static_cast<std::size_t>((b * length + t) * targets_per_position + k);
  }
};

}  // namespace headlab::inline HEADLAB_SCALAR
