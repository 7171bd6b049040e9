// Generator of sentences. The lexicon is a table of rows, each with the words of one part of speech
// and kind, common or rare; a sentence is built from left to right.
// Read next: english.cc.
#include "lab/data/sentence.h"

#include <algorithm>
#include <tuple>

#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"

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

/// Returns the index of a random word. The lexicon is sorted by part, kind and rarity, like the
/// rows.
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

/// Builds a sentence from left to right.
struct Composer {
  Generator& random;
  Sentence sentence;

  std::int32_t add(Part part, std::int32_t kind = 0) {
    sentence.words.push_back({draw_lexeme(random, part, kind)});
    return static_cast<std::int32_t>(sentence.words.size()) - 1;
  }
  Sentence::Word& at(std::int32_t word) { return sentence.words[word]; }

  /// Returns [preposition] determiner adjectives noun; returns the noun.
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

}  // namespace

std::span<const Lexeme> lexicon() {
  static const std::vector<Lexeme> lexemes = [] {
    std::vector<Lexeme> all;
    for (const auto& [part, kind, common, rare] : kRows) {
      for (const std::string_view stem : split(common, ' ')) {
        all.push_back({std::string(stem), part, kind, false});
      }
      for (const std::string_view stem : split(rare, ' ')) {
        all.push_back({std::string(stem), part, kind, true});
      }
    }
    std::erase_if(all, [](const Lexeme& word) { return word.stem.empty(); });
    return all;
  }();
  return lexemes;
}

Sentence draw_sentence(Generator& random, const GrammarOptions& options) {
  Composer composer{random, {}};
  std::int32_t fronted = -1, first_attractor = -1;
  if (random.below(2) == 0) {
    fronted = composer.add_phrase(true, options.adjectives);
    composer.add(Part::comma);
  }
  composer.sentence.subject = composer.add_phrase(false, options.adjectives);
  for (Index left = random.between(0, options.attractors); left > 0; --left) {
    const std::int32_t noun = composer.add_phrase(true, options.adjectives);
    first_attractor = first_attractor < 0 ? noun : first_attractor;
  }
  composer.add_predicate(fronted >= 0 ? fronted : first_attractor);
  return std::move(composer.sentence);
}

}  // namespace headlab
