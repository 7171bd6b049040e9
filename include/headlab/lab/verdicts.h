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
  std::string test;        // by which chance is judged; "none" if the rule looks at sizes alone
  std::string correction;  // for how many tests at once; "none" if there is no correction
  std::string about;       // what the conclusion is about: a mean, a count of seeds, one model

  /// The rule with its test, correction and subject, as sentences.
  std::string explanation() const;
};
std::vector<VerdictWord> verdict_words();

}  // namespace headlab
