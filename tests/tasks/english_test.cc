// English against a reader who knows only the words: grammar, answers, keys and candidates. The
// shares that simple rules reach are those of another program: 200,000 sentences of the measured
// design, drawn and read in Python. Read next: src/lab/data/english.cc.
#include <cmath>
#include <set>

#include "headlab/core/base/text.h"
#include "tasks/checks.h"
#include "tasks/english_words.h"

namespace headlab { namespace english_tests {

/// A sentence with the query, its answer, and how a person reads what comes before the answer.
struct Asked {
  TextWords words;
  Index query;
  std::string answer;
  Reading seen;

  bool asks_be() const { return is_be(answer); }
  bool asks_self() const { return is_self(answer); }
};

std::vector<Asked> asked_of(const Sampled& sample) {
  std::vector<Asked> all;
  const Batch& batch = sample.example.batch;
  for (Index b = 0; b < batch.size; ++b) {
    Asked one{words_of(*sample.task, batch, b), -1, "", {}};
    const TextWords answers = answers_of(*sample.task, batch, b);
    for (Index t = 0; t < std::ssize(answers); ++t) {
      if (answers[static_cast<std::size_t>(t)].empty()) continue;
      EXPECT_EQ(one.query, -1) << "two questions in one sentence";
      one.query = t;
      one.answer = answers[static_cast<std::size_t>(t)];
    }
    one.seen.words.assign(one.words.begin(), one.words.begin() + one.query + 1);
    all.push_back(std::move(one));
  }
  return all;
}

const std::vector<Asked>& sentences() {
  static const std::vector<Asked> all = asked_of(sampled("english", 8000));
  return all;
}

/// All specs whose sentences are read below.
constexpr const char* kSpecs[] = {"english", "english:fronted=1,length=18",
                                  "english:distracted=1,fronted=0.5", "english:length=8"};

TEST(English, SentencesAreGrammatical) {
  for (const char* spec : kSpecs) {
    for (const Asked& one : asked_of(sampled(spec, 2000))) {
      const std::string sentence = join(one.words, " ");
      ASSERT_TRUE(is_grammatical(sentence)) << spec << ": " << sentence;
      std::set<std::string> nouns;
      for (const std::string& word : one.words) {
        if (!is_noun(word)) continue;
        const std::string noun = is_plural(word) ? word.substr(0, word.size() - 1) : word;
        ASSERT_TRUE(nouns.insert(noun).second) << "twice: " << sentence;
      }
    }
  }
  EXPECT_FALSE(is_grammatical("these dog liked this one ."));
  EXPECT_FALSE(is_grammatical("now the dogs near these cats are happy ."));
}

TEST(English, AnswerIsTheWordThatAReaderGives) {
  for (const char* spec : kSpecs) {
    for (const Asked& one : asked_of(sampled(spec, 2000))) {
      const Reading& seen = one.seen;
      std::string expected;
      if (one.asks_be()) {
        expected = be_of(seen.word(seen.time()), seen.word(seen.subject()));
      } else if (one.asks_self()) {
        expected = self_of(seen.word(seen.subject()));
      } else {
        expected = seen.word(seen.pointer()) == "this" ? "one" : "ones";
      }
      ASSERT_EQ(one.answer, expected) << join(one.words, " ");
      ASSERT_EQ(one.words[static_cast<std::size_t>(one.query) + 1], one.answer);
    }
  }
}

/// The keys of a relation that a reader finds; empty if the question does not ask for it.
std::vector<std::int32_t> keys_read(const std::string& relation, const Asked& one) {
  if (relation == "subject" && one.asks_be()) return {one.seen.subject()};
  if (relation == "time" && one.asks_be()) return {one.seen.time()};
  if (relation == "self" && one.asks_self()) return {one.seen.subject()};
  if (relation == "this" && !one.asks_be() && !one.asks_self()) return {one.seen.pointer()};
  return {};
}

std::vector<std::int32_t> candidates_read(const std::string& relation, const Asked& one) {
  if (relation == "time") return one.seen.all(is_time);
  if (relation == "this") return one.seen.all(is_pointer);
  return one.seen.all([](const std::string& word) { return is_noun(word) || is_name(word); });
}

TEST(English, GroundTruthAndCandidatesEqualAnIndependentReading) {
  for (const char* spec : kSpecs) {
    const Sampled& sample = sampled(spec, 2000);
    const std::vector<Asked> all = asked_of(sample);
    const std::vector<Relation> relations = sample.task->relations();
    ASSERT_EQ(texts_of(relations, &Relation::name), (TextWords{"subject", "time", "self", "this"}));
    for (std::size_t r = 0; r < relations.size(); ++r) {
      std::string keys, candidates;
      for (Index b = 0; b < std::ssize(all); ++b) {
        const Asked& one = all[static_cast<std::size_t>(b)];
        const auto add = [&](std::string& out, const std::vector<std::int32_t>& found) {
          out += text(b, ",", one.query, ":");
          for (const std::int32_t key : found) out += text(key, " ");
        };
        const auto read = keys_read(relations[r].name, one);
        if (read.empty()) continue;
        add(keys, read);
        add(candidates, candidates_read(relations[r].name, one));
      }
      EXPECT_FALSE(relations[r].positional);
      EXPECT_TRUE(truth_text(sample.example.truth[r]) == keys) << spec << relations[r].name;
      EXPECT_TRUE(truth_text(sample.example.candidates[r]) == candidates)
          << spec << relations[r].name;
    }
  }
}

// ---- shares that simple rules reach, against the design's program -------------------------------

/// Share of the sentences that `counts` for which `holds`, with its distance to the golden share
/// below four standard deviations of this sample.
template <class Counts, class Holds>
void expect_share(double golden, Counts counts, Holds holds) {
  double all = 0, held = 0;
  for (const Asked& one : sentences()) {
    if (!counts(one)) continue;
    ++all;
    held += holds(one) ? 1 : 0;
  }
  EXPECT_NEAR(held / all, golden, 4 * std::sqrt(golden * (1 - golden) / all));
}

bool any(const Asked&) { return true; }
bool asks_be(const Asked& one) { return one.asks_be(); }
bool asks_self(const Asked& one) { return one.asks_self(); }
bool asks_ones(const Asked& one) { return !one.asks_be() && !one.asks_self(); }

std::int32_t nearest_noun(const Asked& one) { return candidates_read("subject", one).back(); }
bool has_distractor(const Asked& one) { return nearest_noun(one) != one.seen.subject(); }

/// Whether the answer is right if this noun is taken for the subject; the time is known.
bool answers(const Asked& one, std::int32_t noun) {
  const std::string& word = one.seen.word(noun);
  return one.answer ==
         (one.asks_be() ? be_of(one.seen.word(one.seen.time()), word) : self_of(word));
}
bool nearest_answers(const Asked& one) { return answers(one, nearest_noun(one)); }
bool first_answers(const Asked& one) {
  const auto nouns = one.seen.all(
      [](const std::string& word) { return is_noun(word) || is_name(word) || is_owner(word); });
  return answers(one, nouns.front());
}

TEST(EnglishShares, QuestionsAndAnswersAreBalanced) {
  expect_share(0.5, any, asks_be);
  expect_share(0.25, any, asks_self);
  for (const char* answer : {"is", "are", "was", "were"}) {
    expect_share(0.25, asks_be, [&](const Asked& one) { return one.answer == answer; });
  }
  expect_share(0.5, asks_self, [](const Asked& one) { return one.answer == "themselves"; });
  expect_share(0.5, asks_ones, [](const Asked& one) { return one.answer == "one"; });
}

TEST(EnglishShares, NearestNounIsWrongAsOftenAsInTheDesign) {
  expect_share(0.7487, asks_be, nearest_answers);
  expect_share(0.6296, asks_self, nearest_answers);
  const auto be_distracted = [](const Asked& one) { return one.asks_be() && has_distractor(one); };
  const auto self_distracted = [](const Asked& one) {
    return one.asks_self() && has_distractor(one);
  };
  expect_share(0.5, asks_be, has_distractor);
  expect_share(0.4988, be_distracted, nearest_answers);
  expect_share(0.2592, self_distracted, nearest_answers);
}

TEST(EnglishShares, FirstNounNameOrOwnerIsWrongAsOftenAsInTheDesign) {
  expect_share(0.6870, asks_be, first_answers);
  expect_share(0.4700, asks_self, first_answers);
}

TEST(EnglishShares, NoDistanceAndNoPositionGivesAKeyAway) {
  struct Golden {
    const char* relation;
    Index offset;
    double offset_share;
    Index position;
    double position_share;
  };
  for (const Golden& golden : {Golden{"subject", 3, 0.3199, 6, 0.2709},
                               {"time", 5, 0.2836, 2, 0.3507},
                               {"self", 5, 0.3182, 5, 0.2676},
                               {"this", 0, 0.3120, 8, 0.2473}}) {
    SCOPED_TRACE(golden.relation);
    const auto key = [&](const Asked& one) { return keys_read(golden.relation, one)[0]; };
    const auto counts = [&](const Asked& one) { return !keys_read(golden.relation, one).empty(); };
    expect_share(golden.offset_share, counts,
                 [&](const Asked& one) { return one.query - key(one) == golden.offset; });
    expect_share(golden.position_share, counts,
                 [&](const Asked& one) { return key(one) == golden.position; });
    std::map<Index, Index> offsets, positions;
    Index all = 0;
    for (const Asked& one : sentences()) {
      if (!counts(one)) continue;
      ++all;
      ++offsets[one.query - key(one)];
      ++positions[key(one)];
    }
    const auto largest_share = [&](const std::map<Index, Index>& counted) {
      Index most = 0;
      for (const auto& [at, count] : counted) most = std::max(most, count);
      return static_cast<double>(most) / static_cast<double>(all);
    };
    EXPECT_NEAR(largest_share(offsets), golden.offset_share, 0.03);
    EXPECT_NEAR(largest_share(positions), golden.position_share, 0.03);
  }
}

TEST(EnglishShares, VocabularyAndMeanLengthEqualTheDesign) {
  double tokens = 0;
  std::set<std::string> words;
  for (const Asked& one : sentences()) {
    tokens += static_cast<double>(one.words.size());
    words.insert(one.words.begin(), one.words.end());
  }
  const Task& task = *sampled("english", 8000).task;
  EXPECT_EQ(words.size(), 69u);
  EXPECT_EQ(task.shape().vocab, 69);
  // A sentence has 11.43 tokens with a standard deviation of about 2.
  EXPECT_NEAR(tokens / static_cast<double>(sentences().size()), 11.427, 4 * 2 / std::sqrt(8000.0));
}

// ---- settings
// ------------------------------------------------------------------------------------

TEST(English, SettingsSayWhatIsBetweenAndBefore) {
  const auto share_of = [](const char* spec, auto holds) {
    const std::vector<Asked> all = asked_of(sampled(spec, 500));
    return static_cast<double>(std::count_if(all.begin(), all.end(), holds)) / 500;
  };
  const auto begins_with_companion = [](const Asked& one) {
    return candidates_read("subject", one).front() != one.seen.subject() &&
           std::count(one.words.begin(), one.words.end(), ",") > 0 &&
           one.seen.is_companion(static_cast<std::size_t>(one.seen.all(is_noun).front()));
  };
  EXPECT_EQ(share_of("english:distracted=0", has_distractor), 0);
  EXPECT_EQ(share_of("english:distracted=1", has_distractor), 1);
  EXPECT_EQ(share_of("english", begins_with_companion), 0);
  EXPECT_GT(share_of("english:fronted=1,length=18", begins_with_companion), 0.7);
}

TEST(English, RefusesALengthThatSomeSentencesExceed) {
  EXPECT_EQ(refusal("english:length=8"), "");
  EXPECT_EQ(refusal("english:length=6,distracted=0"), "");
  EXPECT_EQ(refusal("english:length=9,distracted=0,fronted=1"), "");
  EXPECT_EQ(refusal("english:length=11,fronted=0.1"), "");
  expect_contains(refusal("english:length=7"), "cannot draw sentences of length 7");
  expect_contains(refusal("english:length=7"), "set length=8 or more");
  expect_contains(refusal("english:length=5,distracted=0"), "set length=6 or more");
  expect_contains(refusal("english:length=10,fronted=0.1"), "set length=11 or more");
  const Sampled& shortest = sampled("english:length=11,fronted=1,distracted=1", 20);
  for (const std::int32_t length : shortest.example.batch.lengths) EXPECT_EQ(length, 11);
}

}  // namespace english_tests
}  // namespace headlab
