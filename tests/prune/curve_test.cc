// Curves: what holds for any model (the exhaustive choice is the best, ablation ranks like itself),
// the summaries against sums by hand, and that the run is only read.
#include "headlab/lab/prune/curve.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "headlab/core/model/initial.h"
#include "headlab/core/train/streams.h"
#include "headlab/lab/heads/causes/ablation.h"
#include "headlab/lab/heads/causes/interventions.h"
#include "headlab/lab/heads/scores/scores.h"
#include "support/induction_pair.h"
#include "support/models.h"
#include "support/runs.h"
#include "support/tasks.h"

namespace headlab { namespace {

/// A run of two layers with two heads each, trained a little.
class SmallCurve : public testing::Test {
 protected:
  SmallCurve() : run_(create_run(folder_ / "run", config())) { train_run(run_); }
  static RunConfig config() {
    return tiny_config("layers=2 heads=2+2 d_head=4 steps=40 eval_examples=30");
  }
  Curve curve(CurveOptions options) {
    options.settings.examples = 30;
    options.settings.gate_steps = 10;
    return prune_curve(run_, options);
  }
  const MethodCurve& find(const Curve& curve, std::string_view name) {
    for (const MethodCurve& method : curve.methods)
      if (method.method == name) return method;
    throw Error(text("no curve of ", name));
  }

  TemporaryFolder folder_;
  TrainedRun run_;
};

TEST_F(SmallCurve, HasEveryMethodThatNeedsNoTrainingAndEverySizeByItself) {
  const Curve all = curve({});
  std::size_t untrained = 0;
  for (const PruneMethod& method : prune_table())
    untrained += method.kind == MethodKind::training ? 0 : 1;
  EXPECT_EQ(all.methods.size(), untrained);
  EXPECT_EQ(all.heads, 4);
  EXPECT_EQ(all.needed, 2);
  for (const MethodCurve& method : all.methods) {
    ASSERT_EQ(method.points.size(), 5u);
    EXPECT_DOUBLE_EQ(method.points[0].pruned.loss, all.none.loss);
    EXPECT_DOUBLE_EQ(method.points[4].pruned.loss, all.full.loss);
    for (Index kept = 0; kept <= 4; ++kept)
      EXPECT_EQ(method.points[static_cast<std::size_t>(kept)].kept, kept);
  }
}

TEST_F(SmallCurve, KeepsTheLossOfEverySubset) {
  const Curve all = curve({.methods = {"exhaustive"}});
  ASSERT_TRUE(all.subsets.has_value());
  const SubsetTable& table = *all.subsets;
  EXPECT_EQ(table.heads, all_heads(run_.model));
  ASSERT_EQ(table.losses.size(), 16u);
  const Ablation ablation(run_.model, held_out_examples(*run_.task, 512).batch);
  const std::vector<HeadSet> ablated = {{}, {table.heads[0], table.heads[2]}, table.heads};
  const std::vector<double> losses = ablation.mean_losses(ablated);
  EXPECT_DOUBLE_EQ(table.losses[15], losses[0]);
  EXPECT_DOUBLE_EQ(table.losses[0b1010], losses[1]);
  EXPECT_DOUBLE_EQ(table.losses[0], losses[2]);
  const Json json = all;
  EXPECT_EQ(json.at("subsets").at("losses").items().size(), 16u);
  EXPECT_FALSE(curve({.methods = {"greedy"}}).subsets.has_value()) << "nothing was searched";
}

TEST(Owners, OwnersInACurveEqualOwnersInHeads) {
  const TemporaryFolder folder;
  RunConfig config = tiny_config(std::string("task=") + kInduction);
  const Transformer model = induction_pair(make_task(config.task)->shape());
  config.model = model.config();
  const TrainedRun run = create_run(folder.path() / "a", config, model);
  const HeadsReport report = score_heads(run.model, *run.task);
  Json owners = Json::object();
  for (const RelationWinner& winner : report.relations) {
    ASSERT_TRUE(winner.owned) << winner.relation.name;
    const HeadId owner = report.heads[winner.best];
    owners[winner.relation.name] = Json::Array{Json::Array{owner.attention_layer, owner.head}};
  }
  EXPECT_EQ(prune_curve(run, {.methods = {"magnitude"}}).owners.dump(), owners.dump());
}

TEST(SubsetTable, SaysOnHowManyExamplesSubsetsWereJudged) {
  RunConfig config = tiny_config();
  config.task = "text:length=64";
  const auto task = fit_to_task(config);
  const SubsetTable table = judge_all_subsets(Transformer(config.model), *task, 512);
  ASSERT_LT(task->different(Split::validation), 512);
  EXPECT_EQ(table.examples, task->different(Split::validation));
}

TEST_F(SmallCurve, JudgesWhatIsLeftOnHeldOutExamples) {
  const Curve one = curve({.methods = {"greedy"}, .sizes = {2}});
  const CurvePoint& point = one.methods[0].points[0];
  const Transformer pruned = remove_heads(run_.model, point.heads);
  const Evaluation judged = evaluate(pruned, *run_.task, {.examples = 30});
  EXPECT_EQ(point.pruned.loss, judged.loss);
  EXPECT_EQ(point.pruned.accuracy, judged.accuracy);
  const Curve other = curve({.methods = {"greedy"}, .sizes = {2}, .test_split = true});
  EXPECT_EQ(other.methods[0].points[0].heads, point.heads);
  EXPECT_NE(other.methods[0].points[0].pruned.loss, point.pruned.loss);
}

/// On a run whose held-out examples are others: the best there is not the best where it was chosen.
TEST_F(SmallCurve, ChoosesOnOneSplitAndJudgesOnTheOther) {
  const std::shared_ptr<const Task> task = std::move(run_.task);
  run_.task = std::make_unique<TaskBySplit>(task, std::make_shared<Mirrored>(task));
  const Curve all = curve({.methods = {"exhaustive"}, .sizes = {1, 2, 3}});
  const Batch chosen = run_.task->make_batch(streams::choosing(), 30, Split::train);
  Index not_best = 0;
  for (const CurvePoint& point : all.methods[0].points) {
    std::vector<double> on_chosen, on_judged;  // of every subset of this size
    for (unsigned mask = 0; mask < 16; ++mask) {
      if (std::popcount(mask) != point.kept) continue;
      HeadSet kept;
      for (std::size_t h = 0; h < 4; ++h)
        if ((mask >> h & 1U) != 0) kept.push_back(all_heads(run_.model)[h]);
      const NoGrad no_grad;
      const Transformer left = remove_heads(run_.model, kept);
      on_chosen.push_back(static_cast<double>(left.loss(chosen).item()));
      on_judged.push_back(evaluate(left, *run_.task, {.examples = 30}).loss);
    }
    const auto best = std::ranges::min_element(on_chosen);
    EXPECT_NEAR(*point.chosen_on, *best, 1e-5);
    const double there = on_judged[static_cast<std::size_t>(best - on_chosen.begin())];
    EXPECT_EQ(point.pruned.loss, there);
    not_best += there > std::ranges::min(on_judged) + 1e-3;
  }
  EXPECT_GT(not_best, 0) << "the best on one split was the best on the other";
}

TEST_F(SmallCurve, MeasuresRegretAgainstTheExhaustiveChoice) {
  const Curve all = curve({.methods = {"random", "exhaustive"}});
  const MethodCurve &best = find(all, "exhaustive"), &other = find(all, "random");
  EXPECT_EQ(best.regret, 0);
  double sum = 0;
  for (std::size_t i = 0; i < 5; ++i)
    sum += other.points[i].pruned.loss - best.points[i].pruned.loss;
  ASSERT_GT(sum, 1e-6);
  EXPECT_NEAR(*other.regret, sum / 5, 1e-12);
  EXPECT_FALSE(curve({.methods = {"magnitude"}}).methods[0].regret.has_value());
}

TEST_F(SmallCurve, RanksHeadsByHowLongTheyStay) {
  const Curve all = curve({.methods = {"ablation"}});
  EXPECT_NEAR(all.methods[0].rank_correlation, 1, 1e-12);
}

TEST_F(SmallCurve, AveragesTheDrawsOfTheBaseline) {
  const Curve mean = curve({.methods = {"random"}, .sizes = {1}, .draws = 3});
  double sum = 0;
  for (const std::int64_t seed : {0, 1, 2}) {
    sum += curve({.methods = {"random"}, .sizes = {1}, .settings = {.seed = seed}, .draws = 1})
               .methods[0]
               .points[0]
               .pruned.loss;
  }
  EXPECT_NEAR(mean.methods[0].points[0].pruned.loss, sum / 3, 1e-12);
}

TEST_F(SmallCurve, AddsNoRoundingWhereAllDrawsAgree) {
  for (const Index draws : {3, 5, 6, 7, 9, 10, 11, 13}) {
    const Curve both = curve({.methods = {"random", "magnitude"}, .sizes = {0, 4}, .draws = draws});
    const std::vector<CurvePoint>&random = both.methods[0].points, &other = both.methods[1].points;
    for (int i : {0, 1}) {
      EXPECT_EQ(random[i].pruned.loss, other[i].pruned.loss) << draws << " draws";
      EXPECT_EQ(random[i].pruned.accuracy, other[i].pruned.accuracy) << draws << " draws";
    }
  }
}

TEST_F(SmallCurve, MeasuresTheAreaByTrapezoidsOverTheShareOfHeads) {
  const Curve all = curve({.methods = {"greedy"}, .sizes = {0, 1, 4}});
  const std::vector<CurvePoint>& p = all.methods[0].points;
  const double area =
      ((p[0].pruned.loss + p[1].pruned.loss) / 2 + 3 * (p[1].pruned.loss + p[2].pruned.loss) / 2) /
      4;
  EXPECT_NEAR(all.methods[0].area, area, 1e-12);
  for (const CurvePoint& point : p) EXPECT_FALSE(point.finetuned) << "nobody asked for it";
  const Curve above = curve({.methods = {"greedy"}, .sizes = {1, 4}});
  EXPECT_NEAR(above.methods[0].area, (p[1].pruned.loss + p[2].pruned.loss) / 2, 1e-12);
  const Curve one = curve({.methods = {"greedy"}, .sizes = {1}});
  EXPECT_TRUE(Json(one.methods[0]).at("area").is_null()) << "a point has no area";
}

TEST_F(SmallCurve, FinetunesEachSubsetOnceAndFindsTheHeadsUsedThere) {
  std::vector<std::string> told;
  const Curve tuned = curve({.methods = {"greedy", "exhaustive"},
                             .sizes = {1, 4},
                             .finetune = 20,
                             .progress = [&](const std::string& what) { told.push_back(what); }});
  for (const MethodCurve& method : tuned.methods)
    for (const CurvePoint& point : method.points) ASSERT_TRUE(point.finetuned.has_value());
  EXPECT_EQ(tuned.methods[0].points[1].finetuned->loss, tuned.methods[1].points[1].finetuned->loss);
  EXPECT_EQ(told.size(), 6u);
}

/// With nothing pruned, the fine-tuned model, the one from scratch and the unpruned one are trained
/// alike, step by step: a difference between them is one of heads and not of schedules.
TEST_F(SmallCurve, ComparesModelsOfOneSchedule) {
  const Curve tuned =
      curve({.methods = {"greedy"}, .sizes = {2, 4}, .finetune = 20, .from_scratch = true});
  const MethodCurve& method = tuned.methods[0];
  const CurvePoint& whole = method.points[1];
  EXPECT_EQ(whole.finetuned->loss, whole.from_scratch->loss);
  EXPECT_EQ(whole.finetuned->loss, whole.unpruned->loss);
  const CurvePoint& pruned = method.points[0];
  EXPECT_EQ(pruned.unpruned->loss, whole.unpruned->loss) << "it does not depend on the size";
  EXPECT_NE(pruned.from_scratch->loss, pruned.finetuned->loss);
  EXPECT_NE(method.schedule.value().find(", then 20 steps at a rate of"), std::string::npos)
      << *method.schedule;
  const Table points = curve_tables(std::span(&tuned, 1), {"run"})[0];
  EXPECT_NE(points.note.find("Schedule of all arms"), std::string::npos);
}

TEST_F(SmallCurve, HasNoUnprunedReferenceWhereNothingIsTrainedOn) {
  const Curve plain = curve({.methods = {"greedy"}, .sizes = {2}});
  EXPECT_FALSE(plain.methods[0].points[0].unpruned.has_value());
  EXPECT_FALSE(plain.methods[0].schedule.has_value());
}

/// From the start, all heads are the run itself; fewer are a model that is trained once for each
/// number of heads in each layer.
TEST_F(SmallCurve, TrainsAsManyHeadsFromTheStart) {
  const Curve scratch = curve({.methods = {"random", "magnitude", "entropy", "greedy"},
                               .sizes = {1, 2, 4},
                               .from_scratch = true});
  std::set<Index> layers_of_one;
  for (const MethodCurve& method : scratch.methods) {
    EXPECT_EQ(method.points[2].from_scratch->loss, scratch.full.loss);
    for (const CurvePoint& point : method.points) {
      std::vector<HeadId> first;
      for (const HeadId& head : point.heads) {
        const bool second = !first.empty() && first.back().attention_layer == head.attention_layer;
        first.push_back({head.attention_layer, second ? 1 : 0});
      }
      const Transformer model = train_from_scratch(run_, first);
      EXPECT_EQ(all_heads(model), first);
      EXPECT_EQ(point.from_scratch->loss, evaluate(model, *run_.task, {.examples = 30}).loss);
    }
    layers_of_one.insert(method.points[0].heads[0].attention_layer);
  }
  EXPECT_EQ(layers_of_one.size(), 2u) << "no two methods keep heads of different layers";
}

TEST_F(SmallCurve, TakesTheModelsThatMethodsTrain) {
  for (const char* name : {"l0", "subset"}) {
    const Curve trained = curve({.methods = {name}, .sizes = {2}, .finetune = 5});
    const CurvePoint& point = trained.methods[0].points[0];
    EXPECT_EQ(point.heads.size(), 2u);
    EXPECT_TRUE(std::isfinite(point.pruned.loss));
    const Evaluation untrained =
        evaluate(remove_heads(run_.model, point.heads), *run_.task, {.examples = 30});
    EXPECT_NE(point.pruned.loss, untrained.loss) << name;
  }
}

TEST_F(SmallCurve, OnlyReadsTheRun) {
  const std::vector<double> before = parameters_in(run_.model);
  const std::string state = read_file(state_file(run_));
  curve({.methods = {"importance", "greedy", "l0", "subset"}, .sizes = {2}, .finetune = 3});
  EXPECT_EQ(parameters_in(run_.model), before);
  EXPECT_EQ(read_file(state_file(run_)), state);
}

/// A curve of one method with these losses of 0, 1, ... heads.
Curve curve_with(const std::string& name, const std::vector<double>& losses) {
  Curve curve;
  MethodCurve& method = curve.methods.emplace_back();
  method.method = name;
  for (std::size_t kept = 0; kept < losses.size(); ++kept) {
    method.points.push_back({.kept = static_cast<Index>(kept), .heads = {}});
    method.points.back().pruned.loss = losses[kept];
    method.points.back().finetuned = Judged{losses[kept] / 2, 1};
  }
  method.area = losses[0];
  method.regret = losses[1];
  method.used = static_cast<Index>(losses[0]);
  return curve;
}

TEST(CurvesOverRuns, AreGeometricMeansWithTheirInterval) {
  const Curve curves[] = {curve_with("greedy", {4, 1}), curve_with("greedy", {9, 1})};
  const CurveOverRuns all = over_runs(curves);
  EXPECT_EQ(all.runs, 2);
  const MethodOverRuns& method = all.methods[0];
  EXPECT_NEAR(method.points[0].pruned.mean, 6, 1e-12);
  const double half = 12.7062 * std::log(9.0 / 4) / 2;  // t(.975, 1) s / sqrt(2)
  EXPECT_NEAR(std::log(method.points[0].pruned.high / 6), half, 1e-4);
  EXPECT_NEAR(method.points[0].finetuned->mean, 3, 1e-12);
  EXPECT_FALSE(method.points[0].from_scratch.has_value());
  EXPECT_TRUE(std::isnan(method.points[1].pruned.high)) << "no interval of width 0";
  EXPECT_NEAR(method.area.mean, 6, 1e-12);
  EXPECT_EQ(method.regret->mean, 1);
  EXPECT_EQ(method.used[1], 9);
}

TEST(CurvesOverRuns, HaveNoRegretWhereOneRunHasNone) {
  Curve curves[] = {curve_with("greedy", {4, 1}), curve_with("greedy", {6, 1})};
  for (Curve& curve : curves) curve.methods[0].regret = 0.5;
  EXPECT_TRUE(over_runs(curves).methods[0].regret.has_value());
  curves[1].methods[0].regret = 0.1;
  EXPECT_EQ(over_runs(curves).methods[0].regret->low, 0.1) << "the range of two runs";
  EXPECT_EQ(over_runs(curves).methods[0].regret->high, 0.5);
  curves[1].methods[0].regret.reset();
  EXPECT_FALSE(over_runs(curves).methods[0].regret.has_value());
}

TEST(CurvesOverRuns, AreTablesWithARowForEachRun) {
  const std::vector<Curve> curves = {curve_with("greedy", {4, 1}), curve_with("greedy", {9, 1})};
  const Result found{.tables = curve_tables(curves, {"a", "b"})};
  const Table& losses = found.table("losses");
  EXPECT_EQ(Json(losses.cells("run")).dump(), R"(["a","a","b","b"])");
  EXPECT_EQ(Json(losses.cells("loss")).dump(), "[4,1,9,1]");
  EXPECT_EQ(Json(losses.cells("finetuned.loss")).dump(), "[2,0.5,4.5,0.5]");
  const Table& points = found.table("points");
  ASSERT_EQ(points.rows.size(), 2u);
  EXPECT_NEAR(points.cells("loss")[0].items()[0].number(), 6, 1e-12);
  EXPECT_NE(points.title.find("over 2 runs"), std::string::npos);
  EXPECT_NE(points.note.find("2 seeds reach p 0.5"), std::string::npos);
  EXPECT_EQ(Json(found.table("choices").cells("used")).dump(), "[4,9]");
  const Result one{.tables = curve_tables(std::span(curves).first(1), {"a"})};
  EXPECT_TRUE(one.table("choices").shown && !one.table("methods").shown);
  EXPECT_EQ(one.table("points").note, "") << "nothing is said of chance";
}

TEST(CurvesOverRuns, MustBeOfTheSameMethodsAndSizes) {
  const Curve one = curve_with("greedy", {4, 1});
  const Curve longer[] = {one, curve_with("greedy", {4, 1, 0})};
  const Curve other[] = {one, curve_with("lrp", {4, 1})};
  expect_error([&] { over_runs(longer); }, {"different sizes"});
  expect_error([&] { over_runs(other); }, {"different methods", "greedy and lrp"});
  expect_error([] { over_runs({}); }, {"cannot average curves"});
}

TEST(HeadsUsed, AreTheFewestWithinOneHundredthOfTheSpan) {
  MethodCurve method;
  const double losses[] = {2, 1, 0.13, 0.11, 0.1};
  for (Index kept = 0; kept < 5; ++kept) {
    method.points.push_back({.kept = kept, .heads = {}});
    method.points.back().pruned.loss = losses[kept];
  }
  const Judged full{0.1, 1}, none{2, 0};
  EXPECT_EQ(used_heads(method, full, none), 3);  // .1 + .019
  method.points[2].finetuned = Judged{0.1, 1};
  EXPECT_EQ(used_heads(method, full, none), 3) << "what fine-tuning reaches is another measure";
  method.points.resize(2);
  EXPECT_EQ(used_heads(method, full, none), std::nullopt);
}

// A large model uses more heads than it needs once it may adapt.
TEST(HeadsNeeded, AreJudgedAfterFineTuningAgainstTheUnprunedModel) {
  MethodCurve method;
  const double tuned[] = {2, 0.03, 0.01, 0.01};
  for (Index kept = 0; kept < 4; ++kept) {
    CurvePoint& point = method.points.emplace_back(CurvePoint{.kept = kept, .heads = {}});
    point.pruned.loss = kept == 3 ? 0.1 : 2;
    point.finetuned = Judged{tuned[kept], 1};
    point.unpruned = Judged{0.01, 1};
  }
  const Judged full{0.1, 1}, none{2, 0};
  EXPECT_EQ(used_heads(method, full, none), 3);
  EXPECT_EQ(needed_heads(method, none), 2) << ".03 lies below .119, but not below .0299";
  for (CurvePoint& point : method.points) point.unpruned.reset();
  EXPECT_EQ(needed_heads(method, none), std::nullopt) << "older curves have no such reference";
}

TEST_F(SmallCurve, KnowsTheExhaustiveChoiceWhereItWasMade) {
  const Curve both = curve({.methods = {"exhaustive", "greedy"}, .sizes = {1, 2, 3}});
  const MethodCurve &best = find(both, "exhaustive"), &greedy = find(both, "greedy");
  for (std::size_t i = 0; i < 3; ++i) {  // no choice is better where it was made
    ASSERT_TRUE(best.points[i].chosen_on && greedy.points[i].chosen_on);
    EXPECT_LE(*best.points[i].chosen_on, *greedy.points[i].chosen_on + 1e-9);
  }
}

TEST_F(SmallCurve, IsNoMeanOverTwoTasks) {
  std::vector<Curve> curves(2, curve({.methods = {"greedy"}, .sizes = {1}}));
  EXPECT_EQ(over_runs(curves).runs, 2);
  curves[1].task = "copy:length=8,vocab=4";
  expect_error([&] { over_runs(curves); }, {"different tasks", "copy:length=8"});
}

}  // namespace
}  // namespace headlab
