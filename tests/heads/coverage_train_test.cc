// Whether the intervals of trained models hold the truth: a head's cost is known from very many
// examples, and intervals are made from draws of as many as a command judges.
#include <cmath>
#include <iostream>

#include "headlab/core/base/text.h"
#include "headlab/core/model/initial.h"
#include "headlab/core/tasks/table.h"
#include "headlab/core/train/evaluate.h"
#include "headlab/core/train/streams.h"
#include "headlab/core/train/trainer.h"
#include "headlab/lab/heads/causes/truth_edges.h"
#include "headlab/lab/results/statistics.h"
#include "headlab/lab/runs/run_config.h"
#include "support/induction_pair.h"
#include "support/models.h"
#include "support/tasks.h"

namespace headlab { namespace {

using Losses = std::vector<std::vector<double>>;

/// The rate at which intervals of draws contain the truth.
struct Held {
  Index held = 0, given = 0, draws = 0;

  double share() const { return static_cast<double>(held) / static_cast<double>(given); }
  /// Whether at least a tenth of the draws have an interval; fewer say nothing of a rule.
  bool is_judged() const { return 10 * given >= draws; }
  /// The lower end of the 95% interval of Wilson of the share.
  double low() const {
    std::vector<double> all(static_cast<std::size_t>(given), 0.0);
    std::fill_n(all.begin(), held, 1.0);
    return share_interval(all).low;
  }
};

/// Returns the rate at which the 95% intervals of a change, over draws from all examples, contain
/// the change over all.
Held coverage_of(const std::vector<double>& after, const std::vector<double>& before,
                 const std::vector<double>& targets) {
  constexpr Index kDraws = 2000;
  const double truth = paired_change(after, before, targets).change;
  Generator random(Key{3});
  Held held{.draws = kDraws};
  std::vector<double> drawn_after(kPairedExamples);
  std::vector<double> drawn_before(kPairedExamples);
  std::vector<double> drawn_targets(kPairedExamples);
  for (Index draw = 0; draw < kDraws; ++draw) {
    for (std::size_t i = 0; i < drawn_after.size(); ++i) {
      const auto b = static_cast<std::size_t>(random.below(std::ssize(after)));
      drawn_after[i] = after[b];
      drawn_before[i] = before[b];
      drawn_targets[i] = targets[b];
    }
    const PairedChange change = paired_change(drawn_after, drawn_before, drawn_targets);
    held.given += change.enough();
    held.held += change.enough() && change.low <= truth && truth <= change.high;
  }
  std::cout << "  cost " << truth << ": " << held.held << " of " << held.given << "\n";
  return held;
}

/// The lower end of the coverage is at least 93%, if intervals are given.
void expect_covered(const Held& held, const std::string& what) {
  if (held.is_judged()) {
    EXPECT_GE(held.low(), 0.93) << what;
  }
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

/// The cost of masked edges, and how much it lies above that of random ones, over draws of
/// examples.
TEST(Coverage, IntervalsOfMaskedEdgesHoldTheTrueCost) {
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
  for (PairedChange EdgeTest::*of : {&EdgeTest::truth, &EdgeTest::random, &EdgeTest::difference}) {
    Index held = 0, given = 0;
    for (const EdgeTest& one : drawn) {
      const PairedChange& found = one.*of;
      given += found.enough();
      held += found.enough() && found.low <= (truth.*of).change && (truth.*of).change <= found.high;
    }
    const double share = given > 0 ? static_cast<double>(held) / static_cast<double>(given) : 1;
    std::cout << "  masked edges " << (truth.*of).change << ": " << held << " of " << given << "\n";
    EXPECT_GE(share + 1.96 * std::sqrt(share * (1 - share) / kDraws), 0.93);
  }
}

/// The cost of two heads beyond the cost of each, and beyond the sum of their effects.
TEST(Coverage, IntervalsOfPairsHoldTheTrueValue) {
  for (const char* spec : {kRelations, kInduction}) {
    const auto task = make_task(spec);
    const Transformer model = trained_on(*task);
    const Batch examples = held_out_examples(*task, 8192).batch;
    const HeadSet heads = all_heads(model);
    const std::vector<HeadPair> pairs = {{heads[0], heads[1]}, {heads[0], heads.back()}};
    const std::vector<double> targets = targets_by_example(examples);
    for (const Ablation::PairLosses& losses : Ablation(model, examples).pair_losses(pairs)) {
      expect_covered(coverage_of(losses.joint, losses.independent, targets), spec);
      expect_covered(coverage_of(losses.joint, losses.apart, targets), spec);
    }
  }
}

/// The intervals of what the heads of a model cost, which is trained first.
std::vector<Held> coverage_of_heads(RunConfig config) {
  const auto task = fit_to_task(config);
  Transformer model(config.model);
  initialize(model, streams::initial_values(config.train.seed));
  Trainer(model, *task, config.train).run();
  const Batch examples = held_out_examples(*task, 20000).batch;
  const std::vector<HeadSet> sets = single_sets(all_heads(model));
  const Losses losses = Ablation(model, examples).losses(sets);
  const std::vector<double> targets = targets_by_example(examples);
  std::vector<Held> heads;
  for (std::size_t i = 1; i < sets.size(); ++i) {
    heads.push_back(coverage_of(losses[i], losses[0], targets));
    expect_covered(heads.back(), text(config.task, ", head ", i - 1));
  }
  return heads;
}

// Models of six tasks, trained as recommended: their heavy tails come late in training.
TEST(Coverage, IntervalsOfAblationHoldTheTrueCost) {
  Index judged = 0;
  for (const char* name : {"induction", "relations", "sort", "brackets", "recall", "english"}) {
    RunConfig config = recommended_config(name);
    config.train.seed = 77;
    judged += std::ranges::count_if(coverage_of_heads(config), &Held::is_judged);
  }
  EXPECT_GE(judged, 10) << "most heads of some models have intervals";
}

// Most of these heads cost much in few examples and little in the others: samples that lack the few
// look harmless.
TEST(Coverage, IntervalsOfSkewedHeadsHoldOrAreNotGiven) {
  Held all;
  for (const Index seed : {77, 101}) {
    RunConfig config = recommended_config("induction");
    config.model.heads = {4};
    config.train.seed = seed;
    for (const Held& head : coverage_of_heads(config)) {
      all.held += head.held;
      all.given += head.given;
    }
  }
  std::cout << "  together: " << all.held << " of " << all.given << "\n";
  EXPECT_GE(all.low(), 0.93);
}

}  // namespace
}  // namespace headlab
