// Text: windows of each split, the vocabulary, and files that cannot be used. Read next:
// src/lab/data/text.cc.
#include <algorithm>

#include "headlab/core/base/files.h"
#include "support/folders.h"
#include "tasks/checks.h"

namespace headlab { namespace {

namespace fs = std::filesystem;

/// A fresh folder for each test, with one text file in it.
class Text : public testing::Test {
 protected:
  std::string spec(Index length = 4, double validation = 0.25) const {
    return text("text:file=", path_, ",length=", length, ",validation=", validation);
  }
  std::unique_ptr<Task> task_of(std::string_view bytes, Index length = 4) const {
    write_file(path_, bytes);
    return make_task(spec(length));
  }
  std::string refusal_of(std::string_view bytes, Index length = 4) const {
    write_file(path_, bytes);
    return refusal(spec(length));
  }

  TemporaryFolder temporary_;
  const fs::path& folder_ = temporary_.path();
  std::string path_ = (folder_ / "story.txt").string();
};

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789+-*/";  // 40 characters

std::string window(const Task& task, const Batch& batch, Index b) {
  const auto row = std::span(batch.tokens).subspan(static_cast<std::size_t>(b * batch.length));
  return task.decode(row.first(static_cast<std::size_t>(batch.length)));
}

TEST_F(Text, WindowsComeFromTheirSplitAndReachBothItsEnds) {
  const auto task = task_of(kLetters);
  for (const Split split : {Split::train, Split::validation, Split::test}) {
    const auto part = split == Split::train        ? kLetters.substr(0, 30)
                      : split == Split::validation ? kLetters.substr(30, 5)
                                                   : kLetters.substr(34);
    const Batch batch = task->make(Key{1}, 300, split).batch;
    std::vector<bool> seen(part.size());
    for (Index b = 0; b < batch.size; ++b) {
      const std::size_t begin = part.find(window(*task, batch, b));
      ASSERT_NE(begin, part.npos);
      seen[begin] = true;
    }
    for (std::size_t begin = 0; begin < part.size(); ++begin) {  // the target needs one more
      const bool block = split == Split::train || begin % 4 == 0;
      EXPECT_EQ(seen[begin], begin + 4 < part.size() && block) << begin;
    }
  }
}

TEST_F(Text, HeldOutBlocksComeWithoutRepetitionAndDoNotOverlap) {
  std::string bytes;
  for (int i = 0; i < 400; ++i) bytes += kLetters[static_cast<std::size_t>(i * i % 40)];
  const auto task = task_of(bytes, 8);
  const Index blocks = task->different(Split::validation);
  EXPECT_EQ(blocks, 6);  // of 100 characters, of which the last block needs nine, one half
  EXPECT_EQ(task->different(Split::test), 6);
  const auto rotated = [&](Key key) {
    const Batch batch = task->make(key, 2 * blocks, Split::validation).batch;
    std::vector<std::string> windows;
    for (Index b = 0; b < batch.size; ++b) windows.push_back(window(*task, batch, b));
    return windows;
  };
  std::vector<std::string> expected, first = rotated(Key{1}), second = first;
  for (Index i = 0; i < blocks; ++i)
    expected.push_back(bytes.substr(static_cast<std::size_t>(300 + 8 * i), 8));
  EXPECT_NE(first, rotated(Key{2}));
  first.resize(static_cast<std::size_t>(blocks));
  second.erase(second.begin(), second.begin() + blocks);
  for (std::vector<std::string>* turn : {&first, &second, &expected}) std::ranges::sort(*turn);
  EXPECT_EQ(first, expected);
  EXPECT_EQ(second, expected);
}

TEST_F(Text, MayComeInThreeFilesOrLacksAPartThatJudges) {
  const std::string other = (folder_ / "other.txt").string();
  write_file(other, "=?!=?!=?!=?!");
  const auto window_of = [&](const Task& task, Split split) {
    return window(task, task.make(Key{1}, 1, split).batch, 0);
  };
  const auto task = task_of(kLetters);
  EXPECT_EQ(window_of(*make_task(spec() + ",test=" + other), Split::test).find_first_of("a0"),
            std::string::npos);
  const auto three = make_task("text:length=4,file=" + path_ + ",validation=" + other);
  EXPECT_EQ(three->different(Split::train), 36);
  EXPECT_EQ(make_task("text:length=1,file=" + path_)->shape().length, 1);
  for (const Split split : {Split::validation, Split::test})
    EXPECT_EQ(window_of(*three, split).find_first_not_of("=?!"), std::string::npos);
  EXPECT_EQ(make_task(three->spec())->data_hash(), three->data_hash());
  EXPECT_NE(three->data_hash(), task->data_hash());
  const auto short_one = make_task(spec(9));
  expect_contains(error_of([&] { short_one->make(Key{1}, 1, Split::test); }), "give test=PATH");
}

TEST_F(Text, EachPositionPredictsTheCharacterThatFollows) {
  const auto task = task_of(kLetters);
  const Batch batch = task->make(Key{1}, 50, Split::train).batch;
  for (Index b = 0; b < batch.size; ++b) {
    for (Index t = 0; t < batch.length; ++t) {
      const auto here = task->token_text(batch.token(b, t));
      const auto next = task->token_text(batch.target(b, t));
      ASSERT_EQ(kLetters.find(here) + 1, kLetters.find(next));
    }
  }
}

TEST_F(Text, PreviousIsTheOnlyGroundTruth) {
  const auto task = task_of(kLetters);
  ASSERT_EQ(task->relations().size(), 1U);
  EXPECT_TRUE(task->relations()[0].positional);
  const Example example = task->make(Key{1}, 1, Split::train);
  EXPECT_EQ(truth_text(example.truth[0]), "0,1:0 0,2:1 0,3:2 ");
}

TEST_F(Text, TokensAreSortedCodePoints) {
  const auto task = task_of("zebra \u00e9t\u00e9 \u20ac \U0001F600\nzebra zebra zebra");
  const std::string sorted = "\n abertz\u00e9\u20ac\U0001F600";
  EXPECT_EQ(task->shape().vocab, 11);
  std::vector<std::int32_t> all;
  for (std::int32_t token = 0; token < 11; ++token) all.push_back(token);
  EXPECT_EQ(task->decode(all), sorted);
  EXPECT_EQ(task->encode(sorted), all);
}

TEST_F(Text, HiddenCharactersAreShownAsEscapes) {
  const auto task = task_of("\n\t\r\x01 a\u00a0\u200b\u00e9 some more text to fill both splits");
  const auto shown_as = [&](std::string_view c) { return task->token_text(task->encode(c)[0]); };
  EXPECT_EQ(shown_as("\n"), "\\n");
  EXPECT_EQ(shown_as("\t"), "\\t");
  EXPECT_EQ(shown_as("\r"), "\\r");
  EXPECT_EQ(shown_as("\x01"), "\\u{0001}");
  EXPECT_EQ(shown_as(" "), "\u2423");
  EXPECT_EQ(shown_as("\u00a0"), "\\u{00A0}");
  EXPECT_EQ(shown_as("\u200b"), "\\u{200B}");
  EXPECT_EQ(shown_as("\u00e9"), "\u00e9");
}

TEST_F(Text, ByteOrderMarkIsDropped) {
  const auto task = task_of("\uFEFFabcabcabcabcabcabcabcabc");
  EXPECT_EQ(task->shape().vocab, 3);
}

TEST_F(Text, CharactersCanBeTypedAsTheyAreShown) {
  const auto task = task_of("a b\nc\td a b\nc\td a b\nc\td");
  const std::vector<std::int32_t> tokens = task->encode("a b\nc\td");
  std::string shown;
  for (const std::int32_t token : tokens) shown += task->token_text(token);
  EXPECT_EQ(shown, "a\u2423b\\nc\\td");
  EXPECT_EQ(task->encode(shown), tokens);
  const auto literal = task_of(
      "a\u2423b \\n a\u2423b \\n a\u2423b \\n a\u2423b \\n a\u2423b \\n a\u2423b");  // the signs
                                                                                     // themselves
  EXPECT_EQ(literal->decode(literal->encode("\u2423\\n")), "\u2423\\n");
}

TEST_F(Text, UnknownCharactersInAPromptAreNamed) {
  const auto task = task_of(kLetters);
  const std::string message = error_of([&] { task->encode("ab\u00e9"); });
  expect_contains(message, "'\u00e9' (U+00E9) does not occur in " + path_);
  expect_contains(error_of([&] { task->encode("a\xff"); }), "the prompt is not UTF-8: byte 1");
}

TEST_F(Text, InvalidUtf8NamesFilePositionAndRemedy) {
  const std::string message = refusal_of("one line\nand caf\xe9 au lait");
  expect_contains(message, path_ + " is not UTF-8: byte 16 (line 2) is 0xE9");
  expect_contains(message, "iconv");
}

TEST_F(Text, FilesOfAFewBytesAreTooShort) {
  expect_contains(refusal_of(""), "is too short: of its 0 characters");
  expect_contains(refusal_of("abc"), "give a longer file");
  const std::string message = refusal_of(kLetters, 10);
  expect_contains(message, "of its 40 characters 30 are for training and 10 for validation");
  expect_contains(message, "length 10 needs 11 in each");
  expect_contains(message, "set length=9 or");
  EXPECT_EQ(refusal_of(kLetters, 9), "");
}

TEST_F(Text, MissingFilesAndFoldersAreNamed) {
  expect_contains(refusal(spec()), path_);
  expect_contains(refusal("text:file=" + folder_.string()), folder_.string());
  expect_contains(refusal("text:file=a,b=c.txt"), "unknown setting 'b'");
}

// The expected value was computed with another program that gives the published 85944171F73967E8
// for "foobar".
TEST_F(Text, DataHashIsFnv1a) {
  EXPECT_EQ(task_of("foobarfoobarfoobarfoobar")->data_hash(), "5996E7ADB4D04365");
  EXPECT_NE(task_of("foobarfoobarfoobarfoobas")->data_hash(), "5996E7ADB4D04365");
}

}  // namespace
}  // namespace headlab
