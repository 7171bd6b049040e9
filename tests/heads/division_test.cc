// Splits of relations that are known: heads built by hand of which each does a
// part, and heads that do the same.
#include "headlab/core/tasks/table.h"
#include "headlab/core/train/streams.h"
#include "headlab/lab/heads/causes/ablation.h"
#include "headlab/lab/heads/scores/scores.h"
#include "support/hand_built.h"
#include "support/models.h"

namespace headlab { namespace {

class Splits : public testing::Test {
 protected:
  static constexpr Index kLength = 10, kClasses = 3;

  /// Two heads that do `relation`; head h does not look where Q's rows [from, to) are zero.
  Transformer model(Index relation) const {
    return hand_built(task_->shape(), kClasses, {relation, relation});
  }
  static void blind(Transformer& model, Index head, Index row) {
    const Tensor& W = model.attention(0).Q.W;
    const Index width = W.size(1) / 2;
    std::fill_n(W.data() + row * W.size(1) + head * width, width, Scalar{0});
  }
  HeadsReport report_of(const Transformer& model) const {
    return score_heads(model, *task_,
                       {.examples = 400, .without_truth = false, .patterns_only = true});
  }
  std::unique_ptr<Task> task_ = make_task("relations:length=10,vocab=6,classes=3,relations=1+same");
};

TEST_F(Splits, FindsASplitByPosition) {
  Transformer halves = model(1);
  for (Index t = 0; t < kLength; ++t) blind(halves, t % 2, t);
  const HeadsReport report = report_of(halves);
  const Division* division = report.division_of(0);
  ASSERT_NE(division, nullptr);
  EXPECT_EQ(division->heads, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(division->by(), "position");
  EXPECT_GT(division->kinds[division->best].explained, 0.9);
  EXPECT_EQ(division->together, 1);
  ASSERT_EQ(division->classes.size(), 9u);  // the first has nothing before it
  for (const Division::Class& one : division->classes) {
    const auto does = static_cast<std::size_t>(std::stoi(one.name) % 2 == 0);
    EXPECT_EQ(one.mass[does], 1) << one.name;
    EXPECT_LT(one.mass[1 - does], 0.6) << one.name;
  }
  const std::string sentence = report.sentence(*division);
  EXPECT_EQ(sentence, "0.0 and 0.1 implement `back1`: by position (1 of it), together 1");
  const Json json = to_json(report).at("divisions").items()[0];
  EXPECT_EQ(json.at("by").string(), "position");
  EXPECT_EQ(json.at("classes").items()[0].at("mass").items().size(), 2u);
}

TEST_F(Splits, FindsASplitByTokens) {
  Transformer halves = model(kSame);
  blind(halves, 0, kLength), blind(halves, 1, kLength + 1);  // both do the third class
  const HeadsReport report = report_of(halves);
  const Division* division = report.division_of(1);
  ASSERT_NE(division, nullptr);
  EXPECT_TRUE(division->by().starts_with("token of the")) << report.sentence(*division);
  EXPECT_EQ(division->together, 1);
  EXPECT_EQ(division->classes.size(), 6u);
}

TEST_F(Splits, ChoosesTheKindOfClassOnTheOtherHalf) {
  Transformer halves = model(kSame);
  blind(halves, 0, kLength), blind(halves, 1, kLength + 1);
  Index not_best = 0;
  for (Index examples = 100; examples < 440; examples += 20) {
    const HeadsReport report =
        score_heads(halves, *task_,
                    {.examples = examples, .without_truth = false, .patterns_only = true});
    const Division* division = report.division_of(1);
    ASSERT_NE(division, nullptr);
    const double explained = division->kinds[division->best].explained;
    EXPECT_GT(explained, 0.5);
    not_best +=
        explained < std::ranges::max(division->kinds, {}, &Division::Kind::explained).explained;
  }
  EXPECT_GT(not_best, 0) << "it is chosen where it is judged";
}

/// Each head finds the last of its class at some distances, and does not see the others.
TEST_F(Splits, FindsASplitByDistance) {
  constexpr Index kMany = 6;
  task_ = make_task("relations:length=10,vocab=6,classes=6,relations=1+same");
  Transformer halves = hand_built(task_->shape(), kMany, {kSame, kSame});
  const Tensor& Q = halves.attention(0).Q.W;
  for (Index h = 0; h < 2; ++h)
    for (Index t = 0; t < kLength; ++t)
      for (Index s = 0; s < t; ++s)
        if (((t - s) % 3 == 2) == (h == 0))
          Q.data()[t * Q.size(1) + h * Q.size(1) / 2 + s] = Scalar{-1e6};
  const HeadsReport report = report_of(halves);
  const Division* division = report.division_of(1);
  ASSERT_NE(division, nullptr);
  EXPECT_EQ(division->by(), "distance") << report.sentence(*division);
}

/// Heads that do the same, less than perfectly.
TEST_F(Splits, NoneIfAllHeadsAttendAlike) {
  Transformer alike = model(1);
  const Tensor& W = alike.attention(0).Q.W;
  for (Index i = 0; i < W.count(); ++i) W.data()[i] *= static_cast<Scalar>(6e-5);
  const HeadsReport report = report_of(alike);
  const Division* division = report.division_of(0);
  ASSERT_NE(division, nullptr);
  EXPECT_EQ(division->how(), "not split") << report.sentence(*division);
  EXPECT_NEAR(division->spread, 0, 1e-3);
  EXPECT_GT(std::ranges::max(division->kinds, {}, &Division::Kind::p).p, 0.05);
}

TEST_F(Splits, AgreesWithAnotherWhicheverHeadDoesWhat) {
  Transformer halves = model(1), other = model(1), thirds = model(1);
  for (Index t = 0; t < kLength; ++t) {
    blind(halves, t % 2, t), blind(other, 1 - t % 2, t), blind(thirds, t % 3 == 0, t);
  }
  const HeadsReport reports[] = {report_of(halves), report_of(other), report_of(thirds)};
  const Division* divisions[] = {reports[0].division_of(0), reports[1].division_of(0),
                                 reports[2].division_of(0)};
  EXPECT_EQ(agreement(*divisions[0], *divisions[1]), 1);
  // 9 positions, 5 and 4 against 3 and 6; 2, 1 and 3, 3 in common.
  EXPECT_NEAR(agreement(*divisions[0], *divisions[2]), (7 - 16.0 * 18 / 36) / (17 - 8), 1e-12);
}

/// The cost of a class equals that of ablating the head on the class's targets alone.
TEST_F(Splits, ReportsTheCostOfEachClass) {
  Transformer halves = model(1);
  for (Index t = 0; t < kLength; ++t) blind(halves, t % 2, t);
  Generator random(Key{3});
  halves.visit([&](const std::string& name, const Tensor& parameter) {
    if (!name.ends_with("W_O") && !name.ends_with("W_U")) return;
    for (Index i = 0; i < parameter.count(); ++i)
      parameter.data()[i] = static_cast<Scalar>(random.normal());
  });
  const HeadsReport report =
      score_heads(halves, *task_,
                  {.examples = 400, .without_truth = false, .rises = true, .patterns_only = true});
  const Division& division = *report.division_of(0);
  Example example = task_->make(streams::scored(), 400, Split::validation);
  const std::size_t c = 3;
  for (Index b = 0; b < 400; ++b)
    for (Index t = 0; t < kLength; ++t)
      for (Index k = 0; k < 2; ++k)
        if (b % 2 == 0 || text(t) != division.classes[c].name || k != 0)
          example.batch.target(b, t, k) = -1;
  const Ablation ablation(halves, example.batch);
  const std::vector<double> losses = ablation.mean_losses(single_sets(all_heads(halves)));
  for (const std::size_t h : {0, 1})
    EXPECT_NEAR(division.classes[c].rise[h], losses[1 + h] - losses[0], 1e-5);
  const Table classes = result_of(report).table("classes");
  EXPECT_EQ(classes.rows.size(), 2 * division.classes.size());
  EXPECT_EQ(classes.cells("rise")[2 * c + 1], Json(division.classes[c].rise[1]));
  EXPECT_TRUE(report_of(halves).division_of(0)->classes[c].rise.empty());
}

TEST_F(Splits, FindsNoSplitIfOneHeadDoesAll) {
  for (const Index relation : {Index{1}, kSame}) {
    const HeadsReport report = report_of(model(relation));
    EXPECT_TRUE(report.divisions.empty());
  }
}

}  // namespace
}  // namespace headlab
