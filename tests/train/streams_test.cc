// The examples of a training run: from the training split, others at every step, and no randomness
// in evaluations. Read next: trainer_test.cc.
#include "headlab/core/train/streams.h"

#include <set>

#include "headlab/core/model/initial.h"
#include "headlab/core/tasks/table.h"
#include "support/runs.h"

namespace headlab { namespace {

/// A task that keeps a record of what it is asked for.
class Recorded : public Task {
 public:
  explicit Recorded(const std::string& spec) : inner_(make_task(spec)) {}
  std::string spec() const override { return inner_->spec(); }
  TaskShape shape() const override { return inner_->shape(); }
  std::vector<Relation> relations() const override { return inner_->relations(); }
  std::vector<std::string> target_names() const override { return inner_->target_names(); }
  std::string token_text(std::int32_t token) const override { return inner_->token_text(token); }
  Example make(Key key, Index count, Split split) const override {
    return inner_->make(key, count, split);
  }
  Batch make_batch(Key key, Index count, Split split) const override {
    if (split == Split::train) training.push_back(key.value);
    if (split == Split::validation) validation.push_back(key.value);
    return inner_->make_batch(key, count, split);
  }
  mutable std::vector<std::uint64_t> training, validation;

 private:
  std::unique_ptr<Task> inner_;
};

class Streams : public testing::Test {
 protected:
  Streams() : task_(tiny_config().task) {
    config_.shape() = task_.shape();
    settings_of(config_).set_all_text("heads=1 d_model=4");
    settings_of(train_).set_all_text("batch=1 eval_every=0 eval_examples=1");
  }
  /// Trains, and returns the losses of the steps.
  std::vector<double> train() {
    Transformer model(config_);
    initialize(model, Key{3});
    std::vector<double> losses;
    TrainCallbacks callbacks;
    callbacks.on_step = [&](const StepRecord& record) { losses.push_back(record.loss); };
    callbacks.on_evaluation = [](const EvaluationRecord&) {};
    Trainer(model, task_, train_).run(callbacks);
    return losses;
  }
  Recorded task_;
  TransformerConfig config_;
  TrainConfig train_;
};

TEST_F(Streams, TrainingDrawsANewStreamOfItsSplitAtEveryStep) {
  train_.steps = 1100;  // more than any round number that a key could be cut to
  train();
  EXPECT_EQ(task_.training.size(), 1100u);
  EXPECT_EQ(std::set(task_.training.begin(), task_.training.end()).size(), 1100u);
  EXPECT_EQ(task_.validation.size(), 1u);
}

TEST_F(Streams, FirstStepDrawsFromTheSeed) {
  train_.steps = 1;
  train_.seed = 5;
  train_.batch = 7;
  Transformer model(config_);
  initialize(model, Key{3});
  const Key key = streams::seeded(5).fold("batch").fold(0);
  const Batch batch = make_task(task_.spec())->make_batch(key, 7, Split::train);
  EXPECT_EQ(train()[0], static_cast<double>(model.loss(batch).item()));
}

TEST_F(Streams, DropoutDrawsOnlyInTraining) {
  Transformer plain(config_);
  initialize(plain, Key{3});
  config_.dropout = 0.9;
  Transformer dropping(config_);
  initialize(dropping, Key{3});
  const EvaluateOptions options{.examples = 20};
  EXPECT_EQ(evaluate(dropping, task_, options).loss, evaluate(plain, task_, options).loss);
  const Batch batch = task_.make_batch(Key{1}, 20, Split::validation);
  for (const bool frozen : {false, true}) {
    const ForwardContext context{.frozen = frozen};
    EXPECT_EQ(numbers(dropping.forward(batch, context)), numbers(plain.forward(batch, context)));
  }
}

}  // namespace
}  // namespace headlab
