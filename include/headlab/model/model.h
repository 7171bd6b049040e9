// What training, evaluation and the tools for heads need of a model. Model: a loss of a batch and
// parameters with names, which the trainer, `evaluate` and checkpoints use. HeadedModel: attention
// modules that can be watched and edited as well, which scores of heads, ablation and the searches
// of pruning use. Transformer is both; examples/own_model.cc is another one.
// Read next: transformer.h.
#pragma once

#include <string>
#include <vector>

#include "headlab/model/batch.h"
#include "headlab/model/config.h"
#include "headlab/nn/attention.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

struct ModelCache;

/// An attention module of a model. Its name is that in checkpoints and reports.
struct AttentionModule : AttentionPlace {
  const MultiHeadAttention* attention = nullptr;
  std::size_t stream = 0;  // ModelCaptures::residual[stream] enters the block of the module
  /// The norms through which queries, and keys and values, read a stream; null in a model that is
  /// no Transformer.
  const NormLayer* query_norm = nullptr;
  const NormLayer* key_norm = nullptr;
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

  /// The part of these hooks that belongs to one attention module, without the cache: what a model
  /// passes to MultiHeadAttention::forward.
  AttentionHooks of(std::size_t module) const;
  /// Prepares the hooks for a pass through a model with so many attention modules: clears the
  /// captures. Error for edits of another number of modules.
  void begin(std::size_t modules) const;
};

class Model {
 public:
  virtual ~Model() = default;

  /// What a task decides of the model: vocabulary, lengths, targets.
  virtual const TaskShape& shape() const = 0;
  /// Calls f with the name and the tensor of each parameter, always in the same order.
  virtual void visit(const ParameterVisitor& f) const = 0;

  /// Logits [B, T, K*V]. Errors: those of the model for a batch that it cannot read.
  Tensor forward(const Batch& batch, const ForwardContext& context = {},
                 const ModelHooks& hooks = {}) const {
    return compute(batch, context, hooks);
  }
  /// Cross-entropy in nats: the sum over all targets that are not -1, divided by `denominator` (0:
  /// by their number).
  Tensor loss(const Batch& batch, const ForwardContext& context = {}, const ModelHooks& hooks = {},
              double denominator = 0) const;
  /// The same from logits that are there already.
  Tensor loss_of(const Tensor& logits, const Batch& batch, double denominator = 0) const;
  Index parameter_count() const;

 protected:
  Model() = default;
  Model(const Model&) = default;
  Model& operator=(const Model&) = default;

 private:
  virtual Tensor compute(const Batch& batch, const ForwardContext& context,
                         const ModelHooks& hooks) const = 0;
};

/// A model whose `compute` calls hooks.begin(number of modules) and then passes hooks.of(m) to its
/// attention module m.
class HeadedModel : public Model {
 public:
  /// The attention modules in execution order; reports number heads as [index here, original
  /// index].
  virtual std::vector<AttentionModule> attention_modules() const = 0;
  /// The heads of each attention module, by their original indices.
  std::vector<std::vector<std::int32_t>> head_numbers() const;
};

class Transformer;
/// The transformer that `model` is. Error "cannot WHAT: ..." for a model of another class.
const Transformer& transformer_of(const Model& model, const std::string& what);

}}  // namespace headlab
