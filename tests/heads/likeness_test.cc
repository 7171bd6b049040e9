// Patterns row by row, the bugs of an article's own ones, and heads that were built to be one of
// them.
#include "heads/asked_gold.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "headlab/heads/activations.h"
#include "headlab/tasks/table.h"
#include "headlab/train/evaluate.h"
#include "support/induction_pair.h"

namespace headlab { namespace likeness_tests {

/// The hand-built circuit on its task.
struct InductionPair {
  std::unique_ptr<Task> task =
      make_task("induction:length=14,vocab=9,shortest=3,longest=5,start=1,gap=2");
  Transformer model = induction_pair(task->shape());
};

using Ids = std::vector<std::int32_t>;

/// The row of a pattern for query t of a causal sequence.
std::vector<double> row_of(const char* name, const Ids& tokens, Index t) {
  const auto score = std::ranges::find(score_table(), std::string_view(name), &ScoreEntry::name);
  const auto at = static_cast<std::size_t>(t);
  return pattern_row(
      *score, {.t = t, .token = tokens[at], .keys = std::span(tokens).first(at + 1), .facts = {}});
}

TEST(Likeness, ComparesWithWhatTheNamesSay) {
  const Ids tokens = {3, 1, 3, 2};
  EXPECT_EQ(row_of("previous", tokens, 2), (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(row_of("first", tokens, 3), (std::vector<double>{1, 0, 0, 0}));
  EXPECT_NEAR(row_of("local", tokens, 3)[3], 6. / 11, 1e-15);  // 1, 1/2, 1/3
  EXPECT_EQ(row_of("local", tokens, 3)[0], 0);
  EXPECT_EQ(row_of("induction", tokens, 2), (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(row_of("same", tokens, 2), (std::vector<double>{1, 0, 0}));
  for (const char* name : {"previous", "same", "next"})
    EXPECT_TRUE(row_of(name, tokens, 0).empty());
  EXPECT_TRUE(row_of("same", tokens, 3).empty());
}

/// The first row of the article's patterns of 8 tokens, as its code makes them.
TEST(Patterns, OfTheArticleHaveFirstRowsThatDoNotSumToOne) {
  const double n = 8, rest = .1 / (n - 2);
  const double previous = .1 + (n - 1) * rest;  // .8 is replaced by .1 in the same cell
  const double first = .7 + .2 + (n - 1) * rest;
  EXPECT_NEAR(previous, .2167, .5e-4);
  EXPECT_NEAR(first, 1.0167, .5e-4);
  std::string said;
  for (const Json::Array& row : corrections_table().rows)
    if (row[0].string() == "patterns") said += row[2].string();
  EXPECT_NE(said.find(".2167"), std::string::npos);
  EXPECT_NE(said.find("1.0167"), std::string::npos);
}

TEST(Likeness, IsFoundInHeadsBuiltToBePatterns) {
  const InductionPair pair;
  const LikenessReport report = compare_with_patterns(pair.model, *pair.task, 16);
  ASSERT_EQ(report.heads.size(), 2u);
  EXPECT_EQ(report.patterns[0], "previous");
  EXPECT_EQ(report.heads[0].like, "previous");
  EXPECT_LT(report.heads[0].distances[0], .1);
  EXPECT_EQ(report.heads[1].like, "induction");
  EXPECT_TRUE(std::isnan(report.heads[0].distances[1])) << "none may look at the next token";
  EXPECT_GT(report.heads[0].of_uniform[0], .3);
  EXPECT_THROW(compare_with_patterns(pair.model, *pair.task, 0), Error);
}

TEST(ModelSteps, GiveTheModelsOwnWeights) {
  const InductionPair pair;
  const Batch batch = held_out_examples(*pair.task, 2).batch;
  const Activations activations(pair.model, batch);
  for (const HeadId& head : all_heads(pair.model)) {
    for (const Index b : {0, 1}) {
      const HeadSteps steps = steps_of(pair.model, activations, batch, head, b);
      EXPECT_LT(largest_difference(steps, activations, head, b),
                2e-3);  // an ulp of the scores, 1e4
      EXPECT_EQ(steps.weights(0, 1), 0) << "the future is hidden";
    }
  }
}

}  // namespace likeness_tests
}  // namespace headlab
