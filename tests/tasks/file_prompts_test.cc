// Lines that name other answers (`against`) and `corrupted` tokens: what is read, what is written
// again, and what is refused.
#include "lab/data/sequences.h"
#include "support/errors.h"
#include "tasks/lines.h"

namespace headlab { namespace {

using FilePromptLines = FromLines;
using Answers = std::vector<std::int32_t>;

const std::string kHeader =
    R"({"header":{"vocabulary":["a","b","c","d"],"targets":["next"],"length":3}})"
    "\n";
const std::string kNamed =
    R"({"tokens":["a","b","c"],"targets":[null,"c","a"],"against":[null,null,"b"],"corrupted":["b","b","c"]})"
    "\n";
const std::string kPlain = R"({"tokens":["c","d"],"targets":[null,"d"]})"
                           "\n";

TEST_F(FilePromptLines, AreThoseOfTheHeldOutExamples) {
  const auto task = task_of(kHeader + kPlain + kNamed);
  for (const Split split : {Split::validation, Split::test}) {
    const FilePrompts prompts = prompts_in_file(*task, split, 2);
    EXPECT_EQ(prompts.against, (Answers{-1, -1, -1, -1, -1, 1}));
    ASSERT_EQ(prompts.corrupted.size(), 2u);
    EXPECT_TRUE(prompts.corrupted[0].empty());
    EXPECT_EQ(prompts.corrupted[1], (Answers{1, 1, 2}));
  }
}

TEST_F(FilePromptLines, AreAbsentWhereNoLineNamesAny) {
  for (const auto& task : {task_of(kHeader + kPlain), make_task("copy")}) {
    const FilePrompts prompts = prompts_in_file(*task, Split::validation, 1);
    EXPECT_TRUE(prompts.against.empty());
    EXPECT_TRUE(prompts.corrupted.empty());
  }
}

TEST_F(FilePromptLines, HaveAPlaceForEachTarget) {
  const auto task = task_of(
      R"({"tokens":["a","b"],"targets":[null,["a",null,"b"]],"against":[null,[null,null,"a"]]})");
  EXPECT_EQ(prompts_in_file(*task, Split::validation, 1).against, (Answers{-1, -1, -1, -1, -1, 0}));
}

TEST_F(FilePromptLines, KeepTheirOwnNumbersAndAnswers) {
  const auto numbers =
      task_of(R"({"tokens":[7,2],"targets":[null,7],"against":[null,4],"corrupted":[4,2]})");
  const FilePrompts prompts = prompts_in_file(*numbers, Split::validation, 1);
  EXPECT_EQ(prompts.against, (Answers{-1, 4}));
  EXPECT_EQ(prompts.corrupted[0], (Answers{4, 2}));
  const auto answers =
      task_of(R"({"header":{"answers":["no","yes"]}})"
              "\n"
              R"({"tokens":[1],"targets":["yes"],"against":["no"],"corrupted":[0]})");
  EXPECT_EQ(prompts_in_file(*answers, Split::validation, 1).against, Answers{0});
}

TEST_F(FilePromptLines, SurviveWritingAndReading) {
  const auto task = task_of(kHeader + kNamed + kPlain);
  const auto again = task_of(lines_of(*task, 2, Key{}));
  const FilePrompts before = prompts_in_file(*task, Split::validation, 2);
  const FilePrompts after = prompts_in_file(*again, Split::validation, 2);
  EXPECT_EQ(before.against, after.against);
  EXPECT_EQ(before.corrupted, after.corrupted);
}

/// Lines that differ only in what they name are different lines.
TEST_F(FilePromptLines, AreNoDuplicatesOfEachOther) {
  std::string lines = kHeader + kNamed;
  for (const char* other : {"c", "d"}) {
    std::string line = kNamed;
    line.replace(line.find("\"corrupted\":[\"b\"") + 14, 1, other);
    lines += line;
  }
  const auto task = task_of(lines);
  EXPECT_EQ(task->about_data().find("duplicates"), std::string::npos) << task->about_data();
}

TEST_F(FilePromptLines, ErrorsNameTheLineAndTheWord) {
  const auto refuses = [&](const std::string& rest, const std::vector<std::string>& parts) {
    const std::string line = R"({"tokens":["a","b","c"],"targets":[null,null,"a"],)" + rest + "}";
    const std::string said = error_of([&] { task_of(kHeader + kPlain + line); });
    expect_contains(said, "all.jsonl:3");
    for (const std::string& part : parts) expect_contains(said, part);
  };
  refuses(R"("corrupted":["b","b"])", {"corrupted: expected 3 tokens", "got 2"});
  refuses(R"("corrupted":["a","b","c"])", {"corrupted: these are the same tokens"});
  refuses(R"("corrupted":["a","b","x"])", {"corrupted: 'x' is not in the vocabulary"});
  refuses(R"("against":[null,null,"x"])", {"against: 'x' is not in the vocabulary"});
  refuses(R"("against":[null,null,"a"])", {"against: 'a' at position 2 is the same"});
  refuses(R"("against":[null,"b"])", {"against: 'b' at position 1", "no target"});
  refuses(R"("against":["b","b","b"])", {"against: 'b' at position 0", "no target"});
  refuses(R"("against":[null,null,["b","c"]])", {"against: more than 1 targets at a position"});
  refuses(R"("against":[null,null,null,"b"])", {"against: 4 of them for 3 tokens"});
  refuses(R"("againts":[null,null,"b"])", {"'againts'", "did you mean 'against'"});
  refuses(R"("corrupted":3)", {"corrupted"});
}

TEST_F(FilePromptLines, RefuseWhatCannotBeCorrupted) {
  const std::string two = error_of(
      [&] { task_of(R"({"tokens":["a"],"source":["b"],"targets":["a"],"corrupted":["b"]})"); });
  expect_contains(two, "corrupted: an encoder-decoder reads two inputs, not one");
  const std::string hidden = error_of([&] {
    task_of(R"({"header":{"hidden":0.5,"vocabulary":["a","b","<mask>"]}})"
            "\n"
            R"({"tokens":["a"],"targets":["a"],"corrupted":["b"]})");
  });
  expect_contains(hidden, "corrupted: it cannot be combined with 'hidden'");
}

}}  // namespace headlab
