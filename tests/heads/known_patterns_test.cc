// Known patterns row by row, the bugs of the article's own ones, and heads that were built to be
// one of them.
#include "headlab/heads/known_patterns.h"

#include <gtest/gtest.h>

#include <cmath>

#include "headlab/tasks/table.h"
#include "headlab/train/evaluate.h"
#include "heads/model_steps.h"
#include "support/induction_pair.h"

namespace headlab { namespace known_patterns_tests {

/// The hand-built circuit on its task.
struct InductionPair {
  std::unique_ptr<Task> task =
      make_task("induction:length=14,vocab=9,shortest=3,longest=5,start=1,gap=2");
  Transformer model = induction_pair(task->shape());
};

using Ids32 = std::vector<std::int32_t>;

double row_sum(const Matrix& matrix, Index t) {
  double sum = 0;
  for (Index s = 0; s < matrix.columns(); ++s) sum += matrix(t, s);
  return sum;
}

TEST(KnownPatterns, HaveRowsThatSumToOneOrSayNothing) {
  const Ids32 tokens = {3, 1, 3, 2, 1, 3};
  for (const bool causal : {true, false}) {
    for (const KnownPattern& known : known_patterns()) {
      const Matrix pattern = known_pattern(known.name, {tokens, tokens, causal});
      for (Index t = 0; t < pattern.rows(); ++t) {
        const double sum = row_sum(pattern, t);
        EXPECT_TRUE(sum == 0 || std::abs(sum - 1) < 1e-12) << known.name << " " << t;
        for (Index s = t + 1; causal && s < pattern.columns(); ++s) EXPECT_EQ(pattern(t, s), 0);
      }
    }
  }
}

TEST(KnownPatterns, AreWhatTheirNamesSay) {
  const Ids32 tokens = {3, 1, 3, 2};
  const auto made = [&](const char* name) { return known_pattern(name, {tokens, tokens}); };
  EXPECT_EQ(made("previous")(2, 1), 1);
  EXPECT_EQ(row_sum(made("previous"), 0), 0);
  EXPECT_EQ(made("first")(3, 0), 1);
  EXPECT_NEAR(made("uniform")(3, 2), .25, 1e-15);
  EXPECT_NEAR(made("window")(3, 3), 6. / 11, 1e-15);  // 1, 1/2, 1/3
  EXPECT_EQ(made("window")(3, 0), 0);
  EXPECT_EQ(made("induction")(2, 1), 1);
  EXPECT_EQ(row_sum(made("induction"), 1), 0);
  EXPECT_EQ(made("same")(2, 0), 1);
  EXPECT_EQ(row_sum(made("same"), 3), 0);
  EXPECT_THROW(made("previus"), Error);
}

/// The first row of the article's patterns of 8 tokens, as its code makes them.
TEST(KnownPatterns, OfTheArticleHaveFirstRowsThatDoNotSumToOne) {
  const double n = 8, rest = .1 / (n - 2);
  const double previous = .1 + (n - 1) * rest;  // .8 is replaced by .1 in the same cell
  const double first = .7 + .2 + (n - 1) * rest;
  EXPECT_NEAR(previous, .2167, .5e-4);
  EXPECT_NEAR(first, 1.0167, .5e-4);
  std::string said;
  for (const Correction& c : corrections())
    if (std::string(c.topic) == "patterns") said += c.fact;
  EXPECT_NE(said.find(".2167"), std::string::npos);
  EXPECT_NE(said.find("1.0167"), std::string::npos);
}

TEST(KnownPatterns, AreFoundInHeadsBuiltToBeThem) {
  const InductionPair pair;
  const LikenessReport report = compare_with_known(pair.model, *pair.task, 16);
  ASSERT_EQ(report.heads.size(), 2u);
  ASSERT_TRUE(report.heads[0].like && report.heads[1].like);
  EXPECT_STREQ(known_patterns()[*report.heads[0].like].name, "previous");
  EXPECT_LT(report.heads[0].distances[0], .1);
  EXPECT_STREQ(known_patterns()[*report.heads[1].like].name, "induction");
  EXPECT_EQ(report.heads[0].of_uniform[3], 0);
  EXPECT_GT(report.heads[0].of_uniform[0], .3);
  EXPECT_THROW(compare_with_known(pair.model, *pair.task, 0), Error);
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

}  // namespace known_patterns_tests
}  // namespace headlab
