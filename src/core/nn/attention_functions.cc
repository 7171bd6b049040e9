// The attention functions. Each one is three lines: scores, weights, weighted values; to write your
// own, copy one of them and add a row to the table. Scores of keys that a query does not see are
// -inf, and their weights must be 0. Read next: src/core/ops/attention.cc.
#include "headlab/core/nn/attention_functions.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "headlab/core/base/error.h"
#include "headlab/core/ops/ops.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

/// Returns ln n, [B, 1, T, 1], where n >= 1 is the number of keys that the mask lets a query see.
/// Masked edges of an intervention count as visible: masking one must not change the other weights.
Tensor log_visible_keys(const AttentionMask& mask, const Shape& scores) {
  const Index B = scores[0];
  const Index T = scores[2];
  const Index S = scores[3];
  Tensor logs = Tensor::zeros({B, 1, T, 1});
  for (Index row = 0; row < B * T; ++row) {
    Index visible = 0;
    for (Index s = 0; s < S; ++s) {
      visible += mask.sees(row / T, row % T, s) ? 1 : 0;
    }
    const auto n = static_cast<double>(std::max<Index>(1, visible));
    logs.data()[row] = static_cast<Scalar>(std::log(n));
  }
  return logs;
}

/// Attention with weight = 1 / (1 + n exp(-score)): each weight lies in (0, 1) independently, and a
/// row of equal scores of 0 sums to about 1.
Tensor sigmoid_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                         AttentionOptions options, Tensor* pattern) {
  const Tensor scores = attention_scores(q, k, options);               // [B, H, T, S]
  const Tensor bias = log_visible_keys(options.mask, scores.shape());  // [B, 1, T, 1]
  const Tensor weights = sigmoid(scores - bias);                       // [B, H, T, S]
  return weighted_values(weights, v, options, pattern);                // [B, T, H*Dv]
}

/// Attention with weight = exp(score) / (1 + sum of exp(scores)): softmax with one more key, of
/// score 0 and value 0.
Tensor softmax_one_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                             AttentionOptions options, Tensor* pattern) {
  const Tensor scores = attention_scores(q, k, options);  // [B, H, T, S]
  const Index S = scores.size(3);
  const Tensor sink = Tensor::zeros({scores.size(0), scores.size(1), scores.size(2), 1});
  const Tensor with_sink = softmax(concat({scores, sink}, -1));  // [B, H, T, S + 1]
  const Tensor weights = slice(with_sink, -1, 0, S);             // [B, H, T, S]
  return weighted_values(weights, v, options, pattern);          // [B, T, H*Dv]
}

constexpr AttentionFunctionEntry kFunctions[] = {
    {"softmax", "exp(score) / sum of exp(scores), one fused kernel (Vaswani et al. 2017)", true,
     AfterMask::normalised, 5, attention_composed, attention},
    {"softmax_composed", "softmax in separate ops: slower, for reading and testing", true,
     AfterMask::normalised, 5, attention_composed},
    {"sigmoid", "1 / (1 + n exp(-score)) for n visible keys (Ramapuram et al. 2024)", false,
     AfterMask::unchanged, 4, sigmoid_attention},
    {"softmax_one", "exp(score) / (1 + sum of exp(scores)): weights may all be small (Miller 2023)",
     false, AfterMask::with_sink, 5, softmax_one_attention},
};

}  // namespace

std::vector<AttentionFunctionEntry>& own_attention_functions() {
  static std::vector<AttentionFunctionEntry> own;
  return own;
}

std::span<const AttentionFunctionEntry> attention_functions() {
  static const std::vector<AttentionFunctionEntry> all =
      with_own(kFunctions, own_attention_functions());
  return all;
}

const AttentionFunctionEntry& kind_of(AttentionFunction function) {
  return attention_functions()[static_cast<std::size_t>(function)];
}

AttentionFunctionEntry::Compute form_of(AttentionFunction function) {
  const AttentionFunctionEntry& entry = kind_of(function);
  return entry.fused != nullptr ? entry.fused : entry.compute;
}

}}  // namespace headlab
