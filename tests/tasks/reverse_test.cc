// Reverse against its definition. Read next: src/tasks/symbols.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tasks/checks.h"

namespace headlab { namespace reverse_tests {

constexpr Index kCount = 300;

const Example& sample() {
  static const Example example = make_task("reverse")->make(Key{1}, kCount, Split::train);
  return example;
}

TEST(Reverse, TheAnswerIsTheSymbolsBackwards) {
  const auto task = make_task("reverse");
  const Batch& batch = sample().batch;
  for (Index b = 0; b < kCount; ++b) {
    const Index n = batch.length_of(b) / 2;
    const std::string symbols = shown(*task, batch, b, 0, n);
    ASSERT_EQ(symbols.find('|'), std::string::npos);
    std::string answer;
    for (Index t = n; t < 2 * n; ++t) answer += task->token_text(batch.target(b, t));
    ASSERT_EQ(answer, std::string(symbols.rbegin(), symbols.rend()));
    ASSERT_EQ(shown(*task, batch, b, n, 1), "|");
    ASSERT_EQ(shown(*task, batch, b, n + 1, n - 1), answer.substr(0, answer.size() - 1));
  }
}

TEST(Reverse, OnlyTheAnswerHasTargets) {
  const Batch& batch = sample().batch;
  for (Index b = 0; b < kCount; ++b) {
    for (Index t = 0; t < batch.length; ++t) {
      const bool asked = t >= batch.length_of(b) / 2 && t < batch.length_of(b);
      ASSERT_EQ(batch.target(b, t) >= 0, asked);
    }
  }
}

TEST(Reverse, GoldIsTheMirrorAndHoldsTheAnswer) {
  const Batch& batch = sample().batch;
  const Gold& gold = sample().gold[0];
  EXPECT_EQ(gold.queries(), batch.target_count());
  for (Index i = 0; i < gold.queries(); ++i) {
    const auto query = gold.query(i);
    ASSERT_EQ(query.t + query.keys[0], batch.length_of(query.b) - 1);
    ASSERT_EQ(batch.token(query.b, query.keys[0]), batch.target(query.b, query.t));
  }
}

TEST(Reverse, LengthsAndSymbolsTakeAllTheirValues) {
  const std::set<std::int32_t> lengths(sample().batch.lengths.begin(),
                                       sample().batch.lengths.end());
  EXPECT_EQ(lengths, (std::set<std::int32_t>{8, 10, 12, 14, 16, 18, 20}));
  const std::set<std::int32_t> tokens(sample().batch.tokens.begin(), sample().batch.tokens.end());
  EXPECT_EQ(tokens.size(), 17U);
}

TEST(Reverse, AnAnswerMayFillTheWholeSequence) {
  const auto task = make_task("reverse:symbols=2,shortest=1,longest=1");
  const Batch batch = task->make(Key{1}, 1, Split::train).batch;
  EXPECT_EQ(batch.length, 2);
  EXPECT_EQ(batch.target(0, 1), batch.token(0, 0));
}

TEST(Reverse, ImpossibleSettingsGetASentence) {
  expect_contains(refusal("reverse:shortest=11"), "shortest 11 must not exceed longest 10");
}

}  // namespace reverse_tests
}  // namespace headlab
