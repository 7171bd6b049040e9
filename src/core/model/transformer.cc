// One transformer for decoders, encoders and both together: an encoder-decoder is two stacks of the
// same blocks, and how a block joins its layers is a row of block_wirings(). Every layer folds its
// name into the key of dropout, so that no two draw the same mask. Read next:
// src/core/model/block.cc, src/core/nn/attention.cc.
#include "headlab/core/model/transformer.h"

#include <algorithm>

#include "core/model/pass.h"
#include "headlab/core/base/error.h"
#include "headlab/core/ops/ops.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

MultiHeadAttention make_attention(const TransformerConfig& c, const AttentionSlot& slot) {
  const Index heads = c.heads_of(slot.layer);
  MultiHeadAttention attention({.d_model = c.d_model,
                                .heads = heads,
                                .d_head = std::max<Index>(1, c.d_head_of(slot.layer)),
                                .d_value = std::max<Index>(1, c.d_value_of(slot.layer)),
                                .kv_heads = c.kv_heads > 0 ? c.kv_heads : heads,
                                .biases = c.biases},
                               static_cast<Scalar>(c.dropout));
  attention.function = c.attention_function;
  const PositionKind& positions = kind_of(c.positions);
  const bool compares = slot.kind != AttentionKind::cross;  // positions of one sequence
  if (positions.rotary_table != nullptr && compares) {
    attention.rotary_table = positions.rotary_table(slot.keys, attention.d_head, c.rotary_base);
  }
  for (Index head = 0; positions.slope != nullptr && compares && head < heads; ++head) {
    attention.slopes.push_back(static_cast<Scalar>(positions.slope(head, heads)));
  }
  for (const auto& [attention_layer, kept] : c.attention) {
    if (attention_layer == slot.name) attention = attention.with_heads(kept);
  }
  return attention;
}

NormLayer make_norm(const TransformerConfig& c) {
  NormLayer norm(c.d_model, c.norm, c.biases);
  norm.eps = static_cast<Scalar>(c.norm_eps);
  return norm;
}

bool ends_in_norm(const TransformerConfig& c) {
  return kind_of(c.norm_place).stream != StreamKind::normalised;
}

/// Creates the blocks of a stack; `attention_layer` is the index of its first one.
void add_blocks(Stack& stack, const TransformerConfig& c, Index count,
                std::size_t attention_layer) {
  const std::vector<AttentionSlot> slots = c.attention_slots();
  for (Index layer = 0; layer < count; ++layer) {
    Block& block = stack.blocks.emplace_back();
    block.name = text("blocks.", layer, ".");
    block.index = layer;
    block.attention_layer = attention_layer;
    block.stream = stack.stream + layer;
    block.has_cross = attention_layer + 1 < slots.size() &&
                      slots[attention_layer + 1].kind == AttentionKind::cross;
    block.has_mlp = c.d_ff > 0;
    block.window = slots[attention_layer].window;
    block.attn = make_attention(c, slots[attention_layer++]);
    block.ln1 = make_norm(c);
    if (block.has_cross) {
      block.ln_cross = make_norm(c);
      block.cross_attn = make_attention(c, slots[attention_layer++]);
    }
    if (block.has_mlp) {
      if (kind_of(c.norm_place).has_ln2) {
        block.ln2 = make_norm(c);
      }
      block.mlp = FeedForward(c.d_model, c.d_ff, c.activation, c.biases);
    }
  }
}

void visit_stack(const Stack& stack, const TransformerConfig& c, const ParameterVisitor& f) {
  if (kind_of(c.positions).is_parameter) f(stack.name + "pos_embed.W_pos", stack.positions);
  for (const Block& block : stack.blocks) block.visit(stack.name + block.name, f);
  if (ends_in_norm(c)) stack.ln_final.visit(stack.name + "ln_final.", f);
}

}  // namespace

Transformer::Transformer(const TransformerConfig& config) : config_(config) {
  config_.validate();
  const TransformerConfig& c = config_;
  W_E_ = parameter({c.inputs(), c.d_model});
  const auto made = [&](const char* name, Index length) {
    return Stack{name, kind_of(c.positions).table(length, c.d_model), {}, make_norm(c)};
  };
  if (c.has_source()) {
    encoder_ = made("encoder.", c.source_length);
    add_blocks(encoder_, c, c.encoder_layers, 0);
  }
  main_ = made(c.has_source() ? "decoder." : "", c.length);
  main_.stream = c.has_source() ? encoder_.blocks.size() + 1 : 0;  // a stream after its last block
  add_blocks(main_, c, c.layers, encoder_.blocks.size());
  if (!c.tied) unembed_ = Linear(c.d_model, c.targets * c.outputs(), c.biases);
}

ModelCache::ModelCache(const TransformerConfig& config, Index positions) {
  for (const AttentionSlot& slot : config.attention_slots()) {
    const Index seen = slot.window > 0 ? std::min(slot.window, positions) : positions;
    attention.emplace_back().capacity = slot.kind == AttentionKind::self ? seen : 0;
  }
}

namespace {

std::string inputs_text(Index features) {
  return features > 0 ? text("vectors of ", features, " numbers") : "tokens";
}

}  // namespace

/// Returns the input of a stack, for tokens or vectors already mapped by W_E: x [B, T, C].
Tensor Transformer::embed(Tensor x, const ModelPass& pass) const {
  const Tensor& positions = pass.stack->positions;
  const Index first = pass.cache ? pass.cache->length : 0;
  pass.written(Sublayer::embedding, x);
  if (positions.defined()) {
    x = x + pass.written(Sublayer::positions, slice(positions, 0, first, first + x.size(1)));
  }
  return dropout(x, pass.p, pass.context.inside("embed").key);
}

Tensor Transformer::run(Tensor x, const ModelPass& pass) const {
  const Stack& stack = *pass.stack;
  const std::size_t blocks = stack.blocks.size();
  const BlockWiring& wiring = kind_of(config_.norm_place);
  std::size_t first = blocks;  // blocks before the last replaced stream do not run
  while (first > 0 && !pass.given(stack.stream + first)) --first;
  for (std::size_t i = 0; i <= blocks; ++i) {
    if (const Tensor* given = pass.given(stack.stream + i)) {
      require(given->shape() == x.shape(), "cannot run the model: residual stream ",
              stack.stream + i, " is ", x.shape(), ", but a hook gives another shape");
      x = *given;
    }
    if (ActivationCache* activations = pass.hooks.activations) {
      activations->residual.push_back(i < first ? Tensor() : x);
    }
    if (i >= first && i < blocks) {
      const Block& block = stack.blocks[i];
      x = wiring.forward(block, x, BlockPass(block, pass));
    }
  }
  return ends_in_norm(config_) ? stack.ln_final.forward(x, pass.context) : x;
}

/// Checks the inputs, and clears the activation cache.
void Transformer::prepare(const Batch& batch, const ModelHooks& hooks) const {
  const std::size_t attention_layers =
      encoder_.blocks.size() + main_.blocks.size() * (config_.has_source() ? 2 : 1);
  const Index length = batch.length + (hooks.cache ? hooks.cache->length : 0);
  require(length <= config_.length, "cannot run the model: the sequences have ", length,
          " positions, but the model was made for at most ", config_.length);
  require(!hooks.cache || (config_.architecture != Architecture::encoder && batch.lengths.empty()),
          "cannot run the model with a cache: it needs a decoder and a batch without padding");
  require(config_.has_source() == (batch.source_length > 0), "cannot run the model: ",
          config_.has_source() ? "an encoder-decoder needs a batch with sources"
                               : "the batch has sources, but the model is no encoder-decoder");
  require(batch.features == config_.features, "cannot run the model: it reads ",
          inputs_text(config_.features), ", but the batch holds ", inputs_text(batch.features));
  require(batch.source_length <= config_.source_length, "cannot run the model: the sources have ",
          batch.source_length, " positions, but the model was made for at most ",
          config_.source_length);
  hooks.begin(attention_layers);
}

Tensor Transformer::compute(const Batch& batch, const ForwardContext& context,
                            const ModelHooks& hooks) const {
  prepare(batch, hooks);
  ModelPass pass{hooks, static_cast<Scalar>(context.training ? config_.dropout : 0)};
  if (config_.has_source() && !(hooks.cache && hooks.cache->length > 0)) {
    pass.stack = &encoder_;
    pass.context = context.inside("encoder");
    pass.mask = {.lengths = batch.source_lengths};
    const Tensor x = headlab::embedding(W_E_, batch.source, {batch.size, batch.source_length});
    pass.memory = run(embed(x, pass), pass);
  }
  pass.stack = &main_;
  pass.cache = hooks.cache;
  pass.context = context;
  pass.source_mask = {.lengths = batch.source_lengths};
  pass.mask = {.causal = config_.architecture != Architecture::encoder, .lengths = batch.lengths};
  const Shape vectors{batch.size, batch.length, batch.features};
  const Tensor read = batch.features > 0 ? matmul(Tensor::of(vectors, batch.vectors), W_E_)
                                         : headlab::embedding(W_E_, batch.tokens, batch.shape());
  const Tensor x = run(embed(read, pass), pass);  // [B, T, C]
  if (hooks.cache) hooks.cache->length += batch.length;
  if (!hooks.logits) return x;
  return config_.tied ? matmul(x, W_E_, {.transpose_b = true}) : unembed_.forward(x);
}

Tensor Transformer::compute_loss(const Batch& batch, const ForwardContext& context,
                                 const ModelHooks& hooks, double denominator) const {
  require_targets(batch);
  ModelHooks to_stream = hooks;
  to_stream.logits = false;
  const Tensor x = compute(batch, context, to_stream);  // [B, T, C]
  const ClassMap map{x, config_.tied ? W_E_ : unembed_.W, unembed_.b, config_.tied};
  return linear_cross_entropy(map, batch.targets, denominator);
}

std::vector<AttentionLayer> Transformer::attention_layers() const {
  const std::vector<AttentionSlot> slots = config_.attention_slots();
  std::vector<AttentionLayer> attention_layers;
  const auto add = [&](const Block& block, const MultiHeadAttention& attention,
                       const NormLayer& query_norm, const NormLayer& key_norm) {
    attention_layers.push_back(
        {slots[attention_layers.size()], &attention, block.stream, &query_norm, &key_norm});
  };
  for (const Stack* stack : {&encoder_, &main_}) {
    for (const Block& block : stack->blocks) {
      add(block, block.attn, block.ln1, block.ln1);
      if (block.has_cross) add(block, block.cross_attn, block.ln_cross, encoder_.ln_final);
    }
  }
  return attention_layers;
}

MultiHeadAttention& Transformer::attention(std::size_t attention_layer) {
  for (Stack* stack : {&encoder_, &main_}) {
    for (Block& block : stack->blocks) {
      if (block.attention_layer == attention_layer) return block.attn;
      if (block.has_cross && block.attention_layer + 1 == attention_layer) return block.cross_attn;
    }
  }
  throw Error(text("cannot find attention layer ", attention_layer, ": the model has ",
                   attention_layers().size()));
}

Linear Transformer::unembedding() const {
  if (!config_.tied) return unembed_;
  Linear tied;
  tied.W = transpose(W_E_);
  return tied;
}

Transformer Transformer::with_heads(const std::vector<std::vector<std::int32_t>>& kept) const {
  Transformer smaller = clone();
  const std::vector<AttentionSlot> slots = config_.attention_slots();
  require(kept.size() == slots.size(), "cannot prune heads: heads to keep are named for ",
          kept.size(), " attention layers, but the model has ", slots.size());
  smaller.config_.attention.clear();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    MultiHeadAttention& attention = smaller.attention(i);
    attention = attention.with_heads(kept[i]);
    if (attention.head_count() < config_.heads_of(slots[i].layer)) {
      smaller.config_.attention.emplace_back(slots[i].name, attention.heads);
    }
  }
  return smaller;
}

void Transformer::visit(const ParameterVisitor& f) const {
  f("embed.W_E", W_E_);
  if (config_.has_source()) visit_stack(encoder_, config_, f);
  visit_stack(main_, config_, f);
  if (!config_.tied) unembed_.visit("unembed.", "_U", f);
}

Transformer Transformer::clone() const {
  Transformer copy(config_);
  std::vector<Tensor> values;
  visit([&](const std::string&, const Tensor& parameter) { values.push_back(parameter); });
  copy.visit([&, i = 0](const std::string&, const Tensor& parameter) mutable {
    std::ranges::copy(values[i++].values(), parameter.data());
  });
  return copy;
}

}}  // namespace headlab
