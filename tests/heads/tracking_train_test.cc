// The birth of a circuit, watched: on `induction` a head of the first layer must have learned to
// look one back before a head of the second can find what followed last time. One short training.
#include "headlab/core/tasks/table.h"
#include "headlab/lab/heads/scores/tracking.h"
#include "support/runs.h"

namespace headlab { namespace {

TEST(EmergenceOfRoles, PreviousTokenHeadEmergesBeforeInductionHead) {
  const TemporaryFolder folder;
  RunConfig config = recommended_config("induction");
  config.train.seed = 1;
  config.train.lr = 1e-3;  // half of its rate: both emerge later, and further apart
  config.track_heads = 4;
  TrainedRun run = create_run(folder / "run", config);
  Index done = 0;
  RunCallbacks callbacks;
  callbacks.on_step = [&](const StepRecord& record) { done = record.step; };
  callbacks.should_stop = [&] { return done == 280; };  // of 1000: both are there by then
  train_run(run, track_heads(run, callbacks));
  const HeadsHistory history = read_heads_history(run);
  Index previous = -1, induction = -1;
  for (const RelationHistory& relation : history.relations)
    (relation.name == "previous" ? previous : induction) = relation.emergence_step;
  EXPECT_GT(previous, 0);
  EXPECT_LT(previous, induction);
  EXPECT_LT(induction, 280);
}

}  // namespace
}  // namespace headlab
