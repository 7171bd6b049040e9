// Early stopping, the best weights of a run under the name RUN@best, training from the weights of
// another run, and the quantities that each line of metrics.jsonl holds.
#include <cmath>

#include "support/errors.h"
#include "support/runs.h"

namespace headlab { namespace {

class EarlyStopping : public testing::Test {
 protected:
  TemporaryFolder folder_;
};

/// With a learning rate of 0 no evaluation after the first is lower.
RunConfig still_config(const std::string& settings) {
  return tiny_config("lr=0 steps=70 " + settings);
}

TEST_F(EarlyStopping, EndsAfterPatienceEvaluationsWithoutALowerLoss) {
  TrainedRun run = create_run(folder_ / "run", still_config("patience=2"));
  const TrainResult result = train_run(run);
  EXPECT_EQ(result.steps, 21) << "evaluations are at 7, 14 and 21";
  EXPECT_TRUE(result.finished);
  EXPECT_NE(result.ended.find("in 2 evaluations"), std::string::npos) << result.ended;
  EXPECT_NE(result.ended.find("at step 7"), std::string::npos) << result.ended;
  EXPECT_EQ(ended_text(run), result.ended);
  EXPECT_EQ(open_run(run.path).step, 21);
}

TEST_F(EarlyStopping, ResumedRunGoesOnForPatienceFurtherEvaluations) {
  TrainedRun run = create_run(folder_ / "run", still_config("patience=2"));
  train_run(run);
  EXPECT_EQ(train_run(run).steps, 35);
  Index ended = 0;
  for (const Json& line : read_log(metrics_file(run))) ended += line.find("ended") != nullptr;
  EXPECT_EQ(ended, 2);
}

TEST_F(EarlyStopping, InterruptedRunEndsAtTheSameStep) {
  TrainedRun whole = create_run(folder_ / "whole", still_config("patience=3"));
  train_run(whole);
  TrainedRun run = create_run(folder_ / "run", still_config("patience=3"));
  Index seen = 0;
  RunCallbacks callbacks;
  callbacks.should_stop = [&] { return ++seen == 16; };
  EXPECT_FALSE(train_run(run, callbacks).finished);
  TrainedRun resumed = open_run(run.path, Access::write);
  train_run(resumed);
  EXPECT_EQ(timeless_metrics(whole), timeless_metrics(resumed));
}

TEST_F(EarlyStopping, DoesNothingWithoutPatience) {
  TrainedRun run = create_run(folder_ / "run", still_config(""));
  EXPECT_EQ(train_run(run).steps, 70);
  EXPECT_EQ(ended_text(run), "");
  EXPECT_FALSE(is_there(best_file(run)));
  expect_error([&] { open_run(text(run.path.string(), "@best")); }, {"last parameters alone"});
}

TEST_F(EarlyStopping, BestWeightsHaveTheLowestEvaluatedLoss) {
  // Ends by patience with any rounding: so many steps are not all lower than those before.
  TrainedRun run = create_run(folder_ / "run", tiny_config("lr=0.3 clip=0 steps=2100 patience=4"));
  ASSERT_LT(train_run(run).steps, 2100);
  double lowest = 1e9;
  Index step = 0;
  for (const Json& line : read_log(metrics_file(run))) {
    if (line.at("loss").number() >= lowest) continue;
    lowest = line.at("loss").number();
    step = line.at("step").integer();
  }
  const TrainedRun best = open_run(text(run.path.string(), "@best"));
  EXPECT_TRUE(best.best);
  EXPECT_EQ(best.step, step);
  EXPECT_EQ(best.path, run.path);
  EXPECT_EQ(name_of(best), run.path.string() + "@best");
  EXPECT_EQ(result_file(best, "heads.json").filename(), "heads@best.json");
  EXPECT_EQ(evaluate(best.model, *best.task, {.examples = 8}).loss, lowest);
  EXPECT_NE(weights_hash(best.model), weights_hash(run.model));
  expect_error([&] { open_run(text(run.path.string(), "@best"), Access::write); },
               {"cannot write"});
}

TEST_F(EarlyStopping, FolderWithTheNameOfBestWeightsIsARunOfItsOwn) {
  const TrainedRun run = create_run(folder_ / "run@best", tiny_config());
  EXPECT_FALSE(open_run(run.path).best);
}

TEST_F(EarlyStopping, MetricsHoldTrainingAccuracyAndTheNormOfTheWeights) {
  TrainedRun run = create_run(folder_ / "run", tiny_config("steps=7"));
  train_run(run);
  const Json line = read_log(metrics_file(run)).back();
  double squares = 0;
  for (const double weight : parameters_in(run.model)) squares += weight * weight;
  EXPECT_NEAR(line.at("weight_norm").number(), std::sqrt(squares), 1e-9);
  const Evaluation training =
      evaluate(run.model, *run.task, {.examples = 8, .split = Split::train});
  EXPECT_EQ(line.at("train_accuracy").number(), training.accuracy);
}

TEST_F(EarlyStopping, TrainingFromARunBeginsWithItsWeights) {
  TrainedRun source = create_run(folder_ / "source", tiny_config("steps=10"));
  train_run(source);
  RunConfig config = tiny_config("seed=5 steps=20");
  config.task = "relations:length=6,vocab=6,classes=3,relations=2+same";
  fit_to_task(config);
  const Transformer model = model_from(source, config);
  EXPECT_EQ(parameters_in(model), parameters_in(source.model));
  EXPECT_EQ(config.from, source.path.string());
  EXPECT_EQ(config.from_weights, weights_hash(source.model));
  EXPECT_EQ(config.model.length, 8) << "the model's own, which is longer than the task's";
  RunConfig other = tiny_config();
  other.task = "relations:length=8,vocab=5,classes=3,relations=1+same";
  fit_to_task(other);
  expect_error([&] { model_from(source, other); }, {"with the task", "vocab"});
}

}  // namespace
}  // namespace headlab
