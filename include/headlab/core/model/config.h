// Settings of a transformer. One struct covers all architectures; `settings_of` binds it to flags
// and files; `validate` reports settings that do not fit together. It is part of a run's
// config.json, so a new member needs a row in settings_of and a default that keeps old runs
// unchanged. Read next: transformer.h.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headlab/core/base/settings.h"
#include "headlab/core/model/batch.h"
#include "headlab/core/model/block.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// Decoder: causal attention. Encoder: every position attends to every other. Encoder-decoder: the
/// decoder also attends to the encoded source through cross-attention (Vaswani et al. 2017).
enum class Architecture { decoder, encoder, encoder_decoder };
enum class InitialValues { uniform, gpt2 };  // see initial.h

/// An attention layer as described by the config, before any head was removed.
struct AttentionSlot {
  Sublayer sublayer;
  std::string name;  // of the sublayer: "blocks.0.attn"
  AttentionKind kind = AttentionKind::self;
  Index layer = 0;                 // index of the layer; layers of the encoder come first
  Index queries = 0, keys = 0;     // T and S for sequences of full length
  Index width = 0, key_width = 0;  // H (d_head + d_value), and G (d_head + d_value) with G kv_heads
  bool causal = false;             // key s <= query t
  Index window = 0;                // if > 0: |t - s| < window
  bool begins_block() const { return kind != AttentionKind::cross; }
};

/// Settings that the task decides, not the user.
struct TaskShape {
  Architecture architecture = Architecture::decoder;
  Index vocab = 16;
  Index length = 16;        // the longest sequence
  Index targets = 1;        // K: softmaxes over the outputs at each position
  Index source_length = 0;  // the longest source of an encoder-decoder
  Index features = 0;       // F: numbers in the vector that replaces a token; 0: tokens
  Index answers = 0;        // outputs of a target if answers are not tokens; 0: one for each token
  /// Returns the number of rows of the embedding: one for each token, or one for each number of a
  /// vector.
  Index inputs() const { return features > 0 ? features : vocab; }
  bool has_source() const { return architecture == Architecture::encoder_decoder; }
  Index tokens_per_sequence() const { return length + source_length; }
  /// Returns the number of sequences of a length, at most `most`, to process in one pass so that
  /// their logits take less than 256 MB.
  Index at_once(Index most, Index length) const;
  /// Returns the number of classes of each target: the V of logits [.., K*V].
  Index outputs() const { return answers > 0 ? answers : vocab; }
  /// Returns whether a model of this shape can process the sequences of a task; they may be
  /// shorter.
  bool serves(const TaskShape& task) const;
  friend bool operator==(const TaskShape&, const TaskShape&) = default;
};

struct TransformerConfig : TaskShape {
  // Sizes. Cost of a step: proportional to layers and, for wide models, to d_model squared; the
  // number of heads does not change the cost at a fixed d_model. Start small: two layers of width
  // 64 show induction.
  Index layers = 1;          // of the decoder in an encoder-decoder
  Index encoder_layers = 0;  // of the encoder
  /// One number for all layers, or one for each, the encoder's first; the number of a decoder block
  /// applies to self- and cross-attention. With 0 heads attention adds b_O only.
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
  double norm_eps = 1e-5;  // added to the variance; other values come from imported models
  Positions positions = Positions::learned;
  double rotary_base = 10000;  // of rotary: slowest pair rotates by 1/base^(1-2/D) per position
  bool biases = true;          // of linear maps and norms
  /// Number of positions that self-attention sees backward (and, in an encoder, forward), its own
  /// included; 0: no limit. One number or one for each layer, as `heads`: local and global layers
  /// may be mixed.
  std::vector<Index> window = {0};
  bool tied = false;   // whether the unembedding is the transposed embedding: fewer parameters
  double dropout = 0;  // costs some time; use 0.1 to 0.2 if the text is small enough to memorise
  InitialValues init = InitialValues::uniform;
  /// Attention layers from which heads were removed: (name, original indices of the remaining
  /// heads).
  std::vector<std::pair<std::string, std::vector<std::int32_t>>> attention;

  Index all_layers() const { return encoder_layers + layers; }
  /// Returns the attention layers in execution order: the encoder's, then those of each decoder
  /// block.
  std::vector<AttentionSlot> attention_slots() const;

  Index window_of(Index layer) const;  // of self-attention
  Index heads_of(Index layer) const;   // before removal; `layer` counts the layers of the encoder
                                       // first
  Index d_head_of(Index layer) const;  // 0 if the layer has no heads and d_head is not set
  Index d_value_of(Index layer) const;

  /// Returns the number of weights in the matrices of all blocks. Each is multiplied with every
  /// query or every key of its layer.
  double block_weights() const;
  /// Returns the operations of a forward pass over one sequence; a multiply-add counts as two: 2
  /// (weights x the tokens they are multiplied with + attention over all T x S keys).
  double operations() const;

  /// Throws an Error that names the setting that does not fit and a value that would.
  void validate() const;
  friend bool operator==(const TransformerConfig&, const TransformerConfig&) = default;
  TaskShape& shape() { return *this; }
  const TaskShape& shape() const { return *this; }
};

/// A published block: its name, its source, and the settings it consists of.
struct BlockKind {
  const char *name, *summary, *settings;
};
extern const std::span<const BlockKind> kBlocks;

/// Returns the table of settings, bound to `config`, which must outlive it.
Settings settings_of(TransformerConfig& config);

}}  // namespace headlab
