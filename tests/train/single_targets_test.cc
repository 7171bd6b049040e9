// Single targets against the means of `evaluate`, and the in-context score of losses written by
// hand.
#include "headlab/lab/runs/single_targets.h"

#include "headlab/core/tasks/table.h"
#include "headlab/core/train/streams.h"
#include "support/errors.h"
#include "support/models.h"

namespace headlab { namespace {

class SingleTargets : public testing::Test {
 protected:
  std::unique_ptr<Task> task_ = make_task("relations:length=8,vocab=6,classes=3,relations=1+same");
  Transformer model_ = [this] {
    TransformerConfig config = small_config("");
    config.shape() = task_->shape();
    return random_model(config);
  }();
};

TEST_F(SingleTargets, HaveTheMeansOfTheEvaluation) {
  const EvaluateOptions options{.examples = 20, .batch = 7};
  const Evaluation expected = evaluate(model_, *task_, options);
  const AnsweredTargets answered = answer_targets(model_, *task_, options, true);
  ASSERT_EQ(std::ssize(answered.targets), expected.count);
  const Batch examples = task_->make_batch(streams::evaluated(options.key), 20, options.split);
  std::vector<double> loss(2), right(2), count(2);
  for (const SingleTarget& one : answered.targets) {
    EXPECT_EQ(one.token, examples.tokens[one.example * 8 + one.position]);
    loss[one.k] += one.loss;
    right[one.k] += one.predicted == one.target;
    ++count[one.k];
    const std::size_t row = ((one.example * 8 + one.position) * 2 + one.k) * 6;
    const auto begin = answered.logits.begin() + static_cast<std::ptrdiff_t>(row);
    EXPECT_EQ(std::max_element(begin, begin + 6) - begin, one.predicted);
  }
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_NEAR(loss[k] / count[k], expected.targets[k].loss, 1e-9);
    EXPECT_NEAR(right[k] / count[k], expected.targets[k].accuracy, 1e-12);
  }
  EXPECT_EQ(answered.logits.size(), 20u * 8 * 2 * 6);
  const Table table = single_target_table(*task_, answered.targets);
  ASSERT_EQ(table.rows.size(), answered.targets.size());
  EXPECT_EQ(table.rows[0][2], Json(task_->token_text(answered.targets[0].token)));
}

TEST_F(SingleTargets, AreGroupedByPositionAndByAnswer) {
  const std::vector<SingleTarget> targets = {
      {.example = 0, .position = 2, .k = 0, .target = 1, .predicted = 1, .loss = 1},
      {.example = 1, .position = 2, .k = 0, .target = 3, .predicted = 1, .loss = 2},
      {.example = 1, .position = 4, .k = 1, .target = 3, .predicted = 3, .loss = 5}};
  const Table by_position = grouped_table(*task_, targets, TargetGroups::position);
  EXPECT_EQ(by_position.name, "positions");
  ASSERT_EQ(by_position.rows.size(), 2u);
  EXPECT_EQ(by_position.rows[0], (Json::Array{2, "back1", 1.5, 0.5, 2}));
  EXPECT_EQ(by_position.rows[1], (Json::Array{4, "same", 5.0, 1.0, 1}));
  const Table by_answer = grouped_table(*task_, targets, TargetGroups::answer);
  ASSERT_EQ(by_answer.rows.size(), 3u);
  EXPECT_EQ(by_answer.rows[1], (Json::Array{task_->answer_text(3), "back1", 2.0, 0.0, 1}));
}

TEST_F(SingleTargets, InContextScoreIsTheLossAtTheLateLessThatAtTheEarlyPosition) {
  AnsweredTargets answered{.targets = {}, .examples = 3, .length = 8};
  const auto add = [&](Index example, Index position, double loss) {
    answered.targets.push_back({.example = example, .position = position, .loss = loss});
  };
  add(0, 1, 3);
  add(0, 7, 1);
  add(1, 1, 5);
  add(1, 7, 2);
  add(2, 1, 9);  // no target at the late position
  for (const auto& [one, other] : {std::pair<Index, Index>(1, 7), {7, 1}}) {  // in either order
    const auto score = in_context_score(answered, one, other);
    ASSERT_TRUE(score);
    EXPECT_EQ(score->early, 1);
    EXPECT_EQ(score->late, 7);
    EXPECT_EQ(score->examples, 2);
    EXPECT_EQ(score->difference.mean, -2.5);
  }
  EXPECT_FALSE(in_context_score(answered, 3, 5)) << "no target there";
  const std::vector<std::pair<Index, Index>> wrong = {{7, 7}, {1, 8}, {-1, 3}};
  for (const std::pair<Index, Index>& pair : wrong) {
    expect_error([&] { in_context_score(answered, pair.first, pair.second); },
                 {"two positions from 0 to 7", text("got ", pair.first, " and ", pair.second)});
  }
}

}  // namespace
}  // namespace headlab
