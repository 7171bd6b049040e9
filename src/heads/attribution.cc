// Each part is computed by itself, the feed-forward networks too, and none as a remainder: that the
// parts sum to the logits is then a test of all of them. Sums are kept in double.
// Read next: patching.cc.
#include "headlab/heads/attribution.h"

#include <cmath>
#include <map>

#include "headlab/base/error.h"
#include "headlab/ops/ops.h"
#include "headlab/tensor/tape.h"

namespace headlab {
namespace {

/// What one part of the model wrote: [B, T, C], [T, C] or [C], repeated over what is missing.
struct Part {
  std::string name;
  Tensor written;
};

void check(const Transformer& model) {
  require(
      model.config().norm == NormPlace::pre,
      "logits of a post-norm model cannot be attributed: its layer norms rescale the sum of all "
      "parts in every block");
}

/// "blocks.0." of "blocks.0.attn": what the names of a block's parameters begin with.
std::string block_of(const AttentionModule& module) {
  return module.name.substr(0, module.name.rfind('.') + 1);
}

/// What the names of the stack that writes the logits begin with.
std::string stack_of(const Transformer& model) {
  return model.config().has_source() ? "decoder." : "";
}

/// What the heads of one module wrote, and its bias.
void add_attention(const AttentionModule& module, Index layer, const Tensor& z,
                   std::vector<Part>& parts) {
  const MultiHeadAttention& a = *module.attention;
  for (Index h = 0; h < a.head_count(); ++h) {
    const Index begin = h * a.d_value, end = begin + a.d_value;
    parts.push_back({text(layer, ".", a.heads[h]),
                     matmul(slice(z, 2, begin, end), slice(a.O.W, 0, begin, end))});
  }
  parts.push_back({module.name + ".b_O", a.O.b});
}

/// mlp(ln2(x)) of a block.
Tensor fed_forward(const Transformer& model, const std::string& block, const Tensor& x) {
  const TransformerConfig& config = model.config();
  const auto named = [&](const char* name) { return parameter_of(model, block + name); };
  LayerNorm norm(config.d_model);
  norm.w = named("ln2.w"), norm.b = named("ln2.b");
  FeedForward mlp(config.d_model, config.d_ff, config.activation);
  mlp.in.W = named("mlp.W_in"), mlp.in.b = named("mlp.b_in");
  mlp.out.W = named("mlp.W_out"), mlp.out.b = named("mlp.b_out");
  return mlp.forward(norm.forward(x));
}

std::vector<Part> parts_of(const Transformer& model, const Batch& batch,
                           const ModelCaptures& captures) {
  const TransformerConfig& config = model.config();
  std::vector<Part> parts = {
      {"embedding", embedding(parameter_of(model, "embed.W_E"), batch.tokens, batch.shape())}};
  if (config.positions == Positions::learned)
    parts.push_back({"positions", slice(parameter_of(model, stack_of(model) + "pos_embed.W_pos"), 0,
                                        0, batch.length)});
  else if (config.positions == Positions::sinusoidal)
    parts.push_back({"positions", sinusoidal_positions(batch.length, config.d_model)});
  const std::vector<AttentionModule> modules = model.attention_modules();
  std::size_t first = parts.size();  // of the block
  for (std::size_t m = 0; m < modules.size(); ++m) {
    const AttentionModule& module = modules[m];
    if (module.kind == AttentionKind::encoder) continue;  // writes the stream that is read across
    add_attention(module, static_cast<Index>(m), captures.attention[m].z, parts);
    if (m + 1 < modules.size() && modules[m + 1].stream == module.stream) continue;
    if (config.d_ff > 0) {
      Tensor x = captures.residual[module.stream];
      for (std::size_t p = first; p < parts.size(); ++p) x = x + parts[p].written;
      parts.push_back({block_of(module) + "mlp", fed_forward(model, block_of(module), x)});
    }
    first = parts.size();
  }
  return parts;
}

/// How a target's logit depends on the stream: logit = x . u / deviation(x) + bias.
struct Direction {
  std::vector<double> u;  // gain * column of W_U, less its mean: the mean of x counts for nothing
  double norm_bias = 0;   // ln_final.b . column
  double bias = 0;        // b_U
};

/// What lies between the stream and the logits.
struct Unembedding {
  Tensor gain, shift, W, b;  // of the final norm, [C]; W_U [C, K*V], b_U [K*V]
  Index vocab;
  bool centred;

  Unembedding(const Transformer& model, bool centred_)
      : gain(parameter_of(model, stack_of(model) + "ln_final.w")),
        shift(parameter_of(model, stack_of(model) + "ln_final.b")),
        vocab(model.config().vocab),
        centred(centred_) {
    const bool tied = model.config().tied;
    W = tied ? transpose(parameter_of(model, "embed.W_E")) : parameter_of(model, "unembed.W_U");
    b = tied ? Tensor::zeros({vocab}) : parameter_of(model, "unembed.b_U");
  }

  /// The element of a token in block k of a row, less the block's mean where that is asked.
  double above_mean(const Scalar* row, Index k, Index token) const {
    const Scalar* block = row + k * vocab;
    double mean = 0;
    for (Index v = 0; centred && v < vocab; ++v)
      mean += static_cast<double>(block[v]) / static_cast<double>(vocab);
    return static_cast<double>(block[token]) - mean;
  }

  Direction direction(Index k, Index token) const {
    Direction direction;
    direction.bias = above_mean(b.data(), k, token);
    for (Index c = 0; c < gain.count(); ++c) {
      const double weight = above_mean(W.data() + c * W.size(1), k, token);
      direction.u.push_back(static_cast<double>(gain.data()[c]) * weight);
      direction.norm_bias += static_cast<double>(shift.data()[c]) * weight;
    }
    double mean = 0;
    for (const double value : direction.u) mean += value / static_cast<double>(gain.count());
    for (double& value : direction.u) value -= mean;
    return direction;
  }
};

double dot(const Scalar* x, const std::vector<double>& u) {
  double sum = 0;
  for (std::size_t c = 0; c < u.size(); ++c) sum += static_cast<double>(x[c]) * u[c];
  return sum;
}

/// sqrt(variance + eps) of a row of the stream.
double deviation(const Scalar* x, Index width) {
  const auto n = static_cast<double>(width);
  double mean = 0, squares = 0;
  for (Index c = 0; c < width; ++c) mean += static_cast<double>(x[c]) / n;
  for (Index c = 0; c < width; ++c)
    squares += (static_cast<double>(x[c]) - mean) * (static_cast<double>(x[c]) - mean) / n;
  return std::sqrt(squares + static_cast<double>(LayerNorm().eps));
}

}  // namespace

Attribution attribute_logits(const Transformer& model, const Batch& batch, bool centred) {
  const NoGrad no_grad;
  check(model);
  require(batch.target_count() > 0, "a batch without targets has no logits to attribute");
  ModelCaptures captures;
  captures.wants_patterns = false;
  model.forward(batch, {}, {.captures = &captures});
  const std::vector<Part> parts = parts_of(model, batch, captures);
  const Unembedding unembedding(model, centred);
  std::map<std::pair<Index, Index>, Direction> directions;  // by target and token
  const Tensor& last = captures.residual.back();
  const Index C = last.size(2), K = batch.targets_per_position;
  Attribution result;
  for (const Part& part : parts) result.parts.push_back(part.name);
  result.parts.insert(result.parts.end(), {"ln_final.b", "unembed.b_U"});
  result.shares.resize(result.parts.size());
  for (Index row = 0; row < std::ssize(batch.targets); ++row) {
    const std::int32_t token = batch.targets[row];
    if (token < 0) continue;
    const auto [known, is_new] = directions.try_emplace({row % K, token});
    Direction& direction = known->second;
    if (is_new) direction = unembedding.direction(row % K, token);
    const Index at = row / K * C;  // of the position in the stream
    const double scale = 1 / deviation(last.data() + at, C);
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const Tensor& x = parts[p].written;
      result.shares[p].push_back(scale * dot(x.data() + at % x.count(), direction.u));
    }
    result.shares[parts.size()].push_back(direction.norm_bias);
    result.shares[parts.size() + 1].push_back(direction.bias);
    result.rows.push_back(row);
  }
  return result;
}

}  // namespace headlab
