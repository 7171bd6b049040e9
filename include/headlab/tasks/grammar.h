// The grammar behind `english` and datasets/english.conllu: English words with six agreement
// classes, as in Bantu languages. Every noun belongs to a class (people -a, animals -e, plants -i,
// tools -o, places -u, vehicles -y); a determiner takes the ending of its noun, a verb that of its
// subject, a pronoun that of its antecedent: "near tha king , tho old drum of thu hill findo ha ."
//   sentence = [P NP ,] NP (P NP)^0-3 [adverb] verb [adverb] pronoun .    NP = determiner adj^0-2 N
// The subject is the noun without a preposition. The pronoun "s" means the subject, like "itself",
// and "h" the first other noun, here the king.
// Traps that this avoids: the noun nearest to the verb is its subject only where no attractor
// stands between (25% of sentences), the subject is the first noun in but half of them, and in 44%
// the pronoun means another noun; else an offset, or one relation, would answer for all.
// Read next: english.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlab/base/random.h"
#include "headlab/tasks/conllu_file.h"

namespace headlab {

enum class Part { determiner, adjective, noun, preposition, adverb, verb, pronoun, comma, stop };

/// A word of the lexicon; of the words that agree, the stem: "th", "find", "h".
struct Lexeme {
  std::string stem;
  Part part;
  std::int32_t kind;  // of a noun its class; of a pronoun 1 if it means the subject
  bool rare;          // one draw in ten
};
/// All words, in the order of their numbers.
std::span<const Lexeme> lexicon();

/// The endings of the classes.
inline constexpr std::string_view kEndings = "aeiouy";

struct GrammarOptions {
  std::int64_t attractors = 3;  // most nouns between the subject and its verb
  std::int64_t adjectives = 2;  // most adjectives before a noun
};

/// A sentence; all numbers count words, from 0.
struct Sentence {
  struct Word {
    std::int32_t lexeme;
    std::int32_t ending = -1;  // the class of the word it agrees with; -1 where nothing agrees
    std::int32_t head = -1;    // the word it depends on; -1: the verb, which is the root

    const Lexeme& entry() const { return lexicon()[lexeme]; }
    /// Stem and ending.
    std::string text() const;
  };
  std::vector<Word> words;
  std::int32_t subject = -1, verb = -1, pronoun = -1, antecedent = -1;

  const Word& at(std::int32_t word) const { return words[word]; }
};

/// Draws a sentence.
Sentence draw_sentence(Generator& random, const GrammarOptions& options = {});

/// The sentence with its dependency tree, as a treebank has it.
TreebankSentence treebank_sentence(const Sentence& sentence);

/// What datasets/english.conllu holds: a comment that says how it was made, and `count` sentences
/// drawn from the seed 0.
std::string grammar_treebank(std::int64_t count);

}  // namespace headlab
