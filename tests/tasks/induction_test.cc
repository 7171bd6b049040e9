// Induction against its definition. The segments are found again from the tokens and the targets
// alone. Read next: src/core/tasks/induction.cc.
#include <algorithm>
#include <set>

#include "tasks/checks.h"

namespace headlab { namespace induction_tests {

constexpr Index kCount = 500;

const Example& sample() { return sampled("induction", kCount).example; }

/// Starts and size of the segments of sequence b, from the targets and the tokens.
struct Segments {
  Index first = -1, second = -1, size = 0;
};

Segments find_segments(const Batch& batch, Index b) {
  Segments found;
  for (Index t = 0; t < batch.length; ++t) {
    if (batch.target(b, t) >= 0) {
      found.second = found.second < 0 ? t : found.second;
      found.size = t - found.second + 2;
    }
  }
  for (Index t = found.second - 1; t >= 0; --t)
    found.first = batch.token(b, t) == batch.token(b, found.second) ? t : found.first;
  return found;
}

TEST(Induction, SegmentsRepeatAndTheirTokensOccurNowhereElse) {
  const Batch& batch = sample().batch;
  for (Index b = 0; b < kCount; ++b) {
    const Segments at = find_segments(batch, b);
    ASSERT_GE(at.first, 0);
    ASSERT_LE(at.first + at.size, at.second);
    for (Index j = 0; j < at.size; ++j) {
      const std::int32_t token = batch.token(b, at.first + j);
      ASSERT_EQ(token, batch.token(b, at.second + j));
      const auto row = batch.tokens.begin() + b * batch.length;
      ASSERT_EQ(std::count(row, row + batch.length, token), 2);
    }
  }
}

TEST(Induction, TargetsAreTheRestOfTheRepeat) {
  const Batch& batch = sample().batch;
  for (Index b = 0; b < kCount; ++b) {
    const Segments at = find_segments(batch, b);
    for (Index t = 0; t < batch.length; ++t) {
      const bool asked = t >= at.second && t < at.second + at.size - 1;
      ASSERT_EQ(batch.target(b, t), asked ? batch.token(b, t + 1) : -1);
    }
  }
}

TEST(Induction, GroundTruthIsThePositionAfterTheFirstOccurrence) {
  const Batch& batch = sample().batch;
  Index eligible = 0;
  for (Index b = 0; b < kCount; ++b) {
    for (Index t = 0; t < batch.length; ++t) {
      if (batch.target(b, t) < 0) {
        ASSERT_TRUE(sample().truth[0].keys(b, t).empty());
        continue;
      }
      ++eligible;
      Index first = 0;
      while (batch.token(b, first) != batch.token(b, t)) ++first;
      ASSERT_EQ(sample().truth[0].keys(b, t)[0], first + 1);
      ASSERT_EQ(batch.token(b, first + 1), batch.target(b, t));
    }
  }
  EXPECT_EQ(sample().truth[0].queries(), eligible);
}

TEST(Induction, PreviousIsAskedAtTheKeysOfInduction) {
  const GroundTruth& previous = sample().truth[1];
  EXPECT_EQ(previous.queries(), sample().truth[0].queries());
  for (Index i = 0; i < previous.queries(); ++i) {
    const auto query = previous.query(i);
    ASSERT_EQ(query.keys[0], query.t - 1);
    const Segments at = find_segments(sample().batch, query.b);
    ASSERT_TRUE(query.t > at.first && query.t < at.first + at.size);
  }
}

TEST(Induction, StartGapAndSizeTakeAllTheirValues) {
  std::set<Index> starts, gaps, sizes;
  for (Index b = 0; b < kCount; ++b) {
    const Segments at = find_segments(sample().batch, b);
    starts.insert(at.first);
    gaps.insert(at.second - at.first - at.size);
    sizes.insert(at.size);
  }
  EXPECT_EQ(starts, (std::set<Index>{1, 2, 3, 4}));
  EXPECT_EQ(gaps, (std::set<Index>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(sizes, (std::set<Index>{6, 7, 8, 9, 10, 11, 12}));
}

// 500 x 40 tokens, each of the 32 expected 625 times; tokens of one sequence depend on each other,
// so the deviation is taken at sequence level: below sqrt(500) x 4 = 89 for counts of at most 4 or
// so in a sequence. Three of them.
TEST(Induction, NoTokenIsPreferred) {
  std::vector<int> counts(32);
  for (const std::int32_t token : sample().batch.tokens) ++counts[static_cast<std::size_t>(token)];
  for (const int count : counts) EXPECT_NEAR(count, 625, 3 * 89);
}

}  // namespace induction_tests
}  // namespace headlab
