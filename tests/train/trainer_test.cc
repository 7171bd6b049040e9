// The training loop: what a step is made of, and what it must not depend on.
#include "headlab/core/train/trainer.h"

#include "headlab/core/model/initial.h"
#include "headlab/core/ops/ops.h"
#include "headlab/core/tasks/table.h"
#include "support/runs.h"

namespace headlab { namespace {

/// A task, a model with initial values, and a trainer of them.
struct Bench {
  RunConfig config;
  std::unique_ptr<Task> task;
  Transformer model;
  Trainer trainer;

  explicit Bench(RunConfig given)
      : config(std::move(given)),
        task(fit_to_task(config)),
        model(config.model),
        trainer(model, *task, config.train) {
    initialize(model, Key{7});
  }
};

std::vector<double> losses_of(Bench& bench) {
  std::vector<double> losses;
  bench.trainer.run({.on_step = [&](const StepRecord& record) { losses.push_back(record.loss); }});
  return losses;
}

TEST(Trainer, BringsTheLossDown) {
  Bench bench(tiny_config("dropout=0 steps=150 batch=16"));
  const double before = evaluate(bench.model, *bench.task).loss;
  EXPECT_TRUE(bench.trainer.run());
  EXPECT_LT(evaluate(bench.model, *bench.task).loss, 0.6 * before);
}

TEST(Trainer, TakesFourMicroBatchesOf16ForOneBatchOf64) {
  // Steps of sgd are as far apart as the gradients.
  RunConfig config = tiny_config("dropout=0 steps=3 batch=64 optimizer=sgd");
  config.task = "induction:length=16,vocab=8,shortest=2,longest=6,start=1,gap=3";
  Bench whole(config);
  config.train.accumulate = 4;
  Bench parts(config);
  const Batch batch = whole.task->make(Key{1}, 64, Split::train).batch;
  ASSERT_NE(batch.rows(0, 16).target_count(), batch.rows(16, 32).target_count());
  const std::vector<double> one = losses_of(whole), four = losses_of(parts);
  expect_near(four, one, 16 * kEpsilon * largest(one), "losses");
  const std::vector<double> expected = parameters_in(whole.model);
  // Gradients sum up to 64 x 16 terms; rounding errors grow with the root of that at most.
  expect_near(parameters_in(parts.model), expected, 32 * kEpsilon * largest(expected));
}

TEST(Trainer, ComputesTheSameBitsOnAnyNumberOfThreads) {
  RunConfig config = recommended_config("relations");
  config.model.dropout = 0.1;
  config.model.d_ff = 40;
  config.train.steps = 4;
  config.train.eval_every = 2;
  const int before = thread_count();
  std::vector<double> losses, parameters;
  for (int threads : {1, 2, 3, 8}) {
    set_thread_count(threads);
    Bench bench(config);
    std::vector<double> now = losses_of(bench);
    now.push_back(evaluate(bench.model, *bench.task, {.examples = 100}).loss);
    if (threads == 1) {
      losses = now;
      parameters = parameters_in(bench.model);
    }
    EXPECT_EQ(now, losses) << threads << " threads";
    EXPECT_EQ(parameters_in(bench.model), parameters) << threads << " threads";
  }
  set_thread_count(before);
}

TEST(Trainer, DependsOnTheSeedInBatchesAndDropout) {
  RunConfig config = tiny_config("steps=2");
  Bench one(config), same(config);
  config.train.seed = 1;
  Bench other(config);
  const std::vector<double> losses = losses_of(one);
  EXPECT_EQ(losses_of(same), losses);
  EXPECT_NE(losses_of(other), losses);
}

TEST(Trainer, CallsBackInOrder) {
  Bench bench(tiny_config("steps=5 eval_every=2 save_every=3"));
  std::string calls;
  TrainCallbacks callbacks;
  callbacks.interventions = [&](Index step) {
    return calls += text("g", step), std::vector<HeadInterventions>{};
  };
  callbacks.loss_terms = [&](Index step) { return calls += text("l", step), Tensor::zeros({1}); };
  callbacks.after_step = [&](Index step) { calls += text("a", step); };
  callbacks.on_step = [&](const StepRecord& record) { calls += text("s", record.step); };
  callbacks.on_evaluation = [&](const EvaluationRecord& e) { calls += text("e", e.last.step); };
  callbacks.save = [&] { calls += "w"; };
  callbacks.should_stop = [&] { return calls += " ", false; };
  EXPECT_TRUE(bench.trainer.run(callbacks));
  EXPECT_EQ(calls, "g0l0a1s1 g1l1a2s2e2 g2l2a3s3 wg3l3a4s4e4 g4l4a5s5e5 w")
      << "after the step: callbacks, evaluation, question whether to stop, save";
}

TEST(Trainer, StopsAndSavesWhenAsked) {
  Bench bench(tiny_config());
  int saves = 0;
  TrainCallbacks callbacks;
  callbacks.save = [&] { ++saves; };
  callbacks.should_stop = [&] { return bench.trainer.step() == 3; };
  EXPECT_FALSE(bench.trainer.run(callbacks));
  EXPECT_EQ(bench.trainer.step(), 3);
  EXPECT_EQ(saves, 1);
}

TEST(Trainer, RecordsTheMeanLossSinceTheEvaluationBefore) {
  Bench bench(tiny_config("steps=6 eval_every=4"));
  std::vector<double> losses, means;
  TrainCallbacks callbacks;
  callbacks.on_step = [&](const StepRecord& record) { losses.push_back(record.loss); };
  callbacks.on_evaluation = [&](const EvaluationRecord& e) { means.push_back(e.train_loss); };
  bench.trainer.run(callbacks);
  ASSERT_EQ(means.size(), 2u);
  EXPECT_DOUBLE_EQ(means[0], (losses[0] + losses[1] + losses[2] + losses[3]) / 4);
  EXPECT_DOUBLE_EQ(means[1], (losses[4] + losses[5]) / 2);
}

TEST(Trainer, CountsAllTokensOfABatchBySecond) {
  RunConfig config = tiny_config("steps=1");
  Bench bench(config);
  TrainCallbacks callbacks;
  callbacks.on_step = [&](const StepRecord& record) {
    const auto tokens =
        static_cast<double>(config.train.batch * bench.model.config().tokens_per_sequence());
    EXPECT_NEAR(record.tokens_per_s * record.seconds, tokens, 1e-6 * tokens);
  };
  bench.trainer.run(callbacks);
}

TEST(Trainer, IntervenesInHeadsWhileItTrains) {
  Bench bench(tiny_config("optimizer=sgd decay=0 steps=3"));
  const Tensor W_O = bench.model.attention_layers()[0].attention->O.W;  // 8 rows, 4 of each head
  const std::vector<double> before = numbers(W_O);
  TrainCallbacks callbacks;
  callbacks.interventions = [](Index) {
    return std::vector<HeadInterventions>{{.gate = Tensor::of({2}, {0, 1})}};
  };
  bench.trainer.run(callbacks);
  const std::vector<double> after = numbers(W_O);
  EXPECT_TRUE(std::equal(before.begin(), before.begin() + 32, after.begin()));
  EXPECT_FALSE(std::equal(before.begin() + 32, before.end(), after.begin() + 32));
}

TEST(Trainer, AddsTermsToTheLossOncePerStep) {
  RunConfig config = tiny_config("steps=1 accumulate=2 clip=0 optimizer=sgd warmup=0");
  Bench plain(config), with(config);
  Tensor extra = Tensor::full({1}, 5).set_requires_grad();
  with.trainer.optimizer().add("extra", extra, {.decay = false});
  double loss = 0;
  TrainCallbacks callbacks;
  callbacks.loss_terms = [&](Index) { return extra * Scalar(2); };
  callbacks.on_step = [&](const StepRecord& record) { loss = record.loss; };
  with.trainer.run(callbacks);
  EXPECT_NEAR(loss, losses_of(plain)[0] + 10, 16 * kEpsilon * 12);
  EXPECT_NEAR(extra.item(), 5 - 2 * config.train.lr, 4 * kEpsilon * 5);
  EXPECT_EQ(parameters_in(with.model), parameters_in(plain.model));
}

TEST(Trainer, StopsAtALossThatIsNotFiniteAndSaysWhere) {
  for (double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    Bench bench(tiny_config());
    const auto poison = [bad](Index step) {
      return Tensor::full({1}, static_cast<Scalar>(step == 3 ? bad : 0));
    };
    std::vector<double> last_good;
    TrainCallbacks callbacks;
    callbacks.loss_terms = poison;
    callbacks.on_step = [&](const StepRecord&) { last_good = parameters_in(bench.model); };
    expect_error([&] { bench.trainer.run(callbacks); },
                 {"the loss is not finite at step 4", "train with a smaller `lr`"});
    EXPECT_EQ(bench.trainer.step(), 3);
    EXPECT_EQ(parameters_in(bench.model), last_good);
  }
}

/// Returns the error of a training in which step 2 leaves a number that is not finite.
NotFinite error_of_poisoned(Bench& bench, TrainCallbacks callbacks) {
  callbacks.after_step = [&](Index step) {
    if (step == 2) bench.model.embedding().data()[0] = std::nanf("");
  };
  try {
    bench.trainer.run(callbacks);
  } catch (const NotFinite& error) {
    return error;
  }
  return NotFinite("it finished");
}

TEST(Trainer, DivergenceNoticedByAnEvaluationIsNotFiniteAndNamesTheStep) {
  Bench bench(tiny_config("eval_every=1 clip=1"));
  const NotFinite error = error_of_poisoned(bench, {.on_evaluation = [](const auto&) {}});
  EXPECT_EQ(std::string(error.what()).find("cannot go on training: after step 2, cannot evaluate"),
            0u)
      << error.what();
  EXPECT_EQ(error.hint(), "train with a smaller `lr` or a longer `warmup`") << "it clips already";
}

TEST(Trainer, HintOfADivergenceBeginsWithTheLastSave) {
  Bench bench(tiny_config("eval_every=2 save_every=1 clip=0"));
  const NotFinite error =
      error_of_poisoned(bench, {.on_evaluation = [](const auto&) {}, .save = [] {}});
  EXPECT_EQ(error.hint(),
            "begin a new run by `from`, as the save of step 1 is kept, with a smaller `lr` or a "
            "longer `warmup` or `clip` 1");
}

TEST(Trainer, NamesTheTensorThroughWhichItDiverges) {
  // A post-norm model without layers does not limit its logits.
  Bench bench(
      tiny_config("optimizer=sgd lr=1000 clip=0 warmup=0 decay=10 norm_place=post layers=0"));
  expect_error([&] { bench.trainer.run(); }, {"is not finite at step", "gradient of embed.W_E"});
}

TEST(Trainer, SavesNoStateThatCouldNotBeReadAgain) {
  // With eps 0 it is 0 / 0 for the tokens that are not in the batch.
  RunConfig config = tiny_config("eps=0 batch=1 save_every=1 dropout=0");
  config.task = "relations:length=4,vocab=30,classes=3,relations=1";
  Bench bench(config);
  bool saved = false;
  expect_error([&] { bench.trainer.run({.save = [&] { saved = true; }}); },
               {"step 1 left numbers that are not finite in embed.W_E"});
  EXPECT_FALSE(saved);
}

TEST(Trainer, RefusesAStateWithDamagedCounts) {
  Bench bench(tiny_config());
  TensorFile file;
  bench.trainer.store(file);
  const auto damaged = [&](const char* name, const StoredTensor& with) {
    TensorFile other = file;
    *std::find_if(other.tensors.begin(), other.tensors.end(),
                  [&](const StoredTensor& t) { return t.name == name; }) = with;
    return other;
  };
  const std::vector<std::int64_t> negative = {-1, 0};
  std::vector<StoredTensor> wrong = {
      StoredTensor::of("trainer.steps", {2}, std::span<const std::int64_t>(negative))};
  for (const std::vector<double>& sums : {std::vector<double>{0},
                                          {std::nan(""), 0, 0},
                                          {0, std::nan(""), 0},
                                          {0, 0, std::nan("")},
                                          {0, -1, 0},
                                          {0, 1e300, 0}})
    wrong.push_back(StoredTensor::of("trainer.sums", {static_cast<std::int64_t>(sums.size())},
                                     std::span<const double>(sums)));
  for (const StoredTensor& with : wrong) {
    const TensorFile other = damaged(with.name.c_str(), with);
    expect_error([&] { bench.trainer.load(other); }, {"damaged"});
  }
  EXPECT_NO_THROW(bench.trainer.load(file));
}

}  // namespace
}  // namespace headlab
