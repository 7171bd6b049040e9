// A model of a program's own (HeadedModel) with the trainer, evaluation, scores of heads, ablation,
// gates and the searches of pruning; and the sentence of what needs a Transformer.
#include <algorithm>
#include <cmath>

#include "headlab/core/model/checkpoint.h"
#include "headlab/core/ops/ops.h"
#include "headlab/core/tasks/table.h"
#include "headlab/lab/heads/causes/ablation.h"
#include "headlab/lab/heads/scores/activations.h"
#include "headlab/lab/heads/scores/scores.h"
#include "headlab/lab/prune/methods.h"
#include "headlab/lab/prune/prune.h"
#include "lab/prune/subsets.h"
#include "support/tensors.h"

namespace headlab { namespace {

/// Two attention layers that read the embedding; their product is added to it. Records no streams.
class Product : public HeadedModel {
 public:
  explicit Product(const TaskShape& shape) : shape_(shape) {
    constexpr Index C = 8;
    W_E_ = parameter({shape.vocab, C});
    for (MultiHeadAttention& layer : layers_) {
      layer =
          MultiHeadAttention({.d_model = C, .heads = 2, .d_head = 4, .d_value = 4, .kv_heads = 2});
    }
    W_U_ = Linear(C, shape.targets * shape.vocab);
    visit([](const std::string& name, Tensor values) {
      const Tensor random = random_tensor(values.shape(), Key{3}.fold(name));
      std::ranges::copy(random.values(), values.data());
    });
  }
  const TaskShape& shape() const override { return shape_; }
  void visit(const ParameterVisitor& f) const override {
    f("W_E", W_E_);
    layers_[0].visit("first.", f);
    layers_[1].visit("second.", f);
    W_U_.visit("", "_U", f);
  }
  std::vector<AttentionLayer> attention_layers() const override {
    std::vector<AttentionLayer> attention_layers(2);
    for (std::size_t m = 0; m < 2; ++m) {
      attention_layers[m].name = m == 0 ? "first" : "second";
      attention_layers[m].causal = true;
      attention_layers[m].attention = &layers_[m];
    }
    return attention_layers;
  }

 private:
  Tensor compute(const Batch& batch, const ForwardContext& context,
                 const ModelHooks& hooks) const override {
    hooks.begin(2);
    const AttentionMask mask{.causal = true, .lengths = batch.lengths};
    const Tensor x = embedding(W_E_, batch.tokens, batch.shape());
    const Tensor first = layers_[0].forward(x, x, mask, context, hooks.of(0));
    const Tensor second = layers_[1].forward(x, x, mask, context, hooks.of(1));
    return W_U_.forward(x + first * second);
  }

  TaskShape shape_;
  Tensor W_E_;
  MultiHeadAttention layers_[2];
  Linear W_U_;
};

struct OwnModel : testing::Test {
  std::unique_ptr<Task> task = make_task("relations:length=8,vocab=6,classes=3,relations=1+same");
  Product model{task->shape()};
  PruneProblem problem{.model = model, .task = *task, .settings = {.examples = 32}};

  double loss_with(const std::vector<HeadId>& kept) const {
    return evaluate(model, *task, {.examples = 32, .interventions = gates_for(model, kept)}).loss;
  }
};

TEST_F(OwnModel, TrainsAndContinuesFromWhatTheTrainerStored) {
  const TrainConfig config{.steps = 40, .batch = 16, .lr = 3e-3, .warmup = 1};
  const double before = evaluate(model, *task, {.examples = 64}).loss;
  Trainer(model, *task, config).run();
  EXPECT_LT(evaluate(model, *task, {.examples = 64}).loss, before);

  Product half(task->shape());
  TensorFile file;
  Trainer stopped(half, *task, config);
  stopped.run({.should_stop = [&] { return stopped.step() == 20; }});
  stopped.store(file);
  Product rest(task->shape());
  Trainer trainer(rest, *task, config);
  trainer.load(file);
  trainer.run();
  EXPECT_EQ(evaluate(rest, *task, {.examples = 64}).loss,
            evaluate(model, *task, {.examples = 64}).loss);
}

TEST_F(OwnModel, HeadsAreScoredFromItsPatterns) {
  const HeadsReport report = score_heads(model, *task, {.examples = 32});
  EXPECT_EQ(report.attention, (std::vector<std::string>{"first", "second"}));
  ASSERT_EQ(report.heads.size(), 4u);
  EXPECT_EQ(report.relations.size(), 2u);
  const Batch batch = task->make_batch(Key{}, 2, Split::validation);
  const Tensor pattern = Activations(model, batch).pattern({1, 1});
  EXPECT_NEAR(static_cast<double>(sum(pattern).item()), 2 * 8, 1e-4);
}

TEST_F(OwnModel, AblationIsAPassWithAGateOf0) {
  const Batch examples = held_out_examples(*task, 32).batch;
  for (const AblationKind kind : {AblationKind::zero, AblationKind::mean, AblationKind::resample}) {
    const AblationReport report = ablate_heads(model, examples, {.kind = kind});
    ASSERT_EQ(report.heads.size(), 4u);
    for (const HeadAblation& one : report.heads) {
      EXPECT_TRUE(std::isfinite(one.loss));
      if (kind == AblationKind::zero) {
        EXPECT_NEAR(one.loss, loss_with(without(all_heads(model), one.head)), 1e-5);
      }
    }
  }
}

/// A search or a score keeps as many heads as it is asked for; the exhaustive one the best of all.
TEST_F(OwnModel, EveryMethodThatTrainsNoWeightsChoosesHeads) {
  for (const PruneMethod& method : prune_table()) {
    SCOPED_TRACE(method.name);
    if (method.kind == MethodKind::training) continue;
    EXPECT_EQ(choose_heads(problem, method, 3).kept.size(), 3u);
  }
  EXPECT_EQ(choose_heads(problem, PruneOptions{.drop = 50}).kept.size(), 2u);
}

TEST_F(OwnModel, GreedySearchRemovesTheHeadWhoseAbsenceCostsLeast) {
  const std::vector<HeadId> heads = all_heads(model);
  PassCount cost;
  const SubsetLoss loss_of(problem, cost);
  const auto loss_without = [&](const HeadId& head) { return loss_of(without(heads, head)); };
  const HeadId cheapest = std::ranges::min(heads, {}, loss_without);
  const Choice choice = choose_heads(problem, find_prune_method("greedy"), 3);
  EXPECT_EQ(choice.kept, without(heads, cheapest));
}

TEST_F(OwnModel, MethodsThatTrainACopyNeedATransformer) {
  for (const char* name : {"l0", "subset"}) {
    expect_error([&] { choose_heads(problem, find_prune_method(name), 2); },
                 {"cannot train gates", "needs a Transformer", "search"});
  }
}

TEST_F(OwnModel, InterventionsForAnotherNumberOfAttentionLayersAreRefused) {
  const Batch batch = task->make_batch(Key{}, 2, Split::validation);
  const std::vector<HeadInterventions> three(3);
  expect_error([&] { model.forward(batch, {}, {.interventions = three}); },
               {"interventions are for 3 attention layers, but the model has 2"});
}

TEST_F(OwnModel, FilesHoldItsParameters) {
  TensorFile file;
  store_parameters(model, file);
  Product other(task->shape());
  other.visit([](const std::string&, Tensor values) { std::ranges::fill(values.values(), 0); });
  load_parameters(other, file);
  EXPECT_EQ(loss_with(all_heads(model)), evaluate(other, *task, {.examples = 32}).loss);
}

}  // namespace
}  // namespace headlab
