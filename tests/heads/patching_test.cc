// Patching on a circuit built by hand, where what restores the answer is known; and on random
// models against the clean pass.
#include "headlab/lab/heads/causes/patching.h"

#include "headlab/core/ops/arithmetic.h"
#include "headlab/core/tasks/table.h"
#include "headlab/core/train/evaluate.h"
#include "support/induction_pair.h"
#include "support/models.h"

namespace headlab { namespace {

class OnInduction : public testing::Test {
 protected:
  OnInduction() : task_(make_task(kInduction)) {}
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

TEST_P(PatchingOf, AHeadEqualsOneInterventionByHand) {
  const Transformer model = random_model(GetParam());
  const Batch clean = random_batch(GetParam(), 2, 5, 0);
  const Batch corrupted = random_batch(GetParam(), 2, 5, 0, Key{8});
  ActivationCache activations;
  model.forward(clean, {}, {.activations = &activations});
  ModelHooks hooks;
  hooks.interventions.resize(activations.attention.size());
  const Tensor z = activations.attention.back().z;
  hooks.interventions.back() = {.gate = Tensor::of({2}, {1, 0}),
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
                         testing::Values(small_config(), small_encoder(), small_encoder_decoder(),
                                         small_config("kv_heads=1 block=llama window=3+0"),
                                         small_config("features=3")));

TEST(Patching, RefusesInvalidOptions) {
  const Transformer model = random_model(small_config());
  const Batch batch = random_batch(small_config(), 2, 5);
  expect_error([&] { patch_activations(model, batch, batch); }, {"the same answers"});
  expect_error([&] { patch_activations(model, batch, batch.rows(0, 1)); }, {"same shape"});
}

}  // namespace
}  // namespace headlab
