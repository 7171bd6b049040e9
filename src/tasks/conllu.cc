// Any treebank in CoNLL-U (conllu_file.h), as a masked or a causal language model over its words.
// Words seen fewer than `min_count` times in the training part are <unk>. A masked model reads a
// sentence with some words (kMasked) replaced by <mask>, and predicts these; a causal one predicts
// each next word. A sentence is held out or not by its words alone, so that none is on both sides.
// Truth: each dependency relation of the file twice, `nsubj.up` from a word to its head and
// `nsubj.down` from a head to its words of this relation; in a decoder as far as they come before.
// Candidates, for the nearest-candidate baseline: the words with the part of speech of a gold key.
// Traps: a relation may be nearly an offset (a determiner stands before its noun), so read its
// lift, and its accuracy where the baselines fail; and no relation is what the model is trained
// for, so a head that finds none is no failure. Source of the comparison: Clark et al. 2019,
// section 4. Read next: conllu_file.cc; headlab/tasks/definition.h.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "headlab/tasks/definition.h"
#include "tasks/conllu_file.h"
#include "tasks/language.h"

namespace headlab {
namespace {

constexpr std::int32_t kUnknown = 0, kMask = 1;  // tokens; kMask in masked models alone
constexpr double kMasked = 0.15;                 // share of words, as in BERT (Devlin et al. 2019)

/// The keys of one position for one relation.
struct Dependencies {
  Index relation;
  Index t;
  std::vector<std::int32_t> keys, candidates;
};

/// All truth is worked out once, when the treebank is read, so that a batch is made by copying.
struct KnownSentence {
  std::vector<std::int32_t> tokens;
  std::vector<std::int32_t> asked;  // words that may be predicted
  std::vector<Dependencies> truth;  // by t
};

/// Whether a sentence is held out, or judges: decided by its words, so that its copies go the same
/// way.
bool is_drawn(const char* purpose, const TreebankSentence& sentence, double share) {
  Key key = Key{}.fold(purpose);
  for (const TreebankWord& word : sentence.words) key = key.fold(word.form);
  return Generator(key).uniform() < share;
}

/// The words of a sentence, one to a line.
std::string words_of(const TreebankSentence& sentence) {
  std::string words;
  for (const TreebankWord& word : sentence.words) words += word.form + "\n";
  return words;
}

/// Names by descending count, and by name among equals.
std::vector<std::pair<std::string, Index>> by_count(const std::map<std::string, Index>& counts) {
  std::vector<std::pair<std::string, Index>> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted, std::greater(), [](const auto& entry) { return entry.second; });
  return sorted;
}

struct Conllu {
  std::string file = "datasets/english.conllu";
  LanguageModel lm = LanguageModel::masked;
  Index min_count = 2, length = 32;
  bool subtypes = false;
  HeldOut held_out = {};

  // What is read from the file. Words and relations are numbered by descending count.
  std::string hash = {};
  Index longest = 0;                               // sentence
  std::size_t sentences = 0, left_out = 0;         // in the file; of these
  std::vector<std::string> vocabulary = {};        // by token
  std::map<std::string, std::int32_t> token = {};  // by word
  std::vector<Relation> known_relations = {};
  std::map<std::string, Index> relation = {};            // by name
  std::array<std::vector<KnownSentence>, 3> parts = {};  // by split

  void bind(Settings& s) {
    s.string("file", file, "a treebank in CoNLL-U");
    s.choice("lm", lm, {"masked", "causal"},
             "masked words in an encoder, or the next in a decoder");
    s.integer("min_count", min_count, 1, 1 << 30, "words seen less often are <unk>");
    s.integer("length", length, 2, 65536, "longer sentences are left out");
    s.boolean("subtypes", subtypes, "whether nsubj:pass is another relation than nsubj");
    held_out.bind(s, "sentences");
  }
  bool causal() const { return lm == LanguageModel::causal; }
  TaskShape shape() const { return {architecture_of(lm), std::ssize(vocabulary), longest}; }
  std::vector<Relation> relations() const { return known_relations; }
  std::vector<std::string> target_names() const { return {"word"}; }
  std::string data_hash() const { return hash; }
  std::string token_text(std::int32_t known) const { return shown(vocabulary[known]); }
  /// Words between white space; those that are not in the vocabulary are <unk>.
  std::vector<std::int32_t> encode(std::string_view prompt) const {
    std::istringstream words{std::string(prompt)};
    std::vector<std::int32_t> tokens;
    for (std::string word; words >> word;) tokens.push_back(token_of(word));
    return tokens;
  }
  std::int32_t token_of(const std::string& form) const {
    const auto found = token.find(form);
    return found == token.end() ? kUnknown : found->second;
  }

  /// Calls edge(query, key, "NAME.up" or "NAME.down") for both directions of every dependency; a
  /// decoder sees only one of them.
  template <class Edge>
  void each_edge(const TreebankSentence& sentence, Edge edge) const {
    for (Index dependent = 0; dependent < std::ssize(sentence.words); ++dependent) {
      const TreebankWord& word = sentence.words[dependent];
      if (word.head < 0 || word.relation == "_") continue;
      const std::string name =
          subtypes ? word.relation : word.relation.substr(0, word.relation.find(':'));
      if (!causal() || word.head < dependent) edge(dependent, word.head, name + ".up");
      if (!causal() || dependent < word.head) edge(word.head, dependent, name + ".down");
    }
  }

  /// The sentences of 2 to `length` words. Error if there is none.
  std::vector<TreebankSentence> fitting(std::vector<TreebankSentence> treebank) const {
    if (treebank.empty()) {
      throw Error(file + " holds no sentence",
                  "a treebank in CoNLL-U has a word on each line, in ten columns between tabs");
    }
    Index shortest = 0, most = 0;  // words; shortest: of those with at least 2
    for (const auto& [words] : treebank) {
      const Index size = std::ssize(words);
      most = std::max(most, size);
      if (size >= 2 && (shortest == 0 || size < shortest)) shortest = size;
    }
    std::erase_if(treebank, [&](const auto& s) {
      return std::ssize(s.words) < 2 || std::ssize(s.words) > length;
    });
    if (treebank.empty()) {
      throw Error(text("no sentence of ", file, " has 2 to ", length, " words: its longest has ",
                       most),
                  most < 2 ? "one word alone predicts nothing; give another file"
                           : text("set length=", shortest, " or more"));
    }
    return treebank;
  }

  /// Error that says what to do if a part has no sentence.
  void require_sentences(std::size_t trained, std::size_t validated) const {
    if (trained > 0 && validated > 0) return;
    throw Error(text("of the sentences of ", file, " that fit, ", trained, " are for training and ",
                     validated, " for validation"),
                text("give a longer file, or a ", validated == 0 ? "larger" : "smaller",
                     " share with validation=X (now ", held_out.share, ")"));
  }

  /// Errors that name the file: it cannot be read or is no treebank (with the line), or no sentence
  /// is left for training or for validation.
  void prepare() {
    const std::array<std::string, 3> bytes = held_out.read(file);
    hash = held_out.hash(bytes);
    const std::array<std::string, 3> names = {file, held_out.validation, held_out.test};
    std::array<std::vector<TreebankSentence>, 3> treebank;
    std::vector<TreebankSentence> all;
    for (std::size_t i = 0; i < 3; ++i) {
      if (names[i].empty()) continue;
      std::vector<TreebankSentence> parsed = parse_conllu(bytes[i], names[i]);
      sentences += parsed.size();
      for (TreebankSentence& sentence : fitting(std::move(parsed))) {
        all.push_back(sentence);
        treebank[part_of(sentence, i)].push_back(std::move(sentence));
      }
    }
    left_out = sentences - all.size();
    require_sentences(treebank[0].size(), treebank[1].size());
    number_words(treebank[0]);
    number_relations(all);
    std::set<std::string> known_held_out;  // sentences by their words: none is judged twice
    for (std::size_t i = 0; i < 3; ++i)
      for (const TreebankSentence& sentence : treebank[i]) {
        KnownSentence known = with_truth(sentence);
        longest = std::max(longest, std::ssize(known.tokens));
        left_out += known.asked.empty();
        if (!known.asked.empty() && (i == 0 || known_held_out.insert(words_of(sentence)).second))
          parts[i].push_back(std::move(known));
      }
    require_sentences(parts[0].size(), parts[1].size());
  }
  /// Where a sentence of the file of this split goes.
  std::size_t part_of(const TreebankSentence& sentence, std::size_t split) const {
    if (split == 0 && held_out.validation.empty())
      split = is_drawn("held out", sentence, held_out.share) ? 1 : 0;
    return split == 1 && held_out.test.empty() && is_drawn("test", sentence, .5) ? 2 : split;
  }

  void number_words(const std::vector<TreebankSentence>& trained) {
    std::map<std::string, Index> counts;
    for (const TreebankSentence& sentence : trained)
      for (const TreebankWord& word : sentence.words) ++counts[word.form];
    vocabulary = {"<unk>"};
    if (!causal()) vocabulary.emplace_back("<mask>");
    const std::vector<std::string> special = vocabulary;
    const auto sorted = by_count(counts);
    for (const auto& [form, count] : sorted) {
      if (count < min_count || std::ranges::count(special, form) > 0) continue;
      token[form] = id(std::ssize(vocabulary));
      vocabulary.push_back(form);
    }
    if (!token.empty()) return;
    const auto& [form, count] = sorted[0];
    throw Error(text("no word of ", file, " occurs ", min_count,
                     " times in its training part: the most frequent one, '", shown(form),
                     "', occurs ", count, " times"),
                text("set min_count=", count, " or less"));
  }

  void number_relations(const std::vector<TreebankSentence>& treebank) {
    std::map<std::string, Index> counts;
    for (const TreebankSentence& sentence : treebank)
      each_edge(sentence, [&](Index, Index, const std::string& name) { ++counts[name]; });
    for (const auto& [name, count] : by_count(counts)) {
      const std::string word = name.substr(0, name.rfind('.'));
      relation[name] = std::ssize(known_relations);
      known_relations.push_back({name, name.ends_with(".up")
                                           ? text("the head of a word that is its ", word)
                                           : text("the words that are the ", word, " of a word")});
    }
  }

  /// The words that a naive reader would choose among: those with the part of speech of a key.
  std::vector<std::int32_t> candidates_of(const TreebankSentence& sentence, Index query,
                                          const std::vector<std::int32_t>& keys) const {
    std::vector<std::int32_t> candidates;
    const Index end = causal() ? query : std::ssize(sentence.words);
    for (Index s = 0; s < end; ++s) {
      const bool alike = std::ranges::any_of(keys, [&](std::int32_t key) {
        return sentence.words[key].part == sentence.words[s].part;
      });
      if (alike && s != query) candidates.push_back(id(s));
    }
    return candidates;
  }

  KnownSentence with_truth(const TreebankSentence& sentence) const {
    KnownSentence known;
    for (const TreebankWord& word : sentence.words) {
      const bool has_context = !causal() || !known.tokens.empty();
      known.tokens.push_back(token_of(word.form));
      if (has_context && known.tokens.back() != kUnknown)
        known.asked.push_back(id(std::ssize(known.tokens) - 1));
    }
    std::map<std::pair<Index, Index>, std::vector<std::int32_t>> all;  // by t and relation
    each_edge(sentence, [&](Index query, Index key, const std::string& name) {
      all[{query, relation.at(name)}].push_back(id(key));
    });
    for (const auto& [place, keys] : all)
      known.truth.push_back(
          {place.second, place.first, keys, candidates_of(sentence, place.first, keys)});
    return known;
  }

  Index different(Split split) const { return std::ssize(parts[static_cast<std::size_t>(split)]); }
  /// What the numbers of a report rest on.
  std::string about_data() const {
    double words = 0, unknown = 0;
    for (const KnownSentence& sentence : parts[1]) {
      words += static_cast<double>(sentence.tokens.size());
      unknown += static_cast<double>(std::ranges::count(sentence.tokens, kUnknown));
    }
    return text(sentences, " sentences: ", left_out, " left out (their length, or no known word), ",
                different(Split::train), " to train on, ", different(Split::validation),
                " different ones held out to choose by, ", different(Split::test), " that judge; ",
                vocabulary.size(), " words and marks, ",
                static_cast<Index>(std::lround(100 * unknown / words)),
                "% of the held-out words are <unk>");
  }

  void write(Sequence& s) const {
    const auto& [tokens, asked, truth] = parts[static_cast<std::size_t>(s.split)][s.unit];
    std::ranges::copy(tokens, s.tokens().begin());
    s.pad_behind(std::ssize(tokens));
    bool any = false;
    const auto hide = [&](std::int32_t word) {
      s.target(word) = std::exchange(s.token(word), kMask);
      any = true;
    };
    for (const std::int32_t word : asked)
      if (causal())
        s.target(word - 1) = s.token(word);
      else if (s.random.uniform() < kMasked)
        hide(word);
    if (!causal() && !any) hide(asked[s.random.below(std::ssize(asked))]);
    for (const Dependencies& at : truth) {
      s.add_gold(at.relation, at.t, at.keys);
      s.add_candidates(at.relation, at.t, at.candidates);
    }
  }
};

}  // namespace

TaskEntry conllu_task() {
  return task_entry(Conllu{},
                    {"conllu",
                     "the words of any treebank, with its dependencies as truth",
                     "layers=2 heads=4 d_model=64 d_ff=128 steps=1000 batch=32 lr=2e-3 warmup=100 "
                     "schedule=cosine decay=0.1 clip=1",
                     {.why = "what can be learned depends on the treebank"}});
}

}  // namespace headlab
