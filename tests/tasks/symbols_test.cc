// Copy, sort, reverse and reverse_cross against their definitions, sequence by sequence. Read next:
// src/lab/data/symbols.cc.
#include <algorithm>
#include <set>

#include "tasks/checks.h"

namespace headlab { namespace symbols_tests {

constexpr Index kCount = 300;

/// The answer of sequence b as its targets say it, from position `first` on.
std::string answer(const Task& task, const Batch& batch, Index b, Index first, Index n) {
  std::string out;
  for (Index t = first; t < first + n; ++t) out += task.token_text(batch.target(b, t));
  return out;
}

/// In every sequence: symbols | answer, each token of the answer but the last read where the next
/// is predicted, and targets nowhere else.
template <class Expected>
void expect_answers(const Task& task, Expected&& expected) {
  const Batch batch = task.make(Key{1}, kCount, Split::train).batch;
  for (Index b = 0; b < kCount; ++b) {
    const Index n = batch.length_of(b) / 2;
    const std::string symbols = shown(task, batch, b, 0, n);
    ASSERT_EQ(symbols.find('|'), std::string::npos);
    const std::string told = answer(task, batch, b, n, n);
    ASSERT_EQ(told, expected(symbols)) << symbols;
    ASSERT_EQ(shown(task, batch, b, n, n), "|" + told.substr(0, told.size() - 1));
    for (Index t = 0; t < batch.length; ++t)
      ASSERT_EQ(batch.target(b, t) >= 0, t >= n && t < 2 * n) << t;
  }
}

TEST(Copy, TheAnswerIsTheSymbols) {
  expect_answers(*make_task("copy"), [](const std::string& symbols) { return symbols; });
}

TEST(Reverse, TheAnswerIsTheSymbolsBackwards) {
  expect_answers(*make_task("reverse"), [](const std::string& symbols) {
    return std::string(symbols.rbegin(), symbols.rend());
  });
}

TEST(Reverse, GroundTruthIsTheMirrorAndHoldsTheAnswer) {
  const auto [batch, truth, candidates] = make_task("reverse")->make(Key{1}, kCount, Split::train);
  EXPECT_EQ(truth[0].queries(), batch.target_count());
  for (Index i = 0; i < truth[0].queries(); ++i) {
    const auto [b, t, keys] = truth[0].query(i);
    ASSERT_EQ(t + keys[0], batch.length_of(b) - 1);
    ASSERT_EQ(batch.token(b, keys[0]), batch.target(b, t));
  }
}

TEST(Copy, GroundTruthIsTheOriginalOfTheAnswer) {
  const Example example = make_task("copy")->make(Key{1}, kCount, Split::train);
  const GroundTruth& truth = example.truth[0];
  EXPECT_EQ(truth.queries(), example.batch.target_count());
  for (Index i = 0; i < truth.queries(); ++i) {
    const auto [b, t, keys] = truth.query(i);
    ASSERT_EQ(keys.size(), 1U);
    ASSERT_EQ(t - keys[0], example.batch.length_of(b) / 2);
    ASSERT_EQ(example.batch.token(b, keys[0]), example.batch.target(b, t));
  }
}

TEST(Symbols, LengthsAndSymbolsTakeAllTheirValues) {
  for (const char* name : {"copy", "reverse"}) {
    const Batch batch = make_task(name)->make(Key{1}, kCount, Split::train).batch;
    const std::set<std::int32_t> lengths(batch.lengths.begin(), batch.lengths.end());
    EXPECT_EQ(lengths, (std::set<std::int32_t>{8, 10, 12, 14, 16, 18, 20}));
    EXPECT_EQ(std::set<std::int32_t>(batch.tokens.begin(), batch.tokens.end()).size(), 17U);
  }
}

TEST(Sort, TheAnswerAscends) {
  expect_answers(*make_task("sort"), [](std::string symbols) {
    std::sort(symbols.begin(), symbols.end());
    return symbols;
  });
}

TEST(Symbols, CopyAndSortDrawDistinctSymbolsInAnyOrder) {
  for (const char* name : {"copy", "sort"}) {
    const Batch batch = make_task(name)->make(Key{1}, kCount, Split::train).batch;
    std::set<std::int32_t> first;
    for (Index b = 0; b < kCount; ++b) {
      const Index n = batch.length_of(b) / 2;
      std::set<std::int32_t> seen;
      for (Index t = 0; t < n; ++t) seen.insert(batch.token(b, t));
      ASSERT_EQ(static_cast<Index>(seen.size()), n) << name;
      first.insert(batch.token(b, 0));
    }
    EXPECT_EQ(first.size(), 16U) << name;
  }
}

TEST(Sort, GroundTruthIsTheSmallestSymbolAboveTheQuery) {
  const Example example = make_task("sort")->make(Key{1}, kCount, Split::train);
  const Batch& batch = example.batch;
  EXPECT_EQ(example.truth[0].queries(), batch.target_count());
  for (Index i = 0; i < example.truth[0].queries(); ++i) {
    const auto [b, t, keys] = example.truth[0].query(i);
    const Index n = batch.length_of(b) / 2;
    const std::int32_t above = t == n ? -1 : batch.token(b, t);  // the separator is above none
    Index best = -1;
    for (Index s = 0; s < n; ++s) {
      const bool larger = batch.token(b, s) > above;
      best = larger && (best < 0 || batch.token(b, s) < batch.token(b, best)) ? s : best;
    }
    ASSERT_EQ(keys.size(), 1U);
    ASSERT_EQ(keys[0], best);
    ASSERT_EQ(batch.token(b, keys[0]), batch.target(b, t));
  }
}

TEST(Sort, TheGapIsAboutTheMeanStepOfTheAnswer) {
  for (const Index gap : {1, 3}) {
    const Batch batch = make_task(text("sort:symbols=48,shortest=10,gap=", gap))
                            ->make(Key{1}, kCount, Split::train)
                            .batch;
    double steps = 0, count = 0;
    std::set<std::int32_t> least;
    for (Index b = 0; b < kCount; ++b) {
      const Index n = batch.length_of(b) / 2, last = 2 * n - 1;
      const double width = batch.target(b, last) - batch.target(b, n);
      ASSERT_LT(width, n * gap);
      steps += width, count += static_cast<double>(n - 1);
      least.insert(batch.target(b, n));
    }
    EXPECT_NEAR(steps / count, (10 * static_cast<double>(gap) + 1) / 11, 0.1);
    EXPECT_GT(least.size(), 20U);  // anywhere in the alphabet
  }
  expect_contains(refusal("sort:gap=2"), "10 symbols with a gap of 2 need symbols 20 or more");
  expect_contains(refusal("copy:gap=1"), "gap");
}

TEST(Symbols, CopyAndSortNeedSymbolsForTheLongestSequence) {
  for (const char* name : {"copy", "sort"}) {
    expect_contains(refusal(text(name, ":symbols=9")),
                    "10 distinct symbols need symbols 10 or more, got 9");
    EXPECT_EQ(refusal(text(name, ":symbols=10")), "");
  }
}

TEST(ReverseCross, TheAnswerIsTheSourceBackwards) {
  const auto task = make_task("reverse_cross");
  const Batch batch = task->make(Key{1}, kCount, Split::train).batch;
  std::set<Index> lengths;
  for (Index b = 0; b < kCount; ++b) {
    const Index n = batch.source_length_of(b);
    lengths.insert(n);
    std::string source;
    for (Index s = 0; s < n; ++s) source += task->token_text(batch.source_token(b, s));
    ASSERT_EQ(source.find('|'), std::string::npos);
    const std::string told = answer(*task, batch, b, 0, n);
    ASSERT_EQ(told, std::string(source.rbegin(), source.rend()));
    ASSERT_EQ(shown(*task, batch, b, 0, n), "|" + told.substr(0, told.size() - 1));
    ASSERT_EQ(batch.length_of(b), n);
  }
  EXPECT_EQ(lengths, (std::set<Index>{4, 5, 6, 7, 8, 9, 10}));
}

TEST(ReverseCross, GroundTruthLiesInTheSourceAndHoldsTheAnswer) {
  const auto task = make_task("reverse_cross");
  EXPECT_EQ(task->relations()[0].kind, AttentionKind::cross);
  const Example example = task->make(Key{1}, kCount, Split::train);
  const Batch& batch = example.batch;
  EXPECT_EQ(example.truth[0].queries(), batch.target_count());
  for (Index i = 0; i < example.truth[0].queries(); ++i) {
    const auto [b, t, keys] = example.truth[0].query(i);
    ASSERT_EQ(t + keys[0], batch.source_length_of(b) - 1);
    ASSERT_EQ(batch.source_token(b, keys[0]), batch.target(b, t));
  }
}

TEST(ReverseCross, AsksForTheAnswerOfReverse) {
  const Batch cross = make_task("reverse_cross")->make(Key{1}, 5, Split::train).batch;
  const Batch behind = make_task("reverse")->make(Key{1}, 5, Split::train).batch;
  for (Index b = 0; b < 5; ++b)
    for (Index j = 0; j < cross.length_of(b); ++j)
      ASSERT_EQ(cross.target(b, j), behind.target(b, cross.length_of(b) + j));
}

TEST(Symbols, ShowTheSeparatorAsABar) {
  for (const char* spec : {"copy:symbols=30", "sort:symbols=30", "reverse_cross:symbols=30"}) {
    const auto task = make_task(spec);
    EXPECT_EQ(task->token_text(0), "a") << spec;
    EXPECT_EQ(task->token_text(26), "A") << spec;
    EXPECT_EQ(task->token_text(30), "|") << spec;
  }
}

TEST(Symbols, ImpossibleSettingsAreRefusedWithAMessage) {
  for (const char* name : {"copy", "sort", "reverse", "reverse_cross"})
    expect_contains(refusal(text(name, ":shortest=11")), "shortest 11 must not exceed longest 10");
}

TEST(Symbols, AnAnswerMayFillTheWholeSequence) {
  for (const char* name : {"copy", "sort", "reverse", "reverse_cross"}) {
    const auto task = make_task(text(name, ":symbols=2,shortest=1,longest=1"));
    const Batch batch = task->make(Key{1}, 1, Split::train).batch;
    const bool apart = batch.source_length > 0;
    EXPECT_EQ(batch.length, apart ? 1 : 2) << name;
    EXPECT_EQ(batch.target(0, batch.length - 1),
              apart ? batch.source_token(0, 0) : batch.token(0, 0))
        << name;
  }
}

}  // namespace symbols_tests
}  // namespace headlab
