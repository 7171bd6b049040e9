// A sentence is laid out as tokens, words first and perhaps their endings; each relation is a row
// of a table with a function from a token to its keys, and one to the keys among which a naive
// reader would choose. Tokens: the lexicon, then the six endings. Read next: grammar.cc.
#include "headlab/tasks/english.h"

#include <algorithm>

#include "headlab/base/error.h"
#include "headlab/tasks/grammar.h"
#include "tasks/parts.h"

namespace headlab {
namespace {

using Keys = std::vector<std::int32_t>;

/// Where the words of a sentence stand among its tokens.
struct Layout {
  Sentence sentence;
  bool causal;
  Keys tokens;
  Keys word_of;  // by token
  Keys stem;     // by word
  Keys ending;   // by word; -1 where none is shown

  Layout(Sentence drawn, bool causal_order) : sentence(std::move(drawn)), causal(causal_order) {
    for (std::size_t w = 0; w < sentence.words.size(); ++w) {
      const Sentence::Word& word = sentence.words[w];
      const bool shown = causal && word.ending >= 0;
      stem.push_back(add(w, word.lexeme));
      ending.push_back(shown ? add(w, ending_token(word.ending)) : -1);
    }
  }
  static std::int32_t ending_token(std::int32_t noun_class) {
    return static_cast<std::int32_t>(lexicon().size()) + noun_class;
  }
  std::int32_t add(std::size_t word, std::int32_t token) {
    tokens.push_back(token);
    word_of.push_back(static_cast<std::int32_t>(word));
    return static_cast<std::int32_t>(tokens.size()) - 1;
  }

  std::int32_t word_at(std::int32_t t) const { return word_of[t]; }
  std::int32_t stem_of(std::int32_t word) const { return stem[word]; }
  std::int32_t ending_of(std::int32_t word) const { return ending[word]; }
  bool is(std::int32_t word, Part part) const { return sentence.at(word).entry().part == part; }
  bool is_stem(std::int32_t t) const { return stem_of(word_at(t)) == t; }
  /// Whether t is the stem of a word of this part of speech.
  bool stem_is(std::int32_t t, Part part) const { return is_stem(t) && is(word_at(t), part); }
  /// Whether a relation of agreement is asked at t.
  bool agrees(std::int32_t t) const {
    return stem_is(t, causal ? Part::noun : Part::determiner) || stem_is(t, Part::verb) ||
           stem_is(t, Part::pronoun);
  }
  bool is_separator(std::int32_t t) const {
    return is(word_at(t), Part::comma) || is(word_at(t), Part::stop);
  }
  bool is_rare(std::int32_t t) const { return sentence.at(word_at(t)).entry().rare; }
  std::int32_t determiner_of(std::int32_t noun) const {
    while (!is(noun, Part::determiner)) --noun;
    return noun;
  }
};

void add_shown(std::int32_t t, Keys& keys) {
  if (t >= 0) keys.push_back(t);
}

/// The tokens that carry the class of a noun: the ending of its determiner, if shown, and itself.
void add_carriers(const Layout& at, std::int32_t noun, Keys& keys) {
  add_shown(at.ending_of(at.determiner_of(noun)), keys);
  keys.push_back(at.stem_of(noun));
}

void add_determiner(const Layout& at, std::int32_t determiner, Keys& keys) {
  keys.push_back(at.stem_of(determiner));
  keys.push_back(at.ending_of(determiner));
}

template <class Choose>
void add_tokens(const Layout& at, Keys& keys, Choose choose) {
  for (std::int32_t s = 0; s < static_cast<std::int32_t>(at.tokens.size()); ++s)
    if (choose(s)) keys.push_back(s);
}

/// In an encoder a determiner looks for its noun; in a decoder the noun comes later, and looks
/// back.
void det(const Layout& at, std::int32_t t, Keys& keys) {
  if (!at.causal && at.stem_is(t, Part::determiner))
    keys.push_back(at.stem_of(at.sentence.at(at.word_at(t)).head));
  else if (at.causal && at.stem_is(t, Part::noun))
    add_determiner(at, at.determiner_of(at.word_at(t)), keys);
}

void all_determiners_or_nouns(const Layout& at, std::int32_t, Keys& keys) {
  const Part part = at.causal ? Part::determiner : Part::noun;
  add_tokens(at, keys, [&](std::int32_t s) { return at.is(at.word_at(s), part); });
}

void nsubj(const Layout& at, std::int32_t t, Keys& keys) {
  if (at.stem_is(t, Part::verb)) add_carriers(at, at.sentence.subject, keys);
}

/// Every token that carries a class: nouns, and in a decoder the endings.
void all_carriers(const Layout& at, std::int32_t, Keys& keys) {
  add_tokens(at, keys, [&](std::int32_t s) { return at.stem_is(s, Part::noun) || !at.is_stem(s); });
}

void obj(const Layout& at, std::int32_t t, Keys& keys) {
  if (at.stem_is(t, Part::pronoun)) keys.push_back(at.stem_of(at.sentence.verb));
}

void antecedent(const Layout& at, std::int32_t t, Keys& keys) {
  if (!at.stem_is(t, Part::pronoun)) return;
  add_carriers(at, at.sentence.antecedent, keys);
  if (at.sentence.antecedent == at.sentence.subject)
    add_shown(at.ending_of(at.sentence.verb), keys);
}

void previous(const Layout& at, std::int32_t t, Keys& keys) {
  if (t > 0 && !at.agrees(t)) keys.push_back(t - 1);
}

void next(const Layout& at, std::int32_t t, Keys& keys) {
  if (t + 1 < static_cast<std::int32_t>(at.tokens.size()) && !at.agrees(t)) keys.push_back(t + 1);
}

void separator(const Layout& at, std::int32_t t, Keys& keys) {
  if (!at.agrees(t) && !at.is_separator(t))
    add_tokens(at, keys, [&](std::int32_t s) { return at.is_separator(s); });
}

void rare(const Layout& at, std::int32_t t, Keys& keys) {
  if (!at.agrees(t) && !at.is_rare(t))
    add_tokens(at, keys, [&](std::int32_t s) { return at.is_rare(s); });
}

using Finder = void (*)(const Layout&, std::int32_t t, Keys&);

struct RelationRow {
  const char* name;
  const char* masked;  // what it means in an encoder
  const char* causal;  // and in a decoder; nullptr where there is no such thing
  bool positional;
  Finder keys;
  Finder candidates;  // nullptr: none are named
};

constexpr RelationRow kRelationRows[] = {
    {"det", "the noun of a determiner", "the determiner of a noun, stem or ending", false, det,
     all_determiners_or_nouns},
    {"nsubj", "the subject of a verb", "the subject of a verb: its noun or determiner's ending",
     false, nsubj, all_carriers},
    {"obj", "the verb of a pronoun", "the verb of a pronoun", false, obj, nullptr},
    {"antecedent", "the noun that a pronoun means",
     "what shows the class of the noun that a pronoun means", false, antecedent, all_carriers},
    {"previous", "the word before", "the token before", true, previous, nullptr},
    {"next", "the word behind", nullptr, true, next, nullptr},
    {"separator", "a comma or the full stop", "the comma before", false, separator, nullptr},
    {"rare", "a rare word of the sentence", "a rare word before", false, rare, nullptr},
};

std::vector<const RelationRow*> rows_of(bool causal) {
  std::vector<const RelationRow*> rows;
  for (const RelationRow& row : kRelationRows)
    if (!causal || row.causal != nullptr) rows.push_back(&row);
  return rows;
}

/// Adds what a finder says about each token of sequence b, as far as the token can see it.
void add_gold(Gold& gold, const RelationRow& row, bool candidates, const Layout& at, Index b) {
  Keys keys;
  for (std::int32_t t = 0; t < static_cast<std::int32_t>(at.tokens.size()); ++t) {
    keys.clear();
    row.keys(at, t, keys);
    if (candidates && !keys.empty()) {
      keys.clear();
      row.candidates(at, t, keys);
    }
    if (at.causal) std::erase_if(keys, [t](std::int32_t key) { return key > t; });
    if (!keys.empty()) gold.add(b, t, keys);
  }
}

/// The first sentence of a stream that fits.
Layout draw_layout(const EnglishOptions& o, Generator random) {
  for (;;) {
    Layout at(draw_sentence(random, {o.attractors, o.adjectives}), o.lm == LanguageModel::causal);
    if (static_cast<Index>(at.tokens.size()) <= o.length) return at;
  }
}

Index shortest_sentence(bool causal) {
  const Index words = 5;    // determiner noun verb pronoun stop
  const Index endings = 3;  // of determiner, verb and pronoun
  return causal ? words + endings : words;
}

}  // namespace

Settings settings_of(EnglishOptions& o) {
  Settings s;
  s.choice("lm", o.lm, {"masked", "causal"},
           "hidden endings in an encoder, or the next token in a decoder");
  s.integer("length", o.length, 1, 65536, "the longest sentence, in tokens");
  s.integer("attractors", o.attractors, 0, 8, "most nouns between a subject and its verb");
  s.integer("adjectives", o.adjectives, 0, 8, "most adjectives before a noun");
  return s;
}

EnglishTask::EnglishTask(const EnglishOptions& options) : options_(options) {
  check_ranges(settings_of(options_), "english");
  const Index shortest = shortest_sentence(options_.lm == LanguageModel::causal);
  if (options_.length < shortest) {
    throw Error(text("no sentence of the grammar fits in length ", options_.length,
                     ": the shortest has ", shortest, " tokens"),
                text("set length=", shortest, " or more; 32 holds nearly all"));
  }
}

std::string EnglishTask::spec() const {
  EnglishOptions options = options_;
  return spec_text("english", settings_of(options));
}

TaskShape EnglishTask::shape() const {
  const bool causal = options_.lm == LanguageModel::causal;
  return {.architecture = causal ? Architecture::decoder : Architecture::encoder,
          .vocab = static_cast<Index>(lexicon().size() + kEndings.size()),
          .length = options_.length};
}

std::vector<Relation> EnglishTask::relations() const {
  const bool causal = options_.lm == LanguageModel::causal;
  std::vector<Relation> relations;
  for (const RelationRow* row : rows_of(causal))
    relations.push_back({row->name, causal ? row->causal : row->masked, row->positional});
  return relations;
}

Batch EnglishTask::make_batch(Key key, Index count, Split split) const {
  const bool causal = options_.lm == LanguageModel::causal;
  Batch batch = empty_batch(*this, count);
  for (Index b = 0; b < count; ++b) {
    const Layout at = draw_layout(options_, sequence_generator(key, split, b));
    batch.lengths.push_back(static_cast<std::int32_t>(at.tokens.size()));
    std::copy(at.tokens.begin(), at.tokens.end(), &batch.token(b, 0));
    for (std::size_t w = 0; w < at.sentence.words.size(); ++w) {
      const Sentence::Word& word = at.sentence.words[w];
      const bool determined = !causal || word.entry().part != Part::determiner;
      if (word.ending >= 0 && determined)
        batch.target(b, at.stem[w]) = Layout::ending_token(word.ending);
    }
  }
  return batch;
}

Example EnglishTask::make(Key key, Index count, Split split) const {
  const std::vector<const RelationRow*> rows = rows_of(options_.lm == LanguageModel::causal);
  Example example{make_batch(key, count, split), std::vector<Gold>(rows.size()),
                  std::vector<Gold>(rows.size())};
  for (Index b = 0; b < count; ++b) {  // drawn once more: tokens do not say who the subject is
    const Layout at = draw_layout(options_, sequence_generator(key, split, b));
    for (std::size_t r = 0; r < rows.size(); ++r) {
      add_gold(example.gold[r], *rows[r], false, at, b);
      if (rows[r]->candidates != nullptr) add_gold(example.candidates[r], *rows[r], true, at, b);
    }
  }
  return example;
}

std::string EnglishTask::token_text(std::int32_t token) const {
  check_token(token, shape().vocab);
  const auto place = static_cast<std::size_t>(token);
  return place < lexicon().size() ? lexicon()[place].stem
                                  : text("-", kEndings[place - lexicon().size()]);
}

}  // namespace headlab
