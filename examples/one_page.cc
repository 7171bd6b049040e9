// A transformer with one layer of attention trains, from data to update, with nothing hidden. Each
// position asks for the tokens 1, 3 and 5 places back and for the last of its own class: four keys
// for one query, so four heads. "->" names the file where the library does the same. B sequences, T
// positions, C width, H heads of D columns, V tokens, K answers. Read next: train_and_inspect.cc.
#include <cmath>
#include <cstdio>
#include <map>

#include "headlab/core/ops/ops.h"
#include "headlab/core/tasks/table.h"
#include "headlab/core/tensor/tape.h"

using namespace headlab;
using Tensors = std::map<std::string, Tensor>;
constexpr Index B = 64, T = 10, C = 64, H = 4, D = C / H, V = 16, K = 4, kLogits = K * V;
const std::map<std::string, Shape> kParameters = {
    {"W_E", {V, C}},     {"W_pos", {T, C}},   {"ln1.w", {C}},        {"ln1.b", {C}},
    {"W_Q", {C, C}},     {"b_Q", {C}},        {"W_K", {C, C}},       {"b_K", {C}},
    {"W_V", {C, C}},     {"b_V", {C}},        {"W_O", {C, C}},       {"b_O", {C}},
    {"ln_final.w", {C}}, {"ln_final.b", {C}}, {"W_U", {C, kLogits}}, {"b_U", {kLogits}}};

/// Logits [B, T, K V] and attention weights [B, H, T, T].  -> src/core/model/transformer.cc
std::pair<Tensor, Tensor> forward(Tensors& p, const Batch& batch) {
  const Tensor x = embedding(p["W_E"], batch.tokens, {B, T}) + p["W_pos"];  // [B, T, C]
  const Tensor h = layer_norm(x, p["ln1.w"], p["ln1.b"]);  // -> src/core/ops/rows.cc
  const auto heads = [&](const std::string& map) {         // -> src/core/ops/linear.cc
    return transpose(reshape(linear(h, p["W" + map], p["b" + map]), {B, T, H, D}), 1, 2);
  };
  const Tensor q = heads("_Q"), k = heads("_K"), v = heads("_V");  // [B, H, T, D]
  const Tensor mask = Tensor::zeros({T, T});  // no later key is seen  -> src/core/ops/attention.cc
  for (Index t = 0; t < T; ++t) std::fill_n(mask.data() + t * T + t + 1, T - t - 1, -INFINITY);
  const Tensor pattern = softmax(matmul(q, k, {.transpose_b = true}) / std::sqrt(float{D}) + mask);
  const Tensor z = reshape(transpose(matmul(pattern, v), 1, 2), {B, T, C});
  const Tensor y = x + linear(z, p["W_O"], p["b_O"]);  // -> src/core/nn/attention.cc
  return {linear(layer_norm(y, p["ln_final.w"], p["ln_final.b"]), p["W_U"], p["b_U"]), pattern};
}

int main() {
  const auto task = make_task("relations:length=10");  // -> src/core/tasks/relations.cc
  Tensors p, m, s;  // parameters; running means of their gradients and of the squares of those
  Generator random(Key{});                         // a Key names a stream of random numbers
  for (const auto& [name, shape] : kParameters) {  // -> src/core/model/initial.cc
    p[name] = Tensor::full(shape, name.ends_with(".w") ? 1 : 0).set_requires_grad();
    for (float& w : p[name].values())
      if (shape.rank() == 2) w = static_cast<float>(random.uniform(-0.2, 0.2));
    m[name] = s[name] = Tensor::zeros(shape);
  }
  for (int step = 1; step <= 300; ++step) {  // -> src/core/train/trainer.cc, config.cc
    const Batch batch = task->make_batch(Key{}.fold(step), B, Split::train);
    const Tensor logits = reshape(forward(p, batch).first, {B * T * K, V});
    const Tensor loss = cross_entropy(logits, batch.targets);  // -1: no such key, no target
    backward(loss);                                            // -> src/core/tensor/tape.cc
    const float t = static_cast<float>(step), lr = 0.01F * (1 - t / 300);
    for (auto& [name, w] : p) {  // AdamW  -> src/core/kernels/elementwise.cc
      m[name] = 0.9F * m[name] + 0.1F * w.grad();
      s[name] = 0.99F * s[name] + 0.01F * w.grad() * w.grad();
      const Tensor mean = m[name] / (1 - std::pow(0.9F, t));  // they began at 0
      const Tensor square = s[name] / (1 - std::pow(0.99F, t));
      w = (w.detach() * (1 - 0.01F * lr) - lr * mean / (sqrt(square) + 1e-8F)).set_requires_grad();
    }
    if (step == 300) std::printf("loss %.4f\n", loss.item());
  }
  const Example example = task->make(Key{}, B, Split::validation);
  const Tensor pattern = forward(p, example.batch).second;
  for (Index r = 0; r < K; ++r) {                      // -> src/lab/heads/scores/head_sums.cc
    const Tensor truth = Tensor::zeros({B, 1, T, T});  // 1 where a query should look
    for (Index i = 0; i < B * T; ++i)
      for (const Index key : example.truth[r].keys(i / T, i % T)) truth.data()[i * T + key] = 1;
    const Tensor mass = sum(sum(sum(pattern * truth, 0), 1), 1) / sum(truth);  // of each head
    for (const float share : mass.values()) std::printf("%.2f  ", share);
    std::printf("%s\n", task->target_names()[r].c_str());
  }
}
// prints:
// loss 0.00...
// 0... 0... 0... 0.9... back1
// 0.9... 0... 0... 0... back3
// 0... 0... 0.9... 0... back5
// 0... 0.8... 0... 0... same
