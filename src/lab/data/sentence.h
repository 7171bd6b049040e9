// A sentence of a toy grammar: English words with six agreement classes, as in Bantu languages.
// Every noun belongs to a class (people -a, animals -e, plants -i, tools -o, places -u, vehicles
// -y); a determiner takes the ending of its noun, a verb that of its subject, a pronoun that of its
// antecedent: "near tha king , tho old drum of thu hill findo ha ."
//   sentence = [P NP ,] NP (P NP)^0-3 [adverb] verb [adverb] pronoun .    NP = determiner adj^0-2 N
// The subject is the noun without a preposition. The pronoun "s" means the subject, like "itself",
// and "h" the first other noun, here the king.
// Traps that this avoids: the noun nearest to the verb is its subject only if no attractor
// lies between, the subject is the first noun in only half of the sentences, and the pronoun
// often means another noun; otherwise one offset, or one relation, would answer everything.
// Read next: grammar.cc, which draws it; english.cc, which makes tokens and gold of it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlab/core/base/random.h"
#include "headlab/core/kernels/scalar.h"

namespace headlab {

enum class Part { determiner, adjective, noun, preposition, adverb, verb, pronoun, comma, stop };

/// A word of the lexicon; of the words that agree, the stem: "th", "find", "h".
struct Lexeme {
  std::string stem;
  Part part;
  std::int32_t kind;  // of a noun its class; of a pronoun 1 if it means the subject
  bool rare;          // one draw in ten
};
/// Returns all words, in the order of their numbers.
std::span<const Lexeme> lexicon();

/// The endings of the classes.
inline constexpr std::string_view kEndings = "aeiouy";

struct GrammarOptions {
  Index attractors = 3;  // most nouns between the subject and its verb
  Index adjectives = 2;  // most adjectives before a noun
};

/// A sentence; all numbers count words, from 0.
struct Sentence {
  struct Word {
    std::int32_t lexeme;
    std::int32_t ending = -1;  // the class of the word it agrees with; -1 where nothing agrees
    std::int32_t head = -1;    // the noun of its phrase; -1 for nouns and outside of phrases

    const Lexeme& entry() const { return lexicon()[lexeme]; }
  };
  std::vector<Word> words;
  std::int32_t subject = -1, verb = -1, pronoun = -1, antecedent = -1;
};

/// Draws a sentence.
Sentence draw_sentence(Generator& random, const GrammarOptions& options = {});

}  // namespace headlab
