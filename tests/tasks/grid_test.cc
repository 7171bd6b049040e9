// Grid against its definition: every image is read again from the words. Read next:
// src/lab/data/grid.cc.
#include <set>

#include "tasks/checks.h"

namespace headlab { namespace grid_tests {

constexpr Index kCount = 300;
constexpr std::size_t kWidth = 6;
using Words = std::vector<std::string>;

const Example& sample() { return sampled("grid", kCount).example; }

/// Expects all hidden pixels of `example`, and no others, to have the answer of `rule` and both
/// ground truth keys.
template <class Rule>
void expect_rule(const Task& task, const Example& example, Rule rule) {
  for (Index b = 0; b < example.batch.size; ++b) {
    const Words words = words_of(task, example.batch, b);
    Words answers(words.size());
    KeySets left(words.size()), above(words.size());
    for (std::size_t t = 0; t < words.size(); ++t) {
      if (words[t] == "?") {
        ASSERT_TRUE(t >= kWidth && t % kWidth > 0);
        ASSERT_TRUE(words[t - 1] != "?" && words[t - kWidth] != "?");
        answers[t] = std::to_string(rule(std::stoi(words[t - 1]), std::stoi(words[t - kWidth])));
        left[t] = {static_cast<std::int32_t>(t - 1)};
        above[t] = {static_cast<std::int32_t>(t - kWidth)};
      }
    }
    ASSERT_EQ(answers_of(task, example.batch, b), answers);
    ASSERT_EQ(keys_of(example, 0, b), left);
    ASSERT_EQ(keys_of(example, 1, b), above);
  }
}

TEST(Grid, HiddenPixelsAreTheContrastOfLeftAndAbove) {
  expect_rule(*make_task("grid"), sample(),
              [](int left, int above) { return (left + 7 - above) / 2; });
}

TEST(Grid, TheOtherRuleIsTheMean) {
  const auto task = make_task("grid:rule=mean");
  const Example example = task->make(Key{1}, kCount, Split::train);
  expect_rule(*task, example, [](int left, int above) { return (left + above) / 2; });
}

TEST(Grid, EveryInnerPixelIsHiddenInSomeImages) {
  std::set<Index> hidden;
  for (Index i = 0; i < sample().truth[0].queries(); ++i)
    hidden.insert(sample().truth[0].query(i).t);
  EXPECT_EQ(hidden.size(), 25U);
}

// 300 images with 36 pixels, of which 25 may be hidden; a visible one has each of 8 values with
// equal chances. At least 300 x 23 are visible: 862 of each value, deviation 28; five.
TEST(Grid, VisiblePixelsAreUniform) {
  std::vector<int> counts(9);
  for (const std::int32_t token : sample().batch.tokens) ++counts[static_cast<std::size_t>(token)];
  const double expected = static_cast<double>(kCount * 36 - counts[8]) / 8;
  EXPECT_GT(expected, 862);
  for (std::size_t color = 0; color < 8; ++color) EXPECT_NEAR(counts[color], expected, 160);
}

TEST(Grid, ImagesNeedNotBeSquare) {
  const auto task = make_task("grid:width=3,height=2");
  const Example example = task->make(Key{1}, 20, Split::train);
  EXPECT_EQ(task->shape().length, 6);
  for (Index i = 0; i < example.truth[1].queries(); ++i)
    EXPECT_EQ(example.truth[1].query(i).t - 3, example.truth[1].query(i).keys[0]);
}

}  // namespace grid_tests
}  // namespace headlab
