// Heads that were built to be known patterns, their steps, and the bugs of an article's own ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "headlab/core/tasks/table.h"
#include "headlab/core/train/evaluate.h"
#include "headlab/lab/heads/scores/activations.h"
#include "headlab/lab/heads/scores/scores.h"
#include "support/induction_pair.h"

namespace headlab { namespace likeness_tests {

/// The hand-built circuit on its task.
struct InductionPair {
  std::unique_ptr<Task> task = make_task(kInduction);
  Transformer model = induction_pair(task->shape());
};

/// The first row of the article's patterns of 8 tokens, as its code makes them.
TEST(Patterns, FirstRowsOfTheArticleDoNotSumToOne) {
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

TEST(HeadScores, NameThePatternThatAHeadWasBuiltToBe) {
  const InductionPair pair;
  const HeadsReport report = score_heads(pair.model, *pair.task, {.examples = 16});
  ASSERT_EQ(report.heads.size(), 2u);
  EXPECT_EQ(report.heads[0].like, "previous");
  EXPECT_EQ(report.heads[1].like, "induction");
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
