// Captures hold all heads of a module side by side, [B, T, H*D]; keys and values [B, S, G*D], of
// which a head reads one block. Here one head's part of one sequence becomes matrices in double.
// Read next: src/heads/lessons.cc.
#include "headlab/heads/model_steps.h"

#include <algorithm>
#include <cmath>

namespace headlab {
namespace {

/// Rows [0, rows) and columns [block width, (block + 1) width) of sequence b of x [B, T, C].
Matrix block_of(const Tensor& x, Index b, Index rows, Index block, Index width) {
  Matrix part(rows, width);
  for (Index t = 0; t < rows; ++t)
    for (Index j = 0; j < width; ++j)
      part(t, j) =
          static_cast<double>(x.data()[(b * x.size(1) + t) * x.size(2) + block * width + j]);
  return part;
}

/// [T, S]: 1 for the keys up to the query.
std::vector<char> causal_cells(Index T, Index S) {
  std::vector<char> cells(T * S);
  for (Index t = 0; t < T; ++t)
    for (Index s = 0; s <= std::min(t, S - 1); ++s) cells[t * S + s] = 1;
  return cells;
}

}  // namespace

HeadSteps steps_of(const Transformer& model, const Activations& activations, const Batch& batch,
                   const HeadId& head, Index b) {
  const Index place = place_of(model, head);
  const AttentionModule module = model.attention_modules()[head.layer];
  const AttentionCaptures& captures = activations.captures().attention[head.layer];
  const Index T = batch.queries_of(module.kind, b), S = batch.keys_of(module.kind, b);
  const Index D = module.attention->d_head, Dv = module.attention->d_value;
  const Index block = module.attention->kv_head[place];
  const bool causal =
      module.kind == AttentionKind::self && model.config().architecture != Architecture::encoder;
  const std::vector<char> visible = causal ? causal_cells(T, S) : std::vector<char>();
  return attend(block_of(captures.q, b, T, place, D), block_of(captures.k, b, S, block, D),
                block_of(captures.v, b, S, block, Dv), visible);
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

Matrix output_rows(const Transformer& model, const HeadId& head) {
  const Index place = place_of(model, head);
  const MultiHeadAttention& attention = *model.attention_modules()[head.layer].attention;
  const Matrix all(attention.O.W);
  Matrix rows(attention.d_value, all.columns());
  for (Index i = 0; i < rows.rows(); ++i)
    for (Index j = 0; j < rows.columns(); ++j) rows(i, j) = all(place * rows.rows() + i, j);
  return rows;
}

double largest_share(const Matrix& W_O, Index heads) {
  if (heads == 0) return 0;
  const Index width = W_O.rows() / heads;
  double sum = 0;
  for (Index j = 0; j < W_O.columns(); ++j) {
    double all = 0, most = 0;
    for (Index h = 0; h < heads; ++h) {
      double of_head = 0;
      for (Index i = h * width; i < (h + 1) * width; ++i) of_head += W_O(i, j) * W_O(i, j);
      all += of_head;
      most = std::max(most, of_head);
    }
    sum += all > 0 ? most / all : 0;
  }
  return sum / static_cast<double>(W_O.columns());
}

std::vector<HeadWrite> writes_of(const Transformer& model, const Activations& activations,
                                 const Batch& batch, Index b) {
  std::vector<HeadWrite> writes;
  std::vector<double> sums(model.attention_modules().size());
  for (const HeadId& head : all_heads(model)) {
    const HeadSteps steps = steps_of(model, activations, batch, head, b);
    const Matrix rows = output_rows(model, head);
    writes.push_back({head, norm(steps.output), norm(steps.output * rows), 0, norm(rows)});
    sums[head.layer] += writes.back().written;
  }
  for (HeadWrite& write : writes)
    write.share = sums[write.head.layer] > 0 ? write.written / sums[write.head.layer] : 0;
  return writes;
}

Matrix cosines_of_writes(const Transformer& model, const Activations& activations,
                         const Batch& batch, Index module, Index b) {
  std::vector<Matrix> writes;
  for (const HeadId& head : all_heads(model))
    if (head.layer == module)
      writes.push_back(steps_of(model, activations, batch, head, b).output *
                       output_rows(model, head));
  Matrix cosines(std::ssize(writes), std::ssize(writes));
  for (Index i = 0; i < cosines.rows(); ++i) {
    for (Index j = 0; j < cosines.columns(); ++j) {
      const double lengths = norm(writes[i]) * norm(writes[j]);
      cosines(i, j) = lengths > 0 ? inner(writes[i], writes[j]) / lengths : 0;
    }
  }
  return cosines;
}

Json to_json(const HeadWrite& write) {
  return head_json(write.head, {{"output", write.output},
                                {"written", write.written},
                                {"share", write.share},
                                {"weights", write.weights}});
}

}  // namespace headlab
