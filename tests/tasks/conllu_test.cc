// Treebanks as a task: vocabulary, split, targets, dependencies in both directions, and treebanks
// that cannot be used. Read next: src/tasks/conllu.cc.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "headlab/base/files.h"
#include "support/folders.h"
#include "tasks/checks.h"

namespace headlab { namespace {

struct Line {
  std::string form, part;
  int head;
  std::string relation;
};

std::string sentence_of(const std::vector<Line>& lines) {
  std::string out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    out += text(i + 1, "\t", line.form, "\t_\t", line.part, "\t_\t_\t", line.head, "\t",
                line.relation, "\t_\t_\n");
  }
  return out + "\n";
}

/// "The dog that N barked saw a cat ." with another name N for each i.
std::string numbered(int i) {
  return sentence_of({{"the", "DET", 2, "det"},
                      {"dog", "NOUN", 4, "nsubj:outer"},
                      {text("name", i), "PROPN", 2, "appos"},
                      {"saw", "VERB", 0, "root"},
                      {"a", "DET", 6, "det"},
                      {"cat", "NOUN", 4, "obj"},
                      {".", "PUNCT", 4, "punct"}});
}

/// A fresh folder for each test, with one treebank in it.
class Conllu : public testing::Test {
 protected:
  static std::string many(int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += numbered(i);
    return all;
  }
  std::string spec(const std::string& parameters) const {
    return text("conllu:file=", path_, parameters.empty() ? "" : ",", parameters);
  }
  std::unique_ptr<Task> task_of(const std::string& bytes,
                                const std::string& parameters = "") const {
    write_file(path_, bytes);
    return make_task(spec(parameters));
  }
  std::string refusal_of(const std::string& bytes, const std::string& parameters = "") const {
    write_file(path_, bytes);
    return refusal(spec(parameters));
  }
  /// The keys of query t of sequence 0, by relation.
  static std::map<std::string, std::string> at(const Task& task, const std::vector<Gold>& golds,
                                               Index t) {
    std::map<std::string, std::string> keys;
    for (std::size_t r = 0; r < golds.size(); ++r)
      for (const std::int32_t key : golds[r].keys(0, t))
        keys[task.relations()[r].name] += text(key, " ");
    return keys;
  }

  TemporaryFolder temporary_;
  std::string path_ = (temporary_.path() / "bank.conllu").string();
};

using ByRelation = std::map<std::string, std::string>;

TEST_F(Conllu, EveryDependencyIsGoldInBothDirections) {
  const auto task = task_of(many(60));
  const Example example = task->make(Key{1}, 1, Split::train);
  EXPECT_EQ(at(*task, example.gold, 0), (ByRelation{{"det.up", "1 "}}));
  EXPECT_EQ(at(*task, example.gold, 1),
            (ByRelation{{"det.down", "0 "}, {"nsubj.up", "3 "}, {"appos.down", "2 "}}));
  EXPECT_EQ(at(*task, example.gold, 3),
            (ByRelation{{"nsubj.down", "1 "}, {"obj.down", "5 "}, {"punct.down", "6 "}}));
  EXPECT_EQ(at(*task, example.gold, 6), (ByRelation{{"punct.up", "3 "}}));
  EXPECT_EQ(task->relations().size(), 10U);
}

TEST_F(Conllu, ADecoderSeesWhatCameBefore) {
  const auto task = task_of(many(60), "lm=causal");
  const Example example = task->make(Key{1}, 1, Split::train);
  EXPECT_EQ(at(*task, example.gold, 0), ByRelation{});
  EXPECT_EQ(at(*task, example.gold, 3), (ByRelation{{"nsubj.down", "1 "}}));
  EXPECT_EQ(at(*task, example.gold, 5), (ByRelation{{"det.down", "4 "}, {"obj.up", "3 "}}));
  std::set<std::string> names;
  for (const Relation& relation : task->relations()) names.insert(relation.name);
  EXPECT_EQ(names,
            (std::set<std::string>{"appos.up", "det.down", "nsubj.down", "obj.up", "punct.up"}));
}

TEST_F(Conllu, SeveralDependentsAreOneSet) {
  std::string all;
  for (int i = 0; i < 60; ++i) {
    all += sentence_of({{"big", "ADJ", 3, "amod"},
                        {"old", "ADJ", 3, "amod"},
                        {text("dogs", i), "NOUN", 0, "root"}});
  }
  const auto task = task_of(all);
  const Example example = task->make(Key{1}, 1, Split::train);
  EXPECT_EQ(at(*task, example.gold, 2), (ByRelation{{"amod.down", "0 1 "}}));
}

TEST_F(Conllu, CandidatesAreTheWordsOfAKeysPartOfSpeech) {
  const auto task = task_of(many(60));
  const Example example = task->make(Key{1}, 1, Split::train);
  EXPECT_EQ(at(*task, example.candidates, 0), (ByRelation{{"det.up", "1 5 "}}));
  EXPECT_EQ(at(*task, example.candidates, 1),
            (ByRelation{{"det.down", "0 4 "}, {"nsubj.up", "3 "}, {"appos.down", "2 "}}));
  EXPECT_EQ(at(*task, example.candidates, 3)["obj.down"], "1 5 ");
}

TEST_F(Conllu, SubtypesAreFoldedOrNot) {
  for (const bool kept : {false, true}) {
    std::set<std::string> names;
    const auto task = task_of(many(60), kept ? "subtypes=true" : "subtypes=false");
    for (const Relation& relation : task->relations()) names.insert(relation.name);
    EXPECT_EQ(names.count("nsubj:outer.up"), kept ? 1U : 0U);
    EXPECT_EQ(names.count("nsubj.up"), kept ? 0U : 1U);
  }
}

TEST_F(Conllu, RareWordsAreUnknownAndNeverAskedFor) {
  const auto task = task_of(many(60), "lm=causal");
  EXPECT_EQ(task->shape().vocab, 7);  // six words and <unk>
  const Batch batch = task->make(Key{1}, 1, Split::train).batch;
  EXPECT_EQ(shown(*task, batch, 0, 2, 1), "<unk>");
  EXPECT_EQ(batch.target(0, 1), -1);
  EXPECT_GT(task_of(many(60), "lm=causal,min_count=1")->shape().vocab, 40);  // training names too
}

TEST_F(Conllu, ADecoderPredictsEachNextWord) {
  const auto task = task_of(many(60), "lm=causal");
  const Batch batch = task->make(Key{1}, 20, Split::train).batch;
  for (Index b = 0; b < batch.size; ++b) {
    for (Index t = 0; t < batch.length; ++t) {
      const bool asked = t + 1 < batch.length && t != 1;
      ASSERT_EQ(batch.target(b, t), asked ? batch.token(b, t + 1) : -1);
    }
  }
}

TEST_F(Conllu, AnEncoderPredictsTheWordsThatAreHidden) {
  const auto hidden = task_of(many(60));
  const Index count = 2000;
  const Batch batch = hidden->make(Key{1}, count, Split::train).batch;
  const std::string words[] = {"the", "dog", "<unk>", "saw", "a", "cat", "."};
  Index masks = 0;
  for (Index b = 0; b < count; ++b) {
    Index here = 0;
    for (Index t = 0; t < batch.length; ++t) {
      const std::int32_t target = batch.target(b, t);
      const std::string shown_word = hidden->token_text(batch.token(b, t));
      ASSERT_EQ(shown_word == "<mask>", target >= 0);
      ASSERT_EQ(target >= 0 ? hidden->token_text(target) : shown_word, words[t]);
      here += target >= 0;
    }
    ASSERT_GT(here, 0);
    masks += here;
  }
  // Of six words each is hidden with .15; where none is, one: 6 x .15 + .85^6 a sentence.
  EXPECT_NEAR(static_cast<double>(masks) / count, 1.277, 4 * 0.9 / std::sqrt(count));
}

TEST_F(Conllu, CopiesOfASentenceAreOnOneSide) {
  const auto task = task_of(many(80) + many(80), "min_count=1,validation=0.3");
  std::set<std::string> names[2];
  for (const Split split : {Split::train, Split::validation}) {
    const auto causal = make_task(spec("min_count=1,validation=0.3,lm=causal"));
    const Batch batch = causal->make(Key{1}, 800, split).batch;
    for (Index b = 0; b < batch.size; ++b)
      names[split == Split::train].insert(shown(*causal, batch, b, 2, 1));
  }
  EXPECT_EQ(names[1].count("<unk>"), 0U);
  EXPECT_EQ(names[0],
            std::set<std::string>{"<unk>"});  // held-out names are in no training sentence
}

TEST_F(Conllu, HeldOutSentencesComeWithoutRepetition) {
  const auto task = task_of(many(80) + many(80), "min_count=1,validation=0.3,lm=causal");
  const Index different = task->different(Split::validation);
  EXPECT_LT(different, 45);  // of 80 different ones, each twice
  const Batch batch = task->make(Key{1}, different, Split::validation).batch;
  const Batch more = task->make(Key{1}, different + 5, Split::validation).batch;
  EXPECT_TRUE(std::ranges::equal(batch.tokens, more.rows(0, different).tokens));
  EXPECT_NE(task->about_data().find(text(different, " different ones held out to choose by, ")),
            std::string::npos);
}

TEST_F(Conllu, WhatOneChoosesByAndWhatJudgesAreTwoParts) {
  const auto task = task_of(many(80) + many(80), "min_count=1,validation=0.3,lm=causal");
  const Index chosen_by = task->different(Split::validation),
              judging = task->different(Split::test);
  EXPECT_GT(judging, 5);
  EXPECT_EQ(task->different(Split::train) / 2 + chosen_by + judging, 80);  // each twice
  const std::string path = (temporary_.path() / "other.conllu").string();
  write_file(path, many(7));
  EXPECT_GT(make_task(spec("min_count=1,test=" + path))->different(Split::test), 0);
}

TEST_F(Conllu, TextsAreWordsBetweenBlanks) {
  const auto task = task_of(many(60), "lm=causal");
  EXPECT_EQ(task->decode(task->encode(" the cat  bit a dog ")), "the cat <unk> a dog");
  EXPECT_EQ(task->data_hash().size(), 16U);
}

TEST_F(Conllu, WhatDoesNotShowIsEscaped) {
  std::string bytes = many(60);
  for (std::size_t at = 0; (at = bytes.find("dog", at)) != bytes.npos; ++at)
    bytes.replace(at, 3, "d\x1Bg");
  const auto task = task_of(bytes, "lm=causal");
  EXPECT_EQ(task->token_text(task->encode("d\x1Bg")[0]), "d\\u{001B}g");
}

TEST_F(Conllu, FileNamesMayHoldCommas) {
  const std::string path = (temporary_.path() / "tea, coffee,cake.conllu").string();
  write_file(path, many(60));
  const auto task = make_task("conllu:file=" + path + ",lm=causal");
  EXPECT_EQ(task->shape().architecture, Architecture::decoder);
  EXPECT_EQ(make_task(task->spec())->spec(), task->spec());
  expect_contains(refusal("conllu:lm=causal,file=a,,b"), "a,b");  // the empty part is lost
  expect_contains(refusal("conllu:file=a,b=c"), "unknown setting 'b'");
}

TEST_F(Conllu, FilesThatHoldNothingUsefulGetASentence) {
  expect_contains(refusal(spec("")), path_);
  expect_contains(refusal_of("# nothing\n"), path_ + " holds no sentence");
  expect_contains(refusal_of("1\tword\n"), path_ + ":1: a word has 10 columns");
  const std::string longest = refusal_of(many(60), "length=6");
  expect_contains(longest, text("no sentence of ", path_, " has 2 to 6 words"));
  expect_contains(longest, "set length=7");
  expect_contains(refusal_of(sentence_of({{"Oh", "INTJ", 0, "root"}})), "one word alone");
  const std::string rare = refusal_of(many(60), "min_count=1000");
  expect_contains(rare, "occurs 1000 times");
  expect_contains(rare, "the most frequent one, '.', occurs");
  expect_contains(refusal_of(numbered(1)), "give a longer file, or a ");
}

}  // namespace
}  // namespace headlab
