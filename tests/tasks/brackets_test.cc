// Brackets against their definition: sequences are checked by crossing out pairs, and openers are
// found by walking back, without the stack that made them. Read next:
// src/lab/data/brackets.cc.
#include <algorithm>
#include <map>

#include "tasks/checks.h"

namespace headlab { namespace brackets_tests {

constexpr Index kCount = 400;
constexpr std::string_view kOpening = "([{<", kClosing = ")]}>";

const Task& task() { return *sampled("brackets", kCount).task; }
const Example& sample() { return sampled("brackets", kCount).example; }

std::string word(Index b) { return shown(task(), sample().batch, b, 0, 16); }

bool opens(char c) { return kOpening.find(c) != kOpening.npos; }

/// The innermost bracket that is open after position t, or -1.
Index open_at(const std::string& brackets, Index t) {
  int closed = 0;
  for (Index s = t; s >= 0; --s) {
    closed += opens(brackets[static_cast<std::size_t>(s)]) ? -1 : 1;
    if (closed < 0) return s;
  }
  return -1;
}

TEST(Brackets, CrossingOutPairsLeavesNothing) {
  for (Index b = 0; b < kCount; ++b) {
    std::string left = word(b);
    for (std::size_t type = 0; type < 4;) {
      const std::size_t at = left.find({kOpening[type], kClosing[type]});
      if (at == left.npos) {
        ++type;
      } else {
        left.erase(at, 2);
        type = 0;
      }
    }
    ASSERT_EQ(left, "") << word(b);
  }
}

TEST(Brackets, AtMostFourAreOpenAndFourAreReached) {
  int deepest = 0;
  for (Index b = 0; b < kCount; ++b) {
    int depth = 0;
    for (const char c : word(b)) {
      depth += opens(c) ? 1 : -1;
      deepest = std::max(deepest, depth);
    }
  }
  EXPECT_EQ(deepest, 4);
}

TEST(Brackets, TheTargetClosesTheInnermostOpenBracket) {
  for (Index b = 0; b < kCount; ++b) {
    const std::string brackets = word(b);
    std::vector<std::string> answers;
    for (Index t = 0; t < 16; ++t) {
      const Index at = open_at(brackets, t);
      answers.emplace_back();
      if (at >= 0) answers.back() = kClosing[kOpening.find(brackets[static_cast<std::size_t>(at)])];
    }
    ASSERT_EQ(answers_of(task(), sample().batch, b), answers) << brackets;
  }
}

TEST(Brackets, GroundTruthIsTheOpenerTwoOrMoreBack) {
  std::map<Index, int> distances;
  for (Index b = 0; b < kCount; ++b) {
    const std::string brackets = word(b);
    KeySets keys(16);
    for (Index t = 0; t < 16; ++t) {
      const Index at = open_at(brackets, t);
      if (at >= 0 && t - at >= 2) {
        keys[static_cast<std::size_t>(t)] = {static_cast<std::int32_t>(at)};
        ++distances[t - at];
      }
    }
    ASSERT_EQ(keys_of(sample(), 0, b), keys) << brackets;
  }
  EXPECT_EQ(distances.begin()->first, 2);
  EXPECT_EQ(distances.rbegin()->first, 14);
}

/// A run that goes on, or is made again, by a later version must meet the same examples.
TEST(Brackets, SameSeedGivesTheSameSequences) {
  EXPECT_EQ(word(0) + " " + word(1), "<>[{}]<{}><><<>> [{}]<{}{{<>[]}}>");
}

TEST(Brackets, ManyTypesAreNumbered) {
  const auto many = make_task("brackets:types=6");
  EXPECT_EQ(many->token_text(3), "<");
  EXPECT_EQ(many->token_text(4), "(4");
  EXPECT_EQ(many->token_text(9), ">");
  EXPECT_EQ(many->token_text(11), ")5");
}

}  // namespace brackets_tests
}  // namespace headlab
