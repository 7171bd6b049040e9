// Every word in which a conclusion is passed has its rule, with the number by which it is decided.
#include "headlab/lab/studies/conclusions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

#include "headlab/core/base/error.h"
#include "headlab/core/base/files.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/heads/causes/pairs.h"
#include "headlab/lab/heads/causes/truth_edges.h"
#include "headlab/lab/runs/guards.h"
#include "headlab/lab/studies/compare.h"
#include "headlab/lab/studies/sweep.h"
#include "support/golden_text.h"

namespace headlab { namespace {

/// The rule of the longest word that a conclusion holds; "" if there is none.
std::string rule_of(const std::string& conclusion) {
  std::string_view longest;
  std::string found;
  const std::vector<ConclusionWord> all = conclusion_words();
  for (const ConclusionWord& one : all) {
    for (const std::string_view word : split(one.words, ',')) {
      if (word.size() <= longest.size() || conclusion.find(word) == conclusion.npos) continue;
      longest = word;
      found = one.rule;
    }
  }
  return found;
}

/// Text between quotes in the functions of a file that put conclusions into words.
std::vector<std::string> literals_of_conclusions(const std::string& source) {
  static const std::regex kFunction(
      R"(\n(?:static )?std::string (?:\w+::)?(?:\w*conclusion\w*|sentence|lacking)\([^]*?\n\})");
  static const std::regex kLiteral("\"((?:[^\"\\\\]|\\\\.)*)\"");
  std::vector<std::string> found;
  const std::sregex_iterator end;
  for (std::sregex_iterator function(source.begin(), source.end(), kFunction); function != end;
       ++function) {
    const std::string body = function->str();
    for (std::sregex_iterator literal(body.begin(), body.end(), kLiteral); literal != end;
         ++literal)
      found.push_back((*literal)[1]);
  }
  return found;
}

TEST(Measures, EqualTheGoldenFile) {
  std::string all;
  for (const Measure& one : measures()) {
    all += text("measure ", one.name, ": ", one.meaning, ", margin ", one.margin, "\n");
  }
  expect_golden("lab/measures.txt", all);
}

/// Read from the sources, so that a new word without a rule is noticed.
TEST(ConclusionWords, CoverEveryConclusion) {
  // Text between the words of a conclusion.
  const std::set<std::string> joints = {" key",
                                        " keys",
                                        " at once",
                                        " seed",
                                        " seeds",
                                        " and ",
                                        " examples",
                                        " of it)",
                                        " seeds against ",
                                        " of ",
                                        " for the median seed",
                                        ", together ",
                                        "; the numbers of parameters differ"};
  Index checked = 0;
  for (const char* folder : {"src/lab/heads", "src/lab/studies"}) {
    for (const auto& file : std::filesystem::recursive_directory_iterator(
             std::filesystem::path(HEADLAB_SOURCE_DIR) / folder)) {
      if (!file.is_regular_file()) continue;
      for (const std::string& said : literals_of_conclusions(read_file(file.path()))) {
        if (std::ranges::count_if(said, [](char c) { return std::isalpha(c) != 0; }) < 3) continue;
        if (joints.contains(said) || said == " implement `") continue;
        EXPECT_NE(rule_of(said), "") << file.path() << " says: " << said;
        ++checked;
      }
    }
  }
  EXPECT_GE(checked, 25) << "the functions are not found any more";
}

TEST(ConclusionWords, HaveARuleEach) {
  for (const char* word :
       {"owns", "owner", "several heads", "no head", "split by", "in part", "could be chance",
        "cause", "no cause", "redundant", "compensates", "emerges", "enough",
        "several heads beat one", "inconclusive", "equal within 1.25"})
    EXPECT_NE(rule_of(word), "") << word;
  std::set<std::string> rules;
  for (const ConclusionWord& one : conclusion_words()) {
    EXPECT_TRUE(!one.rule.empty() && rules.insert(one.rule).second) << one.words;
    for (const std::string& said : {one.test, one.correction, one.about})
      EXPECT_FALSE(said.empty()) << one.words;
    EXPECT_NE(one.explanation().find("Test: " + one.test), std::string::npos);
  }
  EXPECT_NE(rule_of("owns").find("0.3"), std::string::npos);
}

/// Conclusions on what a model, a group or a head does ask whether the model beats guessing.
TEST(ConclusionWords, NameTheirGuards) {
  std::set<std::string> known;
  for (const Guard& guard : guards()) known.insert(guard.name);
  std::set<std::string> asked;
  for (const ConclusionWord& one : conclusion_words()) {
    for (const std::string& guard : one.guards) {
      EXPECT_TRUE(known.contains(guard)) << one.words << ": " << guard;
      if (guard == kGuessingGuard) asked.insert(one.words);
    }
  }
  for (const char* word : {"owns", "owner", "several heads", "in part", "cause",
                           "cause without pattern", "redundant", "compensates"}) {
    EXPECT_TRUE(asked.contains(word)) << word;
  }
}

TEST(ConclusionWords, EqualTheWordsOfTests) {
  const PairedChange sure{.change = .02, .low = .01, .high = .03, .p = 1e-6, .examples = 100};
  EdgeTest cause{.heads = {{0, 0}},
                 .lift = .9,
                 .mass = 1,
                 .random_mass = 1,
                 .share = 1,
                 .truth = sure,
                 .difference = sure};
  EdgeTest small = cause, unfair = cause, shared = cause, few = cause, disagrees = cause;
  EdgeTest guessed = cause;
  small.share = .01, unfair.random_mass = .5, shared.asks = false, guessed.at_guessing = true;
  few.truth.carried = 12, disagrees.truth.p = 1;
  std::vector<std::string> conclusions;
  for (const EdgeTest& test : {cause, small, unfair, shared, guessed, few, disagrees})
    conclusions.push_back(test.conclusion());
  HeadPairReport pair{.first = {0, 0},
                      .second = {0, 1},
                      .of_first = {true, sure},
                      .of_second = {true, sure, sure},
                      .beyond = sure,
                      .beyond_share = .8};
  conclusions.push_back(pair.conclusion());
  EXPECT_EQ(pair.conclusion(), "redundant, 0.1 compensates");
  for (const std::string& conclusion : conclusions)
    EXPECT_NE(rule_of(conclusion), "") << conclusion;
  std::ranges::sort(conclusions);
  EXPECT_EQ(std::ranges::adjacent_find(conclusions), conclusions.end());
}

}  // namespace
}  // namespace headlab
