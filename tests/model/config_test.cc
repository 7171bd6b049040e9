// The config: invalid settings give an error with a message, and a written config is read back.
#include "headlab/core/model/config.h"

#include "support/golden_text.h"
#include "support/models.h"

namespace headlab { namespace {

void expect_invalid(const TransformerConfig& config, const std::vector<std::string>& parts) {
  expect_error([&] { config.validate(); }, parts);
  expect_error([&] { Transformer{config}; }, parts);
}

TEST(Config, SaysHowManyHeadsWouldFit) {
  expect_invalid(small_config("d_model=512 heads=7"),
                 {"d_model 512 is not divisible by heads 7", "set d_head, or use 1, 2, 4, 8"});
}

TEST(Config, LetsHeadsHaveAnyWidthThatIsSet) {
  TransformerConfig c = small_config("heads=7 d_head=5");
  c.validate();
  EXPECT_EQ(c.d_head_of(0), 5);
  EXPECT_EQ(c.d_value_of(0), 5);
  c.d_value = 2;
  EXPECT_EQ(c.d_value_of(0), 2);
}

TEST(Config, LetsLayersDifferInHeads) {
  TransformerConfig c = small_config("heads=4+0");
  c.validate();
  EXPECT_EQ(c.heads_of(0), 4);
  EXPECT_EQ(c.heads_of(1), 0);
  EXPECT_EQ(c.d_head_of(0), 2);
  EXPECT_EQ(c.d_head_of(1), 0);
}

TEST(Config, NeedsHeadsForEveryLayer) {
  expect_invalid(small_config("heads=2+2+2"), {"3 layers", "layers is 2"});
}

TEST(Config, CountsTheLayersOfAnEncoderFirst) {
  TransformerConfig c = small_encoder_decoder("heads=1+2+4");
  c.validate();
  EXPECT_EQ(c.heads_of(0), 1);
  const std::vector<AttentionSlot> slots = c.attention_slots();
  ASSERT_EQ(slots.size(), 5u);
  EXPECT_EQ(slots[0].name, "encoder.blocks.0.attn");
  EXPECT_EQ(slots[4].name, "decoder.blocks.1.cross_attn");
  EXPECT_EQ(slots[4].kind, AttentionKind::cross);
  EXPECT_EQ(c.heads_of(slots[3].layer), 4);
  EXPECT_EQ(c.heads_of(slots[4].layer), 4);
  c.heads = {1, 2};
  expect_error([&] { c.validate(); }, {"heads names 2 layers", "encoder_layers + layers is 3"});
}

TEST(Config, StatesInputsAndWidthOfEachAttentionLayer) {
  TransformerConfig c =
      small_encoder_decoder("source_length=7 length=5 heads=4 d_head=3 d_value=2");
  const auto check = [&](Index key_width) {
    for (const AttentionSlot& slot : c.attention_slots()) {
      EXPECT_EQ(slot.queries, slot.kind == AttentionKind::encoder ? 7 : 5) << slot.name;
      EXPECT_EQ(slot.keys, slot.kind == AttentionKind::self ? 5 : 7) << slot.name;
      EXPECT_EQ(slot.width, 4 * (3 + 2));
      EXPECT_EQ(slot.key_width, key_width);
    }
  };
  check(4 * (3 + 2));
  c.kv_heads = 2;
  check(2 * (3 + 2));
}

/// All matrices of the blocks: everything with two axes but the tables.
TEST(Config, CountsTheWeightsOfItsBlocks) {
  TransformerConfig c = small_config("heads=4");
  for (const Index groups : {0, 2}) {
    c.kv_heads = groups;
    double weights = 0;
    Transformer model{c};
    model.visit([&](const std::string& name, const Tensor& tensor) {
      const bool in_block = name.find("blocks.") != name.npos;
      weights += in_block && tensor.rank() == 2 ? static_cast<double>(tensor.count()) : 0;
    });
    EXPECT_EQ(c.block_weights(), weights) << groups;
  }
}

TEST(Config, CountsTheOperationsOfAPass) {
  TransformerConfig c = small_config("layers=2 heads=3 d_model=12 d_ff=20");
  c.vocab = 11;
  c.length = 7;
  const double projections = 4 * 12 * 12 * 7;  // of queries, keys, values and results
  const double network = 2 * 12 * 20 * 7;
  const double attention = 2 * 12 * 7 * 7;  // scores, and values by weights
  const double unembedding = 12 * 11 * 7;
  EXPECT_EQ(c.operations(), 2 * (2 * (projections + network + attention) + unembedding));
}

TEST(Config, OnlyEncoderDecodersHaveSources) {
  expect_invalid(small_config("encoder_layers=1"),
                 {"encoder_layers 1", "unless architecture is encoder_decoder"});
  expect_invalid(small_config("source_length=4"),
                 {"source_length 4", "unless architecture is encoder_decoder"});
  expect_invalid(small_config("architecture=encoder_decoder"),
                 {"encoder_decoder needs source_length"});
}

TEST(Config, NeedsGroupsThatDivideTheHeads) {
  expect_invalid(small_config("heads=4 kv_heads=3"), {"heads 4", "kv_heads 3"});
  expect_invalid(small_config("kv_heads=4"), {"heads 2", "kv_heads 4"});
}

TEST(Config, TiesOneTargetOnly) {
  expect_invalid(small_config("tied=true targets=2"), {"tied", "targets 1, got 2"});
}

TEST(Config, NeedsPairsOfSinesAndCosines) {
  expect_invalid(small_config("d_model=7 heads=1 positions=sinusoidal"),
                 {"sinusoidal", "divides by 2, got 7"});
}

TEST(Config, RefusesAnUnembeddingThatFitsNowhere) {
  expect_invalid(small_config("vocab=16777216 targets=1024"),
                 {"unembedding", "does not fit into memory"});
}

TEST(Config, ChecksTheHeadsThatALayerKeeps) {
  const auto keeping = [](TransformerConfig c, const char* attention_layer,
                          std::vector<std::int32_t> heads) {
    c.attention = {{attention_layer, std::move(heads)}};
    return c;
  };
  expect_invalid(keeping(small_config(), "blocks.0.attn", {2}),
                 {"blocks.0.attn", "head 2", "2 heads"});
  expect_invalid(keeping(small_config(), "blocks.0.attn", {1, 1}),
                 {"blocks.0.attn", "head 1 twice"});
  expect_invalid(keeping(small_config(), "blocks.2.attn", {0}),
                 {"no attention layer blocks.2.attn", "2 layers"});
  expect_invalid(keeping(small_encoder_decoder(), "blocks.0.attn", {0}),
                 {"no attention layer blocks.0.attn", "3 layers"});
}

TEST(ConfigSettings, RoundTripThroughJson) {
  TransformerConfig c = small_config(
      "architecture=encoder heads=4+0 d_head=3 kv_heads=2 norm_place=post activation=relu "
      "positions=sinusoidal init=gpt2 targets=3 dropout=0.1");
  c.attention = {{"blocks.0.attn", {0, 3}}, {"blocks.1.attn", {}}};
  const Json json = Json::parse(settings_of(c).to_json().dump());
  TransformerConfig read;
  settings_of(read).set_all(json, "test");
  EXPECT_EQ(settings_of(read).to_json(), settings_of(c).to_json());
  EXPECT_EQ(read.heads, c.heads);
  EXPECT_EQ(read.attention, c.attention);
  EXPECT_EQ(read.norm_place, NormPlace::post);
  EXPECT_EQ(read.dropout, 0.1);
}

TEST(ConfigSettings, AreReadFromText) {
  TransformerConfig c;
  expect_golden("model/default_settings.json", settings_of(c).to_json().dump(2) + "\n");
  settings_of(c).set_all_text("layers=2 heads=4+0 tied=true norm_place=post dropout=0.25");
  EXPECT_EQ(c.layers, 2);
  EXPECT_EQ(c.heads, (std::vector<Index>{4, 0}));
  EXPECT_TRUE(c.tied);
  EXPECT_EQ(c.norm_place, NormPlace::post);
  EXPECT_EQ(c.dropout, 0.25);
}

TEST(ConfigSettings, NameAllowedValues) {
  TransformerConfig c;
  const Settings s = settings_of(c);
  expect_error([&] { s.set_text("norm_place", "mid"); }, {"norm_place", "pre", "post"});
  expect_error([&] { s.set_text("layers", "-1"); }, {"layers", "0", "1000"});
  expect_error([&] { s.set_text("d_model", "0"); }, {"d_model", "1"});
  expect_error([&] { s.set_text("dropout", "1"); }, {"dropout"});
  expect_error([&] { s.set_text("layer", "1"); }, {"layer", "layers"});
}

TEST(ConfigSettings, RefuseAttentionThatIsNoTableOfHeads) {
  TransformerConfig c;
  const Settings s = settings_of(c);
  const auto set = [&](const char* json) {
    return [&s, json] { s.set("attention", Json::parse(json)); };
  };
  expect_error(set("[1]"), {"attention must be an object"});
  expect_error(set("{\"blocks.0.attn\": [0]}"), {"blocks.0.attn", "heads"});
  expect_error(set("{\"blocks.0.attn\": {\"heads\": [-1]}}"), {"blocks.0.attn", "head -1 must be"});
  expect_error(set("{\"blocks.0.attn\": {\"heads\": [0.5]}}"), {"0.5"});
}

}  // namespace
}  // namespace headlab
