// All truth is worked out once, when the treebank is read: for each sentence its queries with their
// keys and candidates, so that a batch is made by copying. Relations and words are numbered by
// falling count. Read next: conllu_file.cc.
#include "headlab/tasks/conllu.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "headlab/base/error.h"
#include "headlab/base/files.h"
#include "headlab/base/shipped.h"
#include "tasks/characters.h"
#include "tasks/parts.h"

namespace headlab {
namespace {

constexpr std::int32_t kUnknown = 0, kMask = 1;  // tokens; kMask in masked models alone
constexpr double kMasked = 0.15;                 // share of words, as in BERT (Devlin et al. 2019)

/// Whether a sentence is held out: decided by its words, so that its copies go the same way.
bool held_out(const TreebankSentence& sentence, double share) {
  Key key = Key{}.fold("held out");
  for (const TreebankWord& word : sentence.words) key = key.fold(word.form);
  return Generator(key).uniform() < share;
}

/// Calls edge(query, key, "NAME.up" or "NAME.down") for both directions of every dependency; a
/// decoder sees only one of them.
template <class Name, class Edge>
void each_edge(const TreebankSentence& sentence, bool causal, Name name, Edge edge) {
  for (std::size_t i = 0; i < sentence.words.size(); ++i) {
    const TreebankWord& word = sentence.words[i];
    const auto dependent = static_cast<std::int32_t>(i);
    if (word.head < 0 || word.relation == "_") continue;
    if (!causal || word.head < dependent) edge(dependent, word.head, name(word) + ".up");
    if (!causal || dependent < word.head) edge(word.head, dependent, name(word) + ".down");
  }
}

std::string described(const std::string& relation) {
  const std::size_t dot = relation.rfind('.');
  const std::string name = relation.substr(0, dot);
  return relation.substr(dot) == ".up" ? text("the head of a word that is its ", name)
                                       : text("the words that are the ", name, " of a word");
}

/// Names by falling count, and by name among equals.
std::vector<std::pair<std::string, Index>> by_count(const std::map<std::string, Index>& counts) {
  std::vector<std::pair<std::string, Index>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return sorted;
}

/// The words that a naive reader would choose among: those with the part of speech of a key.
std::vector<std::int32_t> candidates_of(const TreebankSentence& sentence, std::int32_t query,
                                        const std::vector<std::int32_t>& keys, bool causal) {
  std::vector<std::int32_t> candidates;
  const auto end = causal ? query : static_cast<std::int32_t>(sentence.words.size());
  for (std::int32_t s = 0; s < end; ++s) {
    const auto part_of = [&](std::int32_t word) -> const std::string& {
      return sentence.words[word].part;
    };
    const bool alike = std::any_of(keys.begin(), keys.end(),
                                   [&](std::int32_t key) { return part_of(key) == part_of(s); });
    if (alike && s != query) candidates.push_back(s);
  }
  return candidates;
}

/// The sentences of 2 to `length` words. Error if there is none.
std::vector<TreebankSentence> fitting(std::vector<TreebankSentence> treebank,
                                      const ConlluOptions& options) {
  if (treebank.empty()) {
    throw Error(options.file + " holds no sentence",
                "a treebank in CoNLL-U has a word on each line, in ten columns between tabs");
  }
  const auto size = [](const TreebankSentence& s) { return static_cast<Index>(s.words.size()); };
  Index shortest = 0, longest = 0;  // of those with at least 2 words
  for (const TreebankSentence& sentence : treebank) {
    longest = std::max(longest, size(sentence));
    if (size(sentence) >= 2 && (shortest == 0 || size(sentence) < shortest))
      shortest = size(sentence);
  }
  std::erase_if(treebank, [&](const auto& s) { return size(s) < 2 || size(s) > options.length; });
  if (treebank.empty()) {
    throw Error(text("no sentence of ", options.file, " has 2 to ", options.length,
                     " words: its longest has ", longest),
                longest < 2 ? "one word alone predicts nothing; give another file"
                            : text("set length=", shortest, " or more"));
  }
  return treebank;
}

/// Error that says what to do if a part has no sentence.
void require_sentences(std::size_t training, std::size_t validation, const ConlluOptions& options) {
  if (training == 0 || validation == 0) {
    throw Error(text("of the sentences of ", options.file, " that fit, ", training,
                     " are for training and ", validation, " for validation"),
                text("give a longer file, or a ", validation == 0 ? "larger" : "smaller",
                     " share with validation=X (now ", options.validation, ")"));
  }
}

}  // namespace

Settings settings_of(ConlluOptions& o) {
  Settings s;
  s.text("file", o.file, "a treebank in CoNLL-U");
  s.choice("lm", o.lm, {"masked", "causal"},
           "masked words in an encoder, or the next in a decoder");
  s.integer("min_count", o.min_count, 1, 1 << 30, "words seen less often are <unk>");
  s.integer("length", o.length, 2, 65536, "longer sentences are left out");
  s.boolean("subtypes", o.subtypes, "whether nsubj:pass is another relation than nsubj");
  s.real("validation", o.validation, 0.001, 0.9, "share of the sentences that is held out");
  return s;
}

ConlluTask::ConlluTask(const ConlluOptions& options) : options_(options) {
  check_ranges(settings_of(options_), "conllu");
  check_file_name(options_.file);
  const std::string bytes = read_file(shipped_file(options_.file));
  hash_ = fingerprint(bytes);
  const std::vector<TreebankSentence> treebank =
      fitting(parse_conllu(bytes, options_.file), options_);
  const auto is_held_out = [&](const TreebankSentence& sentence) {
    return held_out(sentence, options_.validation);
  };
  std::vector<TreebankSentence> training = treebank;
  std::erase_if(training, is_held_out);
  require_sentences(training.size(), treebank.size() - training.size(), options_);
  number_words(training);
  number_relations(treebank);
  for (const TreebankSentence& sentence : treebank) {
    Sentence known = with_truth(sentence);
    if (!known.asked.empty()) {
      length_ = std::max(length_, static_cast<Index>(known.tokens.size()));
      (is_held_out(sentence) ? validation_ : training_).push_back(std::move(known));
    }
  }
  require_sentences(training_.size(), validation_.size(), options_);
}

void ConlluTask::number_words(const std::vector<TreebankSentence>& training) {
  std::map<std::string, Index> counts;
  for (const TreebankSentence& sentence : training)
    for (const TreebankWord& word : sentence.words) ++counts[word.form];
  vocabulary_ = {"<unk>"};
  if (!causal()) vocabulary_.emplace_back("<mask>");
  const std::vector<std::string> special = vocabulary_;
  const auto sorted = by_count(counts);
  for (const auto& [form, count] : sorted) {
    if (count >= options_.min_count &&
        std::find(special.begin(), special.end(), form) == special.end()) {
      token_[form] = static_cast<std::int32_t>(vocabulary_.size());
      vocabulary_.push_back(form);
    }
  }
  if (token_.empty()) {
    throw Error(text("no word of ", options_.file, " occurs ", options_.min_count,
                     " times in its training part: the most frequent one, '",
                     shown(sorted[0].first), "', occurs ", sorted[0].second, " times"),
                text("set min_count=", sorted[0].second, " or less"));
  }
}

std::string ConlluTask::relation_name(const TreebankWord& word) const {
  return options_.subtypes ? word.relation : word.relation.substr(0, word.relation.find(':'));
}

void ConlluTask::number_relations(const std::vector<TreebankSentence>& treebank) {
  const auto name = [this](const TreebankWord& word) { return relation_name(word); };
  std::map<std::string, Index> counts;
  for (const TreebankSentence& sentence : treebank) {
    each_edge(sentence, causal(), name,
              [&](std::int32_t, std::int32_t, const std::string& relation) { ++counts[relation]; });
  }
  for (const auto& [relation, count] : by_count(counts)) {
    relation_[relation] = relations_.size();
    relations_.push_back({relation, described(relation)});
  }
}

ConlluTask::Sentence ConlluTask::with_truth(const TreebankSentence& sentence) const {
  Sentence known;
  for (const TreebankWord& word : sentence.words) {
    const bool has_context = !causal() || !known.tokens.empty();
    known.tokens.push_back(token_of(word.form));
    if (has_context && known.tokens.back() != kUnknown)
      known.asked.push_back(static_cast<std::int32_t>(known.tokens.size()) - 1);
  }
  std::map<std::pair<std::int32_t, std::size_t>, std::vector<std::int32_t>> keys;
  each_edge(
      sentence, causal(), [this](const TreebankWord& word) { return relation_name(word); },
      [&](std::int32_t query, std::int32_t key, const std::string& relation) {
        keys[{query, relation_.at(relation)}].push_back(key);
      });
  for (auto& [place, gold] : keys) {
    known.queries.push_back({.relation = place.second,
                             .t = place.first,
                             .keys = gold,
                             .candidates = candidates_of(sentence, place.first, gold, causal())});
  }
  return known;
}

std::int32_t ConlluTask::token_of(const std::string& form) const {
  const auto found = token_.find(form);
  return found == token_.end() ? kUnknown : found->second;
}

std::string ConlluTask::spec() const {
  ConlluOptions options = options_;
  return spec_text("conllu", settings_of(options));
}

TaskShape ConlluTask::shape() const {
  return {.architecture = causal() ? Architecture::decoder : Architecture::encoder,
          .vocab = static_cast<Index>(vocabulary_.size()),
          .length = length_};
}

void ConlluTask::add_words(Batch& batch, Index b, const Sentence& sentence,
                           Generator& random) const {
  std::copy(sentence.tokens.begin(), sentence.tokens.end(), &batch.token(b, 0));
  batch.lengths.push_back(static_cast<std::int32_t>(sentence.tokens.size()));
  const auto hide = [&](std::int32_t word) {
    batch.target(b, word) = sentence.tokens[word];
    batch.token(b, word) = kMask;
  };
  bool any = causal();
  for (const std::int32_t word : sentence.asked) {
    if (causal()) {
      batch.target(b, word - 1) = sentence.tokens[word];
    } else if (random.uniform() < kMasked) {
      hide(word);
      any = true;
    }
  }
  if (!any) {
    const Index asked = static_cast<Index>(sentence.asked.size());
    hide(sentence.asked[random.below(asked)]);
  }
}

const ConlluTask::Sentence& ConlluTask::draw(Generator& random, Split split) const {
  const std::vector<Sentence>& sentences = split == Split::train ? training_ : validation_;
  return sentences[random.below(static_cast<Index>(sentences.size()))];
}

Batch ConlluTask::make_batch(Key key, Index count, Split split) const {
  Batch batch = empty_batch(*this, count);
  for (Index b = 0; b < count; ++b) {
    Generator random = sequence_generator(key, split, b);
    const Sentence& sentence = draw(random, split);
    add_words(batch, b, sentence, random);
  }
  return batch;
}

Example ConlluTask::make(Key key, Index count, Split split) const {
  Example example{make_batch(key, count, split), std::vector<Gold>(relations_.size()),
                  std::vector<Gold>(relations_.size())};
  for (Index b = 0; b < count; ++b) {
    Generator random = sequence_generator(key, split, b);
    const Sentence& sentence = draw(random, split);
    for (const Query& query : sentence.queries) {
      example.gold[query.relation].add(b, query.t, query.keys);
      example.candidates[query.relation].add(b, query.t, query.candidates);
    }
  }
  return example;
}

std::string ConlluTask::token_text(std::int32_t token) const {
  check_token(token, shape().vocab);
  return shown(vocabulary_[token]);
}

std::vector<std::int32_t> ConlluTask::encode(std::string_view text) const {
  std::istringstream words{std::string(text)};
  std::vector<std::int32_t> tokens;
  for (std::string word; words >> word;) tokens.push_back(token_of(word));
  return tokens;
}

}  // namespace headlab
