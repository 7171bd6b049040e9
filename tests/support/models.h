// Small models and batches for the tests of model/: random parameters in all of them, biases and
// gains included, so that nothing is 0 or 1 by accident.
#pragma once

#include "headlab/core/model/transformer.h"
#include "support/tensors.h"

namespace headlab {

/// Without norms the streams of large weights grow until softmaxes saturate: they are smaller then.
inline Transformer random_model(const TransformerConfig& config, Key key = Key{1}) {
  Transformer model(config);
  const Scalar size = config.norm == NormType::none ? Scalar(0.4) : Scalar(1);
  model.visit([&](const std::string& name, const Tensor& parameter) {
    const Tensor values = random_tensor(parameter.shape(), key.fold(name));
    for (Index i = 0; i < values.count(); ++i) parameter.data()[i] = size * values.data()[i];
  });
  return model;
}

/// Random tokens; targets are random too, and `missing` of them are -1. Sources, if the model reads
/// any, are as long as it allows.
inline Batch random_batch(const TransformerConfig& config, Index size, Index length,
                          double missing = 0.2, Key key = Key{2}) {
  Generator random(key);
  Batch batch = Batch::make(size, length, config.targets, config.source_length, config.features);
  for (Scalar& value : batch.vectors) value = static_cast<Scalar>(random.normal());
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

/// A config with these settings, "layers=2 heads=2".
inline TransformerConfig config_with(const std::string& settings) {
  TransformerConfig c;
  settings_of(c).set_all_text(settings);
  return c;
}

/// The settings of all combinations of attention functions and positions, with one norm and one
/// activation: none of them changes what attention does.
inline std::vector<std::string> all_attention() {
  std::vector<std::string> all;
  for (const AttentionFunctionEntry& function : attention_functions())
    for (const PositionKind& positions : kPositions)
      all.push_back(text("attention_function=", function.name, " positions=", positions.name));
  return all;
}

/// The settings of every block wiring with each norm, with and without biases.
inline std::vector<std::string> all_wirings() {
  std::vector<std::string> all;
  for (const BlockWiring& wiring : block_wirings()) {
    for (const NormKind& norm : kNorms) {
      for (const char* biases : {"on", "off"}) {
        all.push_back(text("norm_place=", wiring.name, " norm=", norm.name, " biases=", biases));
      }
    }
  }
  return all;
}

/// Whether models with a source may have these settings, which all_kinds() gives.
inline bool allow_a_source(const std::string& settings) {
  return kind_of(config_with(settings).norm_place).has_cross;
}

/// The settings of all combinations of the kinds of norms, positions, activations and biases, and
/// those of all_attention() and all_wirings(). They come from their tables, so that a new row is
/// tested by being there.
inline std::vector<std::string> all_kinds() {
  std::vector<std::string> all = all_attention();
  for (const std::string& wiring : all_wirings()) {
    all.push_back(wiring);
  }
  for (const NormKind& norm : kNorms)
    for (const char* place : {"pre", "post"})
      for (const PositionKind& positions : kPositions)
        for (const ActivationKind& activation : kActivations)
          for (const char* biases : {"on", "off"})
            all.push_back(text("norm=", norm.name, " norm_place=", place,
                               " positions=", positions.name, " activation=", activation.name,
                               " biases=", biases));
  return all;
}

/// Two layers of width 8 with everything that can be left out.
inline TransformerConfig small_config(const std::string& settings = "") {
  return config_with("layers=2 heads=2 d_model=8 d_ff=12 vocab=7 length=6 " + settings);
}

/// The same for sequences of this shape.
inline TransformerConfig small_config(const TaskShape& shape, const std::string& settings = "") {
  TransformerConfig config = small_config(settings);
  config.shape() = shape;
  return config;
}

inline TransformerConfig small_encoder(const std::string& settings = "") {
  return small_config("architecture=encoder norm_place=post " + settings);
}

/// One encoder layer, two decoder layers, sources longer than sequences.
inline TransformerConfig small_encoder_decoder(const std::string& settings = "") {
  return small_config("architecture=encoder_decoder encoder_layers=1 source_length=9 " + settings);
}

inline std::vector<Tensor> parameters_of(Transformer& model) {
  std::vector<Tensor> parameters;
  model.visit(
      [&](const std::string&, const Tensor& parameter) { parameters.push_back(parameter); });
  return parameters;
}

/// The values of all parameters, which have no gradient: what stays as it was is equal.
inline std::vector<double> values_without_gradients(Transformer& model) {
  std::vector<double> values;
  for (const Tensor& parameter : parameters_of(model)) {
    const std::vector<double> more = numbers(parameter);
    values.insert(values.end(), more.begin(), more.end());
    EXPECT_FALSE(parameter.grad().defined());
  }
  return values;
}

}  // namespace headlab
