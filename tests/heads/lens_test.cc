// The logit lens: its last place is the model, its places are those of a pass that stops early, and
// in a circuit built by hand the answer appears with the layer that writes it.
#include "headlab/lab/heads/causes/lens.h"

#include "headlab/core/ops/ops.h"
#include "headlab/core/tasks/table.h"
#include "headlab/core/train/evaluate.h"
#include "support/induction_pair.h"
#include "support/models.h"

namespace headlab { namespace {

class LensOf : public testing::TestWithParam<TransformerConfig> {};

TEST_P(LensOf, LastPlaceHasTheLogitsOfTheModel) {
  const Transformer model = random_model(GetParam());
  const Batch batch = random_batch(GetParam(), 3, 5);
  ActivationCache activations;
  const Tensor logits = model.forward(batch, {}, {.activations = &activations});
  const std::vector<LensStream> streams = lens_streams(model, activations);
  EXPECT_EQ(numbers(lens_logits(model, streams.back().x)), numbers(logits));
  const std::size_t sublayers = GetParam().has_source() ? 3 : 2;
  EXPECT_EQ(streams.size(), 1 + static_cast<std::size_t>(GetParam().layers) *
                                    (GetParam().d_ff > 0 ? sublayers : sublayers - 1));
}

class LensOfASum : public testing::TestWithParam<TransformerConfig> {};

TEST_P(LensOfASum, StreamAfterAttentionEqualsAModelWithoutItsLastNetwork) {
  const Transformer model = random_model(GetParam());
  const Batch batch = random_batch(GetParam(), 3, 5);
  ActivationCache activations;
  model.forward(batch, {}, {.activations = &activations});
  const std::vector<LensStream> streams = lens_streams(model, activations);
  Transformer shorter = model.clone();
  const std::string last = streams.back().name;
  ASSERT_TRUE(last.ends_with(".mlp")) << last;
  shorter.visit([&](const std::string& name, const Tensor& parameter) {
    if (name.starts_with(last + ".") && name.find("_out") != name.npos) {
      std::fill_n(parameter.data(), parameter.count(), Scalar(0));
    }
  });
  ActivationCache other;
  shorter.forward(batch, {}, {.activations = &other});
  expect_near(lens_streams(shorter, other).back().x, streams[streams.size() - 2].x, 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Models, LensOfASum,
                         testing::Values(small_config(), small_encoder_decoder(),
                                         small_config("norm_place=parallel"),
                                         small_config("block=llama")));

INSTANTIATE_TEST_SUITE_P(Models, LensOf,
                         testing::Values(small_config(), small_encoder(), small_encoder_decoder(),
                                         small_config("norm_place=post"),
                                         small_config("norm_place=parallel"),
                                         small_config("block=llama tied=true"),
                                         small_config("norm=none attention_function=sigmoid")));

TEST(Lens, FindsTheAnswerAfterTheLayerThatWritesIt) {
  const auto task = make_task(kInduction);
  const Transformer model = induction_pair(task->shape());
  const LensReport report = read_lens(model, *task, 40);
  ASSERT_EQ(report.places.size(), 3u);
  EXPECT_EQ(report.places[1].name, "blocks.0.attn");
  EXPECT_LT(report.places[1].means.accuracy.or_nan(), 0.5);
  EXPECT_EQ(report.places[2].means.accuracy.or_nan(), 1);
  EXPECT_EQ(report.places[2].means.rank.or_nan(), 1);
  EXPECT_NEAR(report.places[2].means.loss.or_nan(), evaluate(model, *task, {.examples = 40}).loss,
              1e-6);
  EXPECT_NEAR(report.places[2].change.change,
              report.places[2].means.loss.or_nan() - report.places[1].means.loss.or_nan(), 1e-6);
  double sum = 0;
  Index count = 0;
  for (const LensCell& cell : report.by_position) {
    if (cell.place != 1) continue;
    sum += cell.means.loss.or_nan() * static_cast<double>(cell.means.loss.count());
    count += cell.means.loss.count();
  }
  EXPECT_EQ(count, report.places[1].means.loss.count());
  EXPECT_NEAR(sum / static_cast<double>(count), report.places[1].means.loss.or_nan(), 1e-9);
}

}  // namespace
}  // namespace headlab
