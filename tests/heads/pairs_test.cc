// Pairs of heads where what is redundant and what takes over is known, because the models are built
// by hand; and models in which a layer norm is all that heads have in common.
#include "headlab/heads/pairs.h"

#include "headlab/ops/arithmetic.h"
#include "headlab/tasks/table.h"
#include "headlab/train/evaluate.h"
#include "support/induction_pair.h"
#include "support/models.h"

namespace headlab { namespace {

class PairsOfInduction : public testing::Test {
 protected:
  Batch examples(Index count) const { return held_out_examples(*task_, count).batch; }
  std::unique_ptr<Task> task_ = make_task(kInduction);
};

TEST_F(PairsOfInduction, ThatWorkOneAfterTheOtherCostNoMoreThanTheSecond) {
  const PairsReport report = ablate_pairs(induction_pair(task_->shape()), examples(80));
  ASSERT_EQ(report.pairs.size(), 1u);
  const HeadPairReport& pair = report.pairs[0];
  EXPECT_NEAR(pair.joint, std::log(9.0), 1e-4);  // nothing is said: all logits are equal
  EXPECT_NEAR(pair.interaction.change, pair.joint - pair.independent, 1e-6);
  EXPECT_GT(pair.sum, pair.joint + 1);
}

TEST_F(PairsOfInduction, OfWhichEitherIsEnoughAreRedundant) {
  const Transformer model = induction_pair(task_->shape(), 2);
  const PairsReport report = ablate_pairs(model, *task_, {}, 80);
  ASSERT_EQ(report.pairs.size(), 3u);
  const HeadPairReport& pair = report.pairs[2];
  EXPECT_EQ(pair.first, (HeadId{1, 0}));
  EXPECT_EQ(pair.second, (HeadId{1, 1}));
  EXPECT_EQ(pair.relation, "induction");
  EXPECT_NEAR(pair.sum, 0, 1e-3);
  EXPECT_GT(pair.beyond.low, 2);
  EXPECT_NEAR(pair.interaction.change, 0, 1e-4);  // their effects on the logits add up
  EXPECT_EQ(pair.verdict(), "redundant");
  EXPECT_EQ(report.pairs[0].verdict(), "");                             // the head that both read
  EXPECT_EQ(ablate_pairs(model, examples(80)).pairs[2].verdict(), "");  // nobody asked for what
}

TEST(TakingOver, IsSeenInAHeadThatDoesMoreWhenTheOtherIsGone) {
  const auto task = make_task("relations:length=10,vocab=6,classes=3,relations=1");
  const Transformer model = one_takes_over(task->shape());
  const PairsReport report = ablate_pairs(model, *task, {}, 80);
  const HeadPairReport& pair = report.pairs[0];
  EXPECT_EQ(pair.relation, "back1");
  EXPECT_TRUE(pair.of_first.owns);
  EXPECT_FALSE(pair.of_second.owns);
  EXPECT_GT(pair.of_second.rise.low, 0.25 * pair.of_first.share.change);
  EXPECT_FALSE(pair.redundant());
  EXPECT_FALSE(pair.first_takes_over());
  EXPECT_EQ(pair.verdict(), "1.0 takes over");
  const Json row = Json(finding_of(report)).at("pairs").items()[0];
  EXPECT_EQ(row.at("verdict").string(), "1.0 takes over");
  EXPECT_EQ(row.at("of_second").at("rise").at("low").number(), pair.of_second.rise.low);
}

// Without feed-forward and without a second layer a head can do nothing about another; still each
// is divided by less when the other is gone.
TEST(Pairs, OfOneLayerDependOnEachOtherThroughNothing) {
  TransformerConfig config = small_config();
  config.layers = 1, config.heads = {4}, config.d_ff = 0;
  const Transformer model = random_model(config);
  const Batch batch = random_batch(config, 80, 6);
  for (const HeadPairReport& pair : ablate_pairs(model, batch).pairs) {
    EXPECT_NEAR(pair.interaction.change, 0, 1e4 * kEpsilon);
    EXPECT_GT(std::abs(pair.joint), 1e-3);
  }
}

/// What two heads cost apart: logits to which each one's effect is added, with layer norms that
/// divide as they do with both silenced.
TEST(Pairs, AreComparedAtTheScalesWithBothSilenced) {
  for (const char* kinds : {"", "block=llama kv_heads=1 window=3+0", "features=3 positions=none"}) {
    const TransformerConfig config = small_config(kinds);
    const Transformer model = random_model(config);
    const Batch batch = random_batch(config, 40, 6);
    NormScales norms;
    const auto without = [&](const HeadSet& set) {
      HeadSet kept = all_heads(model);
      for (const HeadId& head : set) std::erase(kept, head);
      norms.next = 0;
      return model.forward(batch, {.norms = &norms}, {.edits = gates_for(model, kept)});
    };
    const HeadId a = {0, 1}, b = {1, 0};
    std::vector<double> joint(40), independent(40);
    add_losses(without({a, b}), batch, 0, 1, joint);
    norms.given = true;
    add_losses(without({a}) + without({b}) - without({}), batch, 0, 1, independent);
    const std::vector<HeadPair> pair = {{a, b}};
    const Ablation::PairLosses found = Ablation(model, batch, {.batch = 16}).pair_losses(pair)[0];
    expect_near(found.joint, joint, 1e4 * kEpsilon);
    expect_near(found.independent, independent, 1e4 * kEpsilon, kinds);
  }
}

TEST(Pairs, NeedTwoHeads) {
  TransformerConfig config = small_config();
  config.heads = {1, 0};
  expect_error([&] { ablate_pairs(random_model(config), random_batch(config, 4, 5)); },
               {"two heads", "1"});
}

}  // namespace
}  // namespace headlab
