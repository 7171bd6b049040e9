// The causes of a trained circuit: what analysis says of weights built by hand, it must say of
// those that training finds. One short training for all of them.
#include "headlab/lab/heads/causes/attribution.h"
#include "headlab/lab/heads/causes/pairs.h"
#include "headlab/lab/heads/causes/patching.h"
#include "headlab/lab/heads/causes/truth_edges.h"
#include "headlab/lab/heads/weights/circuits.h"
#include "support/runs.h"

namespace headlab { namespace {

TEST(Causes, TrainedInductionHasTheCausesOfItsCircuit) {
  const TemporaryFolder folder;
  RunConfig config = recommended_config("induction");
  config.train.steps = 450;
  TrainedRun run = create_run(folder / "run", config);
  train_run(run);
  const Batch examples = held_out_examples(*run.task, 128).batch;
  const std::vector<double> before = parameters_in(run.model);

  const CircuitsReport circuits = find_circuits(run.model, {.draws = 100});
  for (const Composition& one : circuits.compositions)
    EXPECT_EQ(one.percentile == 100, one.kind == 'K') << one.kind << " " << one.strength;
  EXPECT_GT(circuits.heads[1].copying[0], 0.9);

  for (const HeadAblation& one : ablate_heads(run.model, examples).heads)
    EXPECT_GT(one.change.low, 1);
  EXPECT_LT(ablate_pairs(run.model, examples).pairs[0].interaction.high, 0);
  for (const auto& row : test_truth_edges(run.model, *run.task, {.examples = 64}).relations)
    EXPECT_EQ(row.tests[0].conclusion(),
              row.relation.name == "previous" ? "cause, judged on all answers" : "cause");
  const AttributionReport shares = attribute_logits(run.model, *run.task, 64);
  for (std::size_t p = 0; p < shares.parts.size(); ++p)
    EXPECT_EQ(shares.parts[p] == "1.0", shares.shares[p][0] > 0.8 * shares.logits[0]);
  const PatchReport patched =
      patch_activations(run.model, examples.rows(0, 64), examples.rows(64, 128));
  EXPECT_GT(patched.heads[1].restored, 0.8);
  EXPECT_EQ(parameters_in(run.model), before);
}

}  // namespace
}  // namespace headlab
