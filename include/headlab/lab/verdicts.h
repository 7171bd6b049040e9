// The words in which conclusions are drawn, each with its rule: all that a verdict of a report may
// say. `explain WORD` and `list verdicts` show them. Numbers in the rules are the constants by
// which the program decides. Read next: src/lab/studies/verdicts.cc.
#pragma once

#include <string>
#include <vector>

namespace headlab {

struct VerdictWord {
  std::string words;  // with commas between them, as reports say it: "shares it,heads share it"
  std::string rule;
};
std::vector<VerdictWord> verdict_words();

}  // namespace headlab
