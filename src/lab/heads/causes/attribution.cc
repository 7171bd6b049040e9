// Direct logit attribution. Parts are the additions of the forward pass to the stream; only the
// output of attention is computed again, head by head. No part is a remainder, so the test that
// they sum to the logits checks all of them. Sums are kept in double. Read next: patching.cc.
#include "headlab/lab/heads/causes/attribution.h"

#include <algorithm>
#include <map>
#include <utility>

#include "headlab/core/base/error.h"
#include "headlab/core/ops/ops.h"
#include "headlab/core/tensor/tape.h"

namespace headlab {
namespace {

/// A term of a logit, with its name in reports.
struct Part {
  std::string name;
  Tensor x;
};

void check(const Transformer& model) {
  const BlockWiring& wiring = kind_of(model.config().norm_place);
  require(wiring.stream != StreamKind::normalised,
          "cannot attribute logits of a post-norm model: its norms rescale the sum of all "
          "parts in every block");
  if (wiring.stream != StreamKind::sum) {
    throw Error(text("cannot attribute logits: with norm_place ", wiring.name, " the stream need ",
                     "not be a sum of what the sublayers write"),
                "use a model with norm_place pre or parallel");
  }
}

/// Outputs of the heads of one attention layer, and its bias.
void add_attention(const AttentionLayer& attention_layer, Index layer, const Tensor& z,
                   std::vector<Part>& parts) {
  const MultiHeadAttention& a = *attention_layer.attention;
  for (Index h = 0; h < a.head_count(); ++h) {
    const Index begin = h * a.d_value, end = begin + a.d_value;
    parts.push_back({text(layer, ".", a.heads[h]),
                     matmul(slice(z, 2, begin, end), slice(a.O.W, 0, begin, end))});
  }
  if (a.O.b.defined()) parts.push_back({attention_layer.name + ".b_O", a.O.b});
}

/// Parts of the stack that writes the logits.
std::vector<Part> parts_of(const Transformer& model, const ActivationCache& activations) {
  const std::vector<AttentionLayer> attention_layers = model.attention_layers();
  std::vector<Part> parts;
  for (const auto& [from, x] : activations.written) {
    if (from.stack == "encoder.") continue;  // writes the stream that is read across
    const auto attention_layer =
        std::ranges::find(attention_layers, from, &AttentionLayer::sublayer);
    const Index layer = attention_layer - attention_layers.begin();
    if (attention_layer != attention_layers.end()) {
      add_attention(*attention_layer, layer, activations.attention[layer].z, parts);
    } else {  // embedding and positions without the name of the stack: there is one of each
      parts.push_back({from.block < 0 ? name_of({.kind = from.kind}) : name_of(from), x});
    }
  }
  return parts;
}

/// Linear dependence of a target's logit on the stream: logit = x . u / deviation(x) + bias.
struct Direction {
  std::vector<double> u;  // gain * column of W_U, minus its mean: the mean of x has no effect
  double norm_bias = 0;   // ln_final.b . column
  double bias = 0;        // b_U
};

/// Norm and unembedding between the stream and the logits.
struct Unembedding {
  const NormLayer& norm;
  Linear map;
  Index outputs;
  bool centred;

  /// Biases of the model after the stream, with the indices of their shares.
  std::vector<std::pair<const char*, double Direction::*>> biases() const {
    std::vector<std::pair<const char*, double Direction::*>> there;
    if (norm.b.defined()) there.emplace_back("ln_final.b", &Direction::norm_bias);
    if (map.b.defined()) there.emplace_back("unembed.b_U", &Direction::bias);
    return there;
  }

  /// Returns the element of a token in block k of a row, minus the block's mean if requested.
  double above_mean(const Scalar* row, Index k, Index token) const {
    const Scalar* block = row + k * outputs;
    double mean = 0;
    for (Index v = 0; centred && v < outputs; ++v) {
      mean += static_cast<double>(block[v]) / static_cast<double>(outputs);
    }
    return static_cast<double>(block[token]) - mean;
  }

  Direction direction(Index k, Index token) const {
    Direction direction;
    if (map.b.defined()) direction.bias = above_mean(map.b.data(), k, token);
    const Index width = map.W.size(0);
    for (Index c = 0; c < width; ++c) {
      const double weight = above_mean(map.W.data() + c * map.W.size(1), k, token);
      const double gain = norm.w.defined() ? static_cast<double>(norm.w.data()[c]) : 1;
      direction.u.push_back(gain * weight);
      if (norm.b.defined()) direction.norm_bias += static_cast<double>(norm.b.data()[c]) * weight;
    }
    if (!kind_of(norm.type).centres) return direction;
    double mean = 0;
    for (const double value : direction.u) mean += value / static_cast<double>(width);
    for (double& value : direction.u) value -= mean;
    return direction;
  }
};

double dot(const Scalar* x, const std::vector<double>& u) {
  double sum = 0;
  for (std::size_t c = 0; c < u.size(); ++c) sum += static_cast<double>(x[c]) * u[c];
  return sum;
}

}  // namespace

Attribution attribute_logits(const Transformer& model, const Batch& batch, bool centred,
                             const std::vector<HeadInterventions>& interventions,
                             NormScales* norms) {
  const NoGrad no_grad;
  check(model);
  require(batch.target_count() > 0, "cannot attribute logits: the batch has no targets");
  ActivationCache activations;
  activations.wants_patterns = false;
  NormScales own;
  NormScales& scales = norms != nullptr ? *norms : own;
  scales.next = 0;
  model.forward(batch, {.norms = &scales},
                {.interventions = interventions, .activations = &activations});
  const std::vector<Part> parts = parts_of(model, activations);
  const Unembedding unembedding{model.final_norm(), model.unembedding(), model.config().outputs(),
                                centred};
  const auto biases = unembedding.biases();
  std::map<std::pair<Index, Index>, Direction> directions;  // by target and token
  const Index C = model.config().d_model, K = batch.targets_per_position;
  Attribution result;
  for (const Part& part : parts) result.parts.push_back(part.name);
  for (const auto& bias : biases) result.parts.emplace_back(bias.first);
  result.shares.resize(result.parts.size());
  for (Index row = 0; row < std::ssize(batch.targets); ++row) {
    const std::int32_t token = batch.targets[row];
    if (token < 0) continue;
    const auto [known, is_new] = directions.try_emplace({row % K, token});
    Direction& direction = known->second;
    if (is_new) direction = unembedding.direction(row % K, token);
    const Index at = row / K * C;  // of the position in the stream
    const double scale = 1 / static_cast<double>(scales.deviations.back().data()[row / K]);
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const Tensor& x = parts[p].x;
      result.shares[p].push_back(scale * dot(x.data() + at % x.count(), direction.u));
    }
    std::size_t of_bias = parts.size();
    for (const auto& bias : biases) result.shares[of_bias++].push_back(direction.*bias.second);
    result.rows.push_back(row);
  }
  return result;
}

}  // namespace headlab
