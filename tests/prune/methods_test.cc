// Methods of pruning: what holds for each of the table, and each against a plain computation of
// what its row says.
#include "headlab/lab/prune/methods.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "headlab/core/tasks/table.h"
#include "headlab/lab/prune/curve.h"
#include "headlab/lab/prune/prune.h"
#include "support/golden_text.h"
#include "support/models.h"
#include "support/tasks.h"

namespace headlab { namespace {

/// Two layers of three heads and one without any, with large random weights.
class SixHeads {
 protected:
  SixHeads() : task_(make_task("relations:length=8,vocab=6,classes=3,relations=1+same")) {
    model_.emplace_back(
        random_model(small_config("layers=3 heads=3+0+3 d_head=4 vocab=6 length=8 targets=2")));
  }
  PruneProblem problem(std::int64_t seed = 0) {
    PruneProblem problem{.model = model_[0],
                         .task = *task_,
                         .settings = {.examples = 70, .seed = seed}};
    problem.train.steps = 30;
    problem.train.batch = 4;
    problem.train.warmup = 3;
    problem.settings.gate_steps = 20;
    return problem;
  }
  /// The examples on which heads are chosen.
  Batch examples() const { return task_->make(Key{}.fold("prune"), 70, Split::train).batch; }

  std::unique_ptr<Task> task_;
  std::vector<Transformer> model_;  // one
};

class EveryMethod : public SixHeads, public testing::TestWithParam<PruneMethod> {};

std::string method_name(const testing::TestParamInfo<PruneMethod>& test) { return test.param.name; }
INSTANTIATE_TEST_SUITE_P(Table, EveryMethod,
                         testing::ValuesIn(prune_table().begin(), prune_table().end()),
                         method_name);

/// The heads in the order in which smaller and smaller sizes lose them.
std::vector<HeadId> removal_order(const PruneProblem& problem, const PruneMethod& method) {
  std::vector<HeadId> left = all_heads(problem.model), order;
  std::vector<Index> sizes;
  for (Index size = std::ssize(left) - 1; size >= 0; --size) sizes.push_back(size);
  for (const Choice& choice : choose_heads(problem, method, sizes)) {
    for (const HeadId& head : left)
      if (std::find(choice.kept.begin(), choice.kept.end(), head) == choice.kept.end())
        order.push_back(head);
    left = choice.kept;
  }
  return order;
}

TEST_P(EveryMethod, KeepsAsManyDistinctHeadsAsAreAskedInTheOrderOfTheModel) {
  const std::vector<HeadId> heads = all_heads(model_[0]);
  const std::vector<Index> sizes = {4, 0, 6, 2, 2};
  const std::vector<Choice> choices = choose_heads(problem(), GetParam(), sizes);
  ASSERT_EQ(choices.size(), sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    ASSERT_EQ(std::ssize(choices[i].kept), sizes[i]);
    auto from = heads.begin();
    for (const HeadId& head : choices[i].kept) {
      from = std::find(from, heads.end(), head);
      ASSERT_NE(from, heads.end())
          << head.attention_layer << "." << head.head << " is out of order";
      ++from;
    }
  }
  EXPECT_EQ(choices[3].kept, choices[4].kept);
}

/// All that a method makes of its examples: scores, what it keeps, and the weights that it trains.
std::vector<double> found_by(const PruneMethod& method, const PruneProblem& problem) {
  PassCount cost;
  if (method.scores != nullptr) return method.scores(problem, cost);
  std::vector<Index> sizes = {5, 4, 3, 2, 1};
  if (method.kind == MethodKind::training) sizes = {3};
  std::vector<double> found;
  for (const Choice& choice : choose_heads(problem, method, sizes)) {
    for (const HeadId& head : choice.kept)
      found.push_back(static_cast<double>(head.attention_layer * 10 + head.head));
    if (choice.trained == nullptr) continue;
    for (const Tensor& parameter : parameters_of(*choice.trained))
      std::ranges::copy(numbers(parameter), std::back_inserter(found));
  }
  return found;
}

/// The best subset for the answers of one split is not the best for those of the other.
TEST_P(EveryMethod, ChoosesOnTrainingExamplesAndOnNoOthers) {
  const std::shared_ptr<const Task> task = make_task(task_->spec());
  const auto mirrored = std::make_shared<Mirrored>(task);
  const auto found_on = [&](const auto& on_train, const auto& elsewhere) {
    const TaskBySplit both(on_train, elsewhere);
    const PruneProblem all = problem();
    return found_by(GetParam(), {all.model, both, all.settings, all.train});
  };
  const std::vector<double> right = found_on(task, task);
  EXPECT_EQ(found_on(task, mirrored), right);
  const bool same = found_on(mirrored, task) == right;
  EXPECT_EQ(same, mirrored->asked == 0) << "it looks at " << mirrored->asked << " examples";
}

TEST_P(EveryMethod, ChoosesTheSameForOneSizeAsForMany) {
  const std::vector<Index> all = {1, 2, 3, 4, 5}, one = {3};
  EXPECT_EQ(choose_heads(problem(), GetParam(), one)[0].kept,
            choose_heads(problem(), GetParam(), all)[2].kept);
}

TEST_P(EveryMethod, LeavesEachAttentionLayerItsMinimum) {
  PruneProblem two = problem();
  two.settings.per_layer_min = 2;
  const std::vector<Index> sizes = {4, 5};
  for (const Choice& choice : choose_heads(two, GetParam(), sizes)) {
    for (const Index layer : {0, 2}) {
      const auto in_layer = [&](const HeadId& head) { return head.attention_layer == layer; };
      EXPECT_GE(std::count_if(choice.kept.begin(), choice.kept.end(), in_layer), 2);
    }
  }
  EXPECT_EQ(fewest_heads(two), 4);
  const std::vector<Index> fewer = {3};
  expect_error([&] { choose_heads(two, GetParam(), fewer); }, {"cannot keep 3 heads", "keep 4"});
}

TEST_P(EveryMethod, RefusesMoreHeadsThanThereAre) {
  for (const Index size : {7, -1}) {
    expect_error([&] { choose_heads(problem(), GetParam(), size); },
                 {text("cannot keep ", size, " heads: the model has 6")});
  }
}

/// The cost that a method states, and how many sequences go forward at least and at most when it
/// keeps 3 of 6 heads on 70 examples, or trains for 20 or 30 steps of 4.
struct StatedCost {
  const char* words;
  Index least, most;
};
constexpr StatedCost kStatedCosts[] = {
    {"no pass", 0, 0},
    {"no pass at all", 0, 0},
    {"1 forward pass", 70, 70},
    {"1 backward pass", 70, 70},
    {"H backward passes", 3 * 70, 3 * 70},  // one for each removal
    {"H forward passes", 7 * 70, 8 * 70},   // the loss with all heads, and means of outputs, on top
    {"H^2/2 forward passes", 15 * 70, 15 * 70},
    {"2^H forward passes, H <= 16", 20 * 70, 20 * 70},  // of the size that is asked for
    {"gate_steps of training", 20 * 4, 20 * 4},
    {"gate_steps of training for each size", 20 * 4, 20 * 4},
    {"a whole training for each size", 30 * 4, 30 * 4},
};

TEST_P(EveryMethod, CostsThePassesThatItsRowStates) {
  PassCount cost;
  const std::vector<Index> sizes = {3};
  choose_heads(problem(), GetParam(), sizes, &cost);
  const std::string summary = GetParam().summary;
  const std::string words = summary.substr(summary.rfind("; ") + 2);
  const auto stated = std::ranges::find(kStatedCosts, words, &StatedCost::words);
  ASSERT_NE(stated, std::end(kStatedCosts)) << "a summary ends in its cost, not in: " << words;
  EXPECT_GE(cost.forward, stated->least);
  EXPECT_LE(cost.forward, stated->most);
  const bool goes_back =
      words.find("backward pass") != words.npos || words.find("training") != words.npos;
  EXPECT_EQ(cost.backward, goes_back ? cost.forward : 0);
}

TEST_P(EveryMethod, GivesItsTrainedModelIfItTrains) {
  const Index size = 3;
  const Choice choice = choose_heads(problem(), GetParam(), size);
  ASSERT_EQ(choice.trained != nullptr, GetParam().kind == MethodKind::training);
  if (choice.trained == nullptr) return;
  EXPECT_EQ(all_heads(*choice.trained), all_heads(model_[0]));
  EXPECT_TRUE(std::isfinite(choice.trained->loss(examples()).item()));
}

TEST_P(EveryMethod, LeavesTheModelAsItWas) {
  const std::vector<double> before = values_without_gradients(model_[0]);
  const Index size = 3;
  choose_heads(problem(), GetParam(), size);
  EXPECT_EQ(values_without_gradients(model_[0]), before);
}

TEST_P(EveryMethod, UsesOriginalIndicesOfPrunedHeads) {
  const std::vector<HeadId> left = {{0, 2}, {2, 0}, {2, 1}};
  Transformer pruned = remove_heads(model_[0], left);
  EXPECT_EQ(all_heads(pruned), left);
  PruneProblem rest{pruned, *task_, {.examples = 70}};
  rest.train = problem().train;
  rest.settings.gate_steps = 5;
  const std::vector<HeadId> order = removal_order(rest, GetParam());
  for (const HeadId& head : left) EXPECT_GE(std::count(order.begin(), order.end(), head), 1);
}

TEST_P(EveryMethod, HasANameAndADescription) {
  EXPECT_EQ(&find_prune_method(GetParam().name) - prune_table().data(),
            std::find_if(prune_table().begin(), prune_table().end(), [](const PruneMethod& row) {
              return std::string(row.name) == GetParam().name;
            }) - prune_table().begin());
  EXPECT_NE(GetParam().scores == nullptr, GetParam().choose == nullptr);
  EXPECT_GT(std::string(GetParam().summary).size(), 10u);
}

class Method : public SixHeads, public testing::Test {
 protected:
  /// The loss of the model without all heads but these.
  double loss_without_others(const std::vector<HeadId>& kept) {
    const NoGrad no_grad;
    return static_cast<double>(remove_heads(model_[0], kept).loss(examples()).item());
  }
};

TEST_F(Method, L0RanksHeadsWhoseGatesAreAllShutByHowFar) {
  PruneProblem shut = problem();
  shut.settings.penalty = 1000;
  shut.settings.gate_steps = 300;
  const TrainedGates trained = train_gates(shut);
  EXPECT_EQ(trained.gates, std::vector<double>(6, 0));
  for (const AttentionLayer& attention_layer : trained.model->attention_layers())
    for (const double weight : numbers(attention_layer.attention->O.W)) ASSERT_EQ(weight, 0);
  std::vector<std::size_t> order(6);
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, std::greater(), [&](std::size_t i) { return trained.log_alpha[i]; });
  const std::vector<HeadId> all = all_heads(model_[0]);
  std::sort(order.begin(), order.begin() + 2);
  const std::vector<HeadId> expected = {all[order[0]], all[order[1]]};
  const Index size = 2;
  EXPECT_EQ(choose_heads(shut, find_prune_method("l0"), size).kept, expected);
  EXPECT_NE(expected, (std::vector<HeadId>{all[0], all[1]})) << "ranked by place";
}

TEST_F(Method, AblationPassesOnceMoreForWhatTakesTheOutputsPlace) {
  for (const auto& [name, passes] : std::map<std::string, Index>{{"ablation", 7},
                                                                 {"ablation_mean", 8},
                                                                 {"ablation_resample", 8}}) {
    PassCount cost;
    find_prune_method(name).scores(problem(), cost);
    EXPECT_EQ(cost.forward, passes * 70) << name;
  }
}

TEST_F(Method, SettingsEqualTheGoldenFiles) {
  PruneSettings settings;
  CurveOptions curve;
  expect_golden("prune/prune_settings.json", settings_of(settings).to_json().dump(2) + "\n");
  expect_golden("prune/curve_settings.json", settings_of(curve).to_json().dump(2) + "\n");
}

TEST_F(Method, AreTheRowsOfAllFilesEachOnce) {
  std::vector<std::string> names;
  for (const PruneMethod& method : prune_table()) names.emplace_back(method.name);
  EXPECT_EQ(names.front(), "random");
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

TEST_F(Method, SaysWhichSizesDoNotFit) {
  PruneProblem one = problem();
  one.settings.per_layer_min = 1;
  const std::vector<Index> fits = {2, 6}, small = {3, 1}, large = {7};
  EXPECT_NO_THROW(check_sizes(one, fits));
  expect_error([&] { check_sizes(one, small); }, {"cannot keep 1 heads", "keep 2 at least"});
  expect_error([&] { check_sizes(one, large); }, {"cannot keep 7 heads", "has 6 heads"});
}

TEST_F(Method, GreedyRemovesTheHeadThatCostsLeastAgainAndAgain) {
  std::vector<HeadId> left = all_heads(model_[0]), expected;
  while (!left.empty()) {
    std::vector<double> losses;
    for (std::size_t i = 0; i < left.size(); ++i) {
      std::vector<HeadId> others = left;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      losses.push_back(loss_without_others(others));
    }
    const auto best = std::min_element(losses.begin(), losses.end()) - losses.begin();
    expected.push_back(left[static_cast<std::size_t>(best)]);
    left.erase(left.begin() + best);
  }
  EXPECT_EQ(removal_order(problem(), find_prune_method("greedy")), expected);
}

TEST_F(Method, StepwiseImportanceIsThatOfTheModelWithoutTheHeadsRemovedBefore) {
  std::vector<HeadId> left = all_heads(model_[0]), expected;
  while (!left.empty()) {
    const Transformer pruned = remove_heads(model_[0], left);
    PassCount cost;
    const std::vector<double> scores =
        find_prune_method("importance").scores({pruned, *task_, {.examples = 70}}, cost);
    const auto lowest = std::min_element(scores.begin(), scores.end()) - scores.begin();
    expected.push_back(left[static_cast<std::size_t>(lowest)]);
    left.erase(left.begin() + lowest);
  }
  EXPECT_EQ(removal_order(problem(), find_prune_method("importance_stepwise")), expected);
  EXPECT_NE(removal_order(problem(), find_prune_method("importance")), expected);
}

/// d(loss of one example, summed over its targets)/d(gate of head h), by central differences.
double sensitivity(Transformer& model, const Batch& example, std::size_t h) {
  const NoGrad no_grad;
  const double e = 1e-2;  // the loss is near 20: rounding 2e-6 / 2e-2 = 1e-4, curvature e^2
  double loss[2] = {};
  for (const int side : {0, 1}) {
    const std::vector<HeadId> heads = all_heads(model);
    ModelHooks hooks{.interventions = gates_for(model, heads)};
    Scalar* gate =
        hooks.interventions[static_cast<std::size_t>(heads[h].attention_layer)].gate.data();
    gate[heads[h].head] = static_cast<Scalar>(side == 0 ? 1 - e : 1 + e);
    loss[side] = static_cast<double>(model.loss(example, {}, hooks, 1).item());
  }
  return (loss[1] - loss[0]) / (2 * e);
}

TEST_F(Method, ImportanceIsTheMeanOverExamplesOfTheSlopeOfTheirLoss) {
  const std::vector<HeadId> heads = all_heads(model_[0]);
  const Batch all = examples();
  std::vector<double> scores(heads.size());
  for (std::size_t h = 0; h < heads.size(); ++h)
    for (Index b = 0; b < all.size; ++b)
      scores[h] += std::abs(sensitivity(model_[0], all.rows(b, b + 1), h));
  for (const std::size_t first : {std::size_t{0}, std::size_t{3}}) {  // each layer by its own norm
    const double norm = std::hypot(scores[first], scores[first + 1], scores[first + 2]);
    for (std::size_t h = first; h < first + 3; ++h) scores[h] /= norm;
  }
  std::vector<std::size_t> order(heads.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return scores[a] < scores[b]; });
  std::vector<HeadId> expected;
  for (std::size_t i = 0; i < order.size(); ++i) {
    expected.push_back(heads[order[i]]);
    if (i > 0) {
      ASSERT_GT(scores[order[i]] - scores[order[i - 1]], 1e-3) << "too close to tell";
    }
  }
  EXPECT_EQ(removal_order(problem(), find_prune_method("importance")), expected);
}

TEST_F(Method, MagnitudeIsTheNormOfTheRowsOfWO) {
  const std::vector<double> sizes = {3, 1, 2, 0.5, 4, 0.1};  // of the six heads
  std::size_t head = 0;
  for (const AttentionLayer& attention_layer : model_[0].attention_layers()) {
    const Tensor W = attention_layer.attention->O.W;
    const Index elements = 4 * W.size(1);
    for (Index h = 0; h < attention_layer.attention->head_count(); ++h, ++head) {
      double norm = 0;
      for (Index i = 0; i < elements; ++i)
        norm += std::pow(static_cast<double>(W.data()[h * elements + i]), 2);
      for (Index i = 0; i < elements; ++i)
        W.data()[h * elements + i] *= static_cast<Scalar>(sizes[head] / std::sqrt(norm));
    }
  }
  const std::vector<HeadId> expected = {{2, 2}, {2, 0}, {0, 1}, {0, 2}, {0, 0}, {2, 1}};
  EXPECT_EQ(removal_order(problem(), find_prune_method("magnitude")), expected);
}

TEST_F(Method, RandomDependsOnItsSeedAloneAndDrawsEveryHead) {
  const PruneMethod& random = find_prune_method("random");
  std::vector<int> first(3 * 3);
  for (std::int64_t seed = 0; seed < 100; ++seed) {
    const std::vector<HeadId> order = removal_order(problem(seed), random);
    EXPECT_EQ(removal_order(problem(seed), random), order);
    ++first[static_cast<std::size_t>(order[0].attention_layer * 3 + order[0].head)];
  }
  for (const HeadId& head : all_heads(model_[0]))
    EXPECT_GE(first[static_cast<std::size_t>(head.attention_layer * 3 + head.head)],
              5);  // 17 on average
}

TEST_F(Method, GatesAreOpenForKeptHeadsAlone) {
  const std::vector<HeadId> kept = {{0, 1}, {2, 2}};
  const std::vector<HeadInterventions> interventions = gates_for(model_[0], kept);
  ASSERT_EQ(interventions.size(), 3u);
  EXPECT_EQ(numbers(interventions[0].gate), (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(interventions[1].gate.count(), 0);
  EXPECT_EQ(numbers(interventions[2].gate), (std::vector<double>{0, 0, 1}));
}

}  // namespace
}  // namespace headlab
