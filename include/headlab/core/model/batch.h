// The input of a model: tokens, or vectors instead of tokens; targets for training; and for an
// encoder-decoder a source. Tasks create batches, the model turns them into logits. Letters: B
// sequences, T positions, S positions of the source, K targets at each position, F numbers in a
// vector. Read next: transformer.h.
#pragma once

#include <span>

#include "headlab/core/base/pool.h"
#include "headlab/core/tensor/tensor.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// The inputs of an attention layer: queries and keys from the tokens (self), both from the source
/// (encoder), or queries from the tokens and keys from the source (cross).
enum class AttentionKind { self, encoder, cross };

struct Batch {
  Index size = 0;                  // B
  Index length = 0;                // T
  Index targets_per_position = 1;  // K
  Index source_length = 0;         // S; 0: there is no source
  Index features = 0;              // F; 0: the model reads tokens
  Ids tokens;                      // [B, T]; with vectors: the label of each vector, used only in
                                   // reports
  PoolVector<Scalar> vectors{};    // [B, T, F]: for example patches of an image
  Ids lengths{};                   // [B]: number of positions before padding; empty: all T
  Ids targets;           // [B, T, K], -1 if there is no target; may be empty if no loss is computed
  Ids source;            // [B, S]: input of the encoder in an encoder-decoder
  Ids source_lengths{};  // [B]: number of source positions before padding; empty: all S

  /// Returns a batch with B x T tokens (0), B x T x K targets (-1), B x S source tokens (0) and B x
  /// T vectors (0).
  static Batch make(Index size, Index length, Index targets_per_position = 1,
                    Index source_length = 0, Index features = 0);
  Shape shape() const { return {size, length}; }
  /// Returns the number of targets that are not -1.
  Index target_count() const;
  /// Returns sequences [begin, end).
  Batch rows(Index begin, Index end) const;
  std::int32_t& token(Index b, Index t) { return tokens[b * length + t]; }
  std::int32_t token(Index b, Index t) const { return tokens[b * length + t]; }
  std::span<Scalar> vector(Index b, Index t) {
    return std::span(vectors).subspan((b * length + t) * features, features);
  }
  std::int32_t& source_token(Index b, Index s) { return source[b * source_length + s]; }
  std::int32_t source_token(Index b, Index s) const { return source[b * source_length + s]; }
  std::int32_t& target(Index b, Index t, Index k = 0) { return targets[place(b, t, k)]; }
  std::int32_t target(Index b, Index t, Index k = 0) const { return targets[place(b, t, k)]; }
  /// Queries and keys of an attention layer: [B, T], [B, S], and the number in sequence b without
  /// padding. The encoder attends from the source to the source, cross-attention from the tokens to
  /// the source.
  Index queries(AttentionKind kind) const {
    return of_source(kind, false) ? source_length : length;
  }
  Index keys(AttentionKind kind) const { return of_source(kind, true) ? source_length : length; }
  Index queries_of(AttentionKind kind, Index b) const {
    return of_source(kind, false) ? source_length_of(b) : length_of(b);
  }
  Index keys_of(AttentionKind kind, Index b) const {
    return of_source(kind, true) ? source_length_of(b) : length_of(b);
  }
  /// Returns the number of positions of sequence b without padding.
  Index length_of(Index b) const { return lengths.empty() ? length : lengths[b]; }
  Index source_length_of(Index b) const {
    return source_lengths.empty() ? source_length : source_lengths[b];
  }

 private:
  static bool of_source(AttentionKind kind, bool keys) {
    return kind == AttentionKind::encoder || (keys && kind == AttentionKind::cross);
  }
  std::size_t place(Index b, Index t, Index k) const {
    return static_cast<std::size_t>((b * length + t) * targets_per_position + k);
  }
};

}}  // namespace headlab
