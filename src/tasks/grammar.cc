// The lexicon is a table of rows, each with the words of one part of speech and kind, common or
// rare; a sentence is put together from left to right, and the words of a phrase become dependents
// of its noun as soon as that is drawn. Read next: english.cc.
#include "headlab/tasks/grammar.h"

#include <algorithm>
#include <tuple>

#include "headlab/base/error.h"
#include "headlab/base/text.h"
#include "tasks/sentence.h"

namespace headlab {
namespace {

struct Row {
  Part part;
  std::int32_t kind;
  const char* common;
  const char* rare;
};

constexpr Row kRows[] = {
    {Part::determiner, 0, "th som an", ""},
    {Part::adjective, 0, "old small heavy quiet bright crooked", "gaunt ochre"},
    {Part::noun, 0, "king smith child baker nurse thief", "abbot vizier"},
    {Part::noun, 1, "dog horse owl trout spider goat", "ibex marmot"},
    {Part::noun, 2, "oak rose moss clover fern wheat", "medlar sorrel"},
    {Part::noun, 3, "drum rope lamp spoon needle hammer", "adze astrolabe"},
    {Part::noun, 4, "hill river mill tower harbour bridge", "oasis fjord"},
    {Part::noun, 5, "boat cart sled raft wagon canoe", "gondola brig"},
    {Part::preposition, 0, "near of behind under with beside", ""},
    {Part::adverb, 0, "often now soon gladly", "seldom nightly"},
    {Part::verb, 0, "find follow watch pull wash hurt dress defend", ""},
    {Part::pronoun, 0, "h", ""},
    {Part::pronoun, 1, "s", ""},
    {Part::comma, 0, ",", ""},
    {Part::stop, 0, ".", ""},
};

/// The number of a random word. The lexicon ascends by part, kind and rarity, as the rows do.
std::int32_t draw_lexeme(Generator& random, Part part, std::int32_t kind) {
  const auto words = [&](bool rare) {
    const auto rank = [](const Lexeme& word) {
      return std::tuple(word.part, word.kind, word.rare);
    };
    const std::tuple wanted(part, kind, rare);
    return std::span(std::ranges::lower_bound(lexicon(), wanted, {}, rank),
                     std::ranges::upper_bound(lexicon(), wanted, {}, rank));
  };
  const bool rare = !words(true).empty() && random.below(10) == 0;
  const Index drawn = random.below(std::ssize(words(rare)));
  return static_cast<std::int32_t>(words(rare).data() - lexicon().data() + drawn);
}

/// Puts a sentence together, from left to right.
struct Composer {
  Generator& random;
  Sentence sentence;

  std::int32_t add(Part part, std::int32_t kind = 0) {
    sentence.words.push_back({draw_lexeme(random, part, kind)});
    return static_cast<std::int32_t>(sentence.words.size()) - 1;
  }
  Sentence::Word& at(std::int32_t word) { return sentence.words[word]; }

  /// [preposition] determiner adjectives noun; returns the noun.
  std::int32_t add_phrase(bool prepositional, Index adjectives) {
    const auto begin = static_cast<std::int32_t>(sentence.words.size());
    if (prepositional) add(Part::preposition);
    const std::int32_t determiner = add(Part::determiner);
    for (Index i = 0; i < adjectives && random.below(2) == 0; ++i) add(Part::adjective);
    const auto noun_class = static_cast<std::int32_t>(random.below(Index{kEndings.size()}));
    const std::int32_t noun = add(Part::noun, noun_class);
    at(determiner).ending = noun_class;
    for (std::int32_t word = begin; word < noun; ++word) at(word).head = noun;
    return noun;
  }

  void add_adverb() {
    if (random.below(2) == 0) add(Part::adverb);
  }

  /// [adverb] verb [adverb] pronoun . The pronoun means the subject, or `other` if there is one.
  void add_predicate(std::int32_t other) {
    add_adverb();
    const std::int32_t verb = sentence.verb = add(Part::verb);
    add_adverb();
    const std::int32_t kind = other < 0 || random.below(2) == 0;
    sentence.pronoun = add(Part::pronoun, kind);
    add(Part::stop);
    sentence.antecedent = kind == 1 ? sentence.subject : other;
    at(verb).ending = at(sentence.subject).entry().kind;
    at(sentence.pronoun).ending = at(sentence.antecedent).entry().kind;
  }
};

/// Part of speech and relation in Universal Dependencies, in the order of Part; a noun's relation
/// depends on its place.
struct UniversalNames {
  const char* part;
  const char* relation;
};
constexpr UniversalNames kUniversal[] = {{"DET", "det"},  {"ADJ", "amod"},    {"NOUN", nullptr},
                                         {"ADP", "case"}, {"ADV", "advmod"},  {"VERB", "root"},
                                         {"PRON", "obj"}, {"PUNCT", "punct"}, {"PUNCT", "punct"}};

}  // namespace

std::span<const Lexeme> lexicon() {
  static const std::vector<Lexeme> lexemes = [] {
    std::vector<Lexeme> all;
    for (const auto& [part, kind, common, rare] : kRows) {
      for (const std::string_view stem : split(common, ' '))
        all.push_back({std::string(stem), part, kind, false});
      for (const std::string_view stem : split(rare, ' '))
        all.push_back({std::string(stem), part, kind, true});
    }
    std::erase_if(all, [](const Lexeme& word) { return word.stem.empty(); });
    return all;
  }();
  return lexemes;
}

std::string Sentence::Word::text() const {
  const std::string stem = entry().stem;
  return ending < 0 ? stem : stem + kEndings[ending];
}

Sentence draw_sentence(Generator& random, const GrammarOptions& options) {
  Composer composer{random, {}};
  std::int32_t fronted = -1, first_attractor = -1;
  if (random.below(2) == 0) {
    fronted = composer.add_phrase(true, options.adjectives);
    composer.add(Part::comma);
  }
  const std::int32_t subject = composer.add_phrase(false, options.adjectives);
  composer.sentence.subject = subject;
  for (Index left = random.between(0, options.attractors); left > 0; --left) {
    const std::int32_t noun = composer.add_phrase(true, options.adjectives);
    composer.at(noun).head = subject;
    first_attractor = first_attractor < 0 ? noun : first_attractor;
  }
  composer.add_predicate(fronted >= 0 ? fronted : first_attractor);
  Sentence& sentence = composer.sentence;
  for (Index word = 0; word < std::ssize(sentence.words); ++word) {  // the rest depends on the verb
    std::int32_t& head = sentence.words[word].head;
    if (head < 0 && word != sentence.verb) head = sentence.verb;
  }
  return std::move(sentence);
}

TreebankSentence treebank_sentence(const Sentence& sentence) {
  TreebankSentence tree;
  for (Index i = 0; i < std::ssize(sentence.words); ++i) {
    const Sentence::Word& word = sentence.words[i];
    const UniversalNames names = kUniversal[static_cast<std::size_t>(word.entry().part)];
    const char* of_noun = i == sentence.subject        ? "nsubj"
                          : word.head == sentence.verb ? "obl"
                                                       : "nmod";
    tree.words.push_back({.form = word.text(),
                          .lemma = word.entry().stem,
                          .part = names.part,
                          .relation = names.relation != nullptr ? names.relation : of_noun,
                          .head = word.head});
  }
  return tree;
}

std::string grammar_treebank(std::int64_t count) {
  std::string out = text("# ", count,
                         " sentences of headlab's toy grammar, from its seed 0: see "
                         "include/headlab/tasks/grammar.h\n# made by examples/english_treebank.cc: "
                         "example_english_treebank ",
                         count, " > english.conllu\n");
  for (std::int64_t i = 0; i < count; ++i) {
    Generator random(Key{}.fold("treebank").fold(i));
    out += conllu_text(treebank_sentence(draw_sentence(random)));
  }
  return out;
}

}  // namespace headlab
