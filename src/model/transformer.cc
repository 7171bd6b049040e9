// One transformer for decoders and encoders: which norm goes where is a branch or two here rather
// than a class each. Every module folds its name into the key of dropout, so that no two draw the
// same mask. Read next: src/nn/attention.cc.
#include "headlab/model/transformer.h"

#include <algorithm>

#include "headlab/base/error.h"
#include "headlab/ops/ops.h"

namespace headlab::inline HEADLAB_SCALAR {
namespace {

std::string block_name(std::size_t layer) { return text("blocks.", layer, "."); }

Block make_block(const TransformerConfig& c, Index layer) {
  const Index heads = c.heads_of(layer);
  Block block;
  block.attn = MultiHeadAttention({.d_model = c.d_model,
                                   .heads = heads,
                                   .d_head = std::max<Index>(1, c.d_head_of(layer)),
                                   .d_value = std::max<Index>(1, c.d_value_of(layer)),
                                   .kv_heads = c.kv_heads > 0 ? c.kv_heads : heads},
                                  static_cast<Scalar>(c.dropout));
  for (const auto& [module, kept] : c.attention) {
    if (module == block_name(static_cast<std::size_t>(layer)) + "attn")
      block.attn = block.attn.with_heads(kept);
  }
  block.ln1 = LayerNorm(c.d_model);
  block.has_mlp = c.d_ff > 0;
  if (block.has_mlp) {
    block.ln2 = LayerNorm(c.d_model);
    block.mlp = FeedForward(c.d_model, c.d_ff, c.activation);
  }
  return block;
}

}  // namespace

void Block::visit(const std::string& prefix, const ParameterVisitor& f) {
  ln1.visit(prefix + "ln1.", f);
  attn.visit(prefix + "attn.", f);
  if (has_mlp) {
    ln2.visit(prefix + "ln2.", f);
    mlp.visit(prefix + "mlp.", f);
  }
}

Transformer::Transformer(const TransformerConfig& config) : config_(config) {
  config_.validate();
  const TransformerConfig& c = config_;
  embed_ = Embedding(c.vocab, c.d_model);
  if (c.positions == Positions::learned) {
    positions_ = parameter({c.length, c.d_model});
  } else if (c.positions == Positions::sinusoidal) {
    positions_ = sinusoidal_positions(c.length, c.d_model);
  }
  for (Index layer = 0; layer < c.layers; ++layer) blocks_.push_back(make_block(c, layer));
  ln_final_ = LayerNorm(c.d_model);
  if (!c.tied) unembed_ = Linear(c.d_model, c.targets * c.vocab);
}

Tensor Transformer::embed(const Batch& batch, const ForwardContext& context) const {
  require(batch.length <= config_.length, "the sequences have ", batch.length,
          " positions, but the model was made for at most ", config_.length);
  Tensor x = embed_.forward(batch.tokens, batch.shape());
  if (positions_.defined()) x = x + slice(positions_, 0, 0, batch.length);
  const auto p = static_cast<Scalar>(context.training ? config_.dropout : 0);
  return dropout(x, p, context.inside("embed").key);
}

Tensor Transformer::run_block(std::size_t layer, const Tensor& x, const AttentionMask& mask,
                              const ForwardContext& context, const ModelHooks& hooks) const {
  const Block& block = blocks_[layer];
  const ForwardContext inside = context.inside(block_name(layer));
  const bool pre = config_.norm == NormPlace::pre;
  const auto p = static_cast<Scalar>(context.training ? config_.dropout : 0);
  AttentionCaptures* captures = hooks.captures ? &hooks.captures->attention[layer] : nullptr;
  const HeadEdits* edits = hooks.edits.empty() ? nullptr : &hooks.edits[layer];

  const Tensor h = pre ? block.ln1.forward(x) : x;
  Tensor attended = block.attn.forward(h, h, mask, inside.inside("attn"), edits, captures);
  Tensor y = x + dropout(attended, p, inside.inside("attn_out").key);
  y = pre ? y : block.ln1.forward(y);
  if (!block.has_mlp) return y;
  const Tensor fed = block.mlp.forward(pre ? block.ln2.forward(y) : y);
  y = y + dropout(fed, p, inside.inside("mlp_out").key);
  return pre ? y : block.ln2.forward(y);
}

Tensor Transformer::unembed(const Tensor& x) const {
  const Tensor last = config_.norm == NormPlace::pre ? ln_final_.forward(x) : x;
  return config_.tied ? matmul(last, embed_.W, {.transpose_b = true}) : unembed_.forward(last);
}

Tensor Transformer::forward(const Batch& batch, const ForwardContext& context,
                            const ModelHooks& hooks) const {
  require(hooks.edits.empty() || hooks.edits.size() == blocks_.size(), "head edits are for ",
          hooks.edits.size(), " attention modules, but the model has ", blocks_.size());
  const AttentionMask mask{.causal = config_.architecture == Architecture::decoder,
                           .lengths = batch.lengths};
  if (hooks.captures != nullptr) {
    AttentionCaptures fresh;
    fresh.wants_pattern = hooks.captures->wants_patterns;
    hooks.captures->attention.assign(blocks_.size(), fresh);
    hooks.captures->residual.clear();
  }
  Tensor x = embed(batch, context);
  for (std::size_t layer = 0; layer < blocks_.size(); ++layer) {
    if (hooks.captures != nullptr) hooks.captures->residual.push_back(x);
    x = run_block(layer, x, mask, context, hooks);
  }
  if (hooks.captures != nullptr) hooks.captures->residual.push_back(x);
  return unembed(x);
}

Tensor Transformer::loss(const Batch& batch, const ForwardContext& context, const ModelHooks& hooks,
                         double denominator) const {
  return loss_of(forward(batch, context, hooks), batch, denominator);
}

Tensor Transformer::loss_of(const Tensor& logits, const Batch& batch, double denominator) const {
  require(batch.targets_per_position == config_.targets, "the batch has ",
          batch.targets_per_position, " targets at each position, the model ", config_.targets);
  const Shape rows{batch.size * batch.length * config_.targets, config_.vocab};
  return cross_entropy(reshape(logits, rows), batch.targets, denominator);
}

std::vector<AttentionModule> Transformer::attention_modules() {
  std::vector<AttentionModule> modules;
  for (std::size_t layer = 0; layer < blocks_.size(); ++layer) {
    modules.push_back({block_name(layer) + "attn", &blocks_[layer].attn});
  }
  return modules;
}

Transformer Transformer::with_heads(const std::vector<std::vector<std::int32_t>>& kept) const {
  require(kept.size() == blocks_.size(), "heads to keep are named for ", kept.size(),
          " attention modules, but the model has ", blocks_.size());
  Transformer smaller = clone();
  smaller.config_.attention.clear();
  for (std::size_t layer = 0; layer < blocks_.size(); ++layer) {
    MultiHeadAttention& attn = smaller.blocks_[layer].attn;
    attn = attn.with_heads(kept[layer]);
    if (static_cast<Index>(attn.heads.size()) < config_.heads_of(static_cast<Index>(layer)))
      smaller.config_.attention.emplace_back(block_name(layer) + "attn", attn.heads);
  }
  return smaller;
}

std::vector<std::vector<std::int32_t>> Transformer::head_numbers() const {
  std::vector<std::vector<std::int32_t>> numbers;
  for (const Block& block : blocks_) numbers.push_back(block.attn.heads);
  return numbers;
}

void Transformer::visit(const ParameterVisitor& f) {
  embed_.visit("embed.W_E", f);
  if (config_.positions == Positions::learned) f("pos_embed.W_pos", positions_);
  for (std::size_t layer = 0; layer < blocks_.size(); ++layer)
    blocks_[layer].visit(block_name(layer), f);
  if (config_.norm == NormPlace::pre) ln_final_.visit("ln_final.", f);
  if (!config_.tied) unembed_.visit("unembed.", "_U", f);
}

Index Transformer::parameter_count() {
  Index count = 0;
  visit([&](const std::string&, Tensor& parameter) { count += parameter.count(); });
  return count;
}

Transformer Transformer::clone() const {
  Transformer copy = *this;
  copy.visit([](const std::string&, Tensor& parameter) {
    parameter = parameter.clone();
    parameter.set_requires_grad();
  });
  return copy;
}

}  // namespace headlab::inline HEADLAB_SCALAR
