// The controls against their definitions: labels that no head can help with, and a ground truth
// that is what it says all the same. Read next: src/lab/data/control.cc.
#include "tasks/checks.h"

namespace headlab { namespace control_tests {

constexpr Index kCount = 400;

TEST(Memoryless, TheLabelIsTheAlphabetBackwards) {
  const auto task = make_task("memoryless");
  const Batch batch = task->make(Key{1}, kCount, Split::train).batch;
  for (std::size_t i = 0; i < batch.tokens.size(); ++i) {
    const std::string word = task->token_text(batch.tokens[i]);
    ASSERT_EQ(task->token_text(batch.targets[i])[0], 'p' - (word[0] - 'a'));
  }
}

// 6400 labels against each of: the token, the token before, and the token of the same class. In
// each table every one of 256 cells is expected 25 times at most, deviation 5: six of them.
TEST(Random, TheLabelDependsOnNothingThatCanBeRead) {
  const Example example = make_task("random")->make(Key{1}, kCount, Split::train);
  const Batch& batch = example.batch;
  std::vector<std::vector<int>> cells(3, std::vector<int>(256));
  const auto count = [&](std::size_t table, std::int32_t label, std::int32_t token) {
    ++cells[table][static_cast<std::size_t>(label * 16 + token)];
  };
  for (Index b = 0; b < kCount; ++b) {
    for (Index t = 0; t < 16; ++t) {
      count(0, batch.target(b, t), batch.token(b, t));
      for (std::size_t r = 0; r < 2; ++r)
        for (const std::int32_t key : example.truth[r].keys(b, t))
          count(1 + r, batch.target(b, t), batch.token(b, key));
    }
  }
  for (std::size_t table = 0; table < 3; ++table) {
    for (const int cell : cells[table]) {
      EXPECT_LE(cell, 25 + 30) << "table " << table;
      EXPECT_GE(cell, table < 1 ? 1 : 0);
    }
  }
}

void expect_truth_of_the_flagship(const char* name) {
  const auto task = make_task(name);
  const Example example = task->make(Key{1}, kCount, Split::train);
  for (Index b = 0; b < kCount; ++b) {
    const auto words = words_of(*task, example.batch, b);
    KeySets previous(words.size()), same(words.size());
    for (std::size_t t = 1; t < words.size(); ++t) {
      previous[t] = {static_cast<std::int32_t>(t) - 1};
      for (std::size_t s = 0; s < t; ++s)
        if ((words[s][0] - words[t][0]) % 4 == 0) same[t] = {static_cast<std::int32_t>(s)};
    }
    ASSERT_EQ(keys_of(example, 0, b), previous);
    ASSERT_EQ(keys_of(example, 1, b), same);
  }
}

TEST(Memoryless, GroundTruthEqualsThatOfRelations) { expect_truth_of_the_flagship("memoryless"); }

TEST(Random, GroundTruthEqualsThatOfRelations) { expect_truth_of_the_flagship("random"); }

}  // namespace control_tests
}  // namespace headlab
