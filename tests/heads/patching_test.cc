// Patching and pairs of heads on a circuit built by hand, where what restores the answer, what
// works behind what, and what backs up what is known; and on random models against the clean pass.
#include "headlab/heads/patching.h"

#include "headlab/heads/ablation.h"
#include "headlab/ops/arithmetic.h"
#include "headlab/tasks/table.h"
#include "headlab/train/evaluate.h"
#include "support/induction_pair.h"
#include "support/models.h"

namespace headlab { namespace {

class OnInduction : public testing::Test {
 protected:
  OnInduction()
      : task_(make_task("induction:length=14,vocab=9,shortest=3,longest=5,start=1,gap=2")) {}
  Batch examples(Index count) const { return held_out_examples(*task_, count).batch; }
  std::unique_ptr<Task> task_;
};

/// All tokens one further round the vocabulary, targets too: the same positions, other answers.
Batch shifted(const Batch& batch, std::int32_t vocab) {
  Batch other = batch;
  for (std::int32_t& token : other.tokens) token = (token + 1) % vocab;
  for (std::int32_t& target : other.targets) target = target < 0 ? -1 : (target + 1) % vocab;
  return other;
}

TEST_F(OnInduction, TheInductionHeadCarriesTheAnswerAndTheOtherDoesNot) {
  const Transformer model = induction_pair(task_->shape());
  const Batch clean = examples(20);
  const PatchReport report = patch_activations(model, clean, shifted(clean, 9));
  EXPECT_EQ(report.targets, clean.target_count());
  EXPECT_GT(report.clean, 30);
  EXPECT_NEAR(report.corrupted, -report.clean, 1e-3);
  ASSERT_EQ(report.heads.size(), 2u);
  EXPECT_NEAR(report.heads[1].restored, 1, 1e-5);
  EXPECT_LT(report.heads[0].restored, 0.6);
}

TEST_F(OnInduction, HeadsThatWorkOneBehindTheOtherInteractByMinusTheFirst) {
  const Transformer model = induction_pair(task_->shape());
  const InteractionReport report = ablate_pairs(model, examples(30));
  ASSERT_EQ(report.pairs.size(), 1u);
  const Interaction& pair = report.pairs[0];
  EXPECT_NEAR(pair.joint, std::log(9.0), 1e-5);  // nothing is said: all logits are equal
  EXPECT_NEAR(pair.interaction.change, pair.joint - pair.independent, 1e-9);
  EXPECT_NEAR(pair.sum - pair.joint, ablate_heads(model, examples(30)).heads[0].change.change,
              1e-5);
  EXPECT_LT(pair.interaction.high, 0);
}

TEST_F(OnInduction, BackupHeadsShowOnlyTogether) {
  const Transformer model = induction_pair(task_->shape(), 2);
  const InteractionReport report = ablate_pairs(model, examples(30));
  ASSERT_EQ(report.pairs.size(), 3u);
  const Interaction& backup = report.pairs[2];
  EXPECT_EQ(backup.first, (HeadId{1, 0}));
  EXPECT_EQ(backup.second, (HeadId{1, 1}));
  EXPECT_NEAR(backup.sum, 0, 1e-4);
  EXPECT_NEAR(backup.joint, std::log(9.0), 1e-5);
  EXPECT_GT(backup.interaction.low, 2);
  EXPECT_FALSE(backup.backs_up());  // as long as nobody says that they do the same
  const HeadsReport scores = score_heads(model, *task_, {.examples = 60});
  const InteractionReport named = ablate_pairs(model, examples(30), {}, &scores);
  EXPECT_TRUE(named.pairs[2].backs_up());
  EXPECT_EQ(named.pairs[2].relation, "induction");
  EXPECT_EQ(named.pairs[0].relation, "");
}

TEST(Interactions, NeedTwoHeads) {
  TransformerConfig config = small_config();
  config.heads = {1, 0};
  expect_error([&] { ablate_pairs(random_model(config), random_batch(config, 4, 5)); },
               {"two heads", "1"});
}

class PatchingOf : public testing::TestWithParam<TransformerConfig> {};

TEST_P(PatchingOf, TheStreamThatTheLogitsAreMadeOfRestoresEverythingOverAllPositions) {
  const Transformer model = random_model(GetParam());
  const Batch clean = random_batch(GetParam(), 3, 5);
  const Batch corrupted = random_batch(GetParam(), 3, 5, 0.2, Key{8});
  const PatchReport report = patch_activations(model, clean, corrupted);
  double sum = 0;
  for (const double restored : report.residual.back()) sum += restored;
  EXPECT_NEAR(sum, 1, 1e4 * kEpsilon);
  EXPECT_EQ(report.heads.size(), all_heads(model).size());
}

TEST_P(PatchingOf, AHeadIsTheSameAsOneEditByHand) {
  const Transformer model = random_model(GetParam());
  const Batch clean = random_batch(GetParam(), 2, 5, 0);
  const Batch corrupted = random_batch(GetParam(), 2, 5, 0, Key{8});
  ModelCaptures captures;
  model.forward(clean, {}, {.captures = &captures});
  ModelHooks hooks;
  hooks.edits.resize(captures.attention.size());
  const Tensor z = captures.attention.back().z;
  hooks.edits.back() = {.gate = Tensor::of({2}, {1, 0}),
                        .replacement = z.viewed_as({z.size(0), z.size(1), 2, 4})};
  const Tensor logits = model.forward(corrupted, {}, hooks);
  const PatchReport report = patch_activations(model, clean, corrupted);
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < clean.targets.size(); ++i) {
    const Scalar* row = logits.data() + static_cast<Index>(i) * GetParam().vocab;
    sum += static_cast<double>(row[clean.targets[i]] - row[corrupted.targets[i]]);
    count += clean.targets[i] != corrupted.targets[i];
  }
  EXPECT_EQ(static_cast<double>(report.targets), count);
  EXPECT_NEAR(report.heads.back().restored,
              (sum / count - report.corrupted) / (report.clean - report.corrupted), 1e5 * kEpsilon);
}

INSTANTIATE_TEST_SUITE_P(Models, PatchingOf,
                         testing::Values(small_config(), small_encoder(), small_encoder_decoder()));

TEST(Patching, RefusesInWords) {
  const Transformer model = random_model(small_config());
  const Batch batch = random_batch(small_config(), 2, 5);
  expect_error([&] { patch_activations(model, batch, batch); }, {"the same answers"});
  expect_error([&] { patch_activations(model, batch, batch.rows(0, 1)); }, {"same shape"});
}

// What two heads would cost apart: logits to which each one's effect is added.
TEST(Pairs, AreComparedWithEffectsThatDoNotTouch) {
  TransformerConfig config = small_config();
  const Transformer model = random_model(config);
  const Batch batch = random_batch(config, 40, 6);
  const std::vector<HeadSet> sets = {{{0, 1}}, {{1, 0}}};
  const std::vector<std::pair<std::size_t, std::size_t>> pairs = {{0, 1}};
  const Ablation ablation(model, batch, {.batch = 16});
  const auto without = [&](const HeadSet& set) {
    HeadSet kept = all_heads(model);
    for (const HeadId& head : set) std::erase(kept, head);
    return model.forward(batch, {}, {.edits = gates_for(model, kept)});
  };
  const Tensor logits = without(sets[0]) + without(sets[1]) - without({});
  std::vector<double> expected(40);
  add_losses(logits, batch, 0, 1, expected);
  const std::vector<double> found = ablation.independent_losses(sets, pairs)[0];
  for (std::size_t b = 0; b < found.size(); ++b)
    EXPECT_NEAR(found[b], expected[b], 1e3 * kEpsilon) << b;
  const InteractionReport report = ablate_pairs(model, batch);
  for (const Interaction& pair : report.pairs) {
    EXPECT_NEAR(pair.interaction.change, pair.joint - pair.independent, 1e-9);
    EXPECT_FALSE(pair.backs_up());  // no relation was asked after
  }
}

}  // namespace
}  // namespace headlab
