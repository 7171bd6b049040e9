// The story that headlab tells, with the numbers that it must reach: four relations need four
// heads, each learns one; eight heads can be pruned to four and not to three; induction needs two
// layers. One seed of each; examples/RESULTS.md has more.
#include <set>

#include "headlab/core/tasks/table.h"
#include "headlab/lab/heads/scores/scores.h"
#include "headlab/lab/prune/prune.h"
#include "support/runs.h"

namespace headlab { namespace {

TrainedRun trained(const fs::path& folder, const RunConfig& config) {
  TrainedRun run = create_run(folder, config);
  train_run(run);
  return run;
}

double loss_of(const TrainedRun& run) { return evaluate(run.model, *run.task).loss; }

/// The heads that are best at a relation, with a mass above .6.
std::set<std::pair<Index, std::int32_t>> owners(TrainedRun& run) {
  const HeadsReport report = score_heads(run.model, *run.task);
  std::set<std::pair<Index, std::int32_t>> found;
  for (std::size_t r = 0; r < report.relations.size(); ++r) {
    const HeadScores& best = report.heads[report.relations[r].best];
    if (report.relations[r].owned && best.relations[r].mass > 0.6)
      found.insert({best.attention_layer, best.head});
  }
  return found;
}

TEST(Relations, GiveEachOfFourHeadsARelationOfItsOwn) {
  const TemporaryFolder folder;
  TrainedRun run = trained(folder / "run", recommended_config("relations"));
  EXPECT_LT(loss_of(run), 0.002);
  EXPECT_EQ(owners(run).size(), 4u);
}

TEST(Relations, NeedFourOfEightHeadsAndNotThree) {
  const TemporaryFolder folder;
  RunConfig config = recommended_config("relations");
  config.model.heads = {8};
  TrainedRun full = trained(folder / "full", config);
  EXPECT_LT(loss_of(full), 0.002);
  const auto pruned_to = [&](Index keep) {
    const PruneOptions options{.method = "greedy", .keep = keep, .finetune = 1000};
    return prune_run(full, folder / std::to_string(keep), options).after.loss;
  };
  EXPECT_LT(pruned_to(4), 0.005);
  EXPECT_GT(pruned_to(3), 0.005);
}

double induction_accuracy(Index layers) {
  const TemporaryFolder folder;
  RunConfig config = recommended_config("induction");
  config.model.layers = layers;
  const TrainedRun run = trained(folder / "run", config);
  return evaluate(run.model, *run.task).accuracy;
}

TEST(Induction, IsSolvedByTwoLayers) { EXPECT_GE(induction_accuracy(2), 0.99); }

TEST(Induction, IsNotSolvedByOneLayer) { EXPECT_LE(induction_accuracy(1), 0.5); }

}  // namespace
}  // namespace headlab
