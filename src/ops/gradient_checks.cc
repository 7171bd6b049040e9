// The cases, a family per function. Shapes are small and uneven, so that a wrong stride or a
// swapped axis cannot pass; inputs come from a fixed key, so that every run checks the same
// numbers. Read next: src/tensor/gradcheck.cc.
#include "ops/gradient_checks.h"

#include "headlab/base/error.h"
#include "headlab/base/progress.h"
#include "headlab/ops/ops.h"
#include "headlab/tensor/watch.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

using Inputs = const std::vector<Tensor>&;

/// What the inputs of a case are drawn from, uniformly.
struct Range {
  double low = -1, high = 1;
};

struct Table {
  std::vector<GradientCheck> rows;
  void add(const char* op, const char* description, const std::vector<Shape>& shapes,
           const GradcheckFunction& apply, const Range& range = {}) {
    rows.push_back({op, description, shapes, apply, range.low, range.high});
  }
};

constexpr Key kDropoutKey{11};

void arithmetic_checks(Table& t) {
  t.add("add", "[2, 3] + [2, 3]", {{2, 3}, {2, 3}}, [](Inputs x) { return x[0] + x[1]; });
  t.add("add", "[2, 3] + [3]", {{2, 3}, {3}}, [](Inputs x) { return x[0] + x[1]; });
  t.add("add", "x + x", {{2, 3}}, [](Inputs x) { return x[0] + x[0]; });
  t.add("add", "one of both also used elsewhere", {{2, 3}, {2, 3}}, [](Inputs x) {
    const Tensor a = exp(x[0]), b = exp(x[1]), c = tanh(a);  // a + b gives both the same gradient
    return (a + b) * c;
  });
  t.add("sub", "[2, 3] - [2, 3]", {{2, 3}, {2, 3}}, [](Inputs x) { return x[0] - x[1]; });
  t.add("sub", "[4, 1] - [3]", {{4, 1}, {3}}, [](Inputs x) { return x[0] - x[1]; });
  t.add("mul", "[2, 3] [2, 3]", {{2, 3}, {2, 3}}, [](Inputs x) { return x[0] * x[1]; });
  t.add("mul", "[2, 1, 3] [4, 1]", {{2, 1, 3}, {4, 1}}, [](Inputs x) { return x[0] * x[1]; });
  t.add("mul", "[] [2, 3]", {{}, {2, 3}}, [](Inputs x) { return x[0] * x[1]; });
  t.add("mul", "x x", {{2, 3}}, [](Inputs x) { return x[0] * x[0]; });
  t.add("div", "[2, 3] / [2, 3]", {{2, 3}, {2, 3}}, [](Inputs x) { return x[0] / x[1]; }, {0.5, 2});
  t.add("div", "[3] / [2, 2, 1]", {{3}, {2, 2, 1}}, [](Inputs x) { return x[0] / x[1]; }, {0.5, 2});
  t.add("affine", "3 - 2 x", {{2, 3}}, [](Inputs x) { return affine(x[0], -2, 3); });
}

void math_checks(Table& t) {
  t.add("exp", "[2, 5]", {{2, 5}}, [](Inputs x) { return exp(x[0]); });
  t.add("log", "[2, 5], positive", {{2, 5}}, [](Inputs x) { return log(x[0]); }, {0.5, 2});
  t.add("sqrt", "[2, 5], positive", {{2, 5}}, [](Inputs x) { return sqrt(x[0]); }, {0.5, 2});
  t.add("tanh", "[2, 5]", {{2, 5}}, [](Inputs x) { return tanh(x[0]); }, {-3, 3});
  t.add("relu", "[4, 5]", {{4, 5}}, [](Inputs x) { return relu(x[0]); });
  t.add("gelu", "[4, 5]", {{4, 5}}, [](Inputs x) { return gelu(x[0]); }, {-4, 4});
  t.add("gelu", "x also used elsewhere", {{4, 5}}, [](Inputs x) { return gelu(x[0]) + x[0]; });
}

void matmul_checks(Table& t) {
  const auto product = [](bool a, bool b) {
    return [a, b](Inputs x) { return matmul(x[0], x[1], {.transpose_a = a, .transpose_b = b}); };
  };
  t.add("matmul", "a b", {{3, 4}, {4, 5}}, product(false, false));
  t.add("matmul", "a^T b", {{4, 3}, {4, 5}}, product(true, false));
  t.add("matmul", "a b^T", {{3, 4}, {5, 4}}, product(false, true));
  t.add("matmul", "a^T b^T", {{4, 3}, {5, 4}}, product(true, true));
  t.add("matmul", "batch a b", {{2, 3, 4}, {2, 4, 5}}, product(false, false));
  t.add("matmul", "batch a^T b^T", {{2, 4, 3}, {2, 5, 4}}, product(true, true));
  t.add("matmul", "batch a, one b", {{2, 3, 4}, {4, 5}}, product(false, false));
  t.add("matmul", "batch a^T, one b^T", {{2, 4, 3}, {5, 4}}, product(true, true));
  t.add("matmul", "one a, batch b", {{3, 4}, {2, 4, 5}}, product(false, false));
  t.add("matmul", "one a^T, batch b^T", {{4, 3}, {2, 5, 4}}, product(true, true));
  t.add("matmul", "x x^T", {{3, 4}},
        [](Inputs x) { return matmul(x[0], x[0], {.transpose_b = true}); });
}

void linear_checks(Table& t) {
  t.add("linear", "[2, 3, 4], bias", {{2, 3, 4}, {4, 5}, {5}},
        [](Inputs x) { return linear(x[0], x[1], x[2]); });
  t.add("linear", "[4], no bias", {{4}, {4, 5}}, [](Inputs x) { return linear(x[0], x[1], {}); });
  t.add("linear", "x + x W + b, x also used elsewhere", {{3, 4}, {4, 4}, {4}},
        [](Inputs x) { return (x[0] + linear(x[0], x[1], x[2])) * x[0]; });
  t.add("linear", "one tensor for x and W", {{4, 4}},
        [](Inputs x) { return linear(x[0], x[0], {}); });
  t.add("feed_forward", "all inputs", {{2, 3, 4}, {4, 6}, {6}, {6, 5}, {5}}, [](Inputs x) {
    return feed_forward({x[0], x[1], x[2], x[3], x[4]});
  });
  t.add("feed_forward", "x also used elsewhere", {{3, 4}, {4, 6}, {6}, {6, 4}, {4}}, [](Inputs x) {
    return x[0] + feed_forward({x[0], x[1], x[2], x[3], x[4]});
  });
  t.add("feed_forward", "no biases", {{3, 4}, {4, 6}, {6, 4}}, [](Inputs x) {
    return feed_forward({x[0], x[1], {}, x[2], {}});
  });
  for (const Gating gating : {Gating::gelu, Gating::silu}) {
    t.add("feed_forward", gating == Gating::gelu ? "gated by gelu" : "gated by silu",
          {{2, 3, 4}, {4, 6}, {6}, {6, 5}, {5}, {4, 6}, {6}}, [gating](Inputs x) {
            return feed_forward({x[0], x[1], x[2], x[3], x[4], x[5], x[6], gating});
          });
  }
  t.add("feed_forward", "the maps share W and b", {{3, 4}, {4, 4}, {4}}, [](Inputs x) {
    return feed_forward({x[0], x[1], x[2], x[1], x[2]});
  });
}

void layout_checks(Table& t) {
  t.add("reshape", "of a reshape", {{2, 6}}, [](Inputs x) {
    return reshape(reshape(x[0], {3, 4}), {2, 2, 3});
  });
  t.add("permute", "{2, 0, 1}", {{2, 3, 4}}, [](Inputs x) { return permute(x[0], {2, 0, 1}); });
  t.add("transpose", "the last two axes", {{2, 3, 4}}, [](Inputs x) { return transpose(x[0]); });
  t.add("transpose", "axes 0 and 2", {{2, 3, 4}}, [](Inputs x) { return transpose(x[0], 0, 2); });
  t.add("slice", "axis 1", {{2, 5, 3}}, [](Inputs x) { return slice(x[0], 1, 1, 4); });
  t.add("slice", "last axis", {{2, 5}}, [](Inputs x) { return slice(x[0], -1, 0, 2); });
  t.add("concat", "axis 1", {{2, 1, 3}, {2, 4, 3}}, [](Inputs x) {
    return concat({x[0], x[1]}, 1);
  });
  t.add("concat", "x with itself", {{2, 3}}, [](Inputs x) { return concat({x[0], x[0]}, 0); });
}

void reduce_checks(Table& t) {
  t.add("sum", "axis 0", {{3, 4}}, [](Inputs x) { return sum(x[0], 0); });
  t.add("sum", "axis 1, kept", {{2, 3, 4}}, [](Inputs x) { return sum(x[0], 1, true); });
  t.add("sum", "everything", {{2, 3}}, [](Inputs x) { return sum(x[0]); });
  t.add("sum", "mean of axis -1", {{2, 3, 4}}, [](Inputs x) { return mean(x[0], -1); });
  t.add("sum", "mean of everything", {{2, 3}}, [](Inputs x) { return mean(x[0]); });
  t.add("max", "axis 1", {{2, 5, 3}}, [](Inputs x) { return max(x[0], 1); });
  t.add("max", "last axis, kept", {{4, 5}}, [](Inputs x) { return max(x[0], -1, true); });
}

void row_checks(Table& t) {
  t.add("softmax", "[3, 5]", {{3, 5}}, [](Inputs x) { return softmax(x[0]); }, {-2, 2});
  t.add("softmax", "x also used elsewhere", {{3, 5}},
        [](Inputs x) { return softmax(x[0]) * x[0]; });
  t.add("log_softmax", "[3, 5]", {{3, 5}}, [](Inputs x) { return log_softmax(x[0]); });
  t.add("log_softmax", "x also used elsewhere", {{3, 5}},
        [](Inputs x) { return log_softmax(x[0]) * x[0]; });
  t.add("cross_entropy", "all targets", {{3, 5}}, [](Inputs x) {
    return cross_entropy(x[0], Ids{4, 0, 2});
  });
  t.add("cross_entropy", "ignored targets, denominator 7", {{2, 2, 5}}, [](Inputs x) {
    return cross_entropy(x[0], Ids{-1, 3, -1, 1}, 7);
  });
}

void norm_checks(Table& t) {
  t.add("layer_norm", "[2, 3, 5]", {{2, 3, 5}, {5}, {5}},
        [](Inputs x) { return layer_norm(x[0], x[1], x[2]); });
  t.add("layer_norm", "x also used elsewhere", {{4, 5}, {5}, {5}},
        [](Inputs x) { return layer_norm(x[0], x[1], x[2]) * x[0]; });
  t.add("layer_norm", "one tensor for x, gain and bias", {{5}},
        [](Inputs x) { return layer_norm(x[0], x[0], x[0]); });
  t.add("rms_norm", "[2, 3, 5]", {{2, 3, 5}, {5}, {5}},
        [](Inputs x) { return rms_norm(x[0], x[1], x[2]); });
  t.add("rms_norm", "no bias, x also used elsewhere", {{4, 5}, {5}},
        [](Inputs x) { return rms_norm(x[0], x[1], {}) * x[0]; });
  t.add("dropout", "p 0.4", {{5, 6}},
        [](Inputs x) { return dropout(x[0], Scalar(0.4), kDropoutKey); });
  t.add("dropout", "x also used elsewhere", {{5, 6}},
        [](Inputs x) { return dropout(x[0], Scalar(0.4), kDropoutKey) * x[0]; });
}

void lookup_checks(Table& t) {
  t.add("embedding", "ids twice and never", {{4, 3}}, [](Inputs x) {
    return embedding(x[0], Ids{2, 0, 2, 2, 3, 0}, {2, 3});
  });
  t.add("gather", "[2, 3, 4]", {{2, 3, 4}}, [](Inputs x) {
    return gather(x[0], Ids{3, 0, 1, 1, 2, 3});
  });
}

/// B = 2, T = S = 5 (or S = 3), H = 4 (or 2), D = 3, Dv = 2.
std::vector<Shape> self_shapes() { return {{2, 5, 6}, {2, 5, 6}, {2, 5, 4}}; }
std::vector<Shape> cross_shapes() { return {{2, 5, 6}, {2, 3, 6}, {2, 3, 4}}; }
std::vector<Shape> shared_shapes() { return {{2, 5, 12}, {2, 5, 6}, {2, 5, 4}}; }

/// Every third edge hidden, and one query that sees nothing at all.
Flags hidden_edges(Index count, Index keys) {
  Flags flags(static_cast<std::size_t>(count), 0);
  for (std::size_t i = 0; i < flags.size(); i += 3) flags[i] = 1;
  std::fill_n(flags.begin(), keys, std::uint8_t{1});
  return flags;
}

struct AttentionCase {
  const char* description;
  std::vector<Shape> shapes;
  AttentionOptions options;
};

std::vector<AttentionCase> attention_cases() {
  const Flags visible{1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1, 0, 1, 1, 1, 1, 1};
  return {
      {"no mask, T != S", cross_shapes(), {.heads = 2}},
      {"causal", self_shapes(), {.heads = 2, .mask = {.causal = true}}},
      {"causal, window 2", self_shapes(), {.heads = 2, .mask = {.causal = true, .window = 2}}},
      {"window 2", self_shapes(), {.heads = 2, .mask = {.window = 2}}},
      {"lengths 2, 0", cross_shapes(), {.heads = 2, .mask = {.lengths = {2, 0}}}},
      {"a query sees nothing", self_shapes(), {.heads = 2, .mask = {.visible = visible}}},
      {"heads share keys", shared_shapes(), {.heads = 4, .kv_head = {0, 0, 1, 1}}},
      {"hidden edges", self_shapes(), {.heads = 2, .hidden_edges = hidden_edges(100, 5)}},
      {"dropout", self_shapes(), {.heads = 2, .dropout = Scalar(0.3), .key = kDropoutKey}},
      {"all together",
       shared_shapes(),
       {.heads = 4,
        .kv_head = {0, 1, 1, 1},
        .mask = {.causal = true, .window = 4, .lengths = {5, 3}},
        .hidden_edges = hidden_edges(200, 5),
        .dropout = Scalar(0.3),
        .key = kDropoutKey,
        .born_heads = {1, 4, 5, 7}}},
  };
}

void attention_checks(Table& t) {
  const Tensor turning = rotary_table(8, 6, 100);
  t.add("rotary", "two heads, from position 3", {{2, 5, 12}},
        [turning](Inputs x) { return rotary(x[0], turning, 3); });
  t.add("rotary", "x also used elsewhere", {{1, 2, 6}},
        [turning](Inputs x) { return rotary(x[0], turning) * x[0]; });
  for (const AttentionCase& c : attention_cases()) {
    t.add("attention", c.description, c.shapes,
          [options = c.options](Inputs x) { return attention(x[0], x[1], x[2], options); });
  }
  t.add("attention", "x for q, k and v, causal", {{2, 5, 6}}, [](Inputs x) {
    return attention(x[0], x[0], x[0], {.heads = 2, .mask = {.causal = true}});
  });
  t.add("attention", "q, k, v also used elsewhere", self_shapes(), [](Inputs x) {
    return attention(x[0], x[1], x[2], {.heads = 2}) + sum(x[0] * x[1]) + x[2];
  });
  const std::vector<AttentionCase> cases = attention_cases();
  t.add("softmax", "in attention_composed, all options together", cases.back().shapes,
        [options = cases.back().options](Inputs x) {
          return attention_composed(x[0], x[1], x[2], options);
        });
}

}  // namespace

const std::vector<GradientCheck>& gradient_check_table() {
  static const std::vector<GradientCheck> table = [] {
    Table t;
    for (const auto add :
         {arithmetic_checks, math_checks, matmul_checks, linear_checks, layout_checks,
          reduce_checks, row_checks, norm_checks, lookup_checks, attention_checks})
      add(t);
    return t.rows;
  }();
  return table;
}

GradientCheckRow run(const GradientCheck& check) {
  Generator random(Key{3}.fold(check.op).fold(check.description));
  std::vector<Tensor> inputs;
  for (const Shape& shape : check.shapes) {
    inputs.push_back(Tensor::empty(shape));
    for (Scalar& value : inputs.back().values())
      value = static_cast<Scalar>(random.uniform(check.low, check.high));
  }
  const OpLog log;
  const GradcheckResult result = gradcheck(check.apply, inputs);
  const bool recorded = log.names().count(check.op) == 1;
  return {check.op,
          check.description,
          result.elements,
          result.error,
          recorded ? result.sentence() : text("the case never ran ", check.op),
          recorded && result.passed};
}

std::vector<GradientCheckRow> run_gradient_checks() {
  std::vector<GradientCheckRow> rows;
  const std::vector<GradientCheck>& table = gradient_check_table();
  Steps steps(std::ssize(table));
  for (const GradientCheck& check : table) {
    rows.push_back(run(check));
    steps.done();
  }
  return rows;
}

}}  // namespace headlab
