// The table of block wirings: how a block joins norms, attention and the feed-forward network. A
// row is a name, a summary with its source, and a function from the stream that enters a block to
// the one that leaves it. Everything around it (dropout, interventions, recording, cache) is the
// same for all rows. Read next: src/core/model/block.cc.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "headlab/core/nn/attention.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// A part of a model that adds to the residual stream.
struct Sublayer {
  enum Kind { embedding, positions, attn, cross_attn, mlp };
  std::string stack{};  // "", "encoder." or "decoder."
  Index block = -1;     // in its stack; -1: before the blocks
  Kind kind = embedding;
  bool operator==(const Sublayer&) const = default;
};
/// Returns the name in checkpoints and reports: "decoder.blocks.0.mlp".
std::string name_of(const Sublayer& part);

/// A block's layers. The settings decide which of them exist: cross-attention in the decoder of an
/// encoder-decoder, a feed-forward network if d_ff > 0, ln2 if the wiring uses it.
struct Block {
  std::string name;  // "blocks.0.", after the name of its stack
  Index index = 0;   // in its stack
  std::size_t attention_layer =
      0;                   // index of attn among the model's attention layers; cross_attn: + 1
  std::size_t stream = 0;  // index of the residual stream that it reads:
                           // ActivationCache::residual[stream]
  NormLayer ln1, ln_cross, ln2;
  MultiHeadAttention attn, cross_attn;
  FeedForward mlp;
  Index window = 0;  // window of attn
  bool has_cross = false, has_mlp = false;

  void visit(const std::string& prefix, const ParameterVisitor& f) const;
};

struct ModelPass;

/// The sublayers of one block in one forward pass; h and the results are [B, T, C]. A sublayer
/// applies dropout, interventions and masks, and records its result as written to the stream. A
/// wiring calls attn exactly once, and cross_attn and mlp once if the block has them.
class BlockPass {
 public:
  BlockPass(const Block& block, const ModelPass& pass);

  Tensor norm(const NormLayer& layer, const Tensor& x) const;
  Tensor attn(const Tensor& h) const;
  Tensor cross_attn(const Tensor& h) const;
  Tensor mlp(const Tensor& h) const;

 private:
  Tensor written(Sublayer::Kind kind, const Tensor& y) const;

  const Block& block_;
  const ModelPass& pass_;
  ForwardContext context_;
};

/// Form of the residual stream. Logit attribution and circuits depend on it.
enum class StreamKind {
  sum,         // sublayers read norm(x), their results are added as they are; ln_final at the end
  normalised,  // sublayers read x, a norm follows each sum; no ln_final
  other,       // anything else, with ln_final; attribution and circuits refuse it
};

enum class NormPlace { pre, post, parallel };

/// A block wiring: its name in settings (norm_place), its formula and source for help and
/// `explain`, its kind of stream, the function itself, whether it uses ln2, and whether it is
/// defined for blocks with cross-attention. x and the result of `forward` are [B, T, C].
struct BlockWiring {
  using Forward = Tensor (*)(const Block& block, Tensor x, const BlockPass& pass);
  const char* name;
  const char* summary;
  StreamKind stream;
  Forward forward;
  bool has_ln2 = true;
  bool has_cross = true;
};

/// Returns the table, indexed by NormPlace; rows of a program that uses this library follow.
std::span<const BlockWiring> block_wirings();
/// Returns the rows of a program that uses this library. Add to them before the table is first
/// read.
std::vector<BlockWiring>& own_block_wirings();
const BlockWiring& kind_of(NormPlace place);

}}  // namespace headlab
