// A sentence of the toy grammar (headlab/tasks/grammar.h says which there are): its words, what
// they agree with, and the tree that they form. Read next: grammar.cc, which draws it; english.cc,
// which makes tokens and gold of it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlab/base/random.h"
#include "tasks/conllu_file.h"

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
  Index attractors = 3;  // most nouns between the subject and its verb
  Index adjectives = 2;  // most adjectives before a noun
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
};

/// Draws a sentence.
Sentence draw_sentence(Generator& random, const GrammarOptions& options = {});

/// The sentence with its dependency tree, as a treebank has it.
TreebankSentence treebank_sentence(const Sentence& sentence);

}  // namespace headlab
