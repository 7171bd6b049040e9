// Drawing tokens: what a temperature, candidates, a key and a token to stop at decide. The cache of
// what was read changes no token; tests/model/cache_test.cc tests what it keeps. Read next:
// src/lab/runs/generation.cc.
#include "headlab/lab/runs/generation.h"

#include <map>
#include <set>

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

/// The tokens that generate() must write at temperature 0: the last config.length tokens, read
/// again each time.
Tokens read_anew(const Transformer& model, Tokens tokens, Index count) {
  const Index length = model.config().length;
  for (Index i = 0; i < count; ++i) {
    const auto seen = std::min(std::ssize(tokens), length);
    const std::vector<double> logits =
        last_logits(model, Tokens(tokens.end() - seen, tokens.end()));
    tokens.push_back(static_cast<std::int32_t>(std::ranges::max_element(logits) - logits.begin()));
  }
  return tokens;
}

TEST(Generation, AtTemperatureZeroTakesTheLikeliest) {
  const Transformer model = random_model(small_config());
  const Tokens expected = read_anew(model, {4}, 5);
  EXPECT_EQ(generate(model, {4}, {.tokens = 5, .temperature = 0}), expected);
  EXPECT_EQ(generate(model, {4}, {.tokens = 5, .top_p = 1e-6, .key = Key{8}}), expected);
  EXPECT_EQ(generate(model, {4}, {.tokens = 5, .top_k = 1, .key = Key{8}}), expected);
}

TEST(Generation, CacheDoesNotChangeTheTokens) {
  for (const char* settings :
       {"block=original", "block=gpt2 window=3", "block=llama", "block=llama window=2+0",
        "kv_heads=1 positions=none", "tied=true"}) {
    const Transformer model = random_model(small_config(text("length=40 ", settings)));
    const Transformer pruned = model.with_heads({{1}, {}});
    for (const Transformer& m : {model, pruned})  // beyond the last position too
      EXPECT_EQ(generate(m, {1, 2, 3}, {.tokens = 45, .temperature = 0}),
                read_anew(m, {1, 2, 3}, 45))
          << settings;
  }
}

TEST(Generation, StopsBehindATokenIfAsked) {
  const Transformer model = random_model(small_config());
  const Tokens whole = generate(model, {1}, {.tokens = 40, .key = Key{1}});
  const std::int32_t stop = whole[9];
  const auto first = std::find(whole.begin() + 1, whole.end(), stop);
  EXPECT_EQ(generate(model, {1}, {.tokens = 40, .key = Key{1}, .stop = stop}),
            Tokens(whole.begin(), first + 1));
}

TEST(Generation, DrawsFromTheFewestLikeliestThatHaveTheProbability) {
  const Transformer model = random_model(small_config());
  std::vector<double> p = last_logits(model, {3});
  double total = 0;
  for (double& value : p) total += value = std::exp(value / 4);
  std::vector<double> sorted = p;
  std::ranges::sort(sorted, std::greater<>{});
  const double top_p = (sorted[0] + sorted[1] + sorted[2] / 2) / total;
  std::set<std::int32_t> drawn, expected;
  for (std::uint64_t i = 0; i < 300; ++i)
    drawn.insert(
        generate(model, {3}, {.tokens = 1, .temperature = 4, .top_p = top_p, .key = Key{i}})
            .back());
  for (std::int32_t token = 0; token < 7; ++token)
    if (p[static_cast<std::size_t>(token)] >= sorted[2]) expected.insert(token);
  EXPECT_EQ(drawn, expected);
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

TEST(Generation, AnswersASourceWithTheLikeliestTokens) {
  for (const NormPlace place : {NormPlace::pre, NormPlace::post}) {
    TransformerConfig config = small_encoder_decoder();
    config.norm_place = place;
    const Transformer model = random_model(config);
    Batch answer = random_batch(config, 1, 6);
    answer.source_lengths = {4};
    const Tokens drawn = generate(model, {6},
                                  {.tokens = 5,
                                   .temperature = 0,
                                   .source = {answer.source.begin(), answer.source.begin() + 4}});
    ASSERT_EQ(drawn.size(), 6u);
    answer.tokens.assign(drawn.begin(), drawn.end());
    const Tensor forced = model.forward(answer);
    for (Index t = 0; t < 5; ++t) {
      const Scalar* row = forced.data() + t * 7;
      EXPECT_EQ(drawn[static_cast<std::size_t>(t) + 1], std::max_element(row, row + 7) - row);
    }
  }
}

TEST(Generation, RefusesModelsAndPromptsThatCannotBeContinued) {
  const Transformer model = random_model(small_config());
  expect_error([&] { generate(model, {}, {}); }, {"prompt is empty"});
  expect_error([&] { generate(model, {7}, {}); }, {"id 7"});
  for (const auto& [settings, said] : {std::pair("architecture=encoder", "must be a decoder"),
                                       {"features=3", "reads vectors, which no token"},
                                       {"targets=2", "one target"},
                                       {"answers=2", "2 answers are not tokens"}})
    expect_error([wrong = settings] { generate(Transformer(small_config(wrong)), {1}, {}); },
                 {said});
  expect_error([&] { generate(model, {1}, {.source = {1}}); }, {"no encoder-decoder"});
  expect_error([&] { generate(Transformer(small_encoder_decoder()), {1}, {}); },
               {"needs a batch with sources"});
}

}  // namespace
}  // namespace headlab
