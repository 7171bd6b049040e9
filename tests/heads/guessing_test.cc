// The guard `guessing`: a model is compared with the best constant answer, and no head is
// responsible for a relation whose answers the model does not predict. Models are built by hand:
// heads with perfect patterns and no effect on the answer, and a circuit that answers.
#include <gtest/gtest.h>

#include <cmath>

#include "headlab/core/tasks/table.h"
#include "headlab/lab/heads/causes/truth_edges.h"
#include "headlab/lab/heads/scores/scores.h"
#include "headlab/lab/runs/guards.h"
#include "support/hand_built.h"
#include "support/induction_pair.h"
#include "support/tasks.h"

namespace headlab { namespace {

/// Two targets at each position: the first has answers 0 0 0 1, the second always 2.
Batch four_examples() {
  Batch batch = Batch::make(4, 1, 2);
  batch.targets = {0, 2, 0, 2, 0, 2, 1, 2};
  return batch;
}

TEST(AgainstGuessing, IsTheEntropyOfEachTarget) {
  const std::vector<double> losses = {0.2, 0.3, 0.1, 0.4};  // of two targets each
  const AgainstGuessing found = against_guessing(losses, four_examples());
  const double entropy = -0.75 * std::log(0.75) - 0.25 * std::log(0.25);
  EXPECT_NEAR(found.guessing, entropy / 2, 1e-12) << "the second target is always the same";
  EXPECT_NEAR(found.loss, 1.0 / 8, 1e-12);
  EXPECT_NEAR(found.difference.mean, found.loss - found.guessing, 1e-12);
  EXPECT_EQ(found.examples, 4);
  EXPECT_FALSE(found.is_at_guessing());
}

TEST(AgainstGuessing, RefusesUnlessTheUpperEndIsBelow) {
  const std::vector<double> same(4, 2 * 0.281);  // within 0.001 of the entropy
  const std::vector<double> spread = {0, 0, 0, 2};
  EXPECT_TRUE(against_guessing(spread, four_examples()).is_at_guessing());
  EXPECT_LT(against_guessing(spread, four_examples()).loss, 0.2812);
  EXPECT_FALSE(against_guessing(same, four_examples()).is_at_guessing()) << "no spread";
  Batch without = four_examples();
  std::ranges::fill(without.targets, -1);
  EXPECT_FALSE(against_guessing(std::vector<double>(4), without).is_at_guessing());
}

TEST(AgainstGuessing, CountsOnlyTheTargetsThatAreLeft) {
  Batch batch = four_examples();
  for (Index b = 0; b < 4; ++b) batch.target(b, 0, 1) = -1;
  const std::vector<double> sums = loss_sums(std::vector<float>{1, 9, 2, 9, 3, 9, 4, 9}, batch);
  EXPECT_EQ(sums, (std::vector<double>{1, 2, 3, 4}));
  EXPECT_NEAR(against_guessing(sums, batch).loss, 2.5, 1e-12);
}

Json first_relation(const Json& json) { return json.at("relations").items().at(0); }

TEST(Guessing, RefusesAnOwnerOfAModelThatDoesNotPredict) {
  const auto task = make_task("relations:length=10,vocab=6,classes=3,relations=1+3");
  const Transformer model = hand_built(task->shape(), 3, {1, 3});
  const HeadsReport report = score_heads(model, *task, {.examples = 100});
  EXPECT_TRUE(report.best_score(0).looks_like_owner());
  EXPECT_FALSE(report.relations[0].owned);
  EXPECT_EQ(report.specialization, 0);
  const Json relation = first_relation(to_json(report));
  EXPECT_EQ(relation.at("verdict"), Json(kAtGuessing));
  EXPECT_EQ(relation.at("guard"), Json("guessing"));
  EXPECT_TRUE(relation.at("owner").is_null());
}

TEST(Guessing, KeepsTheOwnersOfAModelThatPredicts) {
  const auto task = make_task(kInduction);
  const HeadsReport report = score_heads(induction_pair(task->shape()), *task, {.examples = 100});
  ASSERT_EQ(report.relations.size(), 2u);
  EXPECT_TRUE(report.relations[0].owned);
  EXPECT_TRUE(report.relations[0].guessing->own);
  EXPECT_TRUE(report.relations[1].owned);
  EXPECT_FALSE(report.relations[1].guessing->own) << "the answers of `previous` stand elsewhere";
  const Result found = result_of(report);
  EXPECT_EQ(first_relation(to_json(report)).at("guard"), Json(""));
  EXPECT_NE(found.table("relations").note.find("judged on all answers of the model"),
            std::string::npos);
}

TEST(Guessing, RefusesACause) {
  const PairedChange sure{.change = .2, .low = .1, .high = .3, .p = 1e-6, .examples = 100};
  EdgeTest test{.heads = {{0, 0}},
                .lift = .9,
                .mass = 1,
                .random_mass = 1,
                .share = 1,
                .truth = sure,
                .difference = sure};
  EXPECT_EQ(test.conclusion(), "cause");
  EXPECT_EQ(test.guard(), "");
  test.at_guessing = true;
  EXPECT_FALSE(test.is_cause());
  EXPECT_EQ(test.conclusion(), kAtGuessing);
  EXPECT_EQ(test.guard(), "guessing");
}

TEST(Guessing, DrawsNoConclusionWithoutAControl) {
  const PairedChange sure{.change = .2, .low = .1, .high = .3, .p = 1e-6, .examples = 100};
  const EdgeTest test{.heads = {{0, 0}},
                      .lift = .9,
                      .mass = 1,
                      .random_mass = 0.1,
                      .share = 1,
                      .truth = sure,
                      .difference = {}};
  EXPECT_EQ(test.conclusion(), "no fair control: too little other attention to mask");
  EXPECT_EQ(test.guard(), "control");
}

}  // namespace
}  // namespace headlab
