// Captures hold all heads of a module side by side, [B, T, H*D]; keys and values [B, S, G*D], of
// which a head reads one block. Here one head's part of one sequence becomes matrices in double.
// Read next: src/heads/lessons.cc.
#include "heads/model_steps.h"

#include <algorithm>
#include <cmath>

namespace headlab {
namespace {

/// Rows [0, rows) and columns [block width, (block + 1) width) of sequence b of x [B, T, C].
Matrix block_of(const Tensor& x, Index b, Index rows, Index block, Index width) {
  const Scalar* first = x.data() + b * x.size(1) * x.size(2) + block * width;
  return {rows, width,
          [&](Index t, Index j) { return static_cast<double>(first[t * x.size(2) + j]); }};
}

/// [T, S]: 1 for the keys that a query sees; empty: it sees all.
std::vector<char> visible_cells(const AttentionPlace& place, Index T, Index S) {
  const AttentionMask mask{.causal = place.causal, .window = place.window};
  std::vector<char> cells;
  for (Index i = 0; i < T * S && (mask.causal || mask.window > 0); ++i)
    cells.push_back(mask.sees(0, i / S, i % S));
  return cells;
}

}  // namespace

HeadSteps steps_of(const Transformer& model, const Activations& activations, const Batch& batch,
                   const HeadId& head, Index b) {
  const Index place = place_of(model, head);
  const AttentionModule module = model.attention_modules()[head.module];
  const AttentionCaptures& captures = activations.captures().attention[head.module];
  const Index T = batch.queries_of(module.kind, b), S = batch.keys_of(module.kind, b);
  const Index D = module.attention->d_head, Dv = module.attention->d_value;
  const Index block = module.attention->kv_head[place];
  return attend(block_of(captures.q, b, T, place, D), block_of(captures.k, b, S, block, D),
                block_of(captures.v, b, S, block, Dv), visible_cells(module, T, S));
}

double largest_difference(const HeadSteps& steps, const Activations& activations,
                          const HeadId& head, Index b) {
  const Tensor pattern = activations.pattern(head);  // [B, T, S]
  double largest = 0;
  for (Index t = 0; t < steps.weights.rows(); ++t) {
    const Scalar* row = pattern.data() + (b * pattern.size(1) + t) * pattern.size(2);
    for (Index s = 0; s < steps.weights.columns(); ++s)
      largest = std::max(largest, std::abs(steps.weights(t, s) - static_cast<double>(row[s])));
  }
  return largest;
}

}  // namespace headlab
