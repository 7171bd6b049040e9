// Every word in which a verdict is passed has its rule, with the number by which it is decided.
#include "headlab/heads/verdicts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "headlab/heads/gold_edges.h"
#include "headlab/heads/pairs.h"

namespace headlab { namespace {

/// The rule of the word with which a verdict begins or ends; "" if there is none.
std::string rule_of(const std::string& verdict) {
  for (const auto& [word, rule] : verdict_words())
    if (verdict.starts_with(word) || verdict.ends_with(word)) return rule;
  return "";
}

TEST(VerdictWords, HaveARuleEach) {
  for (const char* word : {"owns", "does", "shares", "cause", "redundant", "takes over", "born",
                           "enough", "not told apart"})
    EXPECT_NE(rule_of(word), "") << word;
  EXPECT_NE(rule_of("owns").find("0.3"), std::string::npos);
}

TEST(VerdictWords, AreThoseOfTests) {
  const PairedChange sure{.change = .02, .low = .01, .high = .03, .p = 1e-6, .examples = 100};
  EdgeTest cause{.heads = {{0, 0}},
                 .lift = .9,
                 .mass = 1,
                 .control_mass = 1,
                 .share = 1,
                 .gold = sure,
                 .difference = sure};
  EdgeTest small = cause, unfair = cause, silent = cause, few = cause, disagrees = cause;
  small.share = .01, unfair.control_mass = .5, silent.asks = false;
  few.gold.carried = 12, disagrees.gold.p = 1;
  std::vector<std::string> verdicts;
  for (const EdgeTest& test : {cause, small, unfair, silent, few, disagrees})
    verdicts.push_back(test.verdict());
  HeadPairReport pair{.first = {0, 0},
                      .second = {0, 1},
                      .of_first = {true, sure},
                      .of_second = {true, sure, sure},
                      .beyond = sure};
  verdicts.push_back(pair.verdict());
  EXPECT_EQ(pair.verdict(), "redundant, 0.1 takes over");
  for (const std::string& verdict : verdicts) EXPECT_NE(rule_of(verdict), "") << verdict;
  std::ranges::sort(verdicts);
  EXPECT_EQ(std::ranges::adjacent_find(verdicts), verdicts.end());
}

}  // namespace
}  // namespace headlab
