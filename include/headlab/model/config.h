// What a transformer is made of. One struct serves all architectures; `settings_of` binds it to
// flags and files; `validate` says in words what does not fit. It is part of a run's config.json.
// Read next: transformer.h.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headlab/base/settings.h"
#include "headlab/model/batch.h"
#include "headlab/model/block.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// Causal; every position sees every other; or a decoder that also reads what an encoder makes of a
/// source, through cross-attention (Vaswani et al. 2017).
enum class Architecture { decoder, encoder, encoder_decoder };
enum class InitialValues { uniform, gpt2 };  // see initial.h

/// An attention module as the config describes it, born heads and all.
struct AttentionPlace {
  std::string name;  // "blocks.0.attn"
  AttentionKind kind = AttentionKind::self;
  Index layer = 0;                 // layers of the encoder count first
  Index queries = 0, keys = 0;     // T and S, where sequences have their full length
  Index width = 0, key_width = 0;  // H (d_head + d_value), and G (d_head + d_value) with G kv_heads
  bool causal = false;             // key s <= query t
  Index window = 0;                // if > 0: |t - s| < window
  bool begins_block() const { return kind != AttentionKind::cross; }
};

/// What a task decides of a model: these settings are the task's, not the user's.
struct TaskShape {
  Architecture architecture = Architecture::decoder;
  Index vocab = 16;
  Index length = 16;        // the longest sequence
  Index targets = 1;        // K: softmaxes over the outputs at each position
  Index source_length = 0;  // the longest source, of an encoder-decoder
  Index features = 0;       // F: numbers of a vector that stands in place of a token; 0: tokens
  Index answers = 0;        // outputs of a target if they are no tokens; 0: one for each token
  /// Rows of the embedding: one for each token, or for each number of a vector.
  Index inputs() const { return features > 0 ? features : vocab; }
  bool has_source() const { return architecture == Architecture::encoder_decoder; }
  Index tokens_per_sequence() const { return length + source_length; }
  /// How many of `most` sequences of a length one pass should read: their logits stay below 256 MB.
  Index at_once(Index most, Index length) const;
  /// Number of classes of each target: the V of logits [.., K*V].
  Index outputs() const { return answers > 0 ? answers : vocab; }
  /// Whether a model of this shape reads the sequences of a task: they may be shorter.
  bool serves(const TaskShape& task) const;
  friend bool operator==(const TaskShape&, const TaskShape&) = default;
};

struct TransformerConfig : TaskShape {
  // Sizes. Cost of a step: proportional to layers and, for wide models, to d_model squared; heads
  // are free at a fixed d_model, as they share it. Begin small: two layers of width 64 show
  // induction.
  Index layers = 1;          // of the decoder in an encoder-decoder
  Index encoder_layers = 0;  // of its encoder
  /// One number for all layers, or one for each, the encoder's first; a decoder block's counts for
  /// self- and for cross-attention. 0 leaves attention with b_O alone.
  std::vector<Index> heads = {4};
  Index d_model = 64;
  Index d_head = 0;    // 0: d_model / heads
  Index d_value = 0;   // 0: d_head
  Index kv_heads = 0;  // blocks of K and V; 0: heads
  Index d_ff = 0;      // width of the feed-forward network, usually 4 d_model; 0: none
  Activation activation = Activation::gelu;
  AttentionFunction attention_function = AttentionFunction::softmax;
  NormType norm = NormType::layer;
  NormPlace norm_place = NormPlace::pre;  // the wiring of a block
  double norm_eps = 1e-5;  // is added to the variance; other values come with models from elsewhere
  Positions positions = Positions::learned;
  double rotary_base =
      10000;           // of rotary positions: the slowest pair turns by 1/base^(1-2/D) a step
  bool biases = true;  // of linear maps and norms
  /// How far self-attention looks back (and, in an encoder, ahead), itself included; 0: no limit.
  /// As heads, one number or one for each layer: local and global layers may be mixed.
  std::vector<Index> window = {0};
  bool tied = false;   // the unembedding is the embedding's transpose: fewer parameters
  double dropout = 0;  // costs some time; for text small enough to be learned by heart, 0.1 to 0.2
  InitialValues init = InitialValues::uniform;
  /// Attention modules that lost heads: (name, numbers of the heads that are left).
  std::vector<std::pair<std::string, std::vector<std::int32_t>>> attention;

  Index all_layers() const { return encoder_layers + layers; }
  /// The attention modules in execution order: the encoder's, then those of each decoder block.
  std::vector<AttentionPlace> attention_places() const;

  Index window_of(Index layer) const;  // of self-attention
  Index heads_of(Index layer) const;   // born heads; `layer` counts those of the encoder first
  Index d_head_of(Index layer) const;  // 0 where a layer has no heads and d_head is not set
  Index d_value_of(Index layer) const;

  /// Weights of the blocks' matrices. Each multiplies every query or every key of its module.
  double block_weights() const;
  /// Of a forward pass over a sequence, a multiply-add counting two: 2 (weights x the tokens that
  /// they multiply + attention over all T x S keys).
  double operations() const;

  /// Error that says which setting does not fit, and what would.
  void validate() const;
  friend bool operator==(const TransformerConfig&, const TransformerConfig&) = default;
  TaskShape& shape() { return *this; }
  const TaskShape& shape() const { return *this; }
};

/// A published block by its name: its source, and the settings that its kinds have.
struct BlockKind {
  const char *name, *summary, *settings;
};
extern const std::span<const BlockKind> kBlocks;

/// The table of settings, bound to `config`, which must outlive it.
Settings settings_of(TransformerConfig& config);

}}  // namespace headlab
