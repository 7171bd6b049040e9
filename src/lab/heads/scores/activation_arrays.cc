// Activations as arrays for NumPy. The tensors in the activation cache hold all heads next to one
// another, so q, k, v and z need no reordering: their last axis becomes two.
// Read next: activations.cc.
#include "lab/heads/scores/named_arrays.h"
#include "lab/results/npy.h"
#include "lab/results/npz.h"

namespace headlab {
namespace {

NamedArray array_of(const std::string& name, const Tensor& x, std::vector<std::int64_t> shape) {
  return {name, std::move(shape), {x.values().begin(), x.values().end()}};
}

NamedArray array_of(const std::string& name, const Tensor& x) {
  return array_of(name, x, {x.shape().begin(), x.shape().end()});
}

NamedArray array_of(const std::string& name, const Ids& ids, std::vector<std::int64_t> shape) {
  return {name, std::move(shape), {ids.begin(), ids.end()}, true};
}

}  // namespace

std::vector<NamedArray> token_arrays(const Batch& batch) {
  std::vector<NamedArray> arrays = {array_of("tokens", batch.tokens, {batch.size, batch.length})};
  NamedArray lengths{"lengths", {batch.size}, {}, true};
  NamedArray source_lengths{"source_lengths", {batch.size}, {}, true};
  for (Index b = 0; b < batch.size; ++b) {
    lengths.values.push_back(static_cast<float>(batch.length_of(b)));
    source_lengths.values.push_back(static_cast<float>(batch.source_length_of(b)));
  }
  arrays.push_back(std::move(lengths));
  if (batch.source_length == 0) return arrays;
  arrays.push_back(array_of("source", batch.source, {batch.size, batch.source_length}));
  arrays.push_back(std::move(source_lengths));
  return arrays;
}

std::string npy_of(const NamedArray& array) {
  if (!array.is_whole) return npy_bytes(array.shape, array.values);
  const std::vector<std::int32_t> whole(array.values.begin(), array.values.end());
  return npy_bytes(array.shape, whole);
}

std::string npz_of(const std::vector<NamedArray>& arrays) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const NamedArray& array : arrays) files.emplace_back(array.name, npy_of(array));
  return npz_bytes(files);
}

namespace {

/// Returns [N, T, blocks * width] as [N, T, blocks, width].
NamedArray split_array(const std::string& name, const Tensor& x, Index width) {
  return array_of(name, x, {x.size(0), x.size(1), x.size(2) / width, width});
}

void add_attention(std::vector<NamedArray>& arrays, const AttentionLayer& layer,
                   const AttentionActivations& computed) {
  if (!computed.q.defined()) return;  // no head is left
  const std::string name = layer.name;
  const Index d_head = layer.attention->d_head;
  const Index d_value = layer.attention->d_value;
  arrays.push_back(split_array(name + ".q", computed.q, d_head));
  arrays.push_back(split_array(name + ".k", computed.k, d_head));
  arrays.push_back(split_array(name + ".v", computed.v, d_value));
  arrays.push_back(array_of(name + ".pattern", computed.pattern));
  arrays.push_back(split_array(name + ".z", computed.z, d_value));
  NamedArray heads{name + ".heads", {std::ssize(computed.heads)}, {}, true};
  heads.values.assign(computed.heads.begin(), computed.heads.end());
  arrays.push_back(std::move(heads));
}

/// Adds the streams; those of the encoder come first.
void add_streams(std::vector<NamedArray>& arrays, const ActivationCache& computed,
                 const TransformerConfig& config) {
  const std::size_t of_encoder =
      config.has_source() ? static_cast<std::size_t>(config.encoder_layers) + 1 : 0;
  for (std::size_t i = 0; i < computed.residual.size(); ++i) {
    const bool encodes = i < of_encoder;
    const std::string name = encodes ? text("encoder.stream.", i) : text("stream.", i - of_encoder);
    arrays.push_back(array_of(name, computed.residual[i]));
  }
}

}  // namespace

std::vector<NamedArray> activation_arrays(const Transformer& model, const Batch& batch) {
  const Activations activations(model, batch);
  const ActivationCache& computed = activations.cache();
  std::vector<NamedArray> arrays = token_arrays(batch);
  const std::vector<AttentionLayer> layers = model.attention_layers();
  for (std::size_t m = 0; m < layers.size(); ++m) {
    add_attention(arrays, layers[m], computed.attention[m]);
  }
  for (const ActivationCache::Written& part : computed.written) {
    if (part.name.ends_with(".mlp")) arrays.push_back(array_of(part.name, part.x));
  }
  add_streams(arrays, computed, model.config());
  return arrays;
}

}  // namespace headlab
