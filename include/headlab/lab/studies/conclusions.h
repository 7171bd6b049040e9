// Words in which conclusions are stated, each with its rule: every possible conclusion of a report
// is listed here. `explain WORD` and `list verdicts` show them. Numbers in the rules are the
// constants that the program uses. Read next: src/lab/studies/conclusions.cc.
#pragma once

#include <string>
#include <vector>

namespace headlab {

struct ConclusionWord {
  std::string words;  // separated by commas, as in reports: "lower,higher"
  std::string rule;
  std::string test;        // statistical test; "none" if the rule considers sizes alone
  std::string correction;  // correction for multiple tests; "none" if there is no correction
  std::string about;       // subject of the conclusion: a mean, a count of seeds, one model
  std::vector<std::string> guards{};  // names of the guards (lab/runs/guards.h) that it passes

  /// Returns the rule with its test, correction, subject and guards, as sentences.
  std::string explanation() const;
};
std::vector<ConclusionWord> conclusion_words();

}  // namespace headlab
