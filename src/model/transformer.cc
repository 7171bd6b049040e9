// One transformer for decoders, encoders and both together: which norm goes where is a branch or
// two here rather than a class each, and an encoder-decoder is two stacks of the same blocks. Every
// module folds its name into the key of dropout, so that no two draw the same mask. Read next:
// src/nn/attention.cc.
#include "headlab/model/transformer.h"

#include <algorithm>

#include "headlab/base/error.h"
#include "headlab/ops/ops.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

MultiHeadAttention make_attention(const TransformerConfig& c, const AttentionPlace& place) {
  const Index heads = c.heads_of(place.layer);
  MultiHeadAttention attention({.d_model = c.d_model,
                                .heads = heads,
                                .d_head = std::max<Index>(1, c.d_head_of(place.layer)),
                                .d_value = std::max<Index>(1, c.d_value_of(place.layer)),
                                .kv_heads = c.kv_heads > 0 ? c.kv_heads : heads},
                               static_cast<Scalar>(c.dropout));
  for (const auto& [module, kept] : c.attention)
    if (module == place.name) attention = attention.with_heads(kept);
  return attention;
}

/// A block without its attention.
Block make_block(const TransformerConfig& c, Index layer, bool has_cross) {
  Block block;
  block.name = text("blocks.", layer, ".");
  block.has_cross = has_cross;
  block.has_mlp = c.d_ff > 0;
  block.ln1 = LayerNorm(c.d_model);
  if (block.has_cross) block.ln_cross = LayerNorm(c.d_model);
  if (block.has_mlp) {
    block.ln2 = LayerNorm(c.d_model);
    block.mlp = FeedForward(c.d_model, c.d_ff, c.activation);
  }
  return block;
}

Tensor make_positions(const TransformerConfig& c, Index length) {
  if (c.positions == Positions::none) return {};
  return c.positions == Positions::learned ? parameter({length, c.d_model})
                                           : sinusoidal_positions(length, c.d_model);
}

/// The attention modules of a stack in execution order.
template <class AnyStack, class Visit>
void for_attention(AnyStack& stack, Visit&& visit) {
  for (auto& block : stack.blocks) {
    visit(block.attn);
    if (block.has_cross) visit(block.cross_attn);
  }
}

void visit_stack(Stack& stack, const TransformerConfig& c, const ParameterVisitor& f) {
  if (c.positions == Positions::learned) f(stack.name + "pos_embed.W_pos", stack.positions);
  for (Block& block : stack.blocks) block.visit(stack.name + block.name, f);
  if (c.norm == NormPlace::pre) stack.ln_final.visit(stack.name + "ln_final.", f);
}

}  // namespace

void Block::visit(const std::string& prefix, const ParameterVisitor& f) {
  ln1.visit(prefix + "ln1.", f);
  attn.visit(prefix + "attn.", f);
  if (has_cross) {
    ln_cross.visit(prefix + "ln_cross.", f);
    cross_attn.visit(prefix + "cross_attn.", f);
  }
  if (has_mlp) {
    ln2.visit(prefix + "ln2.", f);
    mlp.visit(prefix + "mlp.", f);
  }
}

Transformer::Transformer(const TransformerConfig& config) : config_(config) {
  config_.validate();
  const TransformerConfig& c = config_;
  embed_ = Embedding(c.vocab, c.d_model);
  main_ = {c.has_source() ? "decoder." : "", make_positions(c, c.length), {}, LayerNorm(c.d_model)};
  if (c.has_source())
    encoder_ = {"encoder.", make_positions(c, c.source_length), {}, LayerNorm(c.d_model)};
  for (Index layer = 0; layer < c.encoder_layers; ++layer)
    encoder_.blocks.push_back(make_block(c, layer, false));
  for (Index layer = 0; layer < c.layers; ++layer)
    main_.blocks.push_back(make_block(c, layer, c.has_source()));
  const std::vector<AttentionPlace> places = c.attention_places();
  auto place = places.begin();
  for (Stack* stack : {&encoder_, &main_})
    for_attention(*stack, [&](auto& attention) { attention = make_attention(c, *place++); });
  if (!c.tied) unembed_ = Linear(c.d_model, c.targets * c.vocab);
}

/// What the modules of one forward pass share.
struct Transformer::Pass {
  const ModelHooks& hooks;
  ForwardContext context{};
  AttentionMask mask{};         // of self-attention
  AttentionMask source_mask{};  // of cross-attention
  Tensor memory{};              // [B, S, C], what the encoder made of the source
  std::size_t module = 0;       // the attention module that runs next
  std::size_t stream = 0;       // the residual stream that comes next, as captures number them
};

Tensor Transformer::embed(const Stack& stack, const Ids& tokens, const Shape& shape,
                          const ForwardContext& context) const {
  Tensor x = embed_.forward(tokens, shape);
  if (stack.positions.defined()) x = x + slice(stack.positions, 0, 0, shape[1]);
  const auto p = static_cast<Scalar>(context.training ? config_.dropout : 0);
  return dropout(x, p, context.inside("embed").key);
}

Tensor Transformer::run_block(const Block& block, const Tensor& x, Pass& pass) const {
  const ForwardContext inside = pass.context.inside(block.name);
  const bool pre = config_.norm == NormPlace::pre;
  const auto p = static_cast<Scalar>(inside.training ? config_.dropout : 0);
  // f(x, residual) is a sublayer of x, which adds the residual on its way unless dropout comes
  // first.
  const auto sublayer = [&](const Tensor& in, const LayerNorm& norm, const char* name, auto&& f) {
    const Tensor x_in = pre ? norm.forward(in, inside.frozen) : in;
    const Tensor out =
        p == 0 ? f(x_in, in) : in + dropout(f(x_in, Tensor()), p, inside.inside(name).key);
    return pre ? out : norm.forward(out, inside.frozen);
  };
  const auto attend = [&](const MultiHeadAttention& attention, const Tensor& from, const Tensor& to,
                          const AttentionMask& mask, const char* name, const Tensor& residual) {
    const ModelHooks& hooks = pass.hooks;
    const std::size_t module = pass.module++;
    return attention.forward(
        from, to, mask, inside.inside(name), hooks.edits.empty() ? nullptr : &hooks.edits[module],
        hooks.captures ? &hooks.captures->attention[module] : nullptr, residual);
  };
  Tensor y = sublayer(x, block.ln1, "attn_out", [&](const Tensor& h, const Tensor& residual) {
    return attend(block.attn, h, h, pass.mask, "attn", residual);
  });
  if (block.has_cross) {
    y = sublayer(y, block.ln_cross, "cross_attn_out", [&](const Tensor& h, const Tensor& residual) {
      return attend(block.cross_attn, h, pass.memory, pass.source_mask, "cross_attn", residual);
    });
  }
  if (!block.has_mlp) return y;
  return sublayer(y, block.ln2, "mlp_out", [&](const Tensor& h, const Tensor& residual) {
    return block.mlp.forward(h, residual);
  });
}

Tensor Transformer::run(const Stack& stack, Tensor x, Pass& pass) const {
  const ModelHooks& hooks = pass.hooks;
  const auto given = [&](std::size_t place) {
    return place < hooks.residual.size() && hooks.residual[place].defined();
  };
  const std::size_t first = pass.stream, last = first + stack.blocks.size();
  std::size_t start = last;  // blocks before the last stream that is given are left out
  while (start > first && !given(start)) --start;
  for (std::size_t place = first; place <= last; ++place) {
    require(!given(place) || hooks.residual[place].shape() == x.shape(), "residual stream ", place,
            " is ", x.shape(), ", but a hook gives another shape");
    if (given(place)) x = hooks.residual[place];
    if (hooks.captures) hooks.captures->residual.push_back(place < start ? Tensor() : x);
    if (place == last) break;
    const Block& block = stack.blocks[place - first];
    if (place < start) pass.module += block.has_cross ? 2 : 1;
    if (place >= start) x = run_block(block, x, pass);
  }
  pass.stream = last + 1;
  return config_.norm == NormPlace::pre ? stack.ln_final.forward(x, pass.context.frozen) : x;
}

void Transformer::check(const Batch& batch, const ModelHooks& hooks) const {
  const std::size_t modules =
      encoder_.blocks.size() + main_.blocks.size() * (config_.has_source() ? 2 : 1);
  require(hooks.edits.empty() || hooks.edits.size() == modules, "head edits are for ",
          hooks.edits.size(), " attention modules, but the model has ", modules);
  require(batch.length <= config_.length, "the sequences have ", batch.length,
          " positions, but the model was made for at most ", config_.length);
  require(config_.has_source() == (batch.source_length > 0),
          config_.has_source() ? "an encoder-decoder needs a batch with sources"
                               : "the batch has sources, but the model is no encoder-decoder");
  require(batch.source_length <= config_.source_length, "the sources have ", batch.source_length,
          " positions, but the model was made for at most ", config_.source_length);
  if (hooks.captures == nullptr) return;
  AttentionCaptures fresh;
  fresh.wants_pattern = hooks.captures->wants_patterns;
  hooks.captures->attention.assign(modules, fresh);
  hooks.captures->residual.clear();
}

Tensor Transformer::forward(const Batch& batch, const ForwardContext& context,
                            const ModelHooks& hooks) const {
  check(batch, hooks);
  Pass pass{.hooks = hooks};
  if (config_.has_source()) {
    pass.context = context.inside("encoder");
    pass.mask = pass.source_mask = {.lengths = batch.source_lengths};
    const Shape shape{batch.size, batch.source_length};
    pass.memory = run(encoder_, embed(encoder_, batch.source, shape, pass.context), pass);
  }
  pass.context = context;
  pass.mask = {.causal = config_.architecture != Architecture::encoder, .lengths = batch.lengths};
  const Tensor x = run(main_, embed(main_, batch.tokens, batch.shape(), context), pass);
  return config_.tied ? matmul(x, embed_.W, {.transpose_b = true}) : unembed_.forward(x);
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

std::vector<AttentionModule> Transformer::attention_modules() const {
  std::vector<AttentionModule> modules;
  for (const AttentionPlace& place : config_.attention_places()) {
    // Each stack ends in one stream more than it has blocks.
    const bool encoder = place.kind == AttentionKind::encoder;
    const Index stream = place.layer + (config_.has_source() && !encoder ? 1 : 0);
    modules.push_back({place.name, nullptr, place.kind, static_cast<std::size_t>(stream)});
  }
  auto module = modules.begin();
  for (const Stack* stack : {&encoder_, &main_})
    for_attention(*stack, [&](const auto& attention) { (module++)->attention = &attention; });
  return modules;
}

MultiHeadAttention& Transformer::attention(std::size_t module) {
  return const_cast<MultiHeadAttention&>(*attention_modules().at(module).attention);
}

Transformer Transformer::with_heads(const std::vector<std::vector<std::int32_t>>& kept) const {
  Transformer smaller = clone();
  const std::vector<AttentionModule> modules = smaller.attention_modules();
  require(kept.size() == modules.size(), "heads to keep are named for ", kept.size(),
          " attention modules, but the model has ", modules.size());
  const std::vector<AttentionPlace> places = config_.attention_places();
  smaller.config_.attention.clear();
  for (std::size_t i = 0; i < modules.size(); ++i) {
    MultiHeadAttention& attention = smaller.attention(i);
    attention = attention.with_heads(kept[i]);
    if (attention.head_count() < config_.heads_of(places[i].layer))
      smaller.config_.attention.emplace_back(places[i].name, attention.heads);
  }
  return smaller;
}

std::vector<std::vector<std::int32_t>> Transformer::head_numbers() const {
  std::vector<std::vector<std::int32_t>> numbers;
  for (const Stack* stack : {&encoder_, &main_})
    for_attention(*stack, [&](const auto& attention) { numbers.push_back(attention.heads); });
  return numbers;
}

void Transformer::visit(const ParameterVisitor& f) {
  embed_.visit("embed.W_E", f);
  if (config_.has_source()) visit_stack(encoder_, config_, f);
  visit_stack(main_, config_, f);
  if (!config_.tied) unembed_.visit("unembed.", "_U", f);
}

void Transformer::visit(const ConstParameterVisitor& f) const {
  const_cast<Transformer*>(this)->visit(
      [&](const std::string& name, Tensor& parameter) { f(name, parameter); });
}

Index Transformer::parameter_count() const {
  Index count = 0;
  visit([&](const std::string&, const Tensor& parameter) { count += parameter.count(); });
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

}}  // namespace headlab
