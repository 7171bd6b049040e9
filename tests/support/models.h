// Small models and batches for the tests of model/: random parameters in all of them, biases and
// gains included, so that nothing is 0 or 1 by accident.
#pragma once

#include "headlab/model/transformer.h"
#include "support/tensors.h"

namespace headlab {

inline Transformer random_model(const TransformerConfig& config, Key key = Key{1}) {
  Transformer model(config);
  model.visit([&](const std::string& name, const Tensor& parameter) {
    const Tensor values = random_tensor(parameter.shape(), key.fold(name));
    std::copy_n(values.data(), values.count(), parameter.data());
  });
  return model;
}

/// Random tokens; targets are random too, and `missing` of them are -1. Sources, if the model reads
/// any, are as long as it allows.
inline Batch random_batch(const TransformerConfig& config, Index size, Index length,
                          double missing = 0.2, Key key = Key{2}) {
  Generator random(key);
  Batch batch = Batch::make(size, length, config.targets, config.source_length);
  for (std::int32_t& token : batch.tokens)
    token = static_cast<std::int32_t>(random.below(config.vocab));
  for (std::int32_t& token : batch.source)
    token = static_cast<std::int32_t>(random.below(config.vocab));
  for (std::int32_t& target : batch.targets) {
    const auto drawn = static_cast<std::int32_t>(random.below(config.vocab));
    target = random.uniform() < missing ? -1 : drawn;
  }
  return batch;
}

/// Two layers of width 8 with everything that can be left out.
inline TransformerConfig small_config() {
  TransformerConfig c;
  c.layers = 2;
  c.heads = {2};
  c.d_model = 8;
  c.d_ff = 12;
  c.vocab = 7;
  c.length = 6;
  return c;
}

inline TransformerConfig small_encoder() {
  TransformerConfig c = small_config();
  c.architecture = Architecture::encoder;
  c.norm = NormPlace::post;
  return c;
}

/// One encoder layer, two decoder layers, sources longer than sequences.
inline TransformerConfig small_encoder_decoder() {
  TransformerConfig c = small_config();
  c.architecture = Architecture::encoder_decoder;
  c.encoder_layers = 1;
  c.source_length = 9;
  return c;
}

inline std::vector<Tensor> parameters_of(Transformer& model) {
  std::vector<Tensor> parameters;
  model.visit(
      [&](const std::string&, const Tensor& parameter) { parameters.push_back(parameter); });
  return parameters;
}

}  // namespace headlab
