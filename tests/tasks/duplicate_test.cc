// Duplicate and histogram, which count equal tokens, against their definitions: everything is
// counted again from the words. Read next: src/lab/data/duplicate.cc.
#include <cmath>

#include "tasks/checks.h"

namespace headlab { namespace duplicate_tests {

constexpr Index kCount = 300;
using Words = std::vector<std::string>;

/// The positions in [0, end) other than t that hold the word of t.
std::vector<std::int32_t> others(const Words& words, std::size_t t, std::size_t end) {
  std::vector<std::int32_t> found;
  for (std::size_t s = 0; s < end; ++s)
    if (s != t && words[s] == words[t]) found.push_back(static_cast<std::int32_t>(s));
  return found;
}

/// Each answer and its keys, from the words: equal ones before it, or anywhere.
void expect_equal_words(const std::string& task, bool before, std::string (*answer)(std::size_t)) {
  const auto& [made, example] = sampled(task, kCount);
  for (Index b = 0; b < kCount; ++b) {
    const Words words = words_of(*made, example.batch, b);
    Words answers;
    KeySets keys;
    for (std::size_t t = 0; t < words.size(); ++t) {
      keys.push_back(others(words, t, before ? t : words.size()));
      answers.push_back(answer(keys.back().size()));
    }
    ASSERT_EQ(answers_of(*made, example.batch, b), answers);
    ASSERT_EQ(keys_of(example, 0, b), keys);
  }
}

TEST(Duplicate, TheAnswerAndTheGroundTruthAreTheEarlierEqualWords) {
  expect_equal_words("duplicate", true, [](std::size_t n) { return text(n > 0 ? "yes" : "no"); });
}

// At position t a token is new with probability (23/24)^t: 11.87 of 16 on average, as the header
// says. The deviation of one sequence's count is below 2, of the mean of 300 below .12; five.
TEST(Duplicate, NoIsTheAnswerAsOftenAsChanceSays) {
  const Example example = make_task("duplicate")->make(Key{1}, kCount, Split::train);
  const double yes = static_cast<double>(example.truth[0].queries()) / kCount;
  EXPECT_NEAR(16 - yes, (1 - std::pow(23.0 / 24, 16)) * 24, 0.6);
}

TEST(Duplicate, AnswersAreNeverRead) {
  const auto& [task, example] = sampled("duplicate", kCount);
  for (const std::int32_t token : example.batch.tokens) ASSERT_LT(token, 24);
  EXPECT_EQ(task->token_text(24), "no");
  EXPECT_EQ(task->token_text(25), "yes");
}

TEST(Histogram, TheAnswerIsTheCountAndTheGroundTruthAreTheOthers) {
  expect_equal_words("histogram", false, [](std::size_t found) { return text(found + 1); });
}

TEST(Histogram, EveryCountUpToTheLengthHasAToken) {
  const auto task = make_task("histogram:length=5,symbols=1");
  const Example example = task->make(Key{1}, 1, Split::train);
  EXPECT_EQ(answers_of(*task, example.batch, 0), (Words{"5", "5", "5", "5", "5"}));
  EXPECT_EQ(task->shape().vocab, 6);
  EXPECT_EQ(task->shape().architecture, Architecture::encoder);
}

}  // namespace duplicate_tests
}  // namespace headlab
