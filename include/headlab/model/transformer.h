// The transformer: embeddings, blocks of attention and feed-forward, unembedding. Pre-norm blocks
// compute x + attn(ln1(x)), x + mlp(ln2(x)) and end in ln_final; post-norm blocks ln1(x + attn(x)),
// ln2(x + mlp(x)). In an encoder-decoder the blocks of the decoder attend, between the two, to what
// the encoder made of the source, and both embed by one W_E (Vaswani et al. 2017, sections 3.1 and
// 3.4). A model of vectors maps each by W_E, and nothing else differs. Every call can be watched
// (captures) and edited (head edits). Read next: nn/attention.h, train/trainer.h.
#pragma once

#include <string>
#include <vector>

#include "headlab/model/batch.h"
#include "headlab/model/config.h"
#include "headlab/nn/attention.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

struct Block {
  std::string name;        // "blocks.0.", after the name of its stack
  std::size_t module = 0;  // the index of attn among the model's attention modules; cross_attn: + 1
  std::size_t stream = 0;  // the residual stream that it reads: ModelCaptures::residual[stream]
  NormLayer ln1, ln_cross, ln2;
  MultiHeadAttention attn, cross_attn;
  FeedForward mlp;
  Index window = 0;  // of attn
  bool has_cross = false, has_mlp = false;

  void visit(const std::string& prefix, const ParameterVisitor& f) const;
};

/// Positions and blocks that run one after the other: a whole decoder or encoder, or half of an
/// encoder-decoder.
struct Stack {
  std::string name;  // "", "encoder." or "decoder."
  Tensor positions;  // learned [length, C], or the sinusoidal table, or undefined
  std::vector<Block> blocks;
  NormLayer ln_final;      // pre-norm alone
  std::size_t stream = 0;  // the residual stream that enters the first block
};

/// An attention module of a model. Its name is that in checkpoints and reports.
struct AttentionModule : AttentionPlace {
  const MultiHeadAttention* attention;
  std::size_t stream;  // ModelCaptures::residual[stream] enters the block of the module
  /// Pre-norm: what queries, and keys and values, read a stream through.
  const NormLayer *query_norm, *key_norm;
};

/// What a forward pass computed, for whoever asks.
struct ModelCaptures {
  bool wants_patterns = true;
  std::vector<AttentionCaptures> attention;  // by attention module, in execution order
  /// [B, T, C] before each block, and after the last; first those of the encoder, [B, S, C].
  std::vector<Tensor> residual;
  /// What was added to the streams, in this order; the names follow that of the stack.
  struct Written {
    std::string name;  // "embedding", "positions", "blocks.0.attn", "blocks.0.mlp"
    Tensor x;          // [B, T, C]; positions [T, C]
  };
  std::vector<Written> written;
};

/// What generation keeps of the tokens that were read: keys and values (nn/attention.h).
struct ModelCache {
  Index length = 0;                      // tokens that were read
  std::vector<KeyValueCache> attention;  // by attention module

  /// Room for `positions` tokens; a window of N keeps N of them.
  ModelCache(const TransformerConfig& config, Index positions);
  Index numbers() const;  // that are kept
};

/// Optional companions of a forward pass. `edits` is empty or has one entry for each attention
/// module.
struct ModelHooks {
  std::vector<HeadEdits> edits{};
  ModelCaptures* captures = nullptr;
  /// Streams that take the place of the computed ones, numbered as ModelCaptures::residual, of the
  /// same shapes; undefined, or beyond the end: none. Blocks before the last one given do not run.
  std::vector<Tensor> residual{};
  /// Outputs of heads that a pass with the same input computed, by attention module: the module's
  /// AttentionHooks::z. Undefined, or beyond the end: computed.
  std::vector<Tensor> z{};
  /// What passes before this one read: the batch holds only the tokens that follow it, all of a
  /// prompt or one more. No encoder, no padding, no tape. It is extended.
  ModelCache* cache = nullptr;
  /// False: the pass ends in the last stream, [B, T, C] in place of logits, which of a large
  /// vocabulary take most of the time and memory.
  bool logits = true;
};

/// Copies share their parameters, as copies of a Tensor do; `clone` makes a model of its own.
class Transformer {
 public:
  /// Validates the config; parameters are zeros and ones until `initialize` (initial.h) or a
  /// checkpoint fills them.
  explicit Transformer(const TransformerConfig& config);

  /// Logits [B, T, K*V], V = config.outputs(). Errors: a sequence longer than config.length, a
  /// token outside the vocabulary; a source that an encoder-decoder lacks or another model is
  /// given.
  Tensor forward(const Batch& batch, const ForwardContext& context = {},
                 const ModelHooks& hooks = {}) const;
  /// Cross-entropy in nats: the sum over all targets that are not -1, divided by `denominator` (0:
  /// by their number).
  Tensor loss(const Batch& batch, const ForwardContext& context = {}, const ModelHooks& hooks = {},
              double denominator = 0) const;
  /// The same from logits that are there already.
  Tensor loss_of(const Tensor& logits, const Batch& batch, double denominator = 0) const;

  /// The attention modules in execution order; reports number heads as [index here, number the head
  /// was born with].
  std::vector<AttentionModule> attention_modules() const;
  /// The module with that index, to change its weights by hand.
  MultiHeadAttention& attention(std::size_t module);
  /// The embedding [V, C], or of vectors the map [F, C]; pre-norm, the norm after the last block;
  /// and the map [C, K*V] from there to the logits, without b in a tied model.
  const Tensor& embedding() const { return W_E_; }
  const NormLayer& final_norm() const { return main_.ln_final; }
  Linear unembedding() const;
  /// A model without all heads but these, for each attention module: smaller matrices, the same
  /// function as with the other heads' gates at 0; parameters are copied. Its config remembers
  /// which heads are left.
  Transformer with_heads(const std::vector<std::vector<std::int32_t>>& kept) const;
  /// The heads of each attention module, by the numbers they were born with.
  std::vector<std::vector<std::int32_t>> head_numbers() const;

  void visit(const ParameterVisitor& f) const;
  Index parameter_count() const;
  /// A copy whose parameters share nothing with this one's.
  Transformer clone() const;
  const TransformerConfig& config() const { return config_; }

 private:
  struct Pass;
  Tensor embed(Tensor x, const Pass& pass) const;
  Tensor run(Tensor x, const Pass& pass) const;
  Tensor run_block(const Block& block, Tensor x, const Pass& pass) const;
  void prepare(const Batch& batch, const ModelHooks& hooks) const;

  TransformerConfig config_;
  Tensor W_E_;     // [V, C]; of vectors [F, C]
  Stack encoder_;  // empty but in an encoder-decoder
  Stack main_;     // its decoder, or the only stack
  Linear unembed_;
};

}}  // namespace headlab
