// Recall against its definition: pairs and queries are read again from the words alone. Read next:
// src/lab/data/recall.cc.
#include <algorithm>
#include <set>

#include "tasks/checks.h"

namespace headlab { namespace recall_tests {

constexpr Index kCount = 300, kPairs = 8, kLength = 24;
using Words = std::vector<std::string>;

const Task& task() { return *sampled("recall", kCount).task; }
const Example& sample() { return sampled("recall", kCount).example; }

bool is_value(const std::string& word) { return word[0] >= '0' && word[0] <= '9'; }

TEST(Recall, KeysAndValuesAlternateAndThenKeysAreAskedFor) {
  for (Index b = 0; b < kCount; ++b) {
    const Words words = words_of(task(), sample().batch, b);
    ASSERT_EQ(static_cast<Index>(words.size()), kLength);
    for (Index t = 0; t < kLength; ++t)
      ASSERT_EQ(is_value(words[static_cast<std::size_t>(t)]), t < 2 * kPairs && t % 2 == 1);
    const std::set<std::string> listed(words.begin(), words.begin() + 2 * kPairs);
    const std::set<std::string> asked(words.begin() + 2 * kPairs, words.end());
    ASSERT_EQ(listed.size(), 16U);  // no key and no value twice
    ASSERT_EQ(asked.size(), 8U);
    ASSERT_TRUE(std::includes(listed.begin(), listed.end(), asked.begin(), asked.end()));
  }
}

TEST(Recall, AnswerIsTheWordAfterTheKey) {
  for (Index b = 0; b < kCount; ++b) {
    const Words words = words_of(task(), sample().batch, b);
    Words answers(words.size());
    KeySets keys(words.size());
    for (std::size_t t = 2 * kPairs; t < words.size(); ++t) {
      const auto at = std::find(words.begin(), words.end(), words[t]) - words.begin() + 1;
      answers[t] = words[static_cast<std::size_t>(at)];
      keys[t] = {static_cast<std::int32_t>(at)};
    }
    ASSERT_EQ(answers_of(task(), sample().batch, b), answers);
    ASSERT_EQ(keys_of(sample(), 0, b), keys);
  }
}

TEST(Recall, PreviousIsAskedAtTheValues) {
  for (Index b = 0; b < kCount; ++b) {
    const Words words = words_of(task(), sample().batch, b);
    KeySets keys(words.size());
    for (std::size_t t = 0; t < words.size(); ++t)
      if (is_value(words[t])) keys[t] = {static_cast<std::int32_t>(t) - 1};
    ASSERT_EQ(keys_of(sample(), 1, b), keys);
  }
}

// Each of 8 queries asks for each of 8 pairs in 1/8 of 8000 sequences: 1000, deviation 30; five.
TEST(Recall, QueriesComeInAnyOrderWithEqualChances) {
  const Example many = task().make(Key{1}, 8000, Split::train);
  std::vector<int> asked(kPairs * kPairs);
  for (Index i = 0; i < many.truth[0].queries(); ++i) {
    const auto query = many.truth[0].query(i);
    ++asked[static_cast<std::size_t>((query.t - 2 * kPairs) * kPairs + query.keys[0] / 2)];
  }
  for (const int count : asked) EXPECT_NEAR(count, 1000, 150);
}

}  // namespace recall_tests
}  // namespace headlab
