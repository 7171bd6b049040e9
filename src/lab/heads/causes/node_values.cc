// Values of nodes in a recorded pass, and what the model would compute from changed ones. Nothing
// here runs the model: a changed value is put back into it by the hooks of a forward pass.
// Read next: node_patching.cc.
#include "lab/heads/causes/node_values.h"

#include <algorithm>

#include "headlab/core/base/error.h"
#include "headlab/core/ops/ops.h"

namespace headlab {
namespace {

/// Returns blocks of `width` columns of x, one for each head.
Tensor by_head(const Tensor& x, const Ids& block_of_head, Index width) {
  std::vector<Tensor> parts;
  for (const std::int32_t block : block_of_head) {
    parts.push_back(slice(x, 2, block * width, (block + 1) * width));
  }
  return concat(parts, 2);
}

AttentionOptions options_of(const AttentionLayer& attention_layer) {
  const MultiHeadAttention& a = *attention_layer.attention;
  AttentionOptions options;
  options.heads = a.head_count();
  if (!a.slopes.empty()) {
    options.slopes = mapped(a.heads, [&](std::int32_t head) { return a.slopes[head]; });
  }
  return options;
}

/// Returns whether two sublayers are in one block.
bool share_block(const Sublayer& a, const Sublayer& b) {
  return a.stack == b.stack && a.block == b.block;
}

/// Returns the norm of a block with the parameters of this name.
NormLayer norm_named(const Transformer& model, const std::string& name) {
  const TransformerConfig& config = model.config();
  NormLayer norm(config.d_model, config.norm, config.biases);
  norm.eps = static_cast<Scalar>(config.norm_eps);
  model.visit([&](const std::string& parameter, const Tensor& value) {
    if (parameter == name + ".w") norm.w = value;
    if (parameter == name + ".b") norm.b = value;
  });
  return norm;
}

}  // namespace

HeadInputs head_inputs(const MultiHeadAttention& a, const AttentionActivations& activations) {
  return {activations.q, by_head(activations.k, a.kv_head, a.d_head),
          by_head(activations.v, a.kv_head, a.d_value)};
}

Tensor attend(const AttentionLayer& attention_layer, const HeadInputs& inputs, const Batch& batch,
              Tensor* pattern) {
  AttentionOptions options = options_of(attention_layer);
  const bool reads_tokens = attention_layer.kind == AttentionKind::self;
  options.mask = {.causal = attention_layer.causal,
                  .window = attention_layer.window,
                  .lengths = reads_tokens ? batch.lengths : batch.source_lengths};
  const auto compute = form_of(attention_layer.attention->function);
  return compute(inputs.q, inputs.k, inputs.v, std::move(options), pattern);
}

Tensor attend_with(const AttentionLayer& attention_layer, const Tensor& pattern, const Tensor& v) {
  return weighted_values(pattern, v, options_of(attention_layer));
}

std::size_t stream_after(const Transformer& model, const Sublayer& mlp) {
  for (const AttentionLayer& attention_layer : model.attention_layers()) {
    if (share_block(attention_layer.sublayer, mlp)) return attention_layer.stream + 1;
  }
  throw Error(text("cannot patch: the model has no block of ", name_of(mlp)));
}

Tensor written_by(const ActivationCache& activations, const Sublayer& part) {
  return std::ranges::find(activations.written, part, &ActivationCache::Written::from)->x;
}

Tensor stream_with(const Transformer& model, const ActivationCache& activations,
                   const Sublayer& mlp, const Tensor& y) {
  const std::size_t after = stream_after(model, mlp);
  const bool is_post = kind_of(model.config().norm_place).stream == StreamKind::normalised;
  if (!is_post) return activations.residual[after] + (y - written_by(activations, mlp));
  Tensor x = activations.residual[after - 1];
  for (const AttentionLayer& attention_layer : model.attention_layers()) {
    if (!share_block(attention_layer.sublayer, mlp)) continue;
    x = attention_layer.query_norm->forward(x + written_by(activations, attention_layer.sublayer));
  }
  return norm_named(model, text(mlp.stack, "blocks.", mlp.block, ".ln2")).forward(x + y);
}

}  // namespace headlab
