// Facts about a relation in addition to the mass of its best head: baselines of readers without a
// model, the same model before training, and who does what one to one.
#include <cmath>

#include "headlab/core/base/progress.h"
#include "headlab/core/tasks/table.h"
#include "headlab/lab/heads/scores/scores.h"
#include "support/hand_built.h"
#include "support/models.h"
#include "support/scripted.h"

namespace headlab { namespace {

/// At the last query the ground truth is key 2 in one half of the sequences and key 4 in the other;
/// candidates are 2 and 4 in all of them.
class TwoNouns : public Scripted {
 public:
  TwoNouns()
      : Scripted([](Index b, Index t) -> Index { return t < 7            ? -1
                                                        : b / 2 % 2 == 0 ? 2
                                                                         : 4; }) {}
  Example make(Key key, Index count, Split split) const override {
    Example example = Scripted::make(key, count, split);
    example.candidates.resize(1);
    const std::int32_t nouns[] = {2, 4};
    for (Index b = 0; b < count; ++b) example.candidates[0].add(b, 7, nouns);
    return example;
  }
};

TEST(Baselines, ReportTheNearestCandidateAndTheHeadWhereItIsWrong) {
  const TwoNouns task;
  Transformer model = hand_built(task.shape(), 1, {5});  // always key 2
  const HeadsReport report = score_heads(model, task, {.examples = 80, .patterns_only = true});
  const RelationWinner& winner = report.relations[0];
  EXPECT_EQ(report.heads[0].relations[0].top1, 0.5);
  EXPECT_EQ(winner.nearest.top1, 0.5);  // always key 4
  EXPECT_EQ(winner.nearest.wrong, 20);
  EXPECT_EQ(winner.nearest.head_top1_where_wrong, 1);
  EXPECT_EQ(winner.best_offset, -3);  // as good as -5, and shorter
  EXPECT_EQ(winner.offset.head_top1_where_wrong, 1);
  const Json json = to_json(report).at("relations").items()[0].at("baselines");
  EXPECT_EQ(json.at("nearest").at("wrong").integer(), 20);
  EXPECT_EQ(json.at("best_offset").integer(), -3);
}

TEST(Baselines, NearestCandidateIsMissingIfTheTaskNamesNone) {
  const auto task = make_task("relations:length=10,vocab=6,classes=3,relations=1+same");
  Transformer model = hand_built(task->shape(), 3, {1, kSame});
  const HeadsReport report = score_heads(model, *task, {.examples = 40, .patterns_only = true});
  EXPECT_TRUE(std::isnan(report.relations[1].nearest.top1));
  EXPECT_TRUE(to_json(report).at("relations").items()[1].at("baselines").at("nearest").is_null());
  EXPECT_EQ(report.relations[0].offset.top1, 1);  // 1 back is an offset
  EXPECT_EQ(report.relations[0].offset.wrong, 0);
  EXPECT_TRUE(std::isnan(report.relations[0].offset.head_top1_where_wrong));
  EXPECT_EQ(report.relations[1].offset.head_top1_where_wrong, 1);
}

TEST(MassOfAnyHead, EqualsTheMaximumOverHeadsAtEachQuery) {
  const TwoNouns task;
  for (const auto& [heads, mass] : std::vector<std::pair<std::vector<Index>, double>>{
           {{5}, 0.5}, {{5, 5}, 0.5}, {{5, 3}, 1}, {{3, kUniform, 5}, 1}}) {
    Transformer model = hand_built(task.shape(), 1, heads);
    const HeadsReport report =
        score_heads(model, task, {.examples = 80, .batch = 32, .patterns_only = true});
    EXPECT_EQ(report.heads[report.relations[0].best].relations[0].mass, 0.5);
    EXPECT_EQ(report.relations[0].mass_any, mass) << heads.size() << " heads";
    EXPECT_EQ(to_json(report).at("relations").items()[0].at("mass_any_head").number(), mass);
  }
}

class Assigned : public testing::Test {
 protected:
  HeadsReport report_of(const std::vector<Index>& heads, Transformer* untrained = nullptr) {
    Transformer model = hand_built(task_->shape(), 3, heads);
    return score_heads(model, *task_,
                       {.examples = 100, .untrained = untrained, .patterns_only = true});
  }
  std::unique_ptr<Task> task_ =
      make_task("relations:length=10,vocab=6,classes=3,relations=1+3+same");
};

TEST_F(Assigned, HeadsWithOneRelationEachAreItsOwners) {
  const HeadsReport report = report_of({kUniform, 3, kSame, 1});
  EXPECT_EQ(report.relations[0].assigned, 3u);
  EXPECT_EQ(report.relations[1].assigned, 1u);
  EXPECT_EQ(report.relations[2].assigned, 2u);
  EXPECT_EQ(report.specialization, 1);
}

TEST_F(Assigned, TooFewHeadsLeaveRelationsUnassigned) {
  const HeadsReport report = report_of({3});
  EXPECT_FALSE(report.relations[0].assigned.has_value());
  EXPECT_EQ(report.relations[1].assigned, 0u);
  EXPECT_TRUE(report.relations[1].assigned_owns);
  EXPECT_NEAR(report.specialization, 1.0 / 3, 1e-15);
  EXPECT_TRUE(to_json(report).at("relations").items()[0].at("assigned").is_null());
}

TEST_F(Assigned, CopiesOfAHeadSpecialiseOnce) {
  const HeadsReport report = report_of({3, 3, 3});
  EXPECT_NEAR(report.specialization, 1.0 / 3, 1e-15);
}

TEST_F(Assigned, LiftOverTheUntrainedModelUsesItsBestHead) {
  Transformer uniform = hand_built(task_->shape(), 3, {kUniform, kUniform});
  const HeadsReport over_uniform = report_of({1, 3, kSame}, &uniform);
  const HeadsReport of_uniform = report_of({kUniform});
  for (std::size_t r = 0; r < 3; ++r) {
    EXPECT_EQ(over_uniform.relations[r].mass_untrained, of_uniform.heads[0].relations[r].mass);
    EXPECT_EQ(over_uniform.relations[r].lift_untrained, 1);
  }
  Transformer skilled = hand_built(task_->shape(), 3, {kUniform, 1});
  const HeadsReport over_skilled = report_of({kUniform}, &skilled);
  EXPECT_EQ(over_skilled.relations[0].mass_untrained, 1);
  EXPECT_TRUE(std::isnan(over_skilled.relations[0].lift_untrained));
  EXPECT_TRUE(std::isnan(report_of({1}).relations[0].lift_untrained));  // no query
}

/// One count over all passes: that of a second pass would begin after "0:00 left".
TEST(HeadScores, CountStepsOfAllPassesOnce) {
  const auto task = make_task("relations:length=8,vocab=6,classes=3,relations=1+2+3");
  Transformer model = hand_built(task->shape(), 1, {2, 1});
  std::vector<double> shares;
  std::size_t begins = 0;
  watch_steps([&](double done, std::int64_t all) {
    begins += done == 0;
    shares.push_back(done / static_cast<double>(all));
  });
  score_heads(
      model, *task,
      {.examples = 64, .batch = 8, .untrained = &model, .rises = true, .patterns_only = true});
  watch_steps({});
  EXPECT_EQ(begins, 1u);
  EXPECT_TRUE(std::ranges::is_sorted(shares));
  EXPECT_GT(shares.size(), 20u);
  EXPECT_EQ(shares.back(), 1) << "the work is done when it is said to be";
}

}  // namespace
}  // namespace headlab
