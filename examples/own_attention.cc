// Attention by a formula of your own: a function from q, k, v to the outputs of the heads, and a
// row of the table. Here a weight is the square of a positive score, and 0 for a negative one. Its
// gradient is checked, a model trains with it, its heads are scored, and those that it does not
// need are removed. Read next: src/core/nn/attention_functions.cc, which has the built-in ones.
#include <cstdio>

#include "headlab/headlab.h"

using namespace headlab;

Tensor squared_relu(const Tensor& q, const Tensor& k, const Tensor& v, AttentionOptions options,
                    Tensor* pattern) {
  const Tensor scores = relu(attention_scores(q, k, options));  // [B, H, T, S], 0 where hidden
  const Tensor weights = scores * scores;                       // [B, H, T, S]
  return weighted_values(weights, v, options, pattern);         // [B, T, H*Dv]
}

void check_gradient() {
  const auto leaf = [](const char* name) {
    Tensor x = Tensor::empty({2, 5, 6});  // [B, T, H*D]
    Generator random(Key{}.fold(name));
    for (Scalar& value : x.values()) value = static_cast<Scalar>(random.normal());
    return x.set_requires_grad();
  };
  const AttentionOptions options{.heads = 2, .mask = {.causal = true}};
  const auto result =
      gradcheck([&](const auto& x) { return squared_relu(x[0], x[1], x[2], options, nullptr); },
                {leaf("q"), leaf("k"), leaf("v")});
  std::printf("gradient: %s\n", result.passed ? "passed" : result.sentence().c_str());
}

void show(const char* what, const Transformer& model, const Task& task) {
  std::printf("%s: %zu heads, accuracy %.2f\n", what, all_heads(model).size(),
              evaluate(model, task).accuracy);
}

int main() {
  own_attention_functions().push_back({.name = "squared_relu",
                                       .summary = "max(0, score)^2",
                                       .normalises = false,
                                       .after_mask = AfterMask::unchanged,
                                       .operations = 2,
                                       .compute = squared_relu});
  check_gradient();

  RunConfig config = recommended_config("relations");
  settings_of(config).set_all_text("attention_function=squared_relu heads=8 steps=400");
  const std::unique_ptr<Task> task = fit_to_task(config);
  Transformer model = initial_model(config);
  Trainer(model, *task, config.train).run();
  show("trained", model, *task);

  const HeadsReport report = score_heads(model, *task);
  for (const RelationWinner& winner : report.relations) {
    const HeadScores& head = report.heads[winner.best];
    std::printf("%s: head %s\n", winner.relation.name.c_str(), head_text(head).c_str());
  }

  const Choice choice = choose_heads({.model = model, .task = *task}, {.keep = 4});
  Transformer small = remove_heads(model, choice.kept);
  Trainer(small, *task, finetuning(config.train, 200)).run();
  show("pruned and trained further", small, *task);
}

// prints:
// gradient: passed
// trained: 8 heads, accuracy 0.9...
// back1: head 0...
// back3: head 0...
// back5: head 0...
// same: head 0...
// pruned and trained further: 4 heads, accuracy 0.9...
