// The transformer: embeddings, blocks of attention and feed-forward, unembedding. How a block joins
// its layers is a row of block_wirings() (block.h), "pre" unless norm_place says otherwise. In an
// encoder-decoder the blocks of the decoder also attend to what the encoder made of the source, and
// both embed by one W_E (Vaswani et al. 2017, sections 3.1 and 3.4). A model of vectors maps each
// by W_E, and nothing else differs. Every call can be watched (captures) and edited (head edits).
// Read next: model.h, nn/attention.h.
#pragma once

#include <string>
#include <vector>

#include "headlab/model/model.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// Positions and blocks that run one after the other: a whole decoder or encoder, or half of an
/// encoder-decoder.
struct Stack {
  std::string name;  // "", "encoder." or "decoder."
  Tensor positions;  // learned [length, C], or the sinusoidal table, or undefined
  std::vector<Block> blocks;
  NormLayer ln_final;      // unless norms follow the sums of the blocks
  std::size_t stream = 0;  // the residual stream that enters the first block
};

/// What generation keeps of the tokens that were read: keys and values (nn/attention.h).
struct ModelCache {
  Index length = 0;                      // tokens that were read
  std::vector<KeyValueCache> attention;  // by attention module

  /// Room for `positions` tokens; a window of N keeps N of them.
  ModelCache(const TransformerConfig& config, Index positions);
  Index numbers() const;  // that are kept
};

/// Copies share their parameters, as copies of a Tensor do; `clone` makes a model of its own.
class Transformer final : public HeadedModel {
 public:
  /// Validates the config; parameters are zeros and ones until `initialize` (initial.h) or a
  /// checkpoint fills them.
  explicit Transformer(const TransformerConfig& config);

  const TaskShape& shape() const override { return config_; }
  /// The parameters in the order of the pass. Errors of `forward`: a sequence longer than
  /// config.length, a token outside the vocabulary; a source that an encoder-decoder lacks or
  /// another model is given.
  void visit(const ParameterVisitor& f) const override;
  std::vector<AttentionModule> attention_modules() const override;

  /// The module with that index, to change its weights by hand.
  MultiHeadAttention& attention(std::size_t module);
  /// The embedding [V, C], or of vectors the map [F, C]; the norm after the last block, if there is
  /// one; and the map [C, K*V] from there to the logits, without b in a tied model.
  const Tensor& embedding() const { return W_E_; }
  const NormLayer& final_norm() const { return main_.ln_final; }
  Linear unembedding() const;
  /// A model without all heads but these, for each attention module: smaller matrices, the same
  /// function as with the other heads' gates at 0; parameters are copied. Its config remembers
  /// which heads are left.
  Transformer with_heads(const std::vector<std::vector<std::int32_t>>& kept) const;
  /// A copy whose parameters share nothing with this one's.
  Transformer clone() const;
  const TransformerConfig& config() const { return config_; }

 private:
  Tensor compute(const Batch& batch, const ForwardContext& context,
                 const ModelHooks& hooks) const override;
  Tensor embed(Tensor x, const ModelPass& pass) const;
  Tensor run(Tensor x, const ModelPass& pass) const;
  void prepare(const Batch& batch, const ModelHooks& hooks) const;

  TransformerConfig config_;
  Tensor W_E_;     // [V, C]; of vectors [F, C]
  Stack encoder_;  // empty but in an encoder-decoder
  Stack main_;     // its decoder, or the only stack
  Linear unembed_;
};

}}  // namespace headlab
