// The grammar against an independent reading of its sentences, and the shares that its traps rest
// on. Read next: src/lab/data/sentence.h.
#include "lab/data/sentence.h"

#include <cmath>
#include <set>

#include "tasks/checks.h"
#include "tasks/english_words.h"

namespace headlab { namespace grammar_tests {

constexpr int kCount = 4000;

const std::vector<Sentence>& sentences() {
  static const std::vector<Sentence> all = [] {
    std::vector<Sentence> drawn;
    for (int i = 0; i < kCount; ++i) {
      Generator random(Key{}.fold(i));
      drawn.push_back(draw_sentence(random));
    }
    return drawn;
  }();
  return all;
}

Reading reading_of(const Sentence& sentence) {
  std::vector<std::string> stems;
  for (const Sentence::Word& word : sentence.words) stems.push_back(word.entry().stem);
  return Reading(stems);
}

/// The share of sentences for which `holds`, within four standard deviations of `expected`.
template <class Holds>
void expect_share(double expected, Holds holds) {
  const auto hits = std::count_if(sentences().begin(), sentences().end(),
                                  [&](const Sentence& s) { return holds(s, reading_of(s)); });
  const double deviation = std::sqrt(expected * (1 - expected) / kCount);
  EXPECT_NEAR(static_cast<double>(hits) / kCount, expected, 4 * deviation);
}

TEST(Grammar, RelationsEqualAnIndependentParse) {
  for (const Sentence& sentence : sentences()) {
    const Reading reading = reading_of(sentence);
    ASSERT_EQ(reading.plain_nouns.size(), 1U);
    ASSERT_EQ(static_cast<std::size_t>(sentence.subject), reading.subject());
    ASSERT_EQ(static_cast<std::size_t>(sentence.verb), reading.verb);
    ASSERT_EQ(static_cast<std::size_t>(sentence.pronoun), reading.pronoun);
    ASSERT_EQ(static_cast<std::size_t>(sentence.antecedent), reading.antecedent());
  }
}

TEST(Grammar, EndingsAgreeWithTheirNouns) {
  for (const Sentence& sentence : sentences()) {
    const Reading reading = reading_of(sentence);
    for (std::size_t i = 0; i < reading.words.size(); ++i) {
      const std::string part = part_of(reading.words[i]);
      const bool agrees = part == "determiner" || part == "verb" || part == "pronoun";
      ASSERT_EQ(sentence.words[i].ending >= 0, agrees);
      if (agrees) {
        const std::size_t noun = part == "determiner" ? reading.noun_behind(i)
                                 : part == "verb"     ? reading.subject()
                                                      : reading.antecedent();
        ASSERT_EQ(static_cast<std::size_t>(sentence.words[i].ending),
                  class_of(reading.words[noun]));
      }
    }
  }
}

TEST(Grammar, TheNearestNounIsTheSubjectInAQuarter) {
  expect_share(0.25,
               [](const Sentence&, const Reading& r) { return r.nouns.back() == r.subject(); });
}

TEST(Grammar, TheFirstNounIsTheSubjectInHalf) {
  expect_share(0.5, [](const Sentence&, const Reading& r) { return r.nouns[0] == r.subject(); });
}

TEST(Grammar, ThePronounMeansTheSubjectInNineOfSixteen) {  // 1/2, and where there is no other noun
  expect_share(0.5625, [](const Sentence& s, const Reading&) { return s.antecedent == s.subject; });
}

TEST(Grammar, AttractorsAndAdjectivesTakeAllTheirNumbers) {
  std::set<std::size_t> attractors, adjectives;
  for (const Sentence& sentence : sentences()) {
    const Reading reading = reading_of(sentence);
    attractors.insert(static_cast<std::size_t>(
        std::count_if(reading.nouns.begin(), reading.nouns.end(),
                      [&](std::size_t noun) { return noun > reading.subject(); })));
    adjectives.insert(reading.subject() - reading.determiner(reading.subject()) - 1);
  }
  EXPECT_EQ(attractors, (std::set<std::size_t>{0, 1, 2, 3}));
  EXPECT_EQ(adjectives, (std::set<std::size_t>{0, 1, 2}));
}

TEST(Grammar, OneNounInTenIsRare) {
  Index rare = 0, nouns = 0;
  for (const Sentence& sentence : sentences()) {
    for (const Sentence::Word& word : sentence.words) {
      EXPECT_EQ(word.entry().rare, is_rare_word(word.entry().stem));
      nouns += word.entry().part == Part::noun;
      rare += word.entry().part == Part::noun && word.entry().rare;
    }
  }
  const double deviation = std::sqrt(0.1 * 0.9 / static_cast<double>(nouns));
  EXPECT_NEAR(static_cast<double>(rare) / static_cast<double>(nouns), 0.1, 4 * deviation);
}

TEST(Grammar, StemsAreDifferent) {
  std::set<std::string> stems;
  for (const Lexeme& lexeme : lexicon())
    EXPECT_TRUE(stems.insert(lexeme.stem).second) << lexeme.stem;
}

}  // namespace grammar_tests
}  // namespace headlab
