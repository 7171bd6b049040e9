// The cases, a family per function. Shapes are small and uneven, so that a wrong stride or a
// swapped axis cannot pass; inputs come from a fixed key, so that every run checks the same
// numbers. Read next: include/headlab/lab/checks/gradcheck.h.
#include "ops/gradient_checks.h"

#include "headlab/core/base/error.h"
#include "headlab/core/ops/ops.h"
#include "headlab/core/tensor/watch.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

using Inputs = const std::vector<Tensor>&;

constexpr Key kDropoutKey{11};

using Shapes = std::vector<Shape>;
/// The range from which the inputs of a case are drawn, uniformly.
struct Range {
  double low = -1, high = 1;
};
GradientCheck check(const char* op, const char* description, const Shapes& shapes,
                    const GradcheckFunction& apply, const Range& range = {}) {
  return {op, description, shapes, apply, range.low, range.high};
}

GradcheckFunction product(bool transpose_b) {
  return [=](Inputs x) { return matmul(x[0], x[1], {transpose_b}); };
}

Shapes gated_shapes() { return {{2, 3, 4}, {4, 6}, {6}, {6, 5}, {5}, {4, 6}, {6}}; }
GradcheckFunction gated(Gating gating) {
  return [=](Inputs x) { return feed_forward({x[0], x[1], x[2], x[3], x[4], x[5], x[6], gating}); };
}

/// B = 2, T = S = 5 (or S = 3), H = 4 (or 2), D = 3, Dv = 2.
Shapes self_shapes() { return {{2, 5, 6}, {2, 5, 6}, {2, 5, 4}}; }
Shapes cross_shapes() { return {{2, 5, 6}, {2, 3, 6}, {2, 3, 4}}; }
Shapes shared_shapes() { return {{2, 5, 12}, {2, 5, 6}, {2, 5, 4}}; }
GradcheckFunction attended(const AttentionOptions& options) {
  return [=](Inputs x) { return attention(x[0], x[1], x[2], options); };
}

/// Every third edge hidden, and one query that sees nothing at all.
Flags masked_edges(Index count, Index keys) {
  Flags flags(static_cast<std::size_t>(count), 0);
  for (std::size_t i = 0; i < flags.size(); i += 3) flags[i] = 1;
  std::fill_n(flags.begin(), keys, std::uint8_t{1});
  return flags;
}
AttentionOptions of_lengths(const Ids& lengths) {
  AttentionOptions options;
  options.heads = 2;
  options.mask.lengths = lengths;
  return options;
}
AttentionOptions of_edges(Index count, Index keys) {
  AttentionOptions options;
  options.heads = 2;
  options.masked_edges = masked_edges(count, keys);
  return options;
}
AttentionOptions all_options() {
  AttentionOptions options = of_lengths({5, 3});
  options.heads = 4;
  options.kv_head = {0, 1, 1, 1};
  options.mask.causal = true;
  options.mask.window = 4;
  options.masked_edges = masked_edges(200, 5);
  options.dropout = Scalar(0.3);
  options.key = kDropoutKey;
  options.original_heads = {1, 4, 5, 7};
  return options;
}

const GradientCheck kChecks[] = {
    check("add", "[2, 3] + [2, 3]", {{2, 3}, {2, 3}}, [](Inputs x) { return x[0] + x[1]; }),
    check("add", "[2, 3] + [3]", {{2, 3}, {3}}, [](Inputs x) { return x[0] + x[1]; }),
    check("add", "x + x", {{2, 3}}, [](Inputs x) { return x[0] + x[0]; }),
    check("add", "one of both also used elsewhere", {{2, 3}, {2, 3}},
          [](Inputs x) {
            const Tensor a = exp(x[0]), b = exp(x[1]),
                         c = tanh(a);  // a + b gives both the same gradient
            return (a + b) * c;
          }),
    check("sub", "[2, 3] - [2, 3]", {{2, 3}, {2, 3}}, [](Inputs x) { return x[0] - x[1]; }),
    check("sub", "[4, 1] - [3]", {{4, 1}, {3}}, [](Inputs x) { return x[0] - x[1]; }),
    check("mul", "[2, 3] [2, 3]", {{2, 3}, {2, 3}}, [](Inputs x) { return x[0] * x[1]; }),
    check("mul", "[2, 1, 3] [4, 1]", {{2, 1, 3}, {4, 1}}, [](Inputs x) { return x[0] * x[1]; }),
    check("mul", "[] [2, 3]", {{}, {2, 3}}, [](Inputs x) { return x[0] * x[1]; }),
    check("mul", "x x", {{2, 3}}, [](Inputs x) { return x[0] * x[0]; }),
    check("div", "[2, 3] / [2, 3]", {{2, 3}, {2, 3}}, [](Inputs x) { return x[0] / x[1]; },
          {0.5, 2}),
    check("div", "[3] / [2, 2, 1]", {{3}, {2, 2, 1}}, [](Inputs x) { return x[0] / x[1]; },
          {0.5, 2}),
    check("affine", "3 - 2 x", {{2, 3}}, [](Inputs x) { return affine(x[0], -2, 3); }),
    check("exp", "[2, 5]", {{2, 5}}, [](Inputs x) { return exp(x[0]); }),
    check("log", "[2, 5], positive", {{2, 5}}, [](Inputs x) { return log(x[0]); }, {0.5, 2}),
    check("sqrt", "[2, 5], positive", {{2, 5}}, [](Inputs x) { return sqrt(x[0]); }, {0.5, 2}),
    check("tanh", "[2, 5]", {{2, 5}}, [](Inputs x) { return tanh(x[0]); }, {-3, 3}),
    check("sigmoid", "[2, 5]", {{2, 5}}, [](Inputs x) { return sigmoid(x[0]); }, {-3, 3}),
    check("relu", "[4, 5]", {{4, 5}}, [](Inputs x) { return relu(x[0]); }),
    check("gelu", "[4, 5]", {{4, 5}}, [](Inputs x) { return gelu(x[0]); }, {-4, 4}),
    check("gelu_erf", "[4, 5]", {{4, 5}}, [](Inputs x) { return gelu_erf(x[0]); }, {-4, 4}),
    check("gelu", "x also used elsewhere", {{4, 5}}, [](Inputs x) { return gelu(x[0]) + x[0]; }),
    check("matmul", "a b", {{3, 4}, {4, 5}}, product(false)),
    check("matmul", "a b^T", {{3, 4}, {5, 4}}, product(true)),
    check("matmul", "batch a b", {{2, 3, 4}, {2, 4, 5}}, product(false)),
    check("matmul", "batch a b^T", {{2, 3, 4}, {2, 5, 4}}, product(true)),
    check("matmul", "batch a, one b", {{2, 3, 4}, {4, 5}}, product(false)),
    check("matmul", "batch a, one b^T", {{2, 3, 4}, {5, 4}}, product(true)),
    check("matmul", "one a, batch b", {{3, 4}, {2, 4, 5}}, product(false)),
    check("matmul", "one a, batch b^T", {{3, 4}, {2, 5, 4}}, product(true)),
    check("matmul", "x x^T", {{3, 4}},
          [](Inputs x) { return matmul(x[0], x[0], {.transpose_b = true}); }),
    check("linear", "[2, 3, 4], bias", {{2, 3, 4}, {4, 5}, {5}},
          [](Inputs x) { return linear(x[0], x[1], x[2]); }),
    check("linear", "[4], no bias", {{4}, {4, 5}}, [](Inputs x) { return linear(x[0], x[1], {}); }),
    check("linear", "x + x W + b, x also used elsewhere", {{3, 4}, {4, 4}, {4}},
          [](Inputs x) { return (x[0] + linear(x[0], x[1], x[2])) * x[0]; }),
    check("linear", "one tensor for x and W", {{4, 4}},
          [](Inputs x) { return linear(x[0], x[0], {}); }),
    check("feed_forward", "all inputs", {{2, 3, 4}, {4, 6}, {6}, {6, 5}, {5}},
          [](Inputs x) {
            return feed_forward({x[0], x[1], x[2], x[3], x[4]});
          }),
    check("feed_forward", "x also used elsewhere", {{3, 4}, {4, 6}, {6}, {6, 4}, {4}},
          [](Inputs x) {
            return x[0] + feed_forward({x[0], x[1], x[2], x[3], x[4]});
          }),
    check("feed_forward", "no biases", {{3, 4}, {4, 6}, {6, 4}},
          [](Inputs x) {
            return feed_forward({x[0], x[1], {}, x[2], {}});
          }),
    check("feed_forward", "gated by gelu", gated_shapes(), gated(Gating::gelu)),
    check("feed_forward", "gated by silu", gated_shapes(), gated(Gating::silu)),
    check("feed_forward", "the maps share W and b", {{3, 4}, {4, 4}, {4}},
          [](Inputs x) {
            return feed_forward({x[0], x[1], x[2], x[1], x[2]});
          }),
    check("reshape", "of a reshape", {{2, 6}},
          [](Inputs x) {
            return reshape(reshape(x[0], {3, 4}), {2, 2, 3});
          }),
    check("permute", "{2, 0, 1}", {{2, 3, 4}},
          [](Inputs x) {
            return permute(x[0], {2, 0, 1});
          }),
    check("transpose", "the last two axes", {{2, 3, 4}}, [](Inputs x) { return transpose(x[0]); }),
    check("transpose", "axes 0 and 2", {{2, 3, 4}}, [](Inputs x) { return transpose(x[0], 0, 2); }),
    check("slice", "axis 1", {{2, 5, 3}}, [](Inputs x) { return slice(x[0], 1, 1, 4); }),
    check("slice", "last axis", {{2, 5}}, [](Inputs x) { return slice(x[0], -1, 0, 2); }),
    check("concat", "axis 1", {{2, 1, 3}, {2, 4, 3}},
          [](Inputs x) {
            return concat({x[0], x[1]}, 1);
          }),
    check("concat", "x with itself", {{2, 3}},
          [](Inputs x) {
            return concat({x[0], x[0]}, 0);
          }),
    check("sum", "axis 0", {{3, 4}}, [](Inputs x) { return sum(x[0], 0); }),
    check("sum", "axis 1, kept", {{2, 3, 4}}, [](Inputs x) { return sum(x[0], 1, true); }),
    check("sum", "everything", {{2, 3}}, [](Inputs x) { return sum(x[0]); }),
    check("sum", "mean of axis -1", {{2, 3, 4}}, [](Inputs x) { return mean(x[0], -1); }),
    check("sum", "mean of everything", {{2, 3}}, [](Inputs x) { return mean(x[0]); }),
    check("softmax", "[3, 5]", {{3, 5}}, [](Inputs x) { return softmax(x[0]); }, {-2, 2}),
    check("softmax", "x also used elsewhere", {{3, 5}},
          [](Inputs x) { return softmax(x[0]) * x[0]; }),
    check("cross_entropy", "all targets", {{3, 5}},
          [](Inputs x) {
            return cross_entropy(x[0], Ids{4, 0, 2});
          }),
    check("cross_entropy", "ignored targets, denominator 7", {{2, 2, 5}},
          [](Inputs x) {
            return cross_entropy(x[0], Ids{-1, 3, -1, 1}, 7);
          }),
    check("linear_cross_entropy", "two targets a row, one ignored", {{3, 4}, {4, 10}, {10}},
          [](Inputs x) {
            return linear_cross_entropy({x[0], x[1], x[2]}, Ids{4, 0, -1, 2, 1, 3}, 4);
          }),
    check("linear_cross_entropy", "transposed, scaled, x also used elsewhere", {{3, 4}, {5, 4}},
          [](Inputs x) {
            const Tensor none;
            return linear_cross_entropy({x[0], x[1], none, true}, Ids{4, 0, 2}) * sum(x[0]);
          }),
    check("linear_cross_entropy", "one tensor for x and W", {{4, 4}},
          [](Inputs x) {
            const Tensor none;
            return linear_cross_entropy({x[0], x[0], none}, Ids{3, 0, 2, 1});
          }),
    check("layer_norm", "[2, 3, 5]", {{2, 3, 5}, {5}, {5}},
          [](Inputs x) { return layer_norm(x[0], x[1], x[2]); }),
    check("layer_norm", "x also used elsewhere", {{4, 5}, {5}, {5}},
          [](Inputs x) { return layer_norm(x[0], x[1], x[2]) * x[0]; }),
    check("layer_norm", "one tensor for x, gain and bias", {{5}},
          [](Inputs x) { return layer_norm(x[0], x[0], x[0]); }),
    check("rms_norm", "[2, 3, 5]", {{2, 3, 5}, {5}, {5}},
          [](Inputs x) { return rms_norm(x[0], x[1], x[2]); }),
    check("rms_norm", "no bias, x also used elsewhere", {{4, 5}, {5}},
          [](Inputs x) { return rms_norm(x[0], x[1], {}) * x[0]; }),
    check("dropout", "p 0.4", {{5, 6}},
          [](Inputs x) { return dropout(x[0], Scalar(0.4), kDropoutKey); }),
    check("dropout", "x also used elsewhere", {{5, 6}},
          [](Inputs x) { return dropout(x[0], Scalar(0.4), kDropoutKey) * x[0]; }),
    check("embedding", "ids twice and never", {{4, 3}},
          [](Inputs x) {
            return embedding(x[0], Ids{2, 0, 2, 2, 3, 0}, {2, 3});
          }),
    check("rotary", "two heads, from position 3", {{2, 5, 12}},
          [](Inputs x) { return rotary(x[0], rotary_table(8, 6, 100), 3); }),
    check("rotary", "x also used elsewhere", {{1, 2, 6}},
          [](Inputs x) { return rotary(x[0], rotary_table(8, 6, 100)) * x[0]; }),
    check("attention", "no mask, T != S", cross_shapes(), attended({.heads = 2})),
    check("attention", "causal", self_shapes(), attended({.heads = 2, .mask = {.causal = true}})),
    check("attention", "causal, window 2", self_shapes(),
          attended({.heads = 2, .mask = {.causal = true, .window = 2}})),
    check("attention", "window 2", self_shapes(), attended({.heads = 2, .mask = {.window = 2}})),
    check("attention", "lengths 2, 0", cross_shapes(), attended(of_lengths({2, 0}))),
    check("attention", "heads share keys", shared_shapes(),
          attended({.heads = 4, .kv_head = {0, 0, 1, 1}})),
    check("attention", "masked edges", self_shapes(), attended(of_edges(100, 5))),
    check("attention", "dropout", self_shapes(),
          attended({.heads = 2, .dropout = Scalar(0.3), .key = kDropoutKey})),
    check("attention", "all together", shared_shapes(), attended(all_options())),
    check("attention", "x for q, k and v, causal", {{2, 5, 6}},
          [](Inputs x) {
            return attention(x[0], x[0], x[0], {.heads = 2, .mask = {.causal = true}});
          }),
    check("attention", "q, k, v also used elsewhere", self_shapes(),
          [](Inputs x) {
            return attention(x[0], x[1], x[2], {.heads = 2}) + sum(x[0] * x[1]) + x[2];
          }),
    check("softmax", "in attention_composed, all options together", shared_shapes(),
          [](Inputs x) { return attention_composed(x[0], x[1], x[2], all_options()); }),
};

}  // namespace

std::span<const GradientCheck> gradient_check_table() { return kChecks; }

GradcheckResult run(const GradientCheck& check) {
  Generator random(Key{3}.fold(check.op).fold(check.description));
  std::vector<Tensor> inputs;
  for (const Shape& shape : check.shapes) {
    inputs.push_back(Tensor::empty(shape));
    for (Scalar& value : inputs.back().values())
      value = static_cast<Scalar>(random.uniform(check.low, check.high));
  }
  const OpLog log;
  const GradcheckResult result = gradcheck(check.apply, inputs);
  require(log.names().contains(check.op), "the case never ran ", check.op);
  return result;
}

}}  // namespace headlab
