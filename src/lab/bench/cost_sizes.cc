// The sizes of attention whose cost is counted: from flags, for all layers alike, or from a model,
// layer by layer. Sizes that no model can have are refused.
// Read next: cost.cc.
#include <algorithm>

#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/bench/cost.h"

namespace headlab {

Settings settings_of(CostOptions& o) {
  Settings s;
  constexpr Index kMost = 1 << 20;
  s.integer("d_model", o.d_model, 1, kMost, "width of the residual stream");
  s.integer("heads", o.heads, 1, kMost, "attention heads");
  s.integer("kv_heads", o.kv_heads, 0, kMost, "blocks of keys and values; 0: as many as heads");
  s.integer("d_head", o.d_head, 0, kMost, "width of a head; 0: floor(d_model / heads)");
  s.integer("d_value", o.d_value, 0, kMost, "width of its values; 0: d_head");
  s.integer("length", o.length, 1, 1 << 24, "tokens in a sequence");
  s.integer("layers", o.layers, 1, 10000, "attention layers");
  s.integer("batch", o.batch, 1, 100000, "sequences");
  s.boolean("biases", o.biases, "whether the four maps have biases");
  s.choice("attention_function", o.attention_function,
           texts_of(attention_functions(), &AttentionFunctionEntry::name),
           "how scores become weights");
  return s;
}

std::vector<AttentionSlotSizes> attention_layers_of(const CostOptions& o) {
  AttentionSizes s{o.d_model, o.heads, o.d_head, o.d_value, o.kv_heads, o.biases};
  if (s.d_head == 0) s.d_head = o.d_model / o.heads;
  if (s.d_head == 0) {
    throw Error(text("cannot split a width of ", o.d_model, " into ", o.heads, " heads: floor(",
                     o.d_model, " / ", o.heads, ") = 0"),
                "name fewer heads, or set `d_head`");
  }
  if (s.d_value == 0) s.d_value = s.d_head;
  if (s.kv_heads == 0) s.kv_heads = s.heads;
  if (s.kv_heads > s.heads || s.heads % s.kv_heads != 0) {
    throw Error(text("cannot share ", s.kv_heads, " blocks of keys and values among ", s.heads,
                     " heads evenly"),
                "set `kv_heads` to a divisor of `heads`");
  }
  std::vector<AttentionSlotSizes> layers;
  for (Index layer = 0; layer < o.layers; ++layer) {
    layers.push_back(
        {text("layer ", layer), s, o.length, o.length, o.length, o.attention_function});
  }
  return layers;
}

std::vector<AttentionSlotSizes> attention_layers_of(const Transformer& model) {
  const TransformerConfig& config = model.config();
  std::vector<AttentionSlotSizes> layers;
  for (const AttentionLayer& layer : model.attention_layers()) {
    const MultiHeadAttention& a = *layer.attention;
    const Index seen = layer.window > 0 ? std::min(layer.window, layer.keys) : layer.keys;
    layers.push_back({layer.name,
                      {config.d_model, a.head_count(), a.d_head, a.d_value,
                       static_cast<Index>(a.kv_blocks.size()), config.biases},
                      layer.queries,
                      layer.keys,
                      layer.causal || layer.kind == AttentionKind::cross ? seen : 0,
                      a.function});
  }
  return layers;
}

std::string division_note(Index d_model, Index heads) {
  if (heads <= 0 || d_model % heads == 0) return "";
  const Index width = d_model / heads;
  return text(
      d_model, " does not divide into ", heads,
      " heads. Counted is what training makes of it: a head is floor(", d_model, " / ", heads,
      ") = ", width, " wide, ", heads, " heads fill ", heads * width, " columns, and W_O is [",
      heads * width, ", ", d_model,
      "]. PyTorch's nn.MultiheadAttention refuses: it wants d_model to be a multiple of the "
      "heads.");
}

}  // namespace headlab
