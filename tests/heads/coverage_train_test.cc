// Whether the intervals of trained models hold the truth: a head's cost is known from very many
// examples, and intervals are made from draws of as many as a command judges.
#include <cmath>
#include <iostream>

#include "headlab/heads/gold_edges.h"
#include "headlab/model/initial.h"
#include "headlab/tasks/table.h"
#include "headlab/train/evaluate.h"
#include "headlab/train/streams.h"
#include "headlab/train/trainer.h"
#include "support/induction_pair.h"
#include "support/models.h"
#include "support/tasks.h"

namespace headlab { namespace {

using Losses = std::vector<std::vector<double>>;

/// How often the 95% intervals of a change, over draws from all examples, hold the change over all:
/// the upper end of what that share may be.
double coverage_of(const std::vector<double>& after, const std::vector<double>& before,
                   const std::vector<double>& targets) {
  constexpr Index kDraws = 500;
  const double truth = paired_change(after, before, targets).change;
  Generator random(Key{3});
  Index held = 0, given = 0;
  for (Index draw = 0; draw < kDraws; ++draw) {
    std::vector<double> drawn[3];
    for (Index i = 0; i < kPairedExamples; ++i) {
      const auto b = static_cast<std::size_t>(random.below(std::ssize(after)));
      drawn[0].push_back(after[b]), drawn[1].push_back(before[b]), drawn[2].push_back(targets[b]);
    }
    const PairedChange change = paired_change(drawn[0], drawn[1], drawn[2]);
    given += change.enough();
    held += change.enough() && change.low <= truth && truth <= change.high;
  }
  std::cout << "  cost " << truth << ": " << held << " of " << given << "\n";
  if (given < kDraws / 2) return 1;
  const double share = static_cast<double>(held) / static_cast<double>(given);
  return share + 1.96 * std::sqrt(share * (1 - share) / static_cast<double>(given));
}

constexpr const char* kRelations = "relations:length=10,vocab=6,classes=3,relations=1+same";

Transformer trained_on(const Task& task) {
  Transformer model(small_config(task.shape(), "d_model=16"));
  initialize(model, streams::initial_values(1));
  Trainer(model, task, {.steps = 300, .batch = 32, .lr = 1e-2, .warmup = 15, .seed = 1}).run();
  return model;
}

/// A task with other examples.
class Redrawn : public TaskAround {
 public:
  Redrawn(const Task& task, Index draw) : TaskAround(task), draw_(draw) {}
  Example make(Key key, Index count, Split split) const override {
    return task_.make(key.fold(draw_), count, split);
  }

 private:
  Index draw_;
};

/// The cost of hidden edges, and how much it lies above that of random ones, over draws of
/// examples.
TEST(Coverage, OfHiddenGoldEdges) {
  constexpr Index kDraws = 120, kHead = 3;  // a head of the second layer
  const auto task = make_task(kInduction);
  const Transformer model = trained_on(*task);
  const HeadId head = all_heads(model)[kHead];
  const auto test = [&](Index draw, Index examples) {
    const Redrawn redrawn(*task, draw);
    return EdgeExperiment(model, redrawn, {.examples = examples, .draws = 1, .seed = draw})
        .test(0, {head});
  };
  const EdgeTest truth = test(kDraws, 16384);
  std::vector<EdgeTest> drawn;
  for (Index draw = 0; draw < kDraws; ++draw) drawn.push_back(test(draw, 256));
  for (PairedChange EdgeTest::*of : {&EdgeTest::gold, &EdgeTest::control, &EdgeTest::difference}) {
    Index held = 0, given = 0;
    for (const EdgeTest& one : drawn) {
      const PairedChange& found = one.*of;
      given += found.enough();
      held += found.enough() && found.low <= (truth.*of).change && (truth.*of).change <= found.high;
    }
    const double share = given > 0 ? static_cast<double>(held) / static_cast<double>(given) : 1;
    std::cout << "  hidden edges " << (truth.*of).change << ": " << held << " of " << given << "\n";
    EXPECT_GE(share + 1.96 * std::sqrt(share * (1 - share) / kDraws), 0.93);
  }
}

/// What two heads cost beyond what each costs, and beyond the sum of their effects.
TEST(Coverage, OfPairsOfTrainedHeads) {
  for (const char* spec : {kRelations, kInduction}) {
    const auto task = make_task(spec);
    const Transformer model = trained_on(*task);
    const Batch examples = held_out_examples(*task, 8192).batch;
    const HeadSet heads = all_heads(model);
    const std::vector<HeadPair> pairs = {{heads[0], heads[1]}, {heads[0], heads.back()}};
    const std::vector<double> targets = targets_by_example(examples);
    for (const Ablation::PairLosses& losses : Ablation(model, examples).pair_losses(pairs)) {
      EXPECT_GE(coverage_of(losses.joint, losses.independent, targets), 0.93) << spec;
      EXPECT_GE(coverage_of(losses.joint, losses.apart, targets), 0.93) << spec;
    }
  }
}

TEST(Coverage, OfTheCostOfTrainedHeads) {
  for (const char* spec : {kRelations, kInduction}) {
    const auto task = make_task(spec);
    const Transformer model = trained_on(*task);
    const Batch examples = held_out_examples(*task, 8192).batch;
    std::vector<HeadSet> sets = {{}};
    for (const HeadId& head : all_heads(model)) sets.push_back({head});
    const Losses losses = Ablation(model, examples).losses(sets);
    const std::vector<double> targets = targets_by_example(examples);
    for (std::size_t i = 1; i < sets.size(); ++i)
      EXPECT_GE(coverage_of(losses[i], losses[0], targets), 0.93) << spec << " " << i;
  }
}

}  // namespace
}  // namespace headlab
