// Costs against what is known: figures that articles print, published models, the model's own count
// of parameters, and the operations that a profile charges to ops as they run.
#include "headlab/lab/bench/cost.h"

#include <gtest/gtest.h>

#include "headlab/core/base/error.h"
#include "headlab/core/tensor/tape.h"
#include "headlab/lab/bench/profile.h"
#include "headlab/lab/heads/lessons/lessons.h"
#include "support/models.h"

namespace headlab { namespace cost_tests {

Index last_count(const Table& table, std::size_t column) {
  return table.rows.back()[column].integer();
}

const Json::Array& row(const Table& table, std::string_view name) {
  for (const Json::Array& cells : table.rows)
    if (cells[0].string() == name) return cells;
  throw Error(text("there is no row ", name));
}

TEST(Cost, ParameterCountsEqualPublishedCounts) {
  for (const Index heads : {1, 2, 4, 8, 16}) {
    const auto attention_layers = attention_layers_of({.heads = heads});
    EXPECT_EQ(last_count(parameter_cost(attention_layers), 3), 1050624) << heads;
    EXPECT_EQ(last_count(parameter_cost(attention_layers_of({.heads = heads, .biases = false})), 3),
              4 * 512 * 512)
        << heads;
  }
  const Table table = parameter_cost(attention_layers_of(CostOptions{}));
  EXPECT_EQ(row(table, "W_O")[3].integer(), 262144);
  EXPECT_EQ(row(table, "W_Q")[3].integer() + row(table, "b_Q")[3].integer(), 262656);
  EXPECT_EQ(row(table, "W_Q")[2].string(), "512 x 512");
  EXPECT_EQ(last_count(parameter_cost(attention_layers_of({.d_model = 768, .heads = 12})), 3),
            4 * (768 * 768 + 768));
}

TEST(Cost, IndivisibleWidthCostsAsMuchAsNarrowerHeads) {
  const auto attention_layers = attention_layers_of({.heads = 7});
  EXPECT_EQ(attention_layers[0].sizes.d_head, 73);
  EXPECT_EQ(last_count(parameter_cost(attention_layers), 3), 4 * 511 * 512 + 3 * 511 + 512);
  EXPECT_NE(division_note(512, 7).find("[511, 512]"), std::string::npos);
  EXPECT_EQ(division_note(512, 8), "");
}

TEST(Cost, ParameterCountEqualsThatOfTheModel) {
  const std::string sizes = "layers=3 heads=4+2+3 d_model=20 d_head=5 kv_heads=1";
  for (const char* biases : {" biases=off", ""}) {
    const Transformer model(config_with(sizes + biases));
    Index counted = 0;
    model.visit([&](const std::string& name, const Tensor& parameter) {
      counted += name.find(".attn.") != std::string::npos ? parameter.count() : 0;
    });
    EXPECT_EQ(last_count(parameter_cost(attention_layers_of(model)), 3), counted) << biases;
  }
  const Transformer model(config_with(sizes)), pruned = model.with_heads({{0, 2}, {1}, {}});
  const auto attention_layers = attention_layers_of(pruned);
  EXPECT_EQ(attention_layers[0].sizes.heads, 2);
  EXPECT_EQ(attention_layers[2].sizes.heads, 0);
}

TEST(Cost, OnlyTheSoftmaxDependsOnTheNumberOfHeads) {
  const Table table = operation_cost(attention_layers_of(CostOptions{}), 1);
  for (const Json::Array& cells : table.rows) {
    const Index factor = cells[0].string() == "softmax" ? 8 : 1;
    if (cells[0].string() == "all") continue;
    EXPECT_EQ(cells[3].integer(), factor * cells[2].integer()) << cells[0].string();
  }
  EXPECT_EQ(row(table, "x W_Q")[3].integer(), Index{2} * 1024 * 512 * 512);
  EXPECT_EQ(row(table, "q k^T")[3].integer(), Index{2} * 1024 * 1024 * 512);
}

TEST(Cost, OperationCountsEqualThoseOfTheProfile) {
  CostOptions options;
  settings_of(options).set_all_text("d_model=24 heads=4 kv_heads=2 d_value=0 length=16 batch=3");
  const AttentionSlotSizes slot = attention_layers_of(options)[0];
  MultiHeadAttention attention(slot.sizes);
  const Tensor x = Tensor::full({3, 16, 24}, 1).set_requires_grad();
  double forward = 0, behind = 0;
  Profile profile;
  profile.start();
  backward(attention.forward(x, x, {}), Tensor::full({3, 16, 24}, 1));
  for (const ProfileRow& part : profile.rows())
    (part.pass == "forward" ? forward : behind) += part.cost.operations;
  const Table table = operation_cost({slot}, 3);
  const Json::Array& softmax = row(table, "softmax");
  EXPECT_EQ(forward, last_count(table, 3) - softmax[3].integer());
  EXPECT_EQ(behind, last_count(table, 4) - softmax[4].integer());
}

TEST(Cost, CacheSizesEqualPublishedSizes) {
  const Table gpt3 =
      cache_cost(attention_layers_of({.d_model = 12288, .heads = 96, .length = 2048, .layers = 96}),
                 1);
  EXPECT_EQ(row(gpt3, "multi-head")[2].integer(), 4831838208);
  EXPECT_NEAR(row(gpt3, "multi-head")[4].number(), 9663.676, 1e-3);
  const Table grouped =
      cache_cost(attention_layers_of({.d_model = 8192, .heads = 64, .kv_heads = 8, .layers = 80}),
                 1);
  EXPECT_NEAR(row(grouped, "grouped")[5].number(), 8. / 64, 1e-12);
  EXPECT_NEAR(row(grouped, "multi-query")[5].number(), 1. / 64, 1e-12);
}

TEST(Cost, CacheSizeEqualsMemoryKeptByGeneration) {
  const NoGrad no_grad;
  for (const auto& [settings, kind] : {std::pair("", "multi-head"),
                                       {"window=5", "multi-head"},
                                       {"kv_heads=2 window=5+0", "grouped"},
                                       {"kv_heads=1 block=llama", "multi-query"}}) {
    for (TransformerConfig config : {small_config(), small_encoder_decoder()}) {
      const bool mixed = std::string(settings).ends_with("+0");
      if (mixed && config.has_source()) continue;
      settings_of(config).set_all_text(text("heads=4 length=12 ", settings));
      const Transformer model(config);
      ModelCache cache(config, 12);
      model.forward(Batch::make(1, 12, 1, config.source_length), {}, {.cache = &cache});
      EXPECT_EQ(row(cache_cost(attention_layers_of(model), 1), kind)[2].integer(), cache.numbers())
          << settings;
    }
  }
  const Table none = cache_cost(attention_layers_of(Transformer(small_encoder())), 1);
  EXPECT_EQ(none.rows[0][2].integer(), 0) << "an encoder generates nothing";
}

TEST(Cost, ComposedAttentionGrowsQuadratically) {
  const Table table =
      memory_cost(attention_layers_of({.d_model = 12288, .heads = 96, .length = 8192}), 1);
  EXPECT_EQ(row(table, "weights, if composed")[2].integer(), 6442450944);
  const Table shared =
      memory_cost(attention_layers_of({.kv_heads = 2, .length = 100, .batch = 3}), 3);
  EXPECT_EQ(row(shared, "q, k, v")[2].integer(), 3 * 100 * (512 + 2 * (64 + 64)));
  EXPECT_EQ(row(table, "log-sum-exp, if fused")[2].integer(), 96 * 8192);
}

TEST(Cost, ProjectionsAndScoresCostTheSameAtTheLengthOfTheNote) {
  for (const auto& [kv_heads, length] : {std::pair<Index, Index>{8, 1024}, {2, 640}, {1, 576}}) {
    const Table table =
        complexity_cost(attention_layers_of({.kv_heads = kv_heads, .length = length}), 1);
    EXPECT_EQ(table.rows[0][3].integer(), table.rows[1][3].integer()) << "512 (1 + G / 8)";
    EXPECT_NE(table.note.find("d (1 + G / H)"), std::string::npos);
  }
}

TEST(Cost, RefusesImpossibleSizes) {
  EXPECT_THROW(attention_layers_of({.d_model = 4, .heads = 8}), Error);
  EXPECT_THROW(attention_layers_of({.heads = 8, .kv_heads = 3}), Error);
  EXPECT_THROW(attention_layers_of({.heads = 8, .kv_heads = 16}), Error);
  const auto absurd = attention_layers_of(
      {.d_model = 1 << 20, .heads = 1 << 20, .length = 1 << 24, .layers = 10000, .batch = 100000});
  EXPECT_THROW(operation_cost(absurd, 100000), Error);
  EXPECT_THROW(memory_cost(absurd, 100000), Error);
}

TEST(Cost, HasOneRowPerPublishedModel) {
  const Table table = published_cost();
  ASSERT_EQ(table.rows.size(), published_models().size());
  EXPECT_EQ(row(table, "Transformer base")[6].integer(), 4 * 512 * 512);
  EXPECT_EQ(row(table, "GPT-3 175B")[7].integer(), 2 * 96 * 96 * 256);
  EXPECT_TRUE(row(table, "BERT-base")[7].is_null()) << "it generates nothing";
  for (const PublishedModel& model : published_models()) {
    EXPECT_EQ(model.heads % model.kv_heads, 0) << model.name;
    EXPECT_NE(std::string(model.source), "") << model.name;
  }
}

}  // namespace cost_tests
}  // namespace headlab
