// CoNLL-U: what is read, what is passed over, and what is refused, with its line. Read next:
// src/tasks/conllu_file.cc.
#include "tasks/conllu_file.h"

#include <gtest/gtest.h>

#include "headlab/base/random.h"
#include "headlab/tasks/grammar.h"
#include "tasks/checks.h"

namespace headlab { namespace conllu_file_tests {

/// A word line: ID, FORM, HEAD, DEPREL.
std::string word(int id, std::string_view form, std::string_view head, std::string_view relation) {
  return text(id, "\t", form, "\t_\tX\t_\t_\t", head, "\t", relation, "\t_\t_\n");
}

std::string refusal_of(const std::string& bytes) {
  return error_of([&] { parse_conllu(bytes, "file"); });
}

/// FORM, UPOS, HEAD (0 the root) and DEPREL of all words.
std::string read_text(const std::string& bytes) {
  std::string out;
  for (const TreebankSentence& sentence : parse_conllu(bytes, "file")) {
    for (const TreebankWord& each : sentence.words)
      out += text(each.form, "/", each.part, "/", each.head + 1, "/", each.relation, " ");
    out += "| ";
  }
  return out;
}

TEST(ConlluFile, AWordIsALineAndAnEmptyLineEndsASentence) {
  const std::string bytes = word(1, "dogs", "2", "nsubj") + word(2, "bark", "0", "root") + "\n" +
                            word(1, "Oh", "0", "root") + "\n";
  EXPECT_EQ(read_text(bytes), "dogs/X/2/nsubj bark/X/0/root | Oh/X/0/root | ");
}

TEST(ConlluFile, CommentsMultiwordTokensAndEmptyNodesArePassedOver) {
  const std::string other = "\t_\t_\t_\t_\t_\t_\t_\t_\n";
  const std::string bytes = "# text = vámonos\n0.1\te" + other + "1-2\tvámonos" + other +
                            word(1, "vamos", "0", "root") + word(2, "nos", "1", "obj") + "2.1\te" +
                            other + "3.10\te" + other + "# end\n";
  EXPECT_EQ(read_text(bytes), "vamos/X/0/root nos/X/1/obj | ");
}

TEST(ConlluFile, UnderscoresSayNothing) {
  EXPECT_EQ(read_text("1\t_\t_\t_\t_\t_\t_\t_\t_\t_\n2\ta\t_\t_\t_\t_\t_\t_\t_\t_\n"),
            "_/_/0/_ a/_/0/_ | ");
}

TEST(ConlluFile, TheLastSentenceNeedsNoEmptyLineAndAnyNumberMayFollow) {
  const std::string one = word(1, "a", "0", "root");
  EXPECT_EQ(read_text(one), read_text(one + "\n\n\n"));
  EXPECT_EQ(read_text(one), read_text("\n\n" + one.substr(0, one.size() - 1)));
}

TEST(ConlluFile, CarriageReturnsAndAByteOrderMarkAreNoText) {
  std::string bytes = "\xEF\xBB\xBF# first\n" + word(1, "a", "0", "root") + "\n";
  const std::string plain = read_text(bytes);
  for (std::size_t at = 0; (at = bytes.find('\n', at)) != bytes.npos; at += 2)
    bytes.insert(at, "\r");
  EXPECT_EQ(plain, "a/X/0/root | ");
  EXPECT_EQ(read_text(bytes), plain);
}

TEST(ConlluFile, IsWrittenAsItIsRead) {
  const std::string made = grammar_treebank(20);
  std::string again;
  for (const TreebankSentence& sentence : parse_conllu(made, "made"))
    again += conllu_text(sentence);
  EXPECT_EQ(made.substr(made.find("\n1\t") + 1), again);
}

TEST(ConlluFile, NothingIsNoSentence) {
  EXPECT_EQ(read_text(""), "");
  EXPECT_EQ(read_text("\n# comment\n\n"), "");
}

TEST(ConlluFile, OtherNumbersOfColumnsAreRefused) {
  const std::string good = word(1, "a", "0", "root");
  for (const char* bad : {"2\tb\t_\t_\t_\t_\t1\tdep\t_\n", "2 b _ _ _ _ 1 dep _ _\n",
                          "2\tb\t_\t_\t_\t_\t1\tdep\t_\t_\t\n"}) {
    const std::string message = refusal_of(good + bad);
    expect_contains(message, "file:2: a word has 10 columns");
    expect_contains(message, "tabs");
  }
  expect_contains(refusal_of("word\n"), "this line has 1");
}

TEST(ConlluFile, NumbersOutOfOrderAreRefused) {
  expect_contains(refusal_of(word(1, "a", "0", "root") + word(3, "b", "1", "dep")),
                  "file:2: the ID should be 2, got '3'");
  for (const char* id : {"0", "-1", "x", "", "1-", "1-x", "99999999999", "1 "})
    expect_contains(refusal_of(text(id, "\ta\t_\t_\t_\t_\t0\troot\t_\t_\n")), "file:1: the ID");
}

TEST(ConlluFile, AWordNeedsAForm) {
  expect_contains(refusal_of(word(1, "", "0", "root")), "file:1: the word has no FORM");
}

TEST(ConlluFile, HeadsThatAreNoWordAreRefused) {
  for (const char* head : {"x", "-1", "1.5", "", "99999999999"}) {
    expect_contains(refusal_of(word(1, "a", head, "root")),
                    text("file:1: HEAD must be a number or _, got '", head, "'"));
  }
  const std::string message =
      refusal_of("\n" + word(1, "a", "0", "root") + word(2, "b", "3", "dep") + "\n");
  expect_contains(message, "file:3: HEAD is 3, but the sentence has 2 words");
  expect_contains(message, "of the same sentence");
}

TEST(ConlluFile, CirclesAreRefused) {
  const std::string root = word(1, "a", "0", "root");
  expect_contains(refusal_of(root + word(2, "b", "2", "dep")),
                  "file:2: the heads of word 2 run in a circle");
  const std::string three = root + word(2, "b", "3", "dep") + word(3, "c", "4", "dep") +
                            word(4, "d", "2", "dep") + word(5, "e", "4", "dep");
  expect_contains(refusal_of("# one\n" + three), "file:3: the heads of word 2 run in a circle");
  EXPECT_EQ(refusal_of(root + word(2, "b", "1", "x") + word(3, "c", "2", "x")), "");
}

TEST(ConlluFile, ASentenceWithHeadsNeedsARoot) {
  expect_contains(refusal_of("# x\n" + word(1, "a", "2", "dep") + word(2, "b", "1", "dep")),
                  "file:2: the sentence that begins here has no root");
  EXPECT_EQ(refusal_of(word(1, "a", "_", "_") + word(2, "b", "_", "_")), "");
}

TEST(ConlluFile, BytesThatAreNotUtf8AreRefused) {
  expect_contains(refusal_of(word(1, "caf\xE9", "0", "root")),
                  "file is not UTF-8: byte 5 (line 1)");
}

TEST(ConlluFile, AVeryLongSentenceIsReadInOnePass) {  // a walk from every word would never end
  std::string chain = word(1, "a", "0", "root");
  for (int i = 2; i <= 100000; ++i) chain += word(i, "a", std::to_string(i - 1), "dep");
  EXPECT_EQ(parse_conllu(chain, "file")[0].words.size(), 100000U);
}

TEST(ConlluFile, DamagedFilesAreReadOrRefused) {
  const std::string good = grammar_treebank(3) + "1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n" +
                           word(1, "a", "2", "dep") + word(2, "é", "0", "root") + "\n";
  Generator random(Key{}.fold("damage"));
  const std::string_view telling = "\t\n-.#_0129\r\xC3";
  int refused = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string bytes = good;
    for (std::int64_t flips = random.between(1, 4); flips > 0; --flips) {
      char& byte =
          bytes[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(bytes.size())))];
      byte = random.below(2) == 0 ? static_cast<char>(random.below(256))
                                  : telling[static_cast<std::size_t>(
                                        random.below(static_cast<std::int64_t>(telling.size())))];
    }
    bytes.resize(random.below(8) == 0 ? bytes.size() / 2 : bytes.size());
    const std::string message = refusal_of(bytes);  // anything but an Error would end the test
    refused += !message.empty();
    EXPECT_TRUE(message.empty() || message.rfind("file", 0) == 0) << message;
  }
  EXPECT_GT(refused, 500);
  EXPECT_LT(refused, 4900);
}

}  // namespace conllu_file_tests
}  // namespace headlab
