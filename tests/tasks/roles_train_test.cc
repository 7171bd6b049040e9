// The purpose of the tasks, seen in trained models: where one query needs two keys, two heads share
// the work and one fails; where nothing is to be found, no head is said to have found it. One seed
// of each recommended model. Read next: tests/prune/flagship_train_test.cc.
#include "headlab/core/tasks/table.h"
#include "headlab/lab/heads/causes/truth_edges.h"
#include "headlab/lab/heads/scores/scores.h"
#include "support/runs.h"

namespace headlab { namespace {

struct Trained {
  double accuracy;
  HeadsReport report;
};

/// Trains a recommended model with `changes` ("heads=1") and looks at its heads.
Trained trained(const std::string& task, const std::string& changes = "") {
  const TemporaryFolder folder;
  RunConfig config = recommended_config(task);
  config.task = task;
  Settings settings = settings_of(config.model);
  settings.add(settings_of(config.train));
  settings.set_all_text(changes);
  TrainedRun run = create_run(folder / "run", config);
  train_run(run);
  return {evaluate(run.model, *run.task).accuracy, score_heads(run.model, *run.task)};
}

/// Relation r of a report: the score of its best head on split B.
const RelationScore& best(const HeadsReport& report, std::size_t r) {
  return report.heads[report.relations[r].best].relations[r];
}

TEST(Grid, TheContrastOfTwoPixelsTakesTwoHeads) {
  const Trained two = trained("grid");
  EXPECT_GT(two.accuracy, 0.99);
  EXPECT_NE(two.report.relations[0].best, two.report.relations[1].best);
  for (std::size_t r = 0; r < 2; ++r) {
    EXPECT_TRUE(two.report.relations[r].owned);
    EXPECT_GT(best(two.report, r).mass, 0.9);
  }
  EXPECT_LT(trained("grid", "heads=1").accuracy, 0.7);
}

TEST(Grid, TheMeanOfTwoPixelsIsReadByOneHeadInHalves) {
  const Trained one = trained("grid:rule=mean", "heads=1");
  EXPECT_GT(one.accuracy, 0.98);
  for (std::size_t r = 0; r < 2; ++r) {
    EXPECT_TRUE(one.report.relations[r].owned);
    EXPECT_NEAR(best(one.report, r).mass, 0.45, 0.1);
  }
}

TEST(Patches, EveryRelationOfVectorsHasAHeadOfItsOwn) {
  const Trained all = trained("patches");
  EXPECT_GT(all.accuracy, 0.99);
  EXPECT_EQ(all.report.specialization, 1);
  for (std::size_t r = 0; r < 3; ++r) EXPECT_TRUE(all.report.relations[r].owned);
}

TEST(Recall, IsTheWorkOfTwoLayersInOrder) {
  const Trained two = trained("recall");
  EXPECT_GT(two.accuracy, 0.99);
  const HeadsReport& report = two.report;
  EXPECT_EQ(report.heads[report.relations[0].best].attention_layer, 1);  // association
  EXPECT_EQ(report.heads[report.relations[1].best].attention_layer, 0);  // previous
  EXPECT_GT(best(report, 0).mass, 0.95);
  EXPECT_GT(best(report, 1).mass, 0.85);
}

TEST(Duplicate, OneHeadFindsAllEarlierOccurrences) {
  const Trained one = trained("duplicate");
  EXPECT_GT(one.accuracy, 0.99);
  EXPECT_GT(best(one.report, 0).lift, 0.8);
}

/// The loss rises without the edges that the task names, and less without random ones.
TEST(English, EveryRelationHasAnOwnerWhoseEdgesTheLossNeeds) {
  const TemporaryFolder folder;
  TrainedRun run = create_run(folder / "run", recommended_config("english"));
  train_run(run);
  EXPECT_GT(evaluate(run.model, *run.task).accuracy, 0.99);
  const HeadsReport report = score_heads(run.model, *run.task);
  for (std::size_t r = 0; r < 4; ++r) {
    EXPECT_TRUE(report.relations[r].owned) << report.relations[r].relation.name;
    EXPECT_GT(best(report, r).mass, 0.6) << report.relations[r].relation.name;
  }
  EXPECT_NE(report.relations[0].best, report.relations[1].best) << "subject and time at one query";
  const EdgeReport edges = test_truth_edges(run.model, *run.task, {.examples = 1024});
  for (const EdgeReport::Row& relation : edges.relations) {
    const EdgeTest& all_heads = relation.tests.back();
    EXPECT_GT(all_heads.truth.low, 1);
    EXPECT_TRUE(all_heads.is_significant());
    EXPECT_TRUE(all_heads.is_large());
  }
  // Random edges at a verb lead neither to its subject nor to its time: four heads have no more
  // weight than what these two leave.
  const double subject = edges.relations[0].tests.back().mass;
  const EdgeTest& time = edges.relations[1].tests.back();
  EXPECT_LE(time.random_mass, 4 - subject - time.mass + 1e-4);
}

TEST(English, OneHeadIsEnoughAtALowerRate) {
  EXPECT_GT(trained("english", "heads=1 lr=2e-3 steps=2000").accuracy, 0.99);
}

TEST(Controls, NoHeadOwnsARelation) {
  for (const std::string task : {"memoryless", "random"})
    for (const RelationWinner& relation : trained(task).report.relations)
      EXPECT_FALSE(relation.owned) << task << " " << relation.relation.name;
}

}  // namespace
}  // namespace headlab
