// A model of your own: two layers of attention that both read the embedding, and an output that
// reads embedding and layers side by side. Three functions make it a HeadedModel (shape, visit,
// attention_layers) and `compute` runs it. The trainer, scores of heads and the searches of
// pruning then work as they do for a Transformer. Read next: include/headlab/core/model/model.h.
#include <algorithm>
#include <array>
#include <cstdio>

#include "headlab/headlab.h"

using namespace headlab;

class SideBySide : public HeadedModel {
 public:
  explicit SideBySide(const TaskShape& shape) : shape_(shape) {
    visit([](const std::string& name, const Tensor& values) {
      Generator random(Key{0}.fold(name));
      for (Scalar& value : values.values()) value = static_cast<Scalar>(random.uniform(-0.2, 0.2));
    });
  }
  const TaskShape& shape() const override { return shape_; }
  void visit(const ParameterVisitor& f) const override {
    f("embedding", embedding_);
    f("positions", positions_);
    for (std::size_t m = 0; m < 2; ++m) layers_[m].visit(text("layers.", m, "."), f);
    output_.visit("output.", "", f);
  }
  std::vector<AttentionLayer> attention_layers() const override {
    std::vector<AttentionLayer> attention_layers(2);
    for (std::size_t m = 0; m < 2; ++m) {
      attention_layers[m].name = text("layers.", m);
      attention_layers[m].causal = true;
      attention_layers[m].attention = &layers_[m];
    }
    return attention_layers;
  }

 private:
  Tensor compute(const Batch& batch, const ForwardContext& context,
                 const ModelHooks& hooks) const override {
    hooks.begin(2);
    const AttentionMask mask{.causal = true};
    const Tensor x = embedding(embedding_, batch.tokens, batch.shape()) + positions_;  // [B, T, C]
    const Tensor a = layers_[0].forward(x, x, mask, context, hooks.of(0));             // [B, T, C]
    const Tensor b = layers_[1].forward(x, x, mask, context, hooks.of(1));             // [B, T, C]
    return output_.forward(concat({x, a, b}, -1));  // [B, T, K*V]
  }

  static MultiHeadAttention layer() {
    return MultiHeadAttention(
        {.d_model = 32, .heads = 4, .d_head = 8, .d_value = 8, .kv_heads = 4});
  }
  TaskShape shape_;
  Tensor embedding_ = parameter({shape_.vocab, 32}), positions_ = parameter({shape_.length, 32});
  std::array<MultiHeadAttention, 2> layers_{layer(), layer()};
  Linear output_{3 * 32, shape_.targets* shape_.vocab};
};

int main() {
  const auto task = make_task("relations:length=10");
  SideBySide model(task->shape());
  Trainer(model, *task, {.steps = 500, .lr = 3e-3}).run();
  std::printf("trained: accuracy %.2f\n", evaluate(model, *task).accuracy);
  const std::vector<RelationWinner> relations = score_heads(model, *task).relations;
  const auto owned = std::ranges::count_if(relations, &RelationWinner::owned);
  std::printf("%d of %zu relations have an owner\n", static_cast<int>(owned), relations.size());
  const PruneProblem problem{.model = model, .task = *task};
  const Choice choice = choose_heads(problem, find_prune_method("greedy"), 7);
  const std::vector<HeadInterventions> gates = gates_for(model, choice.kept);
  const double accuracy = evaluate(model, *task, {.interventions = gates}).accuracy;
  std::printf("without the cheapest head: accuracy %.2f\n", accuracy);
}

// prints:
// trained: accuracy 0...
// ... of 4 relations have an owner
// without the cheapest head: accuracy 0...
