// Held-out loss and accuracy against a plain count, and what they must not depend on.
#include "headlab/core/train/evaluate.h"

#include <cmath>

#include "headlab/core/tasks/table.h"
#include "headlab/core/train/streams.h"
#include "headlab/lab/data/lab_tasks.h"
#include "support/folders.h"
#include "support/models.h"
#include "support/runs.h"

namespace headlab { namespace {

/// `relations` with random parameters: positions without targets, two targets at the others.
class Evaluated : public testing::Test {
 protected:
  Evaluated() : config_(tiny_config()), task_(fit_to_task(config_)) {
    config_.model.dropout = 0;
    model_.emplace_back(random_model(config_.model));
  }
  Evaluation evaluated(const EvaluateOptions& options) const {
    return evaluate(model_[0], *task_, options);
  }

  RunConfig config_;
  std::unique_ptr<Task> task_;
  std::vector<Transformer> model_;  // one
};

TEST_F(Evaluated, EqualsAPlainCount) {
  const NoGrad no_grad;
  const Index V = config_.model.vocab;
  const Batch batch = task_->make(Key{}.fold("evaluate"), 20, Split::validation).batch;
  const std::vector<double> logits = numbers(model_[0].forward(batch));
  double loss[2] = {}, right[2] = {}, count[2] = {};
  for (std::size_t row = 0; row < batch.targets.size(); ++row) {
    if (batch.targets[row] < 0) continue;
    const auto x = logits.begin() + static_cast<std::ptrdiff_t>(row) * V;
    double sum = 0;
    for (Index v = 0; v < V; ++v) sum += std::exp(x[v]);
    loss[row % 2] += std::log(sum) - x[batch.targets[row]];
    right[row % 2] += std::max_element(x, x + V) - x == batch.targets[row];
    ++count[row % 2];
  }
  const Evaluation got = evaluated({.examples = 20});
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_NEAR(got.targets[k].loss, loss[k] / count[k], 16 * kEpsilon * largest(logits));
    EXPECT_DOUBLE_EQ(got.targets[k].accuracy, right[k] / count[k]);
    EXPECT_EQ(static_cast<double>(got.targets[k].count), count[k]);
  }
  EXPECT_NEAR(got.loss, (loss[0] + loss[1]) / (count[0] + count[1]), 16 * kEpsilon * 20);
  EXPECT_DOUBLE_EQ(got.accuracy, (right[0] + right[1]) / (count[0] + count[1]));
  EXPECT_EQ(got.targets[0].name, "back1");
  EXPECT_EQ(got.targets[1].name, "same");
}

TEST_F(Evaluated, DoesNotDependOnTheSizeOfItsBatches) {
  const Evaluation whole = evaluated({.examples = 30, .batch = 64});
  for (Index batch : {1, 7, 30}) {
    const Evaluation parts = evaluated({.examples = 30, .batch = batch});
    EXPECT_NEAR(parts.loss, whole.loss, 64 * kEpsilon * whole.loss);
    EXPECT_EQ(parts.count, whole.count);
  }
}

TEST_F(Evaluated, LossesByExampleAverageToTheMeanLoss) {
  double loss = 0, count = 0;
  const std::vector<float> sums = losses_by_example(model_[0], *task_, {});
  for (std::size_t i = 0; i < sums.size(); i += 2) loss += sums[i], count += sums[i + 1];
  EXPECT_EQ(count, evaluated({}).count);
  EXPECT_NEAR(loss / count, evaluated({}).loss, 1e-6);
}

TEST_F(Evaluated, TakesTheSameExamplesEveryTime) {
  EXPECT_EQ(evaluated({}).loss, evaluated({}).loss);
  EXPECT_NE(evaluated({}).loss, evaluated({.key = Key{1}}).loss);
}

TEST_F(Evaluated, LeavesOutHeadsWithClosedGates) {
  const std::vector<HeadInterventions> open = {{.gate = Tensor::full({2}, 1)}};
  const std::vector<HeadInterventions> closed = {{.gate = Tensor::of({2}, {1, 0})}};
  const double plain = evaluated({}).loss;
  EXPECT_EQ(evaluated({.interventions = open}).loss, plain);
  EXPECT_NE(evaluated({.interventions = closed}).loss, plain);
}

TEST_F(Evaluated, RecordsNothing) {
  evaluated({});
  Transformer copy = model_[0];
  for (const Tensor& parameter : parameters_of(copy)) EXPECT_FALSE(parameter.grad().defined());
}

TEST_F(Evaluated, RefusesImpossibleOptions) {
  expect_error([&] { evaluated({.examples = 0}); }, {"0 examples"});
  expect_error([&] { evaluated({.batch = 0}); }, {"0 at a time"});
  expect_error([&] { losses_by_example(model_[0], *task_, {.batch = 0}); }, {"0 at a time"});
}

TEST_F(Evaluated, WritesTheKeysThatOtherProgramsRead) {
  const Json targets = evaluated({}).targets;
  ASSERT_EQ(targets.items().size(), 2u);
  for (const Json& target : targets.items()) {
    EXPECT_TRUE(target.at("name").is_string());
    EXPECT_TRUE(target.at("loss").is_number());
    EXPECT_TRUE(target.at("accuracy").is_number());
  }
}

/// Each cell of the table, and a sentence that nobody reads as "one right answer of 26,132".
TEST(Evaluate, TableSaysOverHowManyTargetsAllAre) {
  const double none = std::nan("");
  const Evaluation evaluation{.loss = 0.25,
                              .accuracy = 1,
                              .count = 26132,
                              .targets = {{"a", 0.5, 1.0, 26132}, {"b", none, none, 0}}};
  const Table table = target_table(evaluation);
  EXPECT_EQ(table.note, "all: loss 0.25, accuracy 1.0000 over 26,132 targets");
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(Json(table.rows[0]).dump(), R"(["a",0.5,1,26132])");
  EXPECT_EQ(Json(table.rows[1]).dump(), R"(["b",null,null,0])") << "nobody asks for it";
}

TEST(Evaluate, LinesOfATaskHaveTheLossOfTheTask) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "lines.jsonl").string();
  for (const char* spec : {"relations:length=10", "reverse_cross"}) {
    const auto task = make_task(spec);
    write_file(path, lines_of(*task, 64, streams::evaluated()));
    const auto written = make_task("file:train=" + path + ",held_out=" + path + ",test=" + path);
    ASSERT_EQ(written->different(Split::validation), 64);
    RunConfig config = recommended_config(spec);
    fit_to_task(config);
    const Transformer model = initial_model(config);
    EXPECT_NEAR(evaluate(model, *task, {.examples = 64}).loss,
                evaluate(model, *written, {.examples = 64}).loss, 1e-5);
  }
}

}  // namespace
}  // namespace headlab
