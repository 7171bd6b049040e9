// Drawing tokens: what a temperature, a number of candidates and a key decide.
#include "headlab/model/generation.h"

#include <map>

#include "headlab/ops/rows.h"
#include "support/models.h"

namespace headlab { namespace {

using Tokens = std::vector<std::int32_t>;

/// Logits at the last position of a prompt.
std::vector<double> last_logits(const Transformer& model, const Tokens& prompt) {
  Batch batch = Batch::make(1, static_cast<Index>(prompt.size()));
  batch.tokens.assign(prompt.begin(), prompt.end());
  const std::vector<double> all = numbers(model.forward(batch));
  return std::vector<double>(all.end() - model.config().vocab, all.end());
}

TEST(Generation, KeepsThePromptAndAddsTokens) {
  const Transformer model = random_model(small_config());
  const Tokens tokens = generate(model, {1, 2, 3}, {.tokens = 10, .key = Key{1}});
  ASSERT_EQ(tokens.size(), 13u);
  EXPECT_EQ(Tokens(tokens.begin(), tokens.begin() + 3), (Tokens{1, 2, 3}));
  for (std::int32_t token : tokens) EXPECT_TRUE(token >= 0 && token < 7);
}

TEST(Generation, AtTemperatureZeroTakesTheLikeliest) {
  const Transformer model = random_model(small_config());
  Tokens expected{4};
  for (int i = 0; i < 5; ++i) {
    const std::vector<double> logits = last_logits(model, expected);
    expected.push_back(
        static_cast<std::int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin()));
  }
  EXPECT_EQ(generate(model, {4}, {.tokens = 5, .temperature = 0}), expected);
  EXPECT_EQ(generate(model, {4}, {.tokens = 5, .top_k = 1, .key = Key{8}}), expected);
}

TEST(Generation, DependsOnItsKeyAlone) {
  const Transformer model = random_model(small_config());
  const Tokens once = generate(model, {1}, {.tokens = 40, .key = Key{1}});
  EXPECT_EQ(generate(model, {1}, {.tokens = 40, .key = Key{1}}), once);
  EXPECT_NE(generate(model, {1}, {.tokens = 40, .key = Key{2}}), once);
}

TEST(Generation, DrawsWithTheProbabilitiesOfTheModel) {
  const Transformer model = random_model(small_config());
  const std::vector<double> logits = last_logits(model, {3});
  double total = 0;
  for (double logit : logits) total += std::exp(logit / 2);
  std::map<std::int32_t, int> counts;
  const int draws = 2000;
  for (std::uint64_t i = 0; i < draws; ++i)
    ++counts[generate(model, {3}, {.tokens = 1, .temperature = 2, .key = Key{i}}).back()];
  for (std::int32_t token = 0; token < 7; ++token) {
    const double p = std::exp(logits[static_cast<std::size_t>(token)] / 2) / total;
    const double deviation = std::sqrt(p * (1 - p) * draws);  // five of them: once in 10^6
    EXPECT_NEAR(counts[token], p * draws, 5 * deviation + 1) << token;
  }
}

TEST(Generation, LooksAtNoMoreThanTheModelCan) {
  const Transformer model = random_model(small_config());
  const Tokens tail = generate(model, {1, 2, 3, 4, 5, 6}, {.tokens = 1, .temperature = 0});
  const Tokens whole = generate(model, {0, 0, 1, 2, 3, 4, 5, 6}, {.tokens = 1, .temperature = 0});
  EXPECT_EQ(tail.back(), whole.back());
}

TEST(Generation, RefusesWhatItCannotContinue) {
  const Transformer model = random_model(small_config());
  expect_error([&] { generate(model, {}, {}); }, {"prompt is empty"});
  expect_error([&] { generate(model, {7}, {}); }, {"id 7"});
  TransformerConfig config = small_config("architecture=encoder");
  const Transformer encoder(config);
  expect_error([&] { generate(encoder, {1}, {}); }, {"only a decoder"});
  config = small_config();
  config.targets = 2;
  const Transformer two(config);
  expect_error([&] { generate(two, {1}, {}); }, {"one target"});
}

}  // namespace
}  // namespace headlab
