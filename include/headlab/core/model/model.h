// Interfaces between models and the code that uses them. Model: parameters with names and the loss
// of a batch; the trainer, `evaluate` and checkpoints use it. HeadedModel: also attention layers
// that accept interventions and an activation cache; head scores, ablation and pruning searches use
// it. Transformer implements both; examples/own_model.cc is another implementation. Read next:
// transformer.h.
#pragma once

#include <string>
#include <vector>

#include "headlab/core/model/batch.h"
#include "headlab/core/model/config.h"
#include "headlab/core/nn/attention.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

struct ModelCache;

/// An attention layer of a model. Its name is the one in checkpoints and reports.
struct AttentionLayer : AttentionSlot {
  const MultiHeadAttention* attention = nullptr;
  std::size_t stream = 0;  // ActivationCache::residual[stream] enters the block of this layer
  /// The norms through which queries, and keys and values, read a stream; null if the model is not
  /// a Transformer.
  const NormLayer* query_norm = nullptr;
  const NormLayer* key_norm = nullptr;
};

/// Activation cache: tensors recorded during a forward pass.
struct ActivationCache {
  bool wants_patterns = true;
  std::vector<AttentionActivations> attention;  // by attention layer, in execution order
  /// [B, T, C] before each block and after the last; those of the encoder, [B, S, C], come first.
  std::vector<Tensor> residual;
  /// Terms added to the streams, in this order.
  struct Written {
    Sublayer from;
    Tensor x;  // [B, T, C]; positions [T, C]
  };
  std::vector<Written> written;
};

/// Optional inputs and outputs of a forward pass. `interventions` is empty or has one
/// entry for each attention layer.
struct ModelHooks {
  std::vector<HeadInterventions> interventions{};
  ActivationCache* activations = nullptr;
  /// Streams that replace the computed ones, indexed as ActivationCache::residual, of the same
  /// shapes. If a stream is undefined or beyond the end, it is computed. Blocks before the last
  /// replaced stream do not run.
  std::vector<Tensor> residual{};
  /// Head outputs from a pass with the same input, by attention layer: AttentionHooks::z of the
  /// layer. If an entry is undefined or beyond the end, it is computed.
  std::vector<Tensor> z{};
  /// Keys and values of earlier passes: the batch holds only the tokens that follow, all of a
  /// prompt or one more. The pass extends it. Requires no encoder, no padding and no tape.
  ModelCache* cache = nullptr;
  /// If false, the pass returns the last stream [B, T, C] instead of logits, which take most of the
  /// time and memory if the vocabulary is large.
  bool logits = true;

  /// Returns the part of these hooks that belongs to one attention layer, without the cache; a
  /// model passes it to MultiHeadAttention::forward.
  AttentionHooks of(std::size_t attention_layer) const;
  /// Prepares the hooks for a pass through a model with this number of attention layers: clears the
  /// activation cache. Error if `interventions` has another size.
  void begin(std::size_t attention_layers) const;
};

class Model {
 public:
  virtual ~Model() = default;

  /// Returns the settings that the task decides: vocabulary, lengths, targets.
  virtual const TaskShape& shape() const = 0;
  /// Calls f with the name and tensor of each parameter, always in the same order.
  virtual void visit(const ParameterVisitor& f) const = 0;

  /// Logits [B, T, K*V]. Error if the model cannot process the batch.
  Tensor forward(const Batch& batch, const ForwardContext& context = {},
                 const ModelHooks& hooks = {}) const {
    return compute(batch, context, hooks);
  }
  /// Returns the cross-entropy in nats: the sum over all targets that are not -1, divided by
  /// `denominator` (0: by their number).
  Tensor loss(const Batch& batch, const ForwardContext& context = {}, const ModelHooks& hooks = {},
              double denominator = 0) const {
    return compute_loss(batch, context, hooks, denominator);
  }
  Tensor loss_of(const Tensor& logits, const Batch& batch, double denominator = 0) const;
  Index parameter_count() const;

 protected:
  void require_targets(const Batch& batch) const;
  Model() = default;
  Model(const Model&) = default;
  Model& operator=(const Model&) = default;

 private:
  virtual Tensor compute(const Batch& batch, const ForwardContext& context,
                         const ModelHooks& hooks) const = 0;
  /// Returns the loss. The default computes all logits; a model that ends in a linear map can use
  /// linear_cross_entropy (core/ops/loss.h), which needs less memory.
  virtual Tensor compute_loss(const Batch& batch, const ForwardContext& context,
                              const ModelHooks& hooks, double denominator) const;
};

/// A model whose `compute` calls hooks.begin(number of attention layers) and then passes
/// hooks.of(m) to its attention layer m.
class HeadedModel : public Model {
 public:
  /// Returns the attention layers in execution order; reports number heads as [index here, original
  /// index].
  virtual std::vector<AttentionLayer> attention_layers() const = 0;
  /// Returns the heads of each attention layer by original index.
  std::vector<std::vector<std::int32_t>> head_numbers() const;
};

class Transformer;
/// Returns `model` as a Transformer. Error "cannot WHAT: ..." if it is of another class.
const Transformer& transformer_of(const Model& model, const std::string& what);

}}  // namespace headlab
