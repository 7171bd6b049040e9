// Sentences of a toy grammar (sentence.h): determiners, verbs and pronouns agree with
// nouns, and the model must say their endings. The query is the stem ("th"), the target its ending.
//   lm=masked: no ending is shown; an encoder reads     near th king , th drum of th hill find h .
//   lm=causal: each ending follows its stem, and is the next token that the decoder must predict
//     (but after a determiner, whose noun is not there yet):   near th -a king , th -o drum ...
// Truth: `det`, `nsubj`, `antecedent`; where several tokens carry the class, any of them will do:
// in a decoder the subject is its noun or the ending of its determiner. `obj` (the pronoun's verb)
// and, at all other words, `previous`, `next`, `separator` and `rare` are known but not needed.
// Traps: the nearest noun is sometimes the subject; `obj` has a single candidate, which one offset
// often finds: look at the lift. And heads divide the sentences among them, each taking one kind,
// so that the best head has less of a relation than the best one at each query.
// Read next: sentence.h; headlab/core/tasks/definition.h.
#include <algorithm>

#include "headlab/core/tasks/definition.h"
#include "lab/data/language.h"
#include "lab/data/sentence.h"

namespace headlab {
namespace {

using Keys = std::vector<std::int32_t>;

/// A sentence laid out as tokens, words first and perhaps their endings. Tokens are the lexicon,
/// then the six endings.
struct Layout {
  Sentence sentence;
  bool causal;
  Keys tokens = {};
  Keys word_of = {};  // by token
  Keys stem = {};     // by word
  Keys ending = {};   // by word; -1 where none is shown

  Layout(Sentence drawn, bool causal_order) : sentence(std::move(drawn)), causal(causal_order) {
    for (Index w = 0; w < std::ssize(sentence.words); ++w) {
      const Sentence::Word& word = sentence.words[w];
      stem.push_back(add(w, word.lexeme));
      ending.push_back(causal && word.ending >= 0 ? add(w, ending_token(word.ending)) : -1);
    }
  }
  static std::int32_t ending_token(Index noun_class) {
    return id(std::ssize(lexicon()) + noun_class);
  }
  std::int32_t add(Index word, std::int32_t token) {
    tokens.push_back(token);
    word_of.push_back(id(word));
    return id(std::ssize(tokens) - 1);
  }

  const Lexeme& entry(Index t) const { return sentence.words[word_of[t]].entry(); }
  bool is(Index t, Part part) const { return entry(t).part == part; }
  bool is_stem(Index t) const { return stem[word_of[t]] == t; }
  /// Returns whether t is the stem of a word of this part of speech.
  bool stem_is(Index t, Part part) const { return is_stem(t) && is(t, part); }
  /// Returns whether a relation of agreement is asked at t.
  bool agrees(Index t) const {
    return stem_is(t, causal ? Part::noun : Part::determiner) || stem_is(t, Part::verb) ||
           stem_is(t, Part::pronoun);
  }
  bool is_separator(Index t) const { return is(t, Part::comma) || is(t, Part::stop); }
  Index determiner_of(Index noun) const {
    while (sentence.words[noun].entry().part != Part::determiner) --noun;
    return noun;
  }
  /// Returns the tokens that carry the class of a noun: the ending of its determiner, if shown, and
  /// itself.
  Keys carriers(Index noun) const {
    if (!causal) return {stem[noun]};
    return {ending[determiner_of(noun)], stem[noun]};
  }
  template <class Choose>
  Keys all(Choose choose) const {
    Keys keys;
    for (Index s = 0; s < std::ssize(tokens); ++s) {
      if (choose(s)) keys.push_back(id(s));
    }
    return keys;
  }
};

/// In an encoder a determiner looks for its noun; in a decoder the noun comes later, and looks
/// back.
Keys det(const Layout& at, Index t) {
  const Index word = at.word_of[t];
  if (!at.causal && at.stem_is(t, Part::determiner)) return {at.stem[at.sentence.words[word].head]};
  if (!at.causal || !at.stem_is(t, Part::noun)) return {};
  const Index determiner = at.determiner_of(word);
  return {at.stem[determiner], at.ending[determiner]};
}

Keys determiners_or_nouns(const Layout& at, Index) {
  const Part part = at.causal ? Part::determiner : Part::noun;
  return at.all([&](Index s) { return at.is(s, part); });
}

Keys nsubj(const Layout& at, Index t) {
  return at.stem_is(t, Part::verb) ? at.carriers(at.sentence.subject) : Keys();
}

/// Returns every token that carries a class: nouns, and in a decoder the endings.
Keys all_carriers(const Layout& at, Index) {
  return at.all([&](Index s) { return at.stem_is(s, Part::noun) || !at.is_stem(s); });
}

Keys obj(const Layout& at, Index t) {
  return at.stem_is(t, Part::pronoun) ? Keys{at.stem[at.sentence.verb]} : Keys();
}

Keys antecedent(const Layout& at, Index t) {
  const auto& [words, subject, verb, pronoun, meant] = at.sentence;
  if (!at.stem_is(t, Part::pronoun)) return {};
  Keys keys = at.carriers(meant);
  if (at.causal && meant == subject) keys.push_back(at.ending[verb]);
  return keys;
}

Keys previous(const Layout& at, Index t) {
  return t > 0 && !at.agrees(t) ? Keys{id(t - 1)} : Keys();
}

Keys next(const Layout& at, Index t) {
  return t + 1 < std::ssize(at.tokens) && !at.agrees(t) ? Keys{id(t + 1)} : Keys();
}

Keys separator(const Layout& at, Index t) {
  if (at.agrees(t) || at.is_separator(t)) return {};
  return at.all([&](Index s) { return at.is_separator(s); });
}

Keys rare(const Layout& at, Index t) {
  if (at.agrees(t) || at.entry(t).rare) return {};
  return at.all([&](Index s) { return at.entry(s).rare; });
}

/// The keys of a token, or the keys among which a naive reader would choose.
using Finder = Keys (*)(const Layout&, Index t);

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
     determiners_or_nouns},
    {"nsubj", "the subject of a verb", "the subject of a verb: its noun or determiner's ending",
     false, nsubj, all_carriers},
    {"obj", "the verb of a pronoun", "the verb of a pronoun", false, obj, nullptr},
    {"antecedent", "the noun that a pronoun means",
     "what shows the class of the noun that a pronoun means", false, antecedent, all_carriers},
    {"previous", "the word before", "the token before", true, previous, nullptr},
    {"next", "the word after it", nullptr, true, next, nullptr},
    {"separator", "a comma or the full stop", "the comma before", false, separator, nullptr},
    {"rare", "a rare word of the sentence", "a rare word before", false, rare, nullptr},
};

struct English {
  LanguageModel lm = LanguageModel::masked;
  Index length = 32, attractors = 3, adjectives = 2;

  void bind(Settings& s) {
    s.choice("lm", lm, {"masked", "causal"},
             "hidden endings in an encoder, or the next token in a decoder");
    s.integer("length", length, 1, 65536, "the longest sentence, in tokens");
    s.integer("attractors", attractors, 0, 8, "most nouns between a subject and its verb");
    s.integer("adjectives", adjectives, 0, 8, "most adjectives before a noun");
  }
  bool causal() const { return lm == LanguageModel::causal; }
  void prepare() const {
    const Index shortest = causal() ? 8 : 5;  // determiner noun verb pronoun stop, and 3 endings
    if (length >= shortest) return;
    throw Error(text("no sentence of the grammar fits in length ", length, ": the shortest has ",
                     shortest, " tokens"),
                text("set length=", shortest, " or more; 32 holds nearly all"));
  }
  TaskShape shape() const {
    return {architecture_of(lm), std::ssize(lexicon()) + std::ssize(kEndings), length};
  }
  std::vector<RelationRow> rows() const {
    std::vector<RelationRow> rows(std::begin(kRelationRows), std::end(kRelationRows));
    if (causal()) std::erase_if(rows, [](const RelationRow& row) { return row.causal == nullptr; });
    return rows;
  }
  std::vector<Relation> relations() const {
    std::vector<Relation> relations;
    for (const RelationRow& row : rows()) {
      relations.push_back({row.name, causal() ? row.causal : row.masked, row.positional});
    }
    return relations;
  }
  std::vector<std::string> target_names() const { return {"ending"}; }
  std::string token_text(Index token) const {
    const Index words = std::ssize(lexicon());
    return token < words ? lexicon()[token].stem : text("-", kEndings[token - words]);
  }

  /// Returns the first sentence of a stream that fits.
  Layout draw(Generator& random) const {
    for (;;) {
      Layout at(draw_sentence(random, {attractors, adjectives}), causal());
      if (std::ssize(at.tokens) <= length) return at;
    }
  }

  void write(Sequence& s) const {
    const Layout at = draw(s.random);
    std::ranges::copy(at.tokens, s.tokens().begin());
    s.pad_behind(std::ssize(at.tokens));
    for (Index w = 0; w < std::ssize(at.stem); ++w) {
      const Sentence::Word& word = at.sentence.words[w];
      const bool determined = !causal() || word.entry().part != Part::determiner;
      if (word.ending >= 0 && determined) s.target(at.stem[w]) = Layout::ending_token(word.ending);
    }
    if (s.with_truth) write_truth(s, at);
  }

  /// Gold and candidates of each token, without the keys that a decoder cannot see from it.
  void write_truth(Sequence& s, const Layout& at) const {
    const auto visible = [&](Finder finder, Index t) {
      Keys keys = finder(at, t);
      if (at.causal) std::erase_if(keys, [t](Index key) { return key > t; });
      return keys;
    };
    const std::vector<RelationRow> asked = rows();
    for (std::size_t r = 0; r < asked.size(); ++r) {
      for (Index t = 0; t < std::ssize(at.tokens); ++t) {
        const Keys keys = visible(asked[r].keys, t);
        if (keys.empty()) continue;
        s.add_truth(r, t, keys);
        if (asked[r].candidates != nullptr) s.add_candidates(r, t, visible(asked[r].candidates, t));
      }
    }
  }
};

}  // namespace

TaskEntry english_task() {
  return task_entry(English{}, {"english",
                                "agreement of words across attractors, in a toy grammar",
                                "layers=2 heads=2 d_model=64 d_ff=0 steps=800 lr=4e-3",
                                {.accuracy = 0.99, .reached = 100, .seeds = 100}});
}

}  // namespace headlab
