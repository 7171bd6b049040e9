// Pairs of heads where what is redundant and what takes over is known, because the models are built
// by hand; and models in which a layer norm is all that heads have in common.
#include "headlab/lab/heads/causes/pairs.h"

#include "headlab/core/base/progress.h"
#include "headlab/core/model/initial.h"
#include "headlab/core/ops/arithmetic.h"
#include "headlab/core/tasks/table.h"
#include "headlab/core/train/evaluate.h"
#include "headlab/core/train/streams.h"
#include "headlab/core/train/trainer.h"
#include "support/induction_pair.h"
#include "support/models.h"

namespace headlab { namespace {

class PairsOfInduction : public testing::Test {
 protected:
  Batch examples(Index count) const { return held_out_examples(*task_, count).batch; }
  std::unique_ptr<Task> task_ = make_task(kInduction);
};

TEST_F(PairsOfInduction, ConsecutiveHeadsCostLessTogetherThanInSum) {
  const PairsReport report = ablate_pairs(induction_pair(task_->shape()), examples(80));
  ASSERT_EQ(report.pairs.size(), 1u);
  const HeadPairReport& pair = report.pairs[0];
  EXPECT_NEAR(pair.joint, std::log(9.0), 1e-4);  // nothing is said: all logits are equal
  EXPECT_NEAR(pair.interaction.change, pair.joint - pair.independent, 1e-6);
  EXPECT_GT(pair.sum, pair.joint + 1);
}

TEST_F(PairsOfInduction, AreRedundantIfEitherIsEnough) {
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
  EXPECT_EQ(pair.conclusion(), "redundant");
  EXPECT_EQ(report.pairs[0].conclusion(), "");  // the head that both read
  EXPECT_EQ(ablate_pairs(model, examples(80)).pairs[2].conclusion(),
            "");  // no query asks for these
}

/// One count from the first step to the last: a second one would begin after "0:00 left".
TEST_F(PairsOfInduction, CountTheirStepsOnce) {
  std::vector<double> shares;
  std::size_t begins = 0;
  watch_steps([&](double done, std::int64_t all) {
    begins += done == 0;
    shares.push_back(done / static_cast<double>(all));
  });
  ablate_pairs(induction_pair(task_->shape(), 2), *task_, {.batch = 16}, 80);
  watch_steps({});
  EXPECT_EQ(begins, 1u);
  EXPECT_TRUE(std::ranges::is_sorted(shares));
  EXPECT_GT(shares.size(), 10u);
  EXPECT_EQ(shares.back(), 1) << "the work is done when it is said to be";
}

TEST(TakingOver, HeadThatAddsMoreAfterAnAblationCompensates) {
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
  EXPECT_EQ(pair.conclusion(), "1.0 compensates");
  const Json found = Json(result_of(report));
  EXPECT_EQ(found.at("pairs").items()[0].at("relations").string(), "back1");
  const Json row = found.at("relations").items()[0];
  EXPECT_EQ(row.at("verdict").string(), "1.0 compensates");
  EXPECT_EQ(row.at("of_second").at("rise").at("low").number(), pair.of_second.rise.low);
}

// Without feed-forward and without a second layer a head can do nothing about another; still each
// is divided by less when the other is gone.
TEST(Pairs, HeadsOfOneLayerDoNotDependOnEachOther) {
  TransformerConfig config = small_config();
  config.layers = 1, config.heads = {4}, config.d_ff = 0;
  const Transformer model = random_model(config);
  const Batch batch = random_batch(config, 80, 6);
  for (const HeadPairReport& pair : ablate_pairs(model, batch).pairs) {
    EXPECT_EQ(pair.interaction.change, 0) << "rounding is no difference";
    EXPECT_EQ(pair.interaction.p, 1);
    EXPECT_GT(std::abs(pair.joint), 1e-3);
  }
}

/// The cost of two heads separately: logits to which each one's effect is added, with layer norms
/// that divide as they do with both ablated.
TEST(Pairs, AreComparedAtTheScalesWithBothAblated) {
  for (const char* kinds : {"", "block=llama kv_heads=1 window=3+0", "features=3 positions=none"}) {
    const TransformerConfig config = small_config(kinds);
    const Transformer model = random_model(config);
    const Batch batch = random_batch(config, 40, 6);
    NormScales norms;
    const auto without = [&](const HeadSet& set) {
      HeadSet kept = all_heads(model);
      for (const HeadId& head : set) std::erase(kept, head);
      norms.next = 0;
      return model.forward(batch, {.norms = &norms}, {.interventions = gates_for(model, kept)});
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

/// A trained model in which each of two heads owns one relation: a pair has a row for both, so that
/// taking over is asked in each direction.
TEST(Pairs, HaveARowForEachRelationThatOneOfThemOwns) {
  const auto task = make_task("relations:length=8,vocab=6,classes=3,relations=1+3");
  TransformerConfig config = small_config(task->shape());
  config.layers = 1, config.heads = {2}, config.d_model = 24;
  Transformer model(config);
  initialize(model, streams::initial_values(0));
  Trainer(model, *task, {.steps = 300, .batch = 32, .lr = 1e-2, .warmup = 15}).run();
  const PairsReport report = ablate_pairs(model, *task, {}, 256);
  ASSERT_EQ(report.pairs.size(), 2u) << "one pair, two relations";
  EXPECT_EQ(report.unasked, "");
  for (std::size_t r = 0; r < 2; ++r) {
    const HeadPairReport& row = report.pairs[r];
    EXPECT_EQ(row.relation, r == 0 ? "back1" : "back3");
    EXPECT_NE(row.of_first.owns, row.of_second.owns);
    EXPECT_EQ(row.of_first.rise.examples > 0, row.of_second.owns) << "asked when the owner is gone";
    EXPECT_EQ(row.of_second.rise.examples > 0, row.of_first.owns);
    EXPECT_EQ(row.joint, report.pairs[0].joint);
  }
  EXPECT_NE(report.pairs[0].of_first.owns, report.pairs[1].of_first.owns);
}

TEST(Pairs, NameRelationsThatAreNotAsked) {
  const auto task = make_task(kInduction);
  EXPECT_EQ(ablate_pairs(induction_pair(task->shape(), 2), *task, {}, 80).unasked,
            "not asked, because no target is its own: previous");
  TransformerConfig config = small_config(task->shape());
  config.norm_place = NormPlace::post;
  EXPECT_EQ(ablate_pairs(random_model(config), *task, {}, 80).unasked,
            "no relation is asked about: direct shares need a pre-norm model");
}

TEST(Pairs, AreRedundantOnlyIfMostOfTheCostLiesBeyondTheSum) {
  const PairedChange sure{2.0, 1.9, 2.1, 0.0, 40};
  HeadPairReport pair{{0, 0}, {0, 1}};
  pair.of_first.share = pair.of_second.share = pair.beyond = sure;
  pair.beyond_share = HeadPairReport::kLeastBeyond;
  EXPECT_TRUE(pair.redundant());
  pair.beyond_share -= 0.01;
  EXPECT_FALSE(pair.redundant());
  EXPECT_EQ(pair.conclusion(), "");
}

/// However cheap a redundant pair is, and however many pairs there are, it is in the table.
TEST(Pairs, RedundantPairsComeFirst) {
  const PairedChange sure{2.0, 1.9, 2.1, 0.0, 40};
  PairsReport report;
  for (int i = 0; i < 20; ++i) report.pairs.push_back({{0, 0}, {1, i}, 1.0 + i, 1, 1, sure});
  report.pairs.push_back({{2, 0}, {2, 1}, 0.5, 0, 0, {}, "a", {true, sure}, {false, {}, sure}});
  for (int i = 0; i < 13; ++i)
    report.pairs.push_back(
        {{3, 0}, {3, i}, 0.01 * i, 0, 0, {}, "b", {true, sure}, {true, sure}, sure, 1});
  const Table table = result_of(report).table("pairs");
  ASSERT_EQ(table.rows.size(), 34u);
  EXPECT_EQ(table.most, 14u) << "all with a result";
  EXPECT_TRUE(table.by.empty()) << "text keeps this order";
  const std::vector<Json> conclusions = table.cells("verdict");
  EXPECT_EQ(conclusions[0], Json("redundant"));
  EXPECT_EQ(table.cells("joint")[0].number(), 0.12) << "the costliest of them";
  EXPECT_EQ(conclusions[12], Json("redundant"));
  EXPECT_EQ(conclusions[13], Json("2.1 compensates"));
  const std::size_t conclusion = table.index_of("verdict");
  EXPECT_EQ(table.rows[0].tone(conclusion), Tone::good);
  EXPECT_EQ(table.rows[13].tone(conclusion), Tone::none);
  EXPECT_EQ(table.cells("joint")[14].number(), 20);
  EXPECT_NE(table.note.find("14 of 34 rows are shown"), std::string::npos);
  const Table relations = result_of(report).table("relations");
  EXPECT_EQ(relations.rows.size(), 14u) << "those of a relation";
  EXPECT_EQ(relations.rows[0].tone(relations.index_of("verdict")), Tone::good);
  EXPECT_NE(relations.column("of_first.share").meaning.find("logits per target"),
            std::string::npos);
}

TEST(Pairs, HaveOneRowWithAllRelations) {
  const PairedChange sure{2.0, 1.9, 2.1, 0.0, 40};
  PairsReport report;
  report.pairs = {{{0, 0}, {0, 1}, 0.5, 0, 0, {}, "a", {true, sure}, {true, sure}, sure, 1},
                  {{0, 0}, {0, 1}, 0.5, 0, 0, {}, "b", {true, sure}, {false, {}, sure}},
                  {{0, 0}, {0, 1}, 0.5, 0, 0, {}, "c"},
                  {{0, 0}, {0, 2}, 0.7}};
  const Table table = result_of(report).table("pairs");
  EXPECT_EQ(table.cells("relations"), (std::vector<Json>{"a, b, c", Json()}));
  EXPECT_EQ(table.cells("verdict"), (std::vector<Json>{"redundant (a), 0.1 compensates (b)", ""}));
  EXPECT_EQ(table.cells("joint"), (std::vector<Json>{0.5, 0.7}));
  EXPECT_EQ(table.cells("redundant"), (std::vector<Json>{true, false}));
  EXPECT_EQ(result_of(report).table("relations").cells("relation"),
            (std::vector<Json>{"a", "b", "c"}));
}

/// Heads of one layer: the difference is 0 by construction and says nothing.
TEST(Pairs, HideADifferenceThatIsZeroInAllRows) {
  const PairedChange none{0, 0, 0, 1, 40};
  const auto is_hidden = [](PairedChange last) {
    PairsReport report;
    report.pairs = {{{0, 0}, {0, 1}, 1, 1, 1, {0, 0, 0, 1, 40}}, {{0, 0}, {0, 2}, 1, 1, 1, last}};
    for (HeadPairReport& pair : report.pairs) pair.interaction.examples = 40;
    return result_of(report).table("pairs").column("interaction").is_hidden();
  };
  EXPECT_TRUE(is_hidden(none));
  EXPECT_FALSE(is_hidden({0.5, 0.4, 0.6, 0, 40}));
}

TEST(Pairs, NeedTwoHeads) {
  TransformerConfig config = small_config();
  config.heads = {1, 0};
  expect_error([&] { ablate_pairs(random_model(config), random_batch(config, 4, 5)); },
               {"two heads", "1"});
}

}  // namespace
}  // namespace headlab
