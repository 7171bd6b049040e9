// The transformer: embeddings, blocks of attention and feed-forward network, unembedding. A row of
// block_wirings() (block.h) defines how a block joins its layers; the default is "pre". In an
// encoder-decoder the decoder also attends to the encoded source, and both embed with one W_E
// (Vaswani et al. 2017, sections 3.1 and 3.4). A model of vectors maps each vector by W_E instead.
// Every forward pass accepts an activation cache and interventions. Read next: model.h,
// core/nn/attention.h.
#pragma once

#include <string>
#include <vector>

#include "headlab/core/model/model.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// Positions and blocks that run in sequence: a whole decoder or encoder, or half of an
/// encoder-decoder.
struct Stack {
  std::string name;  // "", "encoder." or "decoder."
  Tensor positions;  // learned [length, C], or the sinusoidal table, or undefined
  std::vector<Block> blocks;
  NormLayer ln_final;      // used if the wiring has a final norm
  std::size_t stream = 0;  // the residual stream that enters the first block
};

/// Keys and values of processed tokens, kept for generation (core/nn/attention.h).
struct ModelCache {
  Index length = 0;                      // number of tokens processed
  std::vector<KeyValueCache> attention;  // by attention layer

  /// Allocates capacity for `positions` tokens; a layer with a window of N keeps N of them.
  ModelCache(const TransformerConfig& config, Index positions);
};

/// A decoder, encoder or encoder-decoder. Copies share their parameters, as copies of a Tensor do;
/// use `clone` for an independent model.
class Transformer final : public HeadedModel {
 public:
  /// Validates the config; parameters are zeros and ones until `initialize` (initial.h) or a
  /// checkpoint fills them.
  explicit Transformer(const TransformerConfig& config);

  const TaskShape& shape() const override { return config_; }
  /// Visits the parameters in execution order. Errors of `forward`: a sequence longer than
  /// config.length; a token outside the vocabulary; a missing source for an encoder-decoder, or a
  /// source for another model.
  void visit(const ParameterVisitor& f) const override;
  std::vector<AttentionLayer> attention_layers() const override;

  /// Returns the attention layer with this index, for changing its weights.
  MultiHeadAttention& attention(std::size_t attention_layer);
  /// Return the embedding [V, C] (with vectors the map [F, C]), the norm after the last block if
  /// there is one, and the map [C, K*V] from there to the logits (without b in a tied model).
  const Tensor& embedding() const { return W_E_; }
  const NormLayer& final_norm() const { return main_.ln_final; }
  Linear unembedding() const;
  /// Returns a model with only these heads, given for each attention layer. The matrices are
  /// smaller; the function is the same as with the other heads' gates at 0. Parameters are copied,
  /// and the config records the remaining heads.
  Transformer with_heads(const std::vector<std::vector<std::int32_t>>& kept) const;
  Transformer clone() const;
  const TransformerConfig& config() const { return config_; }

 private:
  Tensor compute(const Batch& batch, const ForwardContext& context,
                 const ModelHooks& hooks) const override;
  Tensor compute_loss(const Batch& batch, const ForwardContext& context, const ModelHooks& hooks,
                      double denominator) const override;
  Tensor embed(Tensor x, const ModelPass& pass) const;
  Tensor run(Tensor x, const ModelPass& pass) const;
  void prepare(const Batch& batch, const ModelHooks& hooks) const;

  TransformerConfig config_;
  Tensor W_E_;     // [V, C]; with vectors [F, C]
  Stack encoder_;  // empty unless the model is an encoder-decoder
  Stack main_;     // the decoder of an encoder-decoder, or the only stack
  Linear unembed_;
};

}}  // namespace headlab
