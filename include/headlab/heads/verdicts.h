// The words in which conclusions are drawn, each with its rule. `explain WORD` shows them. Numbers
// in the rules are the constants by which the program decides.
// Read next: src/heads/verdicts.cc.
#pragma once

#include <string>
#include <vector>

namespace headlab {

struct VerdictWord {
  std::string word, rule;
};
std::vector<VerdictWord> verdict_words();

}  // namespace headlab
