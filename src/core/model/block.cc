// The block wirings. Each one is a few lines, a sublayer a line; to write your own, copy one of
// them and add a row to the table. Every sublayer folds its name into the key of dropout, so that
// no two draw the same mask. Read next: src/core/model/transformer.cc.
#include "headlab/core/model/block.h"

#include "core/model/pass.h"
#include "headlab/core/base/error.h"
#include "headlab/core/ops/ops.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

/// Block with a norm before each sublayer.
Tensor pre_norm(const Block& block, Tensor x, const BlockPass& pass) {
  x = x + pass.attn(pass.norm(block.ln1, x));  // [B, T, C]
  if (block.has_cross) {
    x = x + pass.cross_attn(pass.norm(block.ln_cross, x));  // [B, T, C]
  }
  if (block.has_mlp) {
    x = x + pass.mlp(pass.norm(block.ln2, x));  // [B, T, C]
  }
  return x;
}

/// Block with a norm after each sum.
Tensor post_norm(const Block& block, Tensor x, const BlockPass& pass) {
  x = pass.norm(block.ln1, x + pass.attn(x));  // [B, T, C]
  if (block.has_cross) {
    x = pass.norm(block.ln_cross, x + pass.cross_attn(x));  // [B, T, C]
  }
  if (block.has_mlp) {
    x = pass.norm(block.ln2, x + pass.mlp(x));  // [B, T, C]
  }
  return x;
}

/// Block with one norm; attention and the feed-forward network both read its result.
Tensor parallel(const Block& block, Tensor x, const BlockPass& pass) {
  const Tensor h = pass.norm(block.ln1, x);  // [B, T, C]
  x = x + pass.attn(h);                      // [B, T, C]
  if (block.has_mlp) {
    x = x + pass.mlp(h);  // [B, T, C]
  }
  return x;
}

constexpr BlockWiring kWirings[] = {
    {"pre", "x + f(norm(x)) for each sublayer f (Radford et al. 2019)", StreamKind::sum, pre_norm},
    {"post", "norm(x + f(x)) for each sublayer f (Vaswani et al. 2017)", StreamKind::normalised,
     post_norm},
    {"parallel", "x + attn(norm(x)) + mlp(norm(x)), one norm (Wang and Komatsuzaki 2021)",
     StreamKind::sum, parallel, false, false},
};

}  // namespace

std::string name_of(const Sublayer& part) {
  constexpr const char* kNames[] = {"embedding", "positions", "attn", "cross_attn", "mlp"};
  const std::string block = part.block < 0 ? "" : text("blocks.", part.block, ".");
  return part.stack + block + kNames[part.kind];
}

void Block::visit(const std::string& prefix, const ParameterVisitor& f) const {
  ln1.visit(prefix + "ln1.", f);
  attn.visit(prefix + "attn.", f);
  if (has_cross) {
    ln_cross.visit(prefix + "ln_cross.", f);
    cross_attn.visit(prefix + "cross_attn.", f);
  }
  if (has_mlp) {
    if (ln2.w.defined()) {
      ln2.visit(prefix + "ln2.", f);
    }
    mlp.visit(prefix + "mlp.", f);
  }
}

BlockPass::BlockPass(const Block& block, const ModelPass& pass)
    : block_(block), pass_(pass), context_(pass.context.inside(block.name)) {}

Tensor BlockPass::norm(const NormLayer& layer, const Tensor& x) const {
  return layer.forward(x, context_);
}

Tensor BlockPass::attn(const Tensor& h) const {
  AttentionMask mask = pass_.mask;
  mask.window = block_.window;
  const AttentionHooks hooks = pass_.hooks_of(block_.attention_layer);
  return written(Sublayer::attn, block_.attn.forward(h, h, mask, context_.inside("attn"), hooks));
}

Tensor BlockPass::cross_attn(const Tensor& h) const {
  const AttentionHooks hooks = pass_.hooks_of(block_.attention_layer + 1);
  const ForwardContext context = context_.inside("cross_attn");
  return written(Sublayer::cross_attn,
                 block_.cross_attn.forward(h, pass_.memory, pass_.source_mask, context, hooks));
}

Tensor BlockPass::mlp(const Tensor& h) const {
  return written(Sublayer::mlp, block_.mlp.forward(h));
}

Tensor BlockPass::written(Sublayer::Kind kind, const Tensor& y) const {
  const Key key = context_.inside(name_of({.kind = kind}) + "_out").key;
  return pass_.written(kind, dropout(y, pass_.p, key), block_.index);
}

std::vector<BlockWiring>& own_block_wirings() {
  static std::vector<BlockWiring> own;
  return own;
}

std::span<const BlockWiring> block_wirings() {
  static const std::vector<BlockWiring> all = with_own(kWirings, own_block_wirings());
  return all;
}

const BlockWiring& kind_of(NormPlace place) {
  return block_wirings()[static_cast<std::size_t>(place)];
}

}}  // namespace headlab
