// Any treebank in CoNLL-U (conllu_file.h), as a masked or a causal language model over its words.
// Words seen fewer than `min_count` times in the training part are <unk>. A masked model reads a
// sentence with one word in seven replaced by <mask>, and predicts these; a causal one predicts
// each next word. A sentence is held out or not by its words alone, so that no sentence is on both
// sides. Truth: each dependency relation of the file twice, `nsubj.up` from a word to its head and
// `nsubj.down` from a head to its words of this relation; in a decoder as far as they come before.
// Candidates, for the nearest-candidate baseline: the words with the part of speech of a gold key.
// Traps: a relation may be nearly an offset (a determiner stands before its noun), so read its
// lift, and its accuracy where the baselines fail; and no relation is what the model is trained
// for, so a head that finds none is no failure. Source of the comparison: Clark et al. 2019,
// section 4. Read next: src/tasks/conllu.cc.
#pragma once

#include <unordered_map>

#include "headlab/base/settings.h"
#include "headlab/tasks/conllu_file.h"
#include "headlab/tasks/task.h"

namespace headlab {

struct ConlluOptions {
  std::string file = "datasets/english.conllu";
  LanguageModel lm = LanguageModel::masked;
  Index min_count = 2;
  Index length = 32;
  bool subtypes = false;
  double validation = 0.1;
};
Settings settings_of(ConlluOptions& options);

class ConlluTask : public Task {
 public:
  using Options = ConlluOptions;
  /// Errors that name the file: it cannot be read or is no treebank (with the line), or no sentence
  /// is left for training or for validation.
  explicit ConlluTask(const ConlluOptions& options = {});

  std::string spec() const override;
  TaskShape shape() const override;
  std::vector<Relation> relations() const override { return relations_; }
  std::vector<std::string> target_names() const override { return {"word"}; }
  Example make(Key key, Index count, Split split) const override;
  Batch make_batch(Key key, Index count, Split split) const override;
  std::string token_text(std::int32_t token) const override;
  /// Words between blanks; those that are not in the vocabulary are <unk>.
  std::vector<std::int32_t> encode(std::string_view text) const override;
  std::string data_hash() const override { return hash_; }

 private:
  /// One query of one relation in a sentence.
  struct Query {
    std::size_t relation;
    std::int32_t t;
    std::vector<std::int32_t> keys, candidates;
  };
  struct Sentence {
    std::vector<std::int32_t> tokens;
    std::vector<std::int32_t> asked;  // words that may be predicted
    std::vector<Query> queries;       // by t
  };

  void number_words(const std::vector<TreebankSentence>& training);
  void number_relations(const std::vector<TreebankSentence>& treebank);
  Sentence with_truth(const TreebankSentence& sentence) const;
  std::int32_t token_of(const std::string& form) const;
  std::string relation_name(const TreebankWord& word) const;
  const Sentence& draw(Generator& random, Split split) const;
  void add_words(Batch& batch, Index b, const Sentence& sentence, Generator& random) const;
  bool causal() const { return options_.lm == LanguageModel::causal; }

  ConlluOptions options_;
  std::string hash_;
  Index length_ = 0;                                     // of the longest sentence
  std::vector<std::string> vocabulary_;                  // by token
  std::unordered_map<std::string, std::int32_t> token_;  // by word
  std::vector<Relation> relations_;
  std::unordered_map<std::string, std::size_t> relation_;  // by name
  std::vector<Sentence> training_, validation_;
};

}  // namespace headlab
