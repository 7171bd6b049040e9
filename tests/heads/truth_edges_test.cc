// The truth-edge test where the truth is known: a circuit built by hand, whose edges carry all
// there is, and heads that look where they should and say nothing.
#include "headlab/lab/heads/causes/truth_edges.h"

#include <numeric>

#include "headlab/core/tasks/table.h"
#include "headlab/core/train/evaluate.h"
#include "support/hand_built.h"
#include "support/induction_pair.h"
#include "support/models.h"
#include "support/runs.h"

namespace headlab { namespace {

constexpr const char* kRelations = "relations:length=10,vocab=6,classes=3,relations=1+3+same";

TEST(TruthEdges, InductionPairCarriesTheWholeAnswer) {
  const auto task = make_task(kInduction);
  const Transformer model = induction_pair(task->shape());
  const EdgeReport report = test_truth_edges(model, *task, {.examples = 80, .draws = 2});
  ASSERT_EQ(report.relations.size(), 2u);
  for (std::size_t r = 0; r < 2; ++r) {
    const EdgeTest& owner = report.relations[r].tests[0];
    EXPECT_EQ(owner.heads, (HeadSet{{r == 0 ? 1 : 0, 0}}));
    EXPECT_EQ(owner.lift, 1);
    EXPECT_EQ(owner.mass, 1);
    EXPECT_GT(owner.truth.low, std::log(9.0));
    EXPECT_GT(owner.difference.low, 1);
    // The other head reads the token before, and the pair attends to nothing else at these queries.
    EXPECT_EQ(owner.conclusion(),
              r == 0 ? "cause" : "no fair control: too little other attention to mask");
    EXPECT_EQ(owner.is_cause(), r == 0);
  }
  // Without ground-truth edges the induction head says the other tokens alike: the right one never.
  EXPECT_EQ(report.relations[0].tests.back().heads.size(), 2u);
}

TEST(TruthEdges, HiddenRandomEdgesWeighAsMuchWhereTheyCan) {
  const auto task = make_task(kInduction);
  const Transformer model = induction_pair(task->shape());
  const EdgeExperiment experiment(model, *task, {.examples = 40, .draws = 3});
  // The other head has weight 1 on one other key of the query: that is what can be hidden.
  const EdgeTest induction = experiment.test(0, {{1, 0}});
  EXPECT_NEAR(induction.random_mass, 1, 1e-6);
  EXPECT_LE(induction.random.change, induction.truth.change);
}

// All weight lies on what one of two relations asks for: what the other asks for is hidden as the
// control, and weighs as much.
TEST(TruthEdges, ControlWeighsTheSameIfOtherRelationsHoldAllWeight) {
  const auto task = make_task("relations:length=10,vocab=6,classes=3,relations=1+3");
  const Transformer model = hand_built(task->shape(), 3, {1, 3});
  const EdgeExperiment experiment(model, *task, {.examples = 40, .draws = 1});
  EXPECT_EQ(experiment.test(1, {{0, 1}}).mass, 1);
  EXPECT_NEAR(experiment.test(1, {{0, 1}}).random_mass, 1, 1e-6);
}

// Edges of uniform heads weigh the same, so that those that are drawn weigh exactly 1. A key of the
// other relation weighs 1 alone, so that with it they would weigh more.
TEST(TruthEdges, ControlTakesKeysOfOtherRelationsLast) {
  const auto task = make_task("relations:length=10,vocab=6,classes=3,relations=1+3");
  const Transformer model =
      hand_built(task->shape(), 3, {1, 3, kUniform, kUniform, kUniform, kUniform});
  const EdgeExperiment experiment(model, *task, {.examples = 40, .draws = 5});
  const EdgeTest test = experiment.test(1, {{0, 1}});
  EXPECT_NEAR(test.random_mass, 1, 1e-6);
}

TEST(TruthEdges, HeadWithoutEffectIsNoCause) {
  EdgeTest test{.heads = {{0, 0}}, .lift = 0.1};
  test.truth = {0.0, -0.1, 0.1, 0.9, 40};
  EXPECT_FALSE(test.is_cause());
  EXPECT_EQ(test.conclusion(), "no cause") << "a low lift alone is no reason";
  test.lift = 0.9;
  EXPECT_EQ(test.conclusion(), "pattern and cause disagree");
}

TEST(TruthEdges, DrawNoConclusionFromFewerThanThirtyExamples) {
  const auto task = make_task(kInduction);
  const Transformer model = induction_pair(task->shape());
  const EdgeTest few = EdgeExperiment(model, *task, {.examples = 29}).test(0, {{1, 0}});
  EXPECT_FALSE(few.is_cause());
  EXPECT_EQ(few.conclusion(), "too few (29)");
  const EdgeTest enough = EdgeExperiment(model, *task, {.examples = 60}).test(0, {{1, 0}});
  EXPECT_EQ(enough.conclusion(), "cause without pattern");  // its lift is not asked here
  EXPECT_EQ(enough.truth.examples, 60);
}

TEST(EdgeTest, IsNoCauseIfItIsSignificantAndSmall) {
  const PairedChange sure{.change = .02, .low = .01, .high = .03, .p = 0, .examples = 100};
  EdgeTest test{.heads = {{0, 0}},
                .lift = .9,
                .mass = .5,
                .random_mass = .5,
                .share = 1,
                .truth = sure,
                .difference = sure};
  EXPECT_EQ(test.conclusion(), "cause");
  test.random_mass = .4;
  EXPECT_EQ(test.conclusion(), "no fair control: too little other attention to mask");
  EXPECT_FALSE(test.is_cause());
  test.random_mass = .5;
  test.share = .05;
  EXPECT_EQ(test.conclusion(), "small");
  test.share = 1, test.truth.change = .006;
  EXPECT_EQ(test.conclusion(), "small");
}

TEST(TruthEdges, HeadsWithoutOutputAreNoCause) {
  const auto task = make_task(kRelations);
  const Transformer model = hand_built(task->shape(), 3, {1, 3, kSame, kUniform});
  const EdgeReport report = test_truth_edges(model, *task, {.examples = 40, .draws = 2});
  ASSERT_EQ(report.relations.size(), 3u);
  for (std::size_t r = 0; r < 3; ++r) {
    const EdgeTest& owner = report.relations[r].tests[0];
    EXPECT_EQ(owner.heads, (HeadSet{{0, static_cast<std::int32_t>(r)}}));
    EXPECT_EQ(owner.lift, 1);
    EXPECT_EQ(owner.truth.change, 0);
    EXPECT_EQ(owner.truth.p, 1);
    EXPECT_EQ(owner.conclusion(), "pattern and cause disagree");
    EXPECT_EQ(report.relations[r].tests.back().conclusion(), "no cause");
  }
}

TEST(TruthEdges, OnlyGroundTruthEdgesAreMasked) {
  const auto task = make_task(kRelations);
  const Transformer model =
      random_model(small_config(task->shape(), "kv_heads=1")).with_heads({{1}, {0, 1}});
  const EdgeTest test = EdgeExperiment(model, *task, {.examples = 32, .batch = 5, .draws = 1})
                            .test(2, {{0, 1}, {1, 0}});
  const Example example = held_out_examples(*task, 32);
  std::vector<HeadInterventions> interventions(2);
  interventions[0].masked_edges.assign(32 * 1 * 10 * 10, 0);
  interventions[1].masked_edges.assign(32 * 2 * 10 * 10, 0);
  const GroundTruth& truth = example.truth[2];
  for (Index i = 0; i < truth.queries(); ++i) {
    const auto [b, t, keys] = truth.query(i);
    interventions[0].masked_edges[static_cast<std::size_t>((b * 10 + t) * 10 + keys[0])] = 1;
    interventions[1].masked_edges[static_cast<std::size_t>((b * 20 + t) * 10 + keys[0])] = 1;
  }
  const auto mean_over_queries = [&](const Tensor& losses) {
    double sum = 0;
    for (Index i = 0; i < truth.queries(); ++i) {
      const auto query = truth.query(i);
      const Index row = query.b * 10 + query.t;  // target 2 of 3 is that of `same`
      sum += static_cast<double>(losses.values()[static_cast<std::size_t>(row * 3 + 2)]);
    }
    return sum / static_cast<double>(truth.queries());
  };
  const Batch& batch = example.batch;
  const double whole = mean_over_queries(target_losses(model.forward(batch), batch));
  const double hidden = mean_over_queries(
      target_losses(model.forward(batch, {}, {.interventions = interventions}), batch));
  EXPECT_NEAR(test.truth.change, hidden - whole, 1e4 * kEpsilon);
  EXPECT_GT(std::abs(hidden - whole), 1e-3);
}

TEST(TargetsOfARelation, AreNamedLikeTheRelationAndLieAtItsQueries) {
  const auto task = make_task(kRelations);
  const Example example = held_out_examples(*task, 5);
  for (std::size_t r = 0; r < 3; ++r) {
    const auto [asked, own] = targets_of(*task, example, r);
    EXPECT_TRUE(own);
    EXPECT_EQ(asked.target_count(), example.truth[r].queries());
    for (std::size_t i = 0; i < asked.targets.size(); ++i)
      EXPECT_TRUE(asked.targets[i] < 0 || i % 3 == r) << i;
  }
}

TEST(TargetsOfARelation, AreAllWhereItsQueriesHaveNone) {
  const auto task = make_task(kInduction);
  const Example example = held_out_examples(*task, 40);
  for (std::size_t r = 0; r < 2; ++r) {  // the repeat, and what is asked where no target is
    EXPECT_EQ(targets_of(*task, example, r).examples.targets, example.batch.targets);
    EXPECT_EQ(targets_of(*task, example, r).own, r == 0);
  }
}

TEST(TruthEdges, DependOnTheSeedOnlyInTheRandomOnes) {
  const auto task = make_task(kInduction);
  const Transformer model = induction_pair(task->shape());
  const auto tested = [&](std::int64_t seed, Index batch) {
    const EdgeOptions options{.examples = 30, .batch = batch, .draws = 1, .seed = seed};
    return EdgeExperiment(model, *task, options).test(0, {{1, 0}});
  };
  EXPECT_EQ(tested(0, 64).random.change, tested(0, 64).random.change);
  EXPECT_NEAR(tested(0, 7).random.change, tested(0, 64).random.change, 1e-4);
  EXPECT_EQ(tested(1, 64).truth.change, tested(0, 64).truth.change);
}

TEST(TruthEdges, SayOnHowManyExamplesTheyWereTested) {
  RunConfig config = tiny_config();
  config.task = "text:length=64";
  const auto task = fit_to_task(config);
  const EdgeReport report =
      test_truth_edges(random_model(config.model), *task, {.examples = 512, .draws = 1});
  ASSERT_LT(task->different(Split::validation), 512);
  EXPECT_EQ(result_of(report).about.at("examples").integer(), task->different(Split::validation));
}

TEST(TruthEdges, RefuseInvalidOptions) {
  const auto task = make_task(kInduction);
  const Transformer model = induction_pair(task->shape());
  const EdgeExperiment experiment(model, *task, {.examples = 4});
  expect_error([&] { experiment.test(0, {{1, 3}}); }, {"find head 1.3", "0.0 1.0"});
  expect_error([&] { experiment.test(7, {{1, 0}}); }, {"2 relations"});
  EXPECT_THROW(EdgeExperiment(model, *task, {.examples = 4, .batch = 0}), Error);
}

TEST(EdgeConclusion, CauseNeedsAPBelowOneInAThousand) {
  const auto test_with = [](double p) {
    const PairedChange rise{.change = 0.5, .low = 0.1, .high = 0.9, .p = p, .examples = 100};
    return EdgeTest{.mass = 1, .random_mass = 1, .share = 1, .truth = rise, .difference = rise};
  };
  EXPECT_TRUE(test_with(0.0005).is_cause());
  EXPECT_FALSE(test_with(0.01).is_cause());
  EdgeTest unlike = test_with(0.0005);
  unlike.truth.p = 0.01;
  EXPECT_FALSE(unlike.is_cause());
}

}  // namespace
}  // namespace headlab
