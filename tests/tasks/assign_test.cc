// Assign against its definition: an interpreter, which reads the program as text from the left,
// says what every use is worth and where that is written. Read next:
// src/lab/data/assign.cc.
#include <cctype>
#include <map>
#include <set>

#include "tasks/checks.h"

namespace headlab { namespace assign_tests {

constexpr Index kCount = 400;

const Task& task() { return *sampled("assign", kCount).task; }
const Example& sample() { return sampled("assign", kCount).example; }

std::string program(Index b) {
  return shown(task(), sample().batch, b, 0, sample().batch.length_of(b));
}

/// The result of an interpreter about a program.
struct Reading {
  std::vector<std::string> answers;
  KeySets definition, origin, name;
  std::map<char, std::size_t> defined;  // the position right of =
  std::size_t longest_chain = 0;

  explicit Reading(const std::string& code)
      : answers(code.size()), definition(code.size()), origin(code.size()), name(code.size()) {
    for (std::size_t t = 0; t < code.size(); ++t) {
      const bool right = t >= 2 && code[t - 1] == '=';
      if (std::isalpha(code[t]) != 0 && code[t + 1] != '=') use(code, t);
      if (right) {
        name[t] = {static_cast<std::int32_t>(t - 2)};
        defined[code[t - 2]] = t;
      }
    }
  }

  void use(const std::string& code, std::size_t t) {
    std::size_t at = defined.at(code[t]), chain = 1;
    definition[t] = {static_cast<std::int32_t>(at)};
    while (std::isalpha(code[at]) != 0) {
      at = defined.at(code[at]);
      ++chain;
    }
    answers[t] = code[at];
    if (chain > 1) origin[t] = {static_cast<std::int32_t>(at)};
    longest_chain = std::max(longest_chain, chain);
  }
};

TEST(Assign, ProgramsAreStatementsAndThenQuestions) {
  std::set<std::size_t> statements;
  for (Index b = 0; b < kCount; ++b) {
    const std::string code = program(b);
    const std::size_t end = code.rfind(';') + 1;
    ASSERT_EQ(end % 4, 0U) << code;
    ASSERT_EQ(code.size(), end + 6) << code;
    std::set<char> defined;
    for (std::size_t t = 0; t < end; t += 4) {
      ASSERT_TRUE(code[t + 1] == '=' && code[t + 3] == ';') << code;
      ASSERT_TRUE(std::isdigit(code[t + 2]) != 0 || defined.count(code[t + 2]) == 1) << code;
      ASSERT_TRUE(code[t] >= 'a' && code[t] <= 'h' && defined.insert(code[t]).second) << code;
    }
    for (std::size_t t = end; t < code.size(); t += 2)
      ASSERT_TRUE(defined.count(code[t]) == 1 && code[t + 1] == '?') << code;
    statements.insert(end / 4);
  }
  EXPECT_EQ(statements, (std::set<std::size_t>{3, 4, 5, 6}));
}

TEST(Assign, UsesHaveTheValuesThatAnInterpreterComputes) {
  for (Index b = 0; b < kCount; ++b)
    ASSERT_EQ(answers_of(task(), sample().batch, b), Reading(program(b)).answers) << program(b);
}

TEST(Assign, GroundTruthIsWhereTheInterpreterReads) {
  for (const char* spec : {"assign", "assign:depth=4"}) {
    const auto made = make_task(spec);
    const Example example = made->make(Key{1}, kCount, Split::train);
    for (Index b = 0; b < kCount; ++b) {
      const std::string code = shown(*made, example.batch, b, 0, example.batch.length_of(b));
      const Reading reading(code);
      ASSERT_EQ(keys_of(example, 0, b), reading.definition) << code;
      ASSERT_EQ(keys_of(example, 1, b), reading.origin) << code;
      ASSERT_EQ(keys_of(example, 2, b), reading.name) << code;
    }
  }
}

TEST(Assign, ChainsAreAsLongAsTheDepthAllows) {
  for (const std::size_t depth : {2U, 4U}) {
    const auto deep = make_task(text("assign:depth=", depth));
    const Batch batch = deep->make(Key{1}, kCount, Split::train).batch;
    std::size_t longest = 0;
    for (Index b = 0; b < kCount; ++b) {
      const Reading reading(shown(*deep, batch, b, 0, batch.length_of(b)));
      longest = std::max(longest, reading.longest_chain);
    }
    EXPECT_EQ(longest, depth);
  }
}

}  // namespace assign_tests
}  // namespace headlab
