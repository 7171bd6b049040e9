// The tokens by which a head acts most, from its QK and OV circuits over the vocabulary. Each
// source token appears once, with the destination and the output that it has most effect on, so
// that one frequent destination does not fill the list. Read next: circuits.cc.
#include <algorithm>
#include <functional>

#include "headlab/core/ops/ops.h"
#include "headlab/core/tensor/tape.h"
#include "headlab/lab/heads/weights/circuits.h"
#include "headlab/lab/heads/weights/matrix.h"

namespace headlab {
namespace {

/// Returns the matrix with the mean of each row subtracted.
Matrix above_row_means(Matrix matrix) {
  for (Index i = 0; i < matrix.rows(); ++i) {
    double mean = 0;
    for (Index j = 0; j < matrix.columns(); ++j) mean += matrix(i, j);
    mean /= static_cast<double>(matrix.columns());
    for (Index j = 0; j < matrix.columns(); ++j) matrix(i, j) -= mean;
  }
  return matrix;
}

/// Completes a trigram with the destination and the output that a source has most effect on.
SkipTrigram trigram_of(SkipTrigram one, Index source, const Matrix& qk, const Matrix& ov) {
  Index destination = 0;
  for (Index i = 1; i < qk.rows(); ++i) {
    if (qk(i, source) > qk(destination, source)) destination = i;
  }
  Index out = 0;
  for (Index j = 1; j < ov.columns(); ++j) {
    if (ov(source, j) > ov(source, out)) out = j;
  }
  one.source = static_cast<std::int32_t>(source);
  one.destination = static_cast<std::int32_t>(destination);
  one.out = static_cast<std::int32_t>(out);
  one.qk = qk(destination, source);
  one.ov = ov(source, out);
  return one;
}

}  // namespace

std::vector<SkipTrigram> skip_trigrams(const Transformer& model, const HeadId& head, Index distance,
                                       Index most) {
  const NoGrad no_grad;
  const TransformerConfig& config = model.config();
  const bool writes = model.attention_layers()[head.attention_layer].kind != AttentionKind::encoder;
  if (!writes || config.vocab > kMostCircuitTokens) return {};
  const TokenCircuits circuits = token_circuits(model, head, distance);
  const Matrix qk = above_row_means(Matrix(circuits.qk));
  std::vector<SkipTrigram> all;
  for (Index k = 0; k < config.targets; ++k) {
    const Index outputs = config.outputs();
    const Matrix ov =
        above_row_means(Matrix(slice(circuits.ov, 1, k * outputs, (k + 1) * outputs)));
    std::vector<SkipTrigram> of_target;
    for (Index source = 0; source < config.vocab; ++source) {
      const SkipTrigram one = trigram_of({.head = head, .target = k}, source, qk, ov);
      if (one.qk > 0 && one.ov > 0) of_target.push_back(one);
    }
    std::ranges::stable_sort(of_target, std::ranges::greater(),
                             [](const SkipTrigram& one) { return one.qk * one.ov; });
    if (std::ssize(of_target) > most) of_target.resize(static_cast<std::size_t>(most));
    all.insert(all.end(), of_target.begin(), of_target.end());
  }
  return all;
}

}  // namespace headlab
