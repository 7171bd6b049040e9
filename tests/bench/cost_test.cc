// Costs against what is known: figures that articles print, the formulas that tables show at random
// sizes, the model's own count of parameters, and the operations that a profile charges to ops as
// they run.
#include "headlab/lab/bench/cost.h"

#include <gtest/gtest.h>

#include <map>

#include "headlab/core/base/error.h"
#include "headlab/core/base/random.h"
#include "headlab/core/base/text.h"
#include "headlab/core/tensor/tape.h"
#include "headlab/lab/bench/profile.h"
#include "support/cache_numbers.h"
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

TEST(Cost, CacheSizeEqualsThePublishedOne) {
  const Table gpt3 = memory_cost(attention_layers_of(
                                     {.d_model = 12288, .heads = 96, .length = 2048, .layers = 96}),
                                 1);
  EXPECT_EQ(row(gpt3, "cache of generation")[2].integer(), 4831838208);
  EXPECT_NEAR(row(gpt3, "cache of generation")[4].number(), 9663.676, 1e-3);
}

TEST(Cost, CacheSizeEqualsMemoryKeptByGeneration) {
  const NoGrad no_grad;
  for (const char* settings : {"", "window=5", "kv_heads=2 window=5+0", "kv_heads=1 block=llama"}) {
    for (TransformerConfig config : {small_config(), small_encoder_decoder()}) {
      const bool mixed = std::string(settings).ends_with("+0");
      if (mixed && config.has_source()) continue;
      settings_of(config).set_all_text(text("heads=4 length=12 ", settings));
      const Transformer model(config);
      ModelCache cache(config, 12);
      model.forward(Batch::make(1, 12, 1, config.source_length), {}, {.cache = &cache});
      const Table memory = memory_cost(attention_layers_of(model), 1);
      EXPECT_EQ(row(memory, "cache of generation")[2].integer(), numbers_in(cache)) << settings;
    }
  }
  const Table none = memory_cost(attention_layers_of(Transformer(small_encoder())), 1);
  EXPECT_EQ(row(none, "cache of generation")[2].integer(), 0) << "an encoder generates nothing";
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

/// Reads a formula as tables show it: products of letters and numbers, "x" between rows and
/// columns, sums in brackets. Error for anything else.
class ShownFormula {
 public:
  ShownFormula(const std::string& formula, const std::map<std::string, double>& letters)
      : letters_(letters) {
    std::string spaced;
    for (const char c : formula) {
      spaced += c == '(' || c == ')' ? std::string(" ") + c + " " : std::string(1, c);
    }
    for (const std::string_view word : split(spaced, ' ')) {
      if (!word.empty() && word != "x") words_.emplace_back(word);
    }
  }
  double value() {
    const double sum = read_sum();
    require(at_ == words_.size(), "there is more after the formula");
    return sum;
  }

 private:
  double read_sum() {
    double sum = read_product();
    while (at_ < words_.size() && words_[at_] == "+") {
      ++at_;
      sum += read_product();
    }
    return sum;
  }
  double read_product() {
    double product = 1;
    while (at_ < words_.size() && words_[at_] != "+" && words_[at_] != ")") {
      product *= read_factor();
    }
    return product;
  }
  double read_factor() {
    const std::string word = words_[at_++];
    if (word == "(") {
      const double sum = read_sum();
      require(at_ < words_.size() && words_[at_] == ")", "a bracket is not closed");
      ++at_;
      return sum;
    }
    double number = 0;
    if (parse_number(word, number)) return number;
    return letters_.at(word);
  }

  std::map<std::string, double> letters_;
  std::vector<std::string> words_;
  std::size_t at_ = 0;
};

/// Letters of a layer, and those of a single head as wide as all heads together.
std::map<std::string, double> letters_of(const CostOptions& o) {
  const auto number = [](Index value) { return static_cast<double>(value); };
  return {{"B", number(o.batch)},  {"T", number(o.length)},   {"S", number(o.length)},
          {"N", number(o.length)}, {"C", number(o.d_model)},  {"H", number(o.heads)},
          {"D", number(o.d_head)}, {"Dv", number(o.d_value)}, {"G", number(o.kv_heads)}};
}
std::map<std::string, double> letters_in_one_head(const CostOptions& o) {
  CostOptions one = o;
  one.d_head *= o.heads;
  one.d_value *= o.heads;
  one.heads = one.kv_heads = 1;
  return letters_of(one);
}

CostOptions random_sizes(Generator& random) {
  const auto one_to = [&](Index most) { return 1 + static_cast<Index>(random.below(most)); };
  CostOptions o;
  o.d_model = one_to(300);
  o.kv_heads = one_to(6);
  o.heads = o.kv_heads * one_to(4);
  o.d_head = one_to(64);
  o.d_value = one_to(64);
  o.length = one_to(500);
  o.layers = one_to(3);
  o.batch = one_to(5);
  const auto functions = attention_functions();
  const auto which = static_cast<std::size_t>(random.below(std::ssize(functions)));
  settings_of(o).set_all_text(text("attention_function=", functions[which].name));
  return o;
}

TEST(Cost, FormulasHaveTheValuesThatTheyShow) {
  Generator random(Key{5}.fold("cost"));
  Index compared = 0;
  for (int draw = 0; draw < 50; ++draw) {
    const CostOptions o = random_sizes(random);
    const auto layers = attention_layers_of(o);
    const double count = static_cast<double>(o.layers);
    const auto expect_value = [&](const Json& formula, const auto& letters, const Json& shown) {
      if (formula.string().empty()) return;  // the sum of the others
      EXPECT_EQ(count * ShownFormula(formula.string(), letters).value(), shown.number())
          << formula.string();
      ++compared;
    };
    for (const Json::Array& cells : parameter_cost(layers).rows) {
      expect_value(cells[1], letters_of(o), cells[3]);
    }
    for (const Json::Array& cells : operation_cost(layers, o.batch).rows) {
      expect_value(cells[1], letters_in_one_head(o), cells[2]);
      expect_value(cells[1], letters_of(o), cells[3]);
    }
    for (const Json::Array& cells : memory_cost(layers, o.batch).rows) {
      expect_value(cells[1], letters_of(o), cells[2]);
    }
  }
  EXPECT_EQ(compared, 50 * (8 + 14 + 5));
}

}  // namespace cost_tests
}  // namespace headlab
