// English against an independent reading of its tokens: targets, and all gold by brute force. Read
// next: src/lab/data/english.cc.
#include "tasks/checks.h"
#include "tasks/english_words.h"

namespace headlab { namespace english_tests {

constexpr Index kCount = 300;

/// The tokens of a sequence as text, with what a reader finds when the endings are left out.
struct Sequence {
  std::vector<std::string> tokens;
  std::vector<std::size_t> stems;  // tokens that are no endings
  Reading reading{{}};

  Sequence(const Task& task, const Batch& batch, Index b) {
    std::vector<std::string> words;
    for (Index t = 0; t < batch.length_of(b); ++t) {
      tokens.push_back(task.token_text(batch.token(b, t)));
      if (part_of(tokens.back()) != "ending") {
        words.push_back(tokens.back());
        stems.push_back(tokens.size() - 1);
      }
    }
    reading = Reading(words);
  }
  std::string part(std::size_t t) const { return part_of(tokens[t]); }
  std::size_t word(std::size_t t) const {
    return static_cast<std::size_t>(std::find(stems.begin(), stems.end(), t) - stems.begin());
  }
};

using Keys = std::vector<std::size_t>;

class English : public testing::TestWithParam<const char*> {
 protected:
  bool causal() const { return std::string(GetParam()) == "causal"; }

  /// Tokens that show the class of the noun (a word): itself, its determiner's ending.
  Keys carriers(const Sequence& s, std::size_t noun) const {
    const std::size_t determiner = s.stems[s.reading.determiner(noun)];
    return causal() ? Keys{determiner + 1, s.stems[noun]} : Keys{s.stems[noun]};
  }
  bool agrees(const Sequence& s, std::size_t t) const {
    const std::string part = s.part(t);
    return part == "verb" || part == "pronoun" || part == (causal() ? "noun" : "determiner");
  }
  Keys content_keys(const std::string& relation, const Sequence& s, std::size_t t) const {
    if (relation == "det" && s.part(t) == (causal() ? "noun" : "determiner")) {
      if (!causal()) return {s.reading.noun_behind(t)};
      const std::size_t determiner = s.stems[s.reading.determiner(s.word(t))];
      return {determiner, determiner + 1};
    }
    if (relation == "nsubj" && s.part(t) == "verb") return carriers(s, s.reading.subject());
    if (relation == "obj" && s.part(t) == "pronoun") return {s.stems[s.reading.verb]};
    if (relation == "antecedent" && s.part(t) == "pronoun") {
      Keys keys = carriers(s, s.reading.antecedent());
      if (causal() && s.reading.antecedent() == s.reading.subject())
        keys.push_back(s.stems[s.reading.verb] + 1);
      return keys;
    }
    return {};
  }
  Keys other_keys(const std::string& relation, const Sequence& s, std::size_t t) const {
    Keys keys;
    const bool self =
        relation == "separator" ? s.part(t) == "separator" : is_rare_word(s.tokens[t]);
    const std::size_t end = causal() ? t : s.tokens.size();
    for (std::size_t k = 0; k < end && !agrees(s, t); ++k) {
      const bool found = relation == "previous"    ? k + 1 == t
                         : relation == "next"      ? k == t + 1
                         : relation == "separator" ? !self && s.part(k) == "separator"
                         : relation == "rare"      ? !self && is_rare_word(s.tokens[k])
                                                   : false;
      if (found) keys.push_back(k);
    }
    return keys;
  }
  Keys candidates(const std::string& relation, const Sequence& s, std::size_t t) const {
    const std::size_t end = causal() ? t : s.tokens.size();
    Keys keys;
    for (std::size_t k = 0; k < end; ++k) {
      const bool of_determiner = k > 0 && s.part(k) == "ending" && s.part(k - 1) == "determiner";
      const bool here = relation == "det" && causal()
                            ? s.part(k) == "determiner" || of_determiner
                            : s.part(k) == "noun" || s.part(k) == "ending";
      if (here) keys.push_back(k);
    }
    return keys;
  }

  /// All keys of a relation over the sample, in the form of gold_text.
  std::string expected(const std::function<Keys(const Sequence&, std::size_t)>& keys_of) const {
    std::string out;
    for (Index b = 0; b < kCount; ++b) {
      const Sequence sequence(*task_, example_.batch, b);
      for (std::size_t t = 0; t < sequence.tokens.size(); ++t) {
        const Keys keys = keys_of(sequence, t);
        out += keys.empty() ? "" : text(b, ",", t, ":");
        for (const std::size_t key : keys) out += text(key, " ");
      }
    }
    return out;
  }

  std::unique_ptr<Task> task_ = make_task(text("english:lm=", GetParam()));
  Example example_ = task_->make(Key{3}, kCount, Split::train);
};

INSTANTIATE_TEST_SUITE_P(Both, English, testing::Values("masked", "causal"),
                         [](const auto& order) { return std::string(order.param); });

TEST_P(English, EveryWordThatAgreesIsAskedForItsEnding) {
  for (Index b = 0; b < kCount; ++b) {
    const Sequence s(*task_, example_.batch, b);
    for (std::size_t t = 0; t < s.tokens.size(); ++t) {
      const std::string part = s.part(t);
      const bool asked = part == "verb" || part == "pronoun" || (!causal() && part == "determiner");
      const std::int32_t target = example_.batch.target(b, static_cast<Index>(t));
      ASSERT_EQ(target >= 0, asked);
      if (asked) {
        const std::size_t noun = part == "determiner" ? s.reading.noun_behind(t)
                                 : part == "verb"     ? s.reading.subject()
                                                      : s.reading.antecedent();
        const std::string ending(1, "aeiouy"[class_of(s.reading.words[noun])]);
        ASSERT_EQ(task_->token_text(target), "-" + ending);
      }
    }
  }
}

TEST_P(English, EndingsAreShownInADecoderAlone) {
  for (Index b = 0; b < kCount; ++b) {
    const Sequence s(*task_, example_.batch, b);
    for (std::size_t t = 0; t < s.tokens.size(); ++t) {
      const std::string part = s.part(t);
      if (!causal()) {
        ASSERT_NE(part, "ending");
      } else if (part == "determiner" || part == "verb" || part == "pronoun") {
        ASSERT_EQ(s.part(t + 1), "ending");
        const std::int32_t target = example_.batch.target(b, static_cast<Index>(t));
        ASSERT_TRUE(target < 0 || s.tokens[t + 1] == task_->token_text(target));
      }
    }
  }
}

TEST_P(English, GroundTruthEqualsAnIndependentParse) {
  const std::vector<Relation> relations = task_->relations();
  EXPECT_EQ(relations.size(), causal() ? 7U : 8U);
  for (std::size_t r = 0; r < relations.size(); ++r) {
    const std::string& name = relations[r].name;
    EXPECT_EQ(relations[r].positional, name == "previous" || name == "next");
    const bool content = name == "det" || name == "nsubj" || name == "obj" || name == "antecedent";
    EXPECT_TRUE(truth_text(example_.truth[r]) == expected([&](const Sequence& s, std::size_t t) {
                  return content ? content_keys(name, s, t) : other_keys(name, s, t);
                }))
        << name;
  }
}

TEST_P(English, CandidatesAreAllNounsOrWhatElseShowsAClass) {
  const std::vector<Relation> relations = task_->relations();
  for (std::size_t r = 0; r < relations.size(); ++r) {
    const std::string& name = relations[r].name;
    const bool named = name == "det" || name == "nsubj" || name == "antecedent";
    EXPECT_TRUE(
        truth_text(example_.candidates[r]) == expected([&](const Sequence& s, std::size_t t) {
          return named && !content_keys(name, s, t).empty() ? candidates(name, s, t) : Keys{};
        }))
        << name;
  }
}

TEST_P(English, ASentenceMayFillTheShortestLength) {
  const Index shortest = causal() ? 8 : 5;
  const auto task = make_task(text("english:lm=", GetParam(), ",length=", shortest));
  const Batch batch = task->make(Key{1}, 20, Split::train).batch;
  for (const std::int32_t length : batch.lengths) EXPECT_EQ(length, shortest);
  const std::string message = refusal(text("english:lm=", GetParam(), ",length=", shortest - 1));
  expect_contains(message, "no sentence of the grammar fits");
  expect_contains(message, text("set length=", shortest));
}

TEST(EnglishTask, SettingsBoundWhatStandsBetween) {
  const auto task = make_task("english:attractors=0,adjectives=0");
  const Batch batch = task->make(Key{1}, 100, Split::train).batch;
  for (Index b = 0; b < batch.size; ++b) {
    const Reading reading = Sequence(*task, batch, b).reading;
    EXPECT_EQ(reading.nouns.back(), reading.subject());
    EXPECT_EQ(reading.determiner(reading.subject()) + 1, reading.subject());
  }
}

}  // namespace english_tests
}  // namespace headlab
