// Sequences whose targets are answers of their own and no tokens, and files that are read for a
// given architecture. Read next: sequences_test.cc; src/lab/data/sequences_header.cc.
#include "lab/data/sequences.h"
#include "support/archives.h"
#include "tasks/lines.h"

namespace headlab { namespace {

using FromAnswers = FromLines;

const std::string kWithAnswers = R"({"header":{"vocabulary":["a","b","."],"answers":["no","yes"]}})"
                                 "\n"
                                 R"({"tokens":["a","b","."],"targets":[null,null,"yes"]})";

TEST_F(FromAnswers, HaveAnswersThatAreNoTokens) {
  const auto task = task_of(kWithAnswers);
  EXPECT_EQ(task->shape().vocab, 3);
  EXPECT_EQ(task->shape().answers, 2);
  const Batch batch = task->make_batch(Key{}, 1, Split::validation);
  EXPECT_EQ(batch.target(0, 2), 1);
  EXPECT_EQ(task->answer_text(1), "yes");
  EXPECT_EQ(task->token_text(1), "b");
  EXPECT_ANY_THROW(task->answer_text(2));
  const auto again = task_of(lines_of(*task, 1, Key{}));
  EXPECT_EQ(again->shape(), task->shape());
  EXPECT_EQ(again->answer_text(0), "no");
  EXPECT_EQ(again->make_batch(Key{}, 1, Split::validation).targets, batch.targets);
}

/// As many answers as tokens: the model has the same shape, but the words differ.
TEST_F(FromAnswers, AnswersAsManyAsTokensKeepTheirWords) {
  const auto task = task_of(R"({"header":{"vocabulary":["a","b"],"answers":["no","yes"]}})"
                            "\n"
                            R"({"tokens":["a","b"],"targets":["yes",null]})");
  EXPECT_EQ(task->shape().answers, 0);
  EXPECT_EQ(task->answer_text(1), "yes");
  EXPECT_EQ(task_of(lines_of(*task, 1, Key{}))->answer_text(1), "yes");
}

TEST_F(FromAnswers, AnswersAreNumbersOfTheirOwn) {
  const auto task = task_of(R"({"header":{"answers":["even","odd"]}})"
                            "\n"
                            R"({"tokens":[7,0],"targets":["odd","even"]})");
  EXPECT_EQ(task->shape().vocab, 8);
  const Batch batch = task->make_batch(Key{}, 1, Split::validation);
  EXPECT_EQ(batch.target(0, 0), 1);
  EXPECT_EQ(batch.target(0, 1), 0);
}

TEST_F(FromAnswers, RefuseAnswersThatTheHeaderDoesNotName) {
  const auto said = [&](const std::string& header, const std::string& target) {
    return error_of([&] {
      task_of(R"({"header":{"vocabulary":["a"],)" + header + "}}\n" +
              R"({"tokens":["a"],"targets":[)" + target + "]}");
    });
  };
  expect_contains(said(R"("answers":["no","yes"])", R"("a")"), "unknown answer 'a'");
  expect_contains(said(R"("answers":["no","yes"])", R"("a")"), "all.jsonl:2");
  expect_contains(said(R"("answers":["no","no"])", R"("no")"), "'no' is there twice");
  expect_contains(said(R"("answers":[])", R"("a")"), "answers is an empty list");
  expect_contains(said(R"("answers":[""])", R"("a")"), "number 1 has no name");
  expect_contains(said(R"("answers":"no")", R"("no")"), "answers");
}

/// A file that is given for a part is judged as it is: its repeated sequences count as often as
/// they are there.
TEST_F(FromAnswers, RepeatedSequencesOfAGivenFileAreKept) {
  const auto task = task_of(kWithAnswers + "\n" + kWithAnswers.substr(kWithAnswers.find('\n') + 1) +
                            "\n" + R"({"tokens":["b","."],"targets":[null,"no"]})");
  EXPECT_EQ(task->different(Split::validation), 3);
  EXPECT_EQ(task->different(Split::test), 3);
  expect_contains(task->about_data(), "1 of held_out's 3 are duplicates");
}

TEST_F(FromAnswers, AreForTheArchitectureThatTheTaskNames) {
  const std::string path =
      file_of("all.jsonl", R"({"tokens":["a","b"],"targets":["b",null],"truth":{"r":{"0":[1]}}})");
  const std::string spec = text("file:train=", path, ",held_out=", path, ",test=", path);
  expect_contains(error_of([&] { make_task(spec); }), "query 0 cannot see key 1");
  const auto task = make_task(spec + ",architecture=encoder");
  EXPECT_EQ(task->shape().architecture, Architecture::encoder);
  expect_contains(task->spec(), "architecture=encoder");
  EXPECT_EQ(make_task(task->spec())->shape(), task->shape());
  expect_contains(error_of([&] { check_task(spec + ",architecture=encodr"); }), "encoder");
  EXPECT_EQ(task_of(kLine)->spec().find("architecture"), std::string::npos);
}

TEST_F(FromAnswers, RefuseAnArchitectureThatTheHeaderContradicts) {
  const std::string path = file_of("all.jsonl", R"({"header":{"architecture":"decoder"}})"
                                                "\n" +
                                                    kLine);
  expect_contains(error_of([&] { make_task(text("file:train=", path, ",architecture=encoder")); }),
                  "another architecture than the task");
}

/// The array `header` of an archive: one text.
std::string text_array(const std::string& words) {
  std::string letters;
  for (const char letter : words) letters += little_endian(static_cast<unsigned char>(letter), 4);
  return npy(text("<U", words.size()), "", letters);
}

std::string bytes_array(const std::string& shape, const std::string& values) {
  return npy("|i1", shape, values);
}

TEST_F(FromAnswers, ArraysHoldNumbersOfAnswers) {
  const std::string header = R"({"vocabulary":["a","b","."],"answers":["no","yes"]})";
  const auto archive = [&](const std::string& targets) {
    return npz({{"header", text_array(header)},
                {"tokens", bytes_array("1, 3", std::string("\0\1\2", 3))},
                {"targets", bytes_array("1, 3", targets)}});
  };
  const auto task = task_in("a.npz", archive("\xFF\xFF\1"));
  EXPECT_EQ(task->shape().answers, 2);
  EXPECT_EQ(task->make_batch(Key{}, 1, Split::validation).target(0, 2), 1);
  expect_contains(error_of([&] { task_in("b.npz", archive("\xFF\xFF\2")); }),
                  "there is no word 2 among 2");
}

}}  // namespace headlab::
