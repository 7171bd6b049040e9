// Patches against their definition: every picture is read again, from the words for its truth and
// from the numbers for what the model sees. Read next: src/lab/data/patches.cc.
#include "headlab/lab/data/lab_tasks.h"
#include "tasks/checks.h"

namespace headlab { namespace {

constexpr Index kCount = 100, kWidth = 4, kLength = 16;

/// The other place that holds a patch of the same colour, the first letter of its name.
std::int32_t partner_of(const std::vector<std::string>& words, std::size_t t) {
  for (std::size_t s = 0; s < words.size(); ++s)
    if (s != t && words[s][0] == words[t][0]) return static_cast<std::int32_t>(s);
  return -1;
}

TEST(Patches, AskForThePatchOfTheirColourTheLeftAndTheMirroredOne) {
  const auto task = make_task("patches");
  const Example example = task->make(Key{1}, kCount, Split::train);
  for (Index b = 0; b < kCount; ++b) {
    const auto words = words_of(*task, example.batch, b);
    KeySets same(kLength), left(kLength), mirrored(kLength);
    for (std::int32_t t = 0; t < kLength; ++t) {
      same[t] = {partner_of(words, t)};
      if (t % kWidth > 0) left[t] = {t - 1};
      mirrored[t] = {t / std::int32_t{kWidth} * std::int32_t{kWidth} + 3 - t % 4};
      const KeySets* asked[] = {&same, &left, &mirrored};
      for (Index r = 0; r < 3; ++r) {
        const auto& keys = (*asked[r])[t];
        const std::int32_t expected = keys.empty() ? -1 : example.batch.token(b, keys[0]);
        ASSERT_EQ(example.batch.target(b, t, r), expected);
      }
    }
    ASSERT_EQ(keys_of(example, 0, b), same);
    ASSERT_EQ(keys_of(example, 1, b), left);
    ASSERT_EQ(keys_of(example, 2, b), mirrored);
  }
}

/// The red, green and blue of a cell of a patch.
std::vector<float> cell_of(Example& example, Index t, Index row, Index column) {
  const auto cell = example.batch.vector(0, t).subspan((row * 3 + column) * 3, 3);
  return {cell.begin(), cell.end()};
}

TEST(Patches, ShowTheirMarkInTheirColourOnGrey) {
  const auto task = make_task("patches:noise=0,width=8,height=8");  // 32 colours
  Example example = task->make(Key{1}, 1, Split::train);
  const auto words = words_of(*task, example.batch, 0);
  const std::vector<float> grey = {0, 0, 0};
  for (Index t = 0; t < 64; ++t) {
    const std::vector<float> centre = cell_of(example, t, 1, 1);  // every mark covers it
    for (Index other = 0; other < 64; ++other)
      ASSERT_EQ(cell_of(example, other, 1, 1) == centre, words[other][0] == words[t][0]);
    const char mark = words[t].back();
    EXPECT_EQ(cell_of(example, t, 1, 0), mark == '-' ? centre : grey);
    EXPECT_EQ(cell_of(example, t, 2, 1), mark == '|' ? centre : grey);
    EXPECT_EQ(cell_of(example, t, 0, 0), mark == '\\' ? centre : grey);
    EXPECT_EQ(cell_of(example, t, 0, 2), mark == '/' ? centre : grey);
  }
}

TEST(Patches, AreNoisyByTheSeedAlone) {
  const auto task = make_task("patches:noise=0.5");
  const Batch few = task->make_batch(Key{1}, 2, Split::train);
  const Batch many = task->make_batch(Key{1}, 5, Split::train);
  EXPECT_EQ(few.vectors, many.rows(0, 2).vectors);
  EXPECT_NE(few.vectors, many.rows(2, 4).vectors);
  const Batch most = task->make_batch(Key{1}, kCount, Split::train);
  double squares = 0;
  Index grey = 0;
  for (Index i = 0; i < kCount * kLength; ++i) {
    if (task->token_text(most.tokens[i]).back() == '-') continue;
    const double value = most.vectors[(i * 9 + 3) * 3];  // next to the centre: grey
    squares += value * value, ++grey;
  }
  EXPECT_NEAR(squares / static_cast<double>(grey), 0.25, 0.05);  // of 1,200 numbers: 5 sigma
}

TEST(Patches, AreNoTokensToTypeOrToWriteInLines) {
  const auto task = make_task("patches");
  expect_contains(error_of([&] { task->encode("a- b/"); }), "cannot read tokens: ");
  expect_contains(error_of([&] { lines_of(*task, 1, Key{1}); }), "lines of a file hold tokens");
}

}  // namespace
}  // namespace headlab
