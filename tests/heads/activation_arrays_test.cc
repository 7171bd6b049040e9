// Arrays of activations for NumPy: their names, their shapes, and that they hold what the model
// computed. Read next: activations_test.cc.
#include <algorithm>
#include <cmath>
#include <map>

#include "headlab/core/tasks/table.h"
#include "headlab/lab/heads/scores/activations.h"
#include "support/models.h"

namespace headlab { namespace {

using Shapes = std::map<std::string, std::vector<std::int64_t>>;

Shapes shapes_of(const std::vector<NamedArray>& arrays) {
  Shapes shapes;
  for (const NamedArray& array : arrays) {
    EXPECT_TRUE(shapes.emplace(array.name, array.shape).second) << array.name;
    std::int64_t count = 1;
    for (const std::int64_t length : array.shape) count *= length;
    EXPECT_EQ(std::ssize(array.values), count) << array.name;
    const bool is_named_whole = array.name == "tokens" || array.name.ends_with("lengths") ||
                                array.name == "source" || array.name.ends_with(".heads");
    EXPECT_EQ(array.is_whole, is_named_whole) << array.name;
  }
  return shapes;
}

const NamedArray& array_named(const std::vector<NamedArray>& arrays, const std::string& name) {
  const auto found = std::ranges::find(arrays, name, &NamedArray::name);
  if (found == arrays.end()) throw std::runtime_error("no array " + name);
  return *found;
}

TEST(ActivationArrays, HaveTheDocumentedNamesAndShapes) {
  TransformerConfig config = small_config();
  config.d_ff = 12;
  const Transformer model = random_model(config).with_heads({{1}, {0, 1}});
  const Batch batch = random_batch(config, 3, 6);
  const Shapes shapes = shapes_of(activation_arrays(model, batch));
  const Index C = config.d_model;
  for (Index layer = 0; layer < 2; ++layer) {
    const std::string block = text("blocks.", layer);
    const MultiHeadAttention& attention = *model.attention_layers()[layer].attention;
    const Index H = layer == 0 ? 1 : 2;
    const Index D = attention.d_head;
    const Index Dv = attention.d_value;
    EXPECT_EQ(shapes.at(block + ".attn.q"), (std::vector<std::int64_t>{3, 6, H, D}));
    EXPECT_EQ(shapes.at(block + ".attn.k"), (std::vector<std::int64_t>{3, 6, H, D}));
    EXPECT_EQ(shapes.at(block + ".attn.v"), (std::vector<std::int64_t>{3, 6, H, Dv}));
    EXPECT_EQ(shapes.at(block + ".attn.z"), (std::vector<std::int64_t>{3, 6, H, Dv}));
    EXPECT_EQ(shapes.at(block + ".attn.pattern"), (std::vector<std::int64_t>{3, H, 6, 6}));
    EXPECT_EQ(shapes.at(block + ".attn.heads"), (std::vector<std::int64_t>{H}));
    EXPECT_EQ(shapes.at(block + ".mlp"), (std::vector<std::int64_t>{3, 6, C}));
  }
  for (const char* stream : {"stream.0", "stream.1", "stream.2"})
    EXPECT_EQ(shapes.at(stream), (std::vector<std::int64_t>{3, 6, C})) << stream;
  EXPECT_EQ(shapes.at("tokens"), (std::vector<std::int64_t>{3, 6}));
  EXPECT_EQ(shapes.at("lengths"), (std::vector<std::int64_t>{3}));
  EXPECT_EQ(shapes.at("logits"),
            (std::vector<std::int64_t>{3, 6, config.targets, config.outputs()}));
  EXPECT_EQ(shapes.size(), 2u * 7 + 3 + 2 + 1);
}

TEST(ActivationArrays, EqualTheActivationsOfTheModel) {
  const Transformer model = random_model(small_config()).with_heads({{1}, {0, 1}});
  const Batch batch = random_batch(small_config(), 2, 6);
  const Activations activations(model, batch);
  const std::vector<NamedArray> arrays = activation_arrays(model, batch);
  EXPECT_EQ(array_named(arrays, "blocks.0.attn.heads").values, std::vector<float>{1});
  const NamedArray pattern = array_named(arrays, "blocks.1.attn.pattern");
  const Tensor expected = activations.pattern({1, 1});
  const NamedArray z = array_named(arrays, "blocks.1.attn.z");
  const Tensor output = activations.output({1, 1});
  for (Index b = 0; b < 2; ++b)
    for (Index t = 0; t < 6; ++t) {
      for (Index s = 0; s < 6; ++s)
        EXPECT_EQ(pattern.values[((b * 2 + 1) * 6 + t) * 6 + s],
                  expected.data()[(b * 6 + t) * 6 + s]);
      const Index width = output.size(2);
      for (Index j = 0; j < width; ++j)
        EXPECT_EQ(z.values[((b * 6 + t) * 2 + 1) * width + j],
                  output.data()[(b * 6 + t) * width + j]);
    }
  const NamedArray last = array_named(arrays, "stream.2");
  EXPECT_TRUE(std::ranges::equal(last.values, activations.residual(2).values()));
}

/// Expects NaN at the positions from each length on, and nowhere else. Positions are on `axis`.
void expect_blank_padding(const NamedArray& array, std::size_t axis, const Ids& lengths) {
  std::vector<Index> steps(array.shape.size(), 1);
  for (std::size_t i = steps.size() - 1; i > 0; --i) steps[i - 1] = steps[i] * array.shape[i];
  for (Index i = 0; i < std::ssize(array.values); ++i) {
    const Index b = i / steps[0];
    const Index t = i / steps[axis] % array.shape[axis];
    EXPECT_EQ(std::isnan(array.values[i]), t >= lengths[b]) << array.name << " " << b << " " << t;
  }
}

TEST(ActivationArrays, ArePaddedByNaN) {
  TransformerConfig config = small_config();
  config.d_ff = 12;
  Batch batch = random_batch(config, 3, 6);
  batch.lengths = {6, 2, 4};
  const std::vector<NamedArray> arrays = activation_arrays(random_model(config), batch);
  for (const char* name : {"blocks.0.attn.q", "blocks.0.attn.k", "blocks.0.attn.v",
                           "blocks.1.attn.z", "blocks.1.mlp", "stream.0", "stream.2"}) {
    expect_blank_padding(array_named(arrays, name), 1, batch.lengths);
  }
  expect_blank_padding(array_named(arrays, "blocks.0.attn.pattern"), 2, batch.lengths);
}

TEST(ActivationArrays, OfAnEncoderArePaddedByTheSource) {
  TransformerConfig config = small_encoder_decoder();
  config.d_ff = 12;
  Batch batch = random_batch(config, 2, 5);
  batch.lengths = {5, 3};
  batch.source_lengths = {1, static_cast<std::int32_t>(batch.source_length)};
  const std::vector<NamedArray> arrays = activation_arrays(random_model(config), batch);
  for (const char* name : {"encoder.stream.0", "encoder.blocks.0.mlp", "encoder.blocks.0.attn.q",
                           "decoder.blocks.0.cross_attn.k", "decoder.blocks.0.cross_attn.v"}) {
    expect_blank_padding(array_named(arrays, name), 1, batch.source_lengths);
  }
  for (const char* name : {"stream.1", "decoder.blocks.0.mlp", "decoder.blocks.0.cross_attn.q",
                           "decoder.blocks.0.attn.k"}) {
    expect_blank_padding(array_named(arrays, name), 1, batch.lengths);
  }
  expect_blank_padding(array_named(arrays, "decoder.blocks.0.cross_attn.pattern"), 2,
                       batch.lengths);
}

TEST(ActivationArrays, NameTheStreamsOfTheEncoder) {
  const auto task = make_task("reverse_cross");
  TransformerConfig config = small_encoder_decoder();
  config.shape() = task->shape();
  const Transformer model = random_model(config);
  const Batch batch = task->make(Key{}, 3, Split::validation).batch;
  const Shapes shapes = shapes_of(activation_arrays(model, batch));
  const Index S = batch.source_length;
  for (Index layer = 0; layer <= config.encoder_layers; ++layer)
    EXPECT_EQ(shapes.at(text("encoder.stream.", layer)),
              (std::vector<std::int64_t>{3, S, config.d_model}));
  for (Index layer = 0; layer <= config.layers; ++layer)
    EXPECT_EQ(shapes.at(text("stream.", layer)),
              (std::vector<std::int64_t>{3, batch.length, config.d_model}));
  EXPECT_EQ(shapes.at("source"), (std::vector<std::int64_t>{3, S}));
  EXPECT_EQ(shapes.at("source_lengths"), (std::vector<std::int64_t>{3}));
}

}  // namespace
}  // namespace headlab
