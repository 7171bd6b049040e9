// Activations as arrays for NumPy. The tensors in the activation cache hold all heads next to one
// another, so q, k, v and z need no reordering: their last axis becomes two.
// Read next: activations.cc.
#include <cmath>

#include "headlab/core/train/streams.h"
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

void add_places(std::vector<NamedArray>& arrays, const FilePlaces& places) {
  const auto count = std::ssize(places.of_examples);
  if (count == 0) return;
  NamedArray array{places.are_lines ? "lines" : "sequences", {count}, {}, true};
  array.values.assign(places.of_examples.begin(), places.of_examples.end());
  arrays.push_back(std::move(array));
}

std::vector<NamedArray> example_arrays(const Task& task, Split split, Index first, Index last) {
  const Batch all = task.make_batch(streams::evaluated(), last, split);
  std::vector<NamedArray> arrays = token_arrays(all.rows(first, last));
  add_places(arrays, places_in_file(task, split, first, last - first));
  return arrays;
}

NamedArray heads_array(std::span<const HeadId> heads) {
  NamedArray array{"heads", {std::ssize(heads), 2}, {}, true};
  for (const HeadId& head : heads) {
    array.values.push_back(static_cast<float>(head.attention_layer));
    array.values.push_back(static_cast<float>(head.head));
  }
  return array;
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

/// Sets the positions from the length of each sequence on to NaN; `axis` is that of the positions.
template <class LengthOf>
void blank_padding(NamedArray& array, std::size_t axis, const LengthOf& length_of) {
  Index parts = 1;  // between the axis of sequences and that of positions, such as heads
  for (std::size_t i = 1; i < axis; ++i) parts *= array.shape[i];
  Index width = 1;
  for (std::size_t i = axis + 1; i < array.shape.size(); ++i) width *= array.shape[i];
  const Index positions = array.shape[axis];
  for (Index b = 0; b < array.shape[0]; ++b) {
    for (Index part = 0; part < parts; ++part) {
      const Index end = (b * parts + part + 1) * positions;
      const Index first = end - positions + length_of(b);
      std::fill(array.values.begin() + first * width, array.values.begin() + end * width,
                std::nanf(""));
    }
  }
}

/// Returns [N, T, blocks * width] as [N, T, blocks, width].
NamedArray split_array(const std::string& name, const Tensor& x, Index width) {
  return array_of(name, x, {x.size(0), x.size(1), x.size(2) / width, width});
}

void add_attention(std::vector<NamedArray>& arrays, const AttentionLayer& layer,
                   const AttentionActivations& computed, const Batch& batch) {
  if (!computed.q.defined()) return;  // no head is left
  const std::string name = layer.name;
  const Index d_head = layer.attention->d_head;
  const Index d_value = layer.attention->d_value;
  const auto queries = [&](Index b) { return batch.queries_of(layer.kind, b); };
  const auto keys = [&](Index b) { return batch.keys_of(layer.kind, b); };
  const auto add = [&](NamedArray array, std::size_t axis, const auto& length_of) {
    blank_padding(array, axis, length_of);
    arrays.push_back(std::move(array));
  };
  add(split_array(name + ".q", computed.q, d_head), 1, queries);
  add(split_array(name + ".k", computed.k, d_head), 1, keys);
  add(split_array(name + ".v", computed.v, d_value), 1, keys);
  add(array_of(name + ".pattern", computed.pattern), 2, queries);
  add(split_array(name + ".z", computed.z, d_value), 1, queries);
  NamedArray heads{name + ".heads", {std::ssize(computed.heads)}, {}, true};
  heads.values.assign(computed.heads.begin(), computed.heads.end());
  arrays.push_back(std::move(heads));
}

/// Adds [N, T, d_model] of the decoder, or [N, S, d_model] of the encoder.
void add_stream(std::vector<NamedArray>& arrays, const std::string& name, const Tensor& x,
                const Batch& batch, bool encodes) {
  NamedArray array = array_of(name, x);
  blank_padding(array, 1,
                [&](Index b) { return encodes ? batch.source_length_of(b) : batch.length_of(b); });
  arrays.push_back(std::move(array));
}

/// Adds the streams; those of the encoder come first.
void add_streams(std::vector<NamedArray>& arrays, const ActivationCache& computed,
                 const TransformerConfig& config, const Batch& batch) {
  const std::size_t of_encoder =
      config.has_source() ? static_cast<std::size_t>(config.encoder_layers) + 1 : 0;
  for (std::size_t i = 0; i < computed.residual.size(); ++i) {
    const bool encodes = i < of_encoder;
    const std::string name = encodes ? text("encoder.stream.", i) : text("stream.", i - of_encoder);
    add_stream(arrays, name, computed.residual[i], batch, encodes);
  }
}

}  // namespace

std::vector<NamedArray> activation_arrays(const Transformer& model, const Batch& batch) {
  const Activations activations(model, batch);
  const ActivationCache& computed = activations.cache();
  std::vector<NamedArray> arrays = token_arrays(batch);
  const std::vector<AttentionLayer> layers = model.attention_layers();
  for (std::size_t m = 0; m < layers.size(); ++m) {
    add_attention(arrays, layers[m], computed.attention[m], batch);
  }
  const TransformerConfig& config = model.config();
  for (const ActivationCache::Written& part : computed.written) {
    if (part.from.kind != Sublayer::mlp) continue;
    add_stream(arrays, name_of(part.from), part.x, batch, part.from.stack == "encoder.");
  }
  add_streams(arrays, computed, config, batch);
  NamedArray logits = split_array("logits", activations.logits(), config.outputs());
  blank_padding(logits, 1, [&](Index b) { return batch.length_of(b); });
  arrays.push_back(std::move(logits));
  return arrays;
}

}  // namespace headlab
