// The flagship against its definition, worked out again here from the tokens alone. Read next:
// src/core/tasks/relations.cc.
#include <cmath>

#include "tasks/checks.h"

namespace headlab { namespace relations_tests {

const Example& sample() { return sampled("relations", 400).example; }

/// Expects slot r to hold the token at key(b, t), and ground truth to be that key; both absent if
/// it is -1.
template <class KeyOf>
void expect_slot(const Example& example, Index r, KeyOf key) {
  const GroundTruth& truth = example.truth[static_cast<std::size_t>(r)];
  for (Index b = 0; b < example.batch.size; ++b) {
    for (Index t = 0; t < example.batch.length; ++t) {
      const Index at = key(b, t);
      const auto keys = truth.keys(b, t);
      ASSERT_EQ(keys.size(), at >= 0 ? 1U : 0U) << "b " << b << " t " << t;
      ASSERT_EQ(keys.empty() ? -1 : keys[0], at);
      ASSERT_EQ(example.batch.target(b, t, r), at >= 0 ? example.batch.token(b, at) : -1);
    }
  }
}

TEST(Relations, BackTargetsAreTheTokensKBack) {
  const Index offsets[] = {1, 3, 5};
  for (Index r = 0; r < 3; ++r)
    expect_slot(sample(), r, [&](Index, Index t) { return t >= offsets[r] ? t - offsets[r] : -1; });
}

TEST(Relations, SameTargetsAreTheLastEarlierTokenOfTheClass) {
  const Batch& batch = sample().batch;
  expect_slot(sample(), 3, [&](Index b, Index t) {
    Index last = -1;
    for (Index s = 0; s < t; ++s) last = batch.token(b, s) % 4 == batch.token(b, t) % 4 ? s : last;
    return last;
  });
}

TEST(Relations, NextIsAheadAndMakesAnEncoder) {
  const auto task = make_task("relations:relations=next+1");
  EXPECT_EQ(task->shape().architecture, Architecture::encoder);
  EXPECT_EQ(make_task("relations")->shape().architecture, Architecture::decoder);
  expect_slot(task->make(Key{1}, 20, Split::train), 0,
              [](Index, Index t) { return t < 15 ? t + 1 : -1; });
}

TEST(Relations, NamesFollowTheOrderAskedFor) {
  const auto task = make_task("relations:length=12,relations=same+10+2");
  EXPECT_EQ(task->target_names(), (std::vector<std::string>{"same", "back10", "back2"}));
  const auto relations = task->relations();
  EXPECT_EQ(relations[1].name, "back10");
  EXPECT_EQ(relations[1].description, "the token 10 back");
  EXPECT_FALSE(relations[0].positional);
  EXPECT_TRUE(relations[1].positional);
}

// Each of the 16 among 400 x 16 tokens is expected 400 times, with standard deviation 19.4: a band
// of five of them.
TEST(Relations, TokensAreUniform) {
  std::vector<int> counts(16);
  for (const std::int32_t token : sample().batch.tokens) ++counts[static_cast<std::size_t>(token)];
  for (const int count : counts) EXPECT_NEAR(count, 400, 97);
}

// A query at t has no earlier token of its class with probability (3/4)^t: in all 16 positions
// (1 - .75^16) / .25 = 3.96 of them, so 12.04 targets a sequence. The standard deviation of a
// sequence's count is below 16 / 2, of the mean of 400 below .4; five of them.
TEST(Relations, SameIsEligibleAsOftenAsChanceSays) {
  const double mean = static_cast<double>(sample().truth[3].queries()) / 400;
  EXPECT_NEAR(mean, 16 - (1 - std::pow(0.75, 16)) / 0.25, 2);
  EXPECT_EQ(sample().truth[0].queries(), 400 * 15);
  EXPECT_EQ(sample().truth[2].queries(), 400 * 11);
}

}  // namespace relations_tests
}  // namespace headlab
