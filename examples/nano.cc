// The whole idea in one file: a transformer learns a task with known ground truth; we measure what
// each attention head does, remove the heads that it does not need, and measure again.
//   g++ -std=c++20 -O2 examples/nano.cc -o nano
// `./nano 7` takes another seed, `./nano check` checks all gradients. The task: at each position of
// a random sequence, name the tokens 1, 3 and 5 positions back and the last earlier token of the
// same class (its number modulo 4). A head returns one weighted average over the keys, so four
// questions need four heads. "->" names files of the library that do the same. Next: one_page.cc.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <valarray>
#include <vector>

constexpr int T = 8, V = 16, R = 4, kLogits = R * V;  // positions, tokens, questions
constexpr int C = 48, D = 6, F = 32;  // widths: residual stream, head, feed-forward network
std::mt19937_64 generator;            // of all random numbers

// ---- 1. Tensors and automatic differentiation: any formula, and its gradients -------------------
/// Numbers and their gradients, the derivatives of the loss by each number. A copy refers to the
/// same numbers. A tensor [B, T, C], with B sequences, is stored as B T rows of C columns.
struct Tensor {
  int rows, columns;
  std::shared_ptr<std::valarray<double>> values, gradients;
  Tensor(int m, int n, double value = 0) : rows(m), columns(n) {
    values = std::make_shared<std::valarray<double>>(value, rows * columns);
    gradients = std::make_shared<std::valarray<double>>(0.0, rows * columns);
  }
  Tensor(double number = 0) : Tensor(1, 1, number) {}
  double& value(int row, int column) const { return (*values)[row * columns + column]; }
  double* row(int i) const { return &value(i, 0); }
  double& gradient(int row, int column) const { return (*gradients)[row * columns + column]; }
};

/// Calls body(row, column) for each number of x.
void for_each(const Tensor& x, auto body) {
  for (int row = 0; row < x.rows; ++row) {
    for (int column = 0; column < x.columns; ++column) body(row, column);
  }
}

/// Returns a tensor with the numbers f(row, column).
Tensor filled(int rows, int columns, auto f) {
  const Tensor x(rows, columns);
  for_each(x, [&](int row, int column) { x.value(row, column) = f(row, column); });
  return x;
}

/// The tape: each operation records how to apply the chain rule to each number (row, column) of one
/// tensor, which adds to the gradients of its inputs what follows from the gradient of its result.
std::vector<std::function<void()>> tape;
void record(const Tensor& x, auto rule) {
  tape.push_back([=] { for_each(x, rule); });
}

/// Computes the gradients of everything that the loss [1, 1] depends on.
void backward(const Tensor& loss) {
  loss.gradient(0, 0) = 1;
  std::for_each(tape.rbegin(), tape.rend(), [](const auto& step) { step(); });
}

/// a + b and a * b, number by number. If b has fewer rows or columns, they repeat: [B, T, C] plus
/// [T, C] adds the same to each sequence, and a number is a tensor [1, 1].
Tensor operator+(const Tensor& a, const Tensor& b) {
  const Tensor c = filled(a.rows, a.columns, [&](int i, int j) {
    return a.value(i, j) + b.value(i % b.rows, j % b.columns);
  });
  record(c, [=](int i, int j) {
    a.gradient(i, j) += c.gradient(i, j);
    b.gradient(i % b.rows, j % b.columns) += c.gradient(i, j);
  });
  return c;
}

Tensor operator*(const Tensor& a, const Tensor& b) {
  const Tensor c = filled(a.rows, a.columns, [&](int i, int j) {
    return a.value(i, j) * b.value(i % b.rows, j % b.columns);
  });
  record(c, [=](int i, int j) {
    a.gradient(i, j) += c.gradient(i, j) * b.value(i % b.rows, j % b.columns);
    b.gradient(i % b.rows, j % b.columns) += c.gradient(i, j) * a.value(i, j);
  });
  return c;
}

/// f of each number, a function with the derivative `slope`.
Tensor map(const Tensor& x, auto f, auto slope) {
  const Tensor y = filled(x.rows, x.columns, [&](int i, int j) { return f(x.value(i, j)); });
  record(x, [=](int i, int j) { x.gradient(i, j) += slope(x.value(i, j)) * y.gradient(i, j); });
  return y;
}

/// The matrix product [B, M, N] of a [B, M, K] and b [B, K, N]; or of b [K, N], the same for all.
Tensor matmul(const Tensor& a, const Tensor& b) {
  const int M = a.rows * a.columns / b.rows;  // the number of rows of a for each matrix in b
  const Tensor c(a.rows, b.columns);
  for_each(a, [&](int i, int k) {
    const int j = i / M * a.columns + k;
    for (int n = 0; n < c.columns; ++n) c.value(i, n) += a.value(i, k) * b.value(j, n);
  });
  record(a, [=](int i, int k) {
    const int j = i / M * a.columns + k;
    for (int n = 0; n < c.columns; ++n) a.gradient(i, k) += c.gradient(i, n) * b.value(j, n);
    for (int n = 0; n < c.columns; ++n) b.gradient(j, n) += c.gradient(i, n) * a.value(i, k);
  });
  return c;
}

/// The transposed matrix of each sequence: [B, D, T] of x [B, T, D].
Tensor transpose(const Tensor& x) {
  const Tensor y(x.rows / T * D, T);
  for_each(x, [&](int i, int d) { y.value(i / T * D + d, i % T) = x.value(i, d); });
  record(x, [=](int i, int d) { x.gradient(i, d) += y.gradient(i / T * D + d, i % T); });
  return y;
}

/// For each id a row with a 1 in the column of this number; all 0 if the id is -1.
Tensor one_hot(const std::vector<int>& ids, int columns) {
  return filled(static_cast<int>(ids.size()), columns, [&](int i, int j) { return ids[i] == j; });
}

/// 1 / x^n of each number.
Tensor inverse_power(const Tensor& x, double n) {
  const auto f = [n](double v) { return std::pow(v, -n); };
  const auto slope = [n](double v) { return -n * std::pow(v, -n - 1); };
  return map(x, f, slope);
}

/// Layer norm: each row shifted to the mean 0 and scaled to the variance 1.
Tensor layer_norm(const Tensor& x) {
  const Tensor average(x.columns, 1, 1.0 / x.columns);  // x times this [C, 1]: the means of rows
  const Tensor centred = x + matmul(x, average) * -1;
  return centred * inverse_power(matmul(centred * centred, average) + 1e-5, 0.5);
}

/// Positive weights with the sum 1 in each row: exp(x) / sum(exp(x)).
Tensor softmax(const Tensor& x) {
  const auto top = [&](int i, int) { return *std::max_element(x.row(i), x.row(i) + x.columns); };
  const auto exp = [](double v) { return std::exp(v); };
  const Tensor weights = map(x + filled(x.rows, 1, top) * -1, exp, exp);  // exp cannot overflow
  return weights * inverse_power(matmul(weights, Tensor(x.columns, 1, 1)), 1);
}

/// The loss [1, 1]: the mean of -log(p of the target) over all rows with a target (-1: none).
Tensor cross_entropy(const Tensor& p, const std::vector<int>& targets) {
  const auto count = static_cast<double>(std::ssize(targets) - std::ranges::count(targets, -1));
  const Tensor log = map(
      p, [](double v) { return std::log(v); }, [](double v) { return 1 / v; });
  const Tensor of_rows = matmul(log * one_hot(targets, p.columns), Tensor(p.columns, 1, 1));
  return matmul(Tensor(1, p.rows, -1 / count), of_rows);
}  // -> src/core/tensor/tape.cc, src/core/ops/arithmetic.cc, src/core/ops/rows.cc

// ---- 2. The transformer: attention heads and a feed-forward network -----------------------------
/// Small random numbers, so that products do not grow.
Tensor random_matrix(int rows, int columns) {
  const auto number = [](int, int) { return std::ldexp(generator(), -63) - 1; };  // -1 to 1
  return filled(rows, columns, number) * (1 / std::sqrt(rows));
}

/// A head adds its output to the residual stream. The usual layer, which has one W_O for all heads
/// next to each other, computes the same sum.
struct Head {
  int number;  // remains if other heads are removed
  Tensor W_Q = random_matrix(C, D), W_K = random_matrix(C, D), W_V = random_matrix(C, D);
  Tensor W_O = random_matrix(D, C);
  Tensor pattern{};  // [B, T, T]: attention weights of the last batch
};

/// One block, without biases. A copy of a model shares its weights.
struct Model {
  Tensor W_E = random_matrix(V, C);    // embedding of tokens
  Tensor W_pos = random_matrix(T, C);  // embedding of positions
  std::vector<Head> heads = {{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}};
  Tensor W_in = random_matrix(C, F), W_out = random_matrix(F, C);
  Tensor W_U = random_matrix(C, kLogits);  // unembedding
  std::vector<Tensor> weights() const {
    std::vector<Tensor> all = {W_E, W_pos, W_in, W_out, W_U};
    for (const Head& h : heads) all.insert(all.end(), {h.W_Q, h.W_K, h.W_V, h.W_O});
    return all;
  }
};

/// The output of a head: for each position an average of values, most from where the key matches.
Tensor attention(Head& head, const Tensor& x) {
  const Tensor queries = matmul(x, head.W_Q);  // [B, T, D] from x [B, T, C]
  const Tensor keys = matmul(x, head.W_K);     // [B, T, D]
  const Tensor values = matmul(x, head.W_V);   // [B, T, D]
  const Tensor scores = matmul(queries, transpose(keys)) * (1 / std::sqrt(keys.columns));
  const auto mask = [](int query, int key) { return key <= query ? 0 : -INFINITY; };
  head.pattern = softmax(scores + filled(T, T, mask));    // [B, T, T], 0 for keys after the query
  return matmul(matmul(head.pattern, values), head.W_O);  // [B, T, D], then [B, T, C]
}

/// The probabilities of the answers [B, T, R, V].
Tensor forward(Model& model, const std::vector<int>& tokens) {
  tape.clear();
  Tensor x = matmul(one_hot(tokens, V), model.W_E) + model.W_pos;  // the residual stream [B, T, C]
  const Tensor read = layer_norm(x);
  for (Head& head : model.heads) x = x + attention(head, read);
  const auto relu = [](double v) { return std::max(v, 0.0); };
  const auto slope = [](double v) { return v > 0 ? 1 : 0; };
  const Tensor hidden = map(matmul(layer_norm(x), model.W_in), relu, slope);  // [B, T, F]
  x = x + matmul(hidden, model.W_out);
  Tensor logits = matmul(layer_norm(x), model.W_U);  // [B, T, R V]
  logits.rows *= R;
  logits.columns = V;  // the same numbers as [B, T, R, V]: a row for each question
  return softmax(logits);
}  // -> src/core/nn/attention.cc, src/core/model/block.cc, src/core/model/transformer.cc

// ---- 3. AdamW: from gradients to better weights -------------------------------------------------
/// Changes a weight by the running mean of its gradient divided by the gradient's usual size, so
/// that all weights change at a similar rate. Weight decay pulls them to 0.
struct AdamW {
  Tensor w;
  std::valarray<double> means = 0.0 * *w.values;
  std::valarray<double> squares = means;
  void update(int step, double rate) {
    means = 0.9 * means + 0.1 * *w.gradients;
    squares = 0.99 * squares + 0.01 * *w.gradients * *w.gradients;
    const std::valarray<double> mean = means / (1 - std::pow(0.9, step));  // means began at 0
    const std::valarray<double> size = std::sqrt(squares / (1 - std::pow(0.99, step)));
    *w.values -= rate * (mean / (size + 1e-8) + 0.01 * *w.values);
    *w.gradients = 0;
  }
};  // -> src/core/train/optimizer.cc

// ---- 4. The task: sequences with their ground truth ---------------------------------------------
const char* const kQuestions[R] = {"1 back", "3 back", "5 back", "same class"};

/// Random tokens [B, T] and the ground truth of each question [B, T, R]: `keys` are the positions
/// of the answers, `targets` the tokens there; both are -1 if there is no answer.
struct Batch {
  std::vector<int> tokens, keys, targets;
};

Batch make_batch(int sequences) {
  Batch batch;
  for (int i = 0; i < sequences * T; ++i) {
    batch.tokens.push_back(static_cast<int>(generator() % V));
    const int t = i % T;
    const int* sequence = &batch.tokens[i - t];
    int same = t - 1;
    while (same >= 0 && sequence[same] % 4 != sequence[t] % 4) --same;
    for (const int key : {t - 1, t - 3, t - 5, same}) {
      batch.keys.push_back(std::max(key, -1));
      batch.targets.push_back(key < 0 ? -1 : sequence[key]);
    }
  }
  return batch;
}  // -> src/core/tasks/relations.cc

// ---- 5. Training: forward, backward, update -----------------------------------------------------
Tensor loss_of(Model& model, const Batch& batch) {
  return cross_entropy(forward(model, batch.tokens), batch.targets);
}

void train(Model& model, int steps) {
  std::vector<AdamW> optimizers;
  for (const Tensor& w : model.weights()) optimizers.push_back({w});
  for (int step = 1; step <= steps; ++step) {
    backward(loss_of(model, make_batch(32)));
    for (AdamW& optimizer : optimizers) optimizer.update(step, 0.01 * (steps - step) / steps);
  }
}  // -> src/core/train/trainer.cc

// ---- 6. The role of each head: its attention on the true keys -----------------------------------
/// The mean of term(row, true key) over all positions where a question has an answer.
double mean(const Batch& batch, int question, auto term) {
  double sum = 0, answers = 0;
  for (int i = question; i < std::ssize(batch.keys); i += R) {
    if (batch.keys[i] < 0) continue;
    sum += term(i / R, batch.keys[i]);
    ++answers;
  }
  return sum / answers;
}

/// Prints the mean attention weight of each head on the true keys. The owner of a question has the
/// largest; `chance` is that of a head with the same weight for all keys. Returns the last owner.
const Head& print_heads(Model& model, const Batch& batch) {
  const Tensor p = forward(model, batch.tokens);
  std::printf("question  ");
  for (const Head& head : model.heads) std::printf(" head %d", head.number);
  std::printf("  owner  chance  accuracy\n");
  std::ptrdiff_t owner = 0;
  for (int r = 0; r < R; ++r) {
    std::printf("%-10s", kQuestions[r]);
    std::vector<double> masses;
    for (const Head& head : model.heads) {
      masses.push_back(mean(batch, r, [&](int i, int s) { return head.pattern.value(i, s); }));
      std::printf("%7.2f", masses.back());
    }
    owner = std::ranges::max_element(masses) - masses.begin();
    const double chance = mean(batch, r, [](int i, int) { return 1.0 / (i % T + 1); });
    const double accuracy = mean(batch, r, [&](int i, int s) {
      const double* answers = p.row(i * R + r);
      return std::max_element(answers, answers + V) - answers == batch.tokens[i - i % T + s];
    });
    std::printf("%7d%8.2f%10.3f\n", model.heads[owner].number, chance, accuracy);
  }
  std::printf("held-out loss %.3f\n", cross_entropy(p, batch.targets).value(0, 0));
  return model.heads[owner];
}

/// Draws the pattern of a head in the first sequence of its last batch.
void draw(const Head& head, const Batch& batch, int question) {
  std::printf("head %d: attention of queries (rows) to keys (columns), [true key]\n", head.number);
  for (int t = 0; t < T; ++t) {
    std::printf("%c ", 'a' + batch.tokens[t]);
    for (int s = 0; s <= t; ++s) {
      std::printf(batch.keys[t * R + question] == s ? "[%.1f]" : " %.1f ",
                  head.pattern.value(t, s));
    }
    std::printf("\n");
  }
}  // -> src/lab/heads/scores/scores.cc

// ---- 7. Pruning: what is the loss without each head? Remove the head that is missed least -------
void prune(Model& model, const Batch& batch) {
  while (std::ssize(model.heads) > R) {
    std::vector<double> losses;
    std::printf("loss without");
    for (const Head& head : model.heads) {
      Model smaller = model;
      std::erase_if(smaller.heads, [&](const Head& h) { return h.number == head.number; });
      losses.push_back(loss_of(smaller, batch).value(0, 0));
      std::printf(" %d: %.2f ", head.number, losses.back());
    }
    const auto least = std::ranges::min_element(losses) - losses.begin();
    std::printf(" remove %d\n", model.heads[least].number);
    model.heads.erase(model.heads.begin() + least);
  }
}  // -> src/lab/heads/causes/ablation.cc, src/lab/prune/search.cc

// ---- 8. Are the gradients right? Each is the slope of the loss between w - h and w + h ----------
int check_gradients() {
  Model model;
  const Batch batch = make_batch(1);
  backward(loss_of(model, batch));
  double error = 0, h = 1e-5;
  for (const Tensor& w : model.weights()) {
    for_each(w, [&](int i, int j) {
      w.value(i, j) += h;
      const double above = loss_of(model, batch).value(0, 0);
      w.value(i, j) -= 2 * h;
      const double below = loss_of(model, batch).value(0, 0);
      w.value(i, j) += h;
      error = std::max(error, std::abs((above - below) / (2 * h) - w.gradient(i, j)));
    });
  }
  std::printf("largest error of a gradient: %.1e\n", error);
  return error < 1e-8 ? 0 : 1;
}  // -> include/headlab/lab/checks/gradcheck.h

int main(int argc, char** argv) {
  const std::string argument = argc > 1 ? argv[1] : "0";
  if (argc == 2 && argument == "check") return check_gradients();
  const bool digits = argument.find_first_not_of("0123456789") == std::string::npos;
  if (argc > 2 || argument.empty() || !digits || argument.size() > 9) {
    std::fprintf(stderr, "cannot use '%s': pass one seed below 10^9, or check\n", argv[argc - 1]);
    return 1;
  }
  generator.seed(std::stoul(argument));
  const Batch held_out = make_batch(256);
  Model model;
  train(model, 600);
  draw(print_heads(model, held_out), held_out, R - 1);
  prune(model, make_batch(256));
  train(model, 400);
  print_heads(model, held_out);
}
// prints:
// question   head 0 head 1 head 2 head 3 head 4 head 5 head 6 head 7  owner  chance  accuracy
// 1 back       0.97   0.99   0.28   0.22   0.21   0.19   0.25   0.25      1    0.25     1.000
// 3 back       0.01   0.00   0.15   0.15   0.86   0.96   0.07   0.17      5    0.18     1.000
// 5 back       0.00   0.00   0.86   0.06   0.07   0.01   0.99   0.06      6    0.14     1.000
// same class   0.39   0.39   0.24   0.87   0.24   0.26   0.26   0.86      3    0.21     1.000
// held-out loss 0.003
// head 3: attention of queries (rows) to keys (columns), [true key]
// o  1.0
// l  0.0  1.0
// j  0.0  0.0  1.0
// o [0.9] 0.0  0.0  0.1
// m  0.0  0.0  0.0  0.0  1.0
// o  0.0  0.0  0.0 [1.0] 0.0  0.0
// p  0.0 [1.0] 0.0  0.0  0.0  0.0  0.0
// i  0.0  0.0  0.0  0.0 [1.0] 0.0  0.0  0.0
// loss without 0: 0.14  1: 0.19  2: 0.04  3: 0.10  4: 0.07  5: 0.17  6: 0.17  7: 0.05  remove 2
// loss without 0: 0.18  1: 0.23  3: 0.13  4: 0.11  5: 0.19  6: 0.45  7: 0.08  remove 7
// loss without 0: 0.25  1: 0.31  3: 0.38  4: 0.15  5: 0.23  6: 0.51  remove 4
// loss without 0: 0.29  1: 0.35  3: 0.45  5: 0.87  6: 0.58  remove 0
// question   head 1 head 3 head 5 head 6  owner  chance  accuracy
// 1 back       1.00   0.23   0.20   0.37      1    0.25     1.000
// 3 back       0.00   0.15   0.97   0.02      5    0.18     1.000
// 5 back       0.00   0.06   0.01   1.00      6    0.14     1.000
// same class   0.40   0.91   0.27   0.29      3    0.21     1.000
// held-out loss 0.001
