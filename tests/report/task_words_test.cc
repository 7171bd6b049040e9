// Words for tasks and relations: of the user's own sequences those in the header of their file.
#include "app/report/task_words.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "headlab/core/base/files.h"
#include "headlab/core/tasks/table.h"
#include "support/folders.h"

namespace headlab { namespace {

/// Returns the question of a file with this beginning of its header.
std::string question_of_file(const std::filesystem::path& file, const std::string& description) {
  std::string lines = R"({"header":{)" + description +
                      R"("vocabulary":["a","b","c","d","e"],"targets":["answer"],"relations":)"
                      R"([{"name":"next_larger"},{"name":"first","description":"token 0"}]}})"
                      "\n";
  for (int i = 0; i < 125; ++i) {
    const auto token = [&](int place) {
      return std::string(1, static_cast<char>('a' + place % 5));
    };
    lines += R"({"tokens":[")" + token(i) + R"(",")" + token(i / 5) + R"(",")" + token(i / 25) +
             R"("],"targets":[null,null,")" + token(i) +
             R"("],"truth":{"next_larger":{"2":[0]},"first":{"2":[0]}}})"
             "\n";
  }
  write_file(file, lines);
  return question_of(*make_task("file:train=" + file.string()));
}

TEST(TaskWords, QuestionOfAFileIsTheDescriptionInItsHeader) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "own.jsonl";
  EXPECT_EQ(question_of_file(file, R"("description":"sorted list.",)"),
            "Sorted list. To answer, attend to: next larger and token 0.");
  EXPECT_EQ(question_of_file(file, ""),
            "The model predicts the answer. To answer, attend to: next larger and token 0.");
}

TEST(TaskWords, QuestionNamesAllDistancesAtOnce) {
  EXPECT_EQ(question_of(*make_task("relations")),
            "At each token, the model names the tokens 1, 3 and 5 back and the last earlier token "
            "of the same class.");
  EXPECT_EQ(question_of(*make_task("relations:relations=2+same")),
            "At each token, the model names the token 2 back and the last earlier token of the "
            "same class.");
}

TEST(TaskWords, NamesOfRelationsAreWordsForAReader) {
  EXPECT_EQ(spoken_name("back12", "relations"), "12 back");
  EXPECT_EQ(spoken_name("background", "relations"), "background");
  EXPECT_EQ(spoken_name("same", "relations"), "same class");
  EXPECT_EQ(spoken_name("same", "relations:length=8"), "same class");
  EXPECT_EQ(spoken_name("same", "english"), "same");
  EXPECT_EQ(spoken_name("next_larger", "file"), "next larger");
}

}}  // namespace headlab
