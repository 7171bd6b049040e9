// What a transformer is made of. One struct serves decoders and encoders; `settings_of` binds it to
// flags and files; `validate` says in words what does not fit. It is part of a run's config.json.
// Read next: transformer.h.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "headlab/base/settings.h"
#include "headlab/kernels/scalar.h"
#include "headlab/nn/layers.h"

namespace headlab::inline HEADLAB_SCALAR {

enum class Architecture { decoder, encoder };  // causal, or every position sees every other
enum class NormPlace { pre, post };            // x + f(ln(x)), or ln(x + f(x))
enum class Positions { learned, sinusoidal, none };
enum class InitialValues { uniform, gpt2 };  // see initial.h

struct TransformerConfig {
  Architecture architecture = Architecture::decoder;
  Index layers = 1;
  std::vector<Index> heads = {
      4};  // one number for all layers, or one for each; 0 leaves attention with b_O alone
  Index d_model = 64;
  Index d_head = 0;    // 0: d_model / heads
  Index d_value = 0;   // 0: d_head
  Index kv_heads = 0;  // blocks of K and V; 0: heads
  Index d_ff = 0;      // width of the feed-forward network; 0: none
  Index vocab = 16;
  Index length = 16;  // the longest sequence
  Index targets = 1;  // K: softmaxes over the vocabulary at each position
  Activation activation = Activation::gelu;
  NormPlace norm = NormPlace::pre;
  Positions positions = Positions::learned;
  bool tied = false;  // the unembedding is the embedding's transpose
  double dropout = 0;
  InitialValues init = InitialValues::uniform;
  /// Attention modules that lost heads: (name, numbers of the heads that are left).
  std::vector<std::pair<std::string, std::vector<std::int32_t>>> attention;

  Index heads_of(Index layer) const;   // born heads
  Index d_head_of(Index layer) const;  // 0 where a layer has no heads and d_head is not set
  Index d_value_of(Index layer) const;

  /// Error that says which setting does not fit, and what would.
  void validate() const;
};

/// The table of settings, bound to `config`, which must outlive it.
Settings settings_of(TransformerConfig& config);

}  // namespace headlab::inline HEADLAB_SCALAR
