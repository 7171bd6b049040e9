// The logit lens: its last place is the model, its places are those of a pass that stops early, and
// in a circuit built by hand the answer appears with the layer that writes it.
#include "headlab/lab/heads/causes/lens.h"

#include <algorithm>
#include <cmath>
#include <map>

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

/// Loss, rank and right answers of one target, from its logits.
struct Scored {
  double loss = 0, rank = 0, right = 0, count = 0;

  Scored() = default;
  Scored(const Scalar* logits, Index outputs, std::int32_t target) : rank(1), right(1), count(1) {
    double sum = 0;
    for (Index j = 0; j < outputs; ++j) {
      sum += std::exp(static_cast<double>(logits[j]) - static_cast<double>(logits[target]));
      if (logits[j] > logits[target]) {
        ++rank;
        right = 0;
      }
    }
    loss = std::log(sum);
  }
};

void add(Scored& sum, const Scored& one) {
  sum.loss += one.loss;
  sum.rank += one.rank;
  sum.right += one.right;
  sum.count += one.count;
}

/// Expects a row with the means of these.
void expect_means(const Table& table, std::size_t row, const Scored& sum) {
  EXPECT_EQ(table.cells("count")[row].number(), sum.count) << table.name << " " << row;
  EXPECT_NEAR(table.cells("loss")[row].number(), sum.loss / sum.count, 1e-5) << table.name;
  EXPECT_NEAR(table.cells("accuracy")[row].number(), sum.right / sum.count, 1e-9) << table.name;
  EXPECT_NEAR(table.cells("rank")[row].number(), sum.rank / sum.count, 1e-9) << table.name;
}

/// Targets at all positions, the first too, judged here from the logits of the model.
TEST(Lens, TablesHaveTheMeansOfEachTargetAndPosition) {
  const auto task = make_task("relations:length=6,vocab=5,classes=3,relations=next+same");
  TransformerConfig config = small_encoder();
  config.shape() = task->shape();
  const Transformer model = random_model(config);
  const Result found = result_of(read_lens(model, *task, 7));
  const Batch batch = held_out_examples(*task, 7).batch;
  const Tensor logits = model.forward(batch);
  const Index outputs = config.outputs();
  Scored all;
  std::map<Index, Scored> by_target;
  std::map<std::pair<Index, Index>, Scored> by_position;
  for (Index row = 0; row < std::ssize(batch.targets); ++row) {
    if (batch.targets[row] < 0) continue;
    const Scored one(logits.data() + row * outputs, outputs, batch.targets[row]);
    const Index k = row % batch.targets_per_position;
    add(all, one);
    add(by_target[k], one);
    add(by_position[{row / batch.targets_per_position % batch.length, k}], one);
  }
  ASSERT_EQ(by_position.begin()->first.first, 0) << "the first position has a target";
  const Table& places = found.table("places");
  expect_means(places, places.rows.size() - 1, all);
  const Table& targets = found.table("by_target");
  ASSERT_EQ(targets.rows.size(), places.rows.size() * by_target.size());
  std::size_t row = targets.rows.size() - by_target.size();
  for (const auto& [k, sum] : by_target) {
    EXPECT_EQ(targets.cells("target")[row], Json(task->target_names()[k]));
    expect_means(targets, row++, sum);
  }
  const Table& positions = found.table("positions");
  const std::vector<std::string> names = task->target_names();
  ASSERT_EQ(positions.rows.size(), places.rows.size() * by_position.size());
  for (std::size_t i = 0; i < positions.rows.size(); ++i) {
    if (positions.cells("place")[i] != places.cells("place").back()) continue;
    const auto position = positions.cells("position")[i].integer();
    const std::string target = positions.cells("target")[i].string();
    const Index k = std::ranges::find(names, target) - names.begin();
    expect_means(positions, i, by_position.at({position, k}));
  }
}

}  // namespace
}  // namespace headlab
