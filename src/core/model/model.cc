// Functions shared by all models: the loss, the number of parameters, and the part of the hooks
// that belongs to one attention layer. A custom model computes logits and names its parameters; the
// rest is here. Read next: src/core/model/transformer.cc.
#include "headlab/core/model/model.h"

#include "headlab/core/base/error.h"
#include "headlab/core/model/transformer.h"
#include "headlab/core/ops/ops.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

AttentionHooks ModelHooks::of(std::size_t attention_layer) const {
  AttentionHooks one;
  one.interventions = interventions.empty() ? nullptr : &interventions[attention_layer];
  one.activations = activations != nullptr ? &activations->attention[attention_layer] : nullptr;
  one.z = attention_layer < z.size() ? z[attention_layer] : Tensor();
  return one;
}

void ModelHooks::begin(std::size_t attention_layers) const {
  require(interventions.empty() || interventions.size() == attention_layers,
          "cannot run the model: interventions are for ", interventions.size(),
          " attention layers, but the model has ", attention_layers);
  if (activations == nullptr) return;
  AttentionActivations fresh;
  fresh.wants_pattern = activations->wants_patterns;
  activations->attention.assign(attention_layers, fresh);
  activations->residual.clear();
  activations->written.clear();
}

Tensor Model::compute_loss(const Batch& batch, const ForwardContext& context,
                           const ModelHooks& hooks, double denominator) const {
  return loss_of(forward(batch, context, hooks), batch, denominator);
}

void Model::require_targets(const Batch& batch) const {
  require(batch.targets_per_position == shape().targets, "cannot run the model: the batch has ",
          batch.targets_per_position, " targets at each position, the model ", shape().targets);
}

Tensor Model::loss_of(const Tensor& logits, const Batch& batch, double denominator) const {
  const TaskShape& of = shape();
  require_targets(batch);
  const Shape rows{batch.size * batch.length * of.targets, of.outputs()};
  return cross_entropy(reshape(logits, rows), batch.targets, denominator);
}

Index Model::parameter_count() const {
  Index count = 0;
  visit([&](const std::string&, const Tensor& parameter) { count += parameter.count(); });
  return count;
}

std::vector<std::vector<std::int32_t>> HeadedModel::head_numbers() const {
  return mapped(attention_layers(), [](const AttentionLayer& m) { return m.attention->heads; });
}

const Transformer& transformer_of(const Model& model, const std::string& what) {
  const auto* transformer = dynamic_cast<const Transformer*>(&model);
  if (transformer == nullptr) {
    throw Error(text("cannot ", what, ": this needs a Transformer, and the model is another one"),
                "use scores of heads, ablation or a search, which work for every HeadedModel");
  }
  return *transformer;
}

}}  // namespace headlab
