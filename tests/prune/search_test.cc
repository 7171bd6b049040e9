// Searches against plain ones, and gates against their formulas: what a method finds must be what
// its row in the table says.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "headlab/core/base/error.h"
#include "headlab/core/ops/ops.h"
#include "headlab/core/tasks/table.h"
#include "headlab/core/train/trainer.h"
#include "headlab/lab/prune/methods.h"
#include "headlab/lab/prune/prune.h"
#include "support/induction_pair.h"
#include "support/models.h"
#include "support/tasks.h"

namespace headlab { namespace {

class Search : public testing::Test {
 protected:
  Search() : task_(make_task("relations:length=8,vocab=6,classes=3,relations=1+same")) {
    model_.emplace_back(
        random_model(small_config("layers=2 heads=2+3 d_head=4 vocab=6 length=8 targets=2")));
  }
  PruneProblem problem() {
    return {.model = model_[0], .task = *task_, .settings = {.examples = 40}};
  }
  /// The loss on the choosing examples of the model without all other heads.
  double loss_of(const std::vector<HeadId>& kept) {
    const NoGrad no_grad;
    const Batch batch = task_->make(Key{}.fold("prune"), 40, Split::train).batch;
    return static_cast<double>(remove_heads(model_[0], kept).loss(batch).item());
  }
  std::vector<HeadId> kept_by(const char* method, Index size) {
    return choose_heads(problem(), find_prune_method(method), size).kept;
  }

  std::unique_ptr<Task> task_;
  std::vector<Transformer> model_;  // one
};

TEST_F(Search, ExhaustiveFindsTheSubsetWithTheLowestLossOfEachSize) {
  const std::vector<HeadId> heads = all_heads(model_[0]);
  std::map<std::size_t, std::pair<double, std::vector<HeadId>>> best;
  for (unsigned mask = 0; mask < 32; ++mask) {
    std::vector<HeadId> kept;
    for (std::size_t h = 0; h < 5; ++h)
      if ((mask >> h & 1U) != 0) kept.push_back(heads[h]);
    const double loss = loss_of(kept);
    const auto found = best.find(kept.size());
    if (found == best.end() || loss < found->second.first) best[kept.size()] = {loss, kept};
  }
  for (const auto& [size, winner] : best)
    EXPECT_EQ(kept_by("exhaustive", static_cast<Index>(size)), winner.second) << size;
}

TEST_F(Search, ForwardAddsTheHeadThatHelpsMostAgainAndAgain) {
  std::vector<HeadId> kept;
  for (Index size = 1; size <= 5; ++size) {
    std::pair<double, std::vector<HeadId>> best{1e9, {}};
    for (const HeadId& head : all_heads(model_[0])) {
      if (std::find(kept.begin(), kept.end(), head) != kept.end()) continue;
      std::vector<HeadId> more = kept;
      more.push_back(head);
      if (loss_of(more) < best.first) best = {loss_of(more), more};
    }
    kept = best.second;
    EXPECT_EQ(loss_of(kept_by("forward", size)), loss_of(kept)) << size;
  }
}

TEST_F(Search, RefusesToTryAllSubsetsOfSeventeenHeads) {
  TransformerConfig config = model_[0].config();
  config.heads = {9, 8};
  Transformer large = random_model(config);
  const Index size = 4;
  expect_error(
      [&] {
        choose_heads({.model = large, .task = *task_}, find_prune_method("exhaustive"), size);
      },
      {"17 heads", "2^17", "greedy"});
}

TEST_F(Search, KeepsTheFewestHeadsWithinTheRiseThatIsAllowed) {
  Trainer(model_[0], *task_, {.steps = 150, .batch = 32, .lr = 1e-2, .warmup = 15}).run();
  const double full = loss_of(all_heads(model_[0]));
  std::vector<double> rises;  // of the greedy choice, by the number of heads that it keeps
  for (Index size = 0; size <= 5; ++size) rises.push_back(loss_of(kept_by("greedy", size)) - full);
  std::set<std::ptrdiff_t> sizes;
  for (const double rise : rises) {
    const double allowed = std::max(0.0, rise + 1e-6);
    const auto fewest = std::ranges::find_if(rises, [&](double r) { return r <= allowed; });
    const Choice choice = choose_heads(problem(), {.max_loss_rise = allowed});
    EXPECT_EQ(std::ssize(choice.kept), fewest - rises.begin()) << allowed;
    sizes.insert(fewest - rises.begin());
  }
  EXPECT_GE(sizes.size(), 3u) << "rises that allow different sizes";
}

TEST(SearchWithinARise, KeepsAllHeadsWhereEachIsNeededOnTrainingExamples) {
  const std::shared_ptr<const Task> task = make_task(kInduction);
  const Transformer pair = induction_pair(task->shape());
  const auto other = std::make_shared<Mirrored>(task);  // whose answers no head helps to find
  const auto kept_on = [&](const auto& on_train, const auto& elsewhere) {
    return choose_heads({.model = pair, .task = TaskBySplit(on_train, elsewhere)},
                        {.max_loss_rise = 0.0})
        .kept;
  };
  EXPECT_EQ(kept_on(task, other), all_heads(pair));
  EXPECT_LT(kept_on(other, task).size(), 2u);
}

TEST_F(Search, DropsAShareOfTheHeadsRoundedDown) {
  const std::vector<std::pair<double, std::size_t>> left = {
      {0, 5}, {19.9, 5}, {20, 4}, {50, 3}, {100, 0}};
  for (const auto& [drop, kept] : left)
    EXPECT_EQ(choose_heads(problem(), {.drop = drop}).kept.size(), kept) << drop;
  expect_error([&] { choose_heads(problem(), {.drop = 101}); },
               {"101 percent", "expected 0 to 100"});
}

TEST_F(Search, NeedsTheNumberOfHeadsExactlyOnce) {
  expect_error([&] { choose_heads(problem(), PruneOptions{}); }, {"one of keep", "got 0"});
  expect_error([&] { choose_heads(problem(), {.keep = 2, .drop = 10}); }, {"got 2"});
}

// ---- gates -------------------------------------------------------------------------------

TEST(HardConcrete, IsOpenWithTheProbabilityThatItsPenaltyCounts) {
  for (const double log_alpha : {-2.0, 0.0, 1.5}) {
    const Tensor logits = Tensor::full({20000}, static_cast<Scalar>(log_alpha));
    double open = 0;
    for (const double gate : numbers(HardConcrete::sample(logits, Key{7}))) {
      EXPECT_GE(gate, 0);
      EXPECT_LE(gate, 1);
      open += gate > 0 ? 1 : 0;
    }
    const double p = numbers(HardConcrete::open_probability(logits))[0];
    EXPECT_NEAR(p, 1 / (1 + std::exp(-(log_alpha - 0.33 * std::log(0.1 / 1.1)))), 1e-6);
    EXPECT_NEAR(open / 20000, p, 4 * std::sqrt(p * (1 - p) / 20000)) << log_alpha;
  }
}

TEST(HardConcrete, IsSharpWithoutNoise) {
  EXPECT_EQ(HardConcrete::final_gate(-2.4), 0);  // Voita et al. 2019: 0 at most at -2.40
  EXPECT_GT(HardConcrete::final_gate(-2.39), 0);
  EXPECT_EQ(HardConcrete::final_gate(2.4), 1);
  EXPECT_LT(HardConcrete::final_gate(2.39), 1);
  EXPECT_NEAR(HardConcrete::final_gate(0), 0.5, 1e-12);
}

TEST(HardConcrete, HasTheSlopeOfItsFormula) {
  constexpr Index kGates = 40;
  Tensor logits = Tensor::full({kGates}, Scalar(0.3));
  logits.set_requires_grad();
  const Key key{3};
  const std::vector<double> gates = numbers(HardConcrete::sample(logits, key));
  backward(sum(HardConcrete::sample(logits, key)));
  int between = 0;
  for (std::size_t i = 0; i < kGates; ++i) {
    const auto slope = static_cast<double>(logits.grad().values()[i]);
    const bool inside = gates[i] > 0 && gates[i] < 1;
    const double s = (gates[i] + 0.1) / 1.2;
    EXPECT_NEAR(slope, inside ? 1.2 * s * (1 - s) / 0.33 : 0, 1e-4) << gates[i];
    between += inside ? 1 : 0;
  }
  EXPECT_GT(between, 5);
}

TEST(SoftTopK, GrowsColderByTheSameFactorAtEveryStep) {
  EXPECT_EQ(subset_temperature(0, 101), 1);
  EXPECT_NEAR(subset_temperature(50, 101), std::sqrt(0.05), 1e-12);
  EXPECT_NEAR(subset_temperature(100, 101), 0.05, 1e-12);
  EXPECT_EQ(subset_temperature(0, 1), 1);
}

TEST(SoftTopK, SumsToItsBudgetAndNearlyPicksTheLargestWhenCold) {
  const Tensor logits = Tensor::of({5}, {Scalar(0.1), 2, -1, 1.5, Scalar(0.4)});
  for (const Index k : {0, 1, 2, 3, 5}) {
    const std::vector<double> gates = numbers(soft_top_k(logits, k, Scalar(0.5)));
    double total = 0;
    for (const double gate : gates) total += gate;
    EXPECT_NEAR(total, static_cast<double>(k), 1e-5);
  }
  const std::vector<double> two = numbers(soft_top_k(logits, 2, Scalar(0.02)));
  const std::vector<double> largest = {0, 1, 0, 1, 0};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(two[i], largest[i], 1e-4) << i;
}

}  // namespace
}  // namespace headlab
