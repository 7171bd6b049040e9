// Attention in two versions. The composed op is the definition, in simple ops; it stores [B, H, T,
// S] in memory, and tests compare the fused op with it. The fused op is one kernel: for each row it
// keeps ln(sum of exp(score)), from which the backward pass recomputes the weights. Read next:
// tests/kernels/plain.h, gradients by hand, and src/core/kernels/attention.h.
#include "headlab/core/ops/attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/kernels/attention.h"
#include "core/kernels/elementwise.h"
#include "headlab/core/base/error.h"
#include "headlab/core/ops/arithmetic.h"
#include "headlab/core/ops/layout.h"
#include "headlab/core/ops/matmul.h"
#include "headlab/core/ops/rows.h"
#include "headlab/core/tensor/tape.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

/// Returns G, the number of blocks of keys and values.
Index kv_blocks(const AttentionOptions& o) {
  return o.kv_head.empty() ? o.heads : 1 + *std::max_element(o.kv_head.begin(), o.kv_head.end());
}

/// The validated sizes of one call.
struct Sizes {
  Index B, T, S, H, G, D, Dv;

  Sizes(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& o) {
    require(q.rank() == 3 && k.rank() == 3 && v.rank() == 3,
            "cannot compute attention: q, k, v need three axes, got ", q.shape(), ", ", k.shape(),
            ", ", v.shape());
    B = q.size(0);
    T = q.size(1);
    S = k.size(1);
    H = o.heads;
    require(H >= 1 && q.size(2) > 0 && q.size(2) % H == 0, "cannot compute attention: q ",
            q.shape(), " does not split into ", H, " heads");
    check("kv_head", o.kv_head, H);
    for (std::int32_t block : o.kv_head) {
      require(block >= 0, "cannot compute attention: a head cannot read the K, V block ", block);
    }
    G = kv_blocks(o);
    D = q.size(2) / H;
    Dv = v.size(2) / G;
    require(k.shape() == Shape{B, S, G * D} && v.shape() == Shape{B, S, G * Dv},
            "cannot compute attention: q ", q.shape(), " with ", H, " heads and ", G,
            " K, V blocks does not fit k ", k.shape(), ", v ", v.shape());
    check_masks(o);
  }

  Scalar scale() const { return static_cast<Scalar>(1 / std::sqrt(static_cast<double>(D))); }

 private:
  template <class Vector>
  static void check(const char* name, const Vector& values, Index expected) {
    require(values.empty() || static_cast<Index>(values.size()) == expected,
            "cannot compute attention: ", name, " needs ", expected, " values, got ",
            values.size());
  }
  void check_masks(const AttentionOptions& o) const {
    check("original_heads", o.original_heads, H);
    check("lengths", o.mask.lengths, B);
    check("slopes", o.slopes, H);
    check("key_positions", o.key_positions, S);
    check("masked_edges", o.masked_edges, B * H * T * S);
    require(!o.mask.causal || T == S,
            "cannot compute attention: a causal mask needs as many keys as queries, got ", S,
            " and ", T);
    require(o.dropout >= 0 && o.dropout < 1,
            "cannot compute attention: dropout must lie in [0, 1), got ", o.dropout);
  }
};

AttentionProblem problem_of(const Sizes& sizes, const AttentionOptions& o, const Tensor& q,
                            const Tensor& k, const Tensor& v) {
  return {.batch = sizes.B,
          .queries = sizes.T,
          .keys = sizes.S,
          .kv_heads = sizes.G,
          .d_head = sizes.D,
          .d_value = sizes.Dv,
          .q = q.data(),
          .k = k.data(),
          .v = v.data(),
          .q_stride = sizes.H * sizes.D,
          .k_stride = sizes.G * sizes.D,
          .v_stride = sizes.G * sizes.Dv,
          .scale = sizes.scale(),
          .options = o};
}

/// Converts x [B, S, G*D] to [B, H, S, D]: block kv_head[h] for head h.
Tensor split_heads(const Tensor& x, Index blocks, const Ids& kv_head) {
  const Tensor split =
      permute(reshape(x, {x.size(0), x.size(1), blocks, x.size(2) / blocks}), {0, 2, 1, 3});
  if (kv_head.empty()) return split;
  std::vector<Tensor> heads;
  for (std::int32_t block : kv_head) heads.push_back(slice(split, 1, block, block + 1));
  return concat(heads, 1);
}

/// Returns -slope |distance| of a query and a key; [1, H, T, S].
Tensor distance_bias(const Sizes& n, const AttentionOptions& o) {
  Tensor bias = Tensor::empty({1, n.H, n.T, n.S});
  for (Index i = 0; i < bias.count(); ++i) {
    const Index s = i % n.S;
    const Index t = i / n.S % n.T;
    const Index h = i / (n.S * n.T);
    const Index key = o.key_positions.empty() ? s : o.key_positions[s];
    const Index distance = std::abs(o.first_query + t - key);
    bias.data()[i] = -o.slopes[h] * static_cast<Scalar>(distance);
  }
  return bias;
}

/// Returns 0 if the query sees the key, else -inf; [B, H, T, S].
Tensor mask_tensor(const Sizes& n, const AttentionOptions& o) {
  Tensor mask = Tensor::zeros({n.B, n.H, n.T, n.S});
  for (Index i = 0; i < mask.count(); ++i) {
    const Index s = i % n.S, t = i / n.S % n.T, b = i / (n.S * n.T * n.H);
    const bool hidden = !o.masked_edges.empty() && o.masked_edges[i] != 0;
    if (hidden || !o.mask.sees(b, t, s)) mask.data()[i] = -std::numeric_limits<Scalar>::infinity();
  }
  return mask;
}

/// Returns 1 / (1 - p) if a weight is kept, 0 if it is dropped; [B, H, T, S].
Tensor dropout_tensor(const Shape& shape, const AttentionOptions& o) {
  Tensor keep = Tensor::zeros(shape);
  const Index S = shape[3];
  const Index T = shape[2];
  const Index H = shape[1];
  for (Index i = 0; i < keep.count(); ++i) {
    const Index s = i % S;
    const Index t = i / S % T;
    const Index h = i / (S * T) % H;
    const Index b = i / (S * T * H);
    const Index original = o.original_heads.empty() ? h : o.original_heads[h];
    if (attention_keeps({b, original, t, s}, o.key.value, o.dropout)) {
      keep.data()[i] = 1 / (1 - o.dropout);
    }
  }
  return keep;
}

}  // namespace

Tensor rotary_table(Index length, Index d_head, double base) {
  require(d_head % 2 == 0,
          "cannot compute rotary positions: they rotate pairs of numbers, and a head of width ",
          d_head, " has one over");
  Tensor table = Tensor::empty({2, length, d_head});
  for (Index t = 0; t < length; ++t) {
    for (Index i = 0; i < d_head; ++i) {
      const Index even = i - i % 2;  // both numbers of a pair rotate by the same angle
      const double exponent = static_cast<double>(even) / static_cast<double>(d_head);
      const double angle = static_cast<double>(t) * std::pow(base, -exponent);
      Scalar* at = table.data() + t * d_head + i;
      at[0] = static_cast<Scalar>(std::cos(angle));
      at[length * d_head] = static_cast<Scalar>(i % 2 == 0 ? -std::sin(angle) : std::sin(angle));
    }
  }
  return table;
}

Tensor rotary(const Tensor& x, const Tensor& rotary_table, Index first) {
  const Index T = x.size(1), D = rotary_table.size(2), L = rotary_table.size(1);
  require(x.rank() == 3 && x.size(2) % D == 0 && first >= 0 && first + T <= L,
          "cannot compute rotary: x ", x.shape(), " from position ", first,
          " does not fit a table ", rotary_table.shape());
  Tensor y = Tensor::empty(x.shape());
  const auto rotation = [=, B = x.size(0), width = x.size(2)](const Scalar* from, Scalar* to) {
    const Scalar* cosines = rotary_table.data() + first * D;
    return Rotation{B * T, width, D, T, cosines, cosines + L * D, from, to, false, false};
  };
  rotate(rotation(x.data(), y.data()));
  return record("rotary", y, {x}, [rotation](Node& node) {
    if (const GradientSlot dx = node.slot(0)) {
      Rotation back = rotation(node.gradient(), dx.data);
      back.back = true;
      back.accumulate = dx.accumulate;
      rotate(back);
    }
  });
}

Tensor rotary_composed(const Tensor& x, const Tensor& rotary_table, Index first) {
  const Index T = x.size(1), D = rotary_table.size(2);
  const auto row = [&](Index i) {  // [T, 1, D/2, 2]
    return reshape(slice(slice(rotary_table, 0, i, i + 1), 1, first, first + T), {T, 1, D / 2, 2});
  };
  const Tensor pairs = reshape(x, {x.size(0), T, x.size(2) / D, D / 2, 2});  // [B, T, H, D/2, 2]
  const Tensor exchanged = concat({slice(pairs, -1, 1, 2), slice(pairs, -1, 0, 1)}, -1);
  return reshape(pairs * row(0) + exchanged * row(1), x.shape());
}

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, AttentionOptions options,
                 Tensor* pattern) {
  const Sizes n(q, k, v, options);
  const Index z_stride = n.H * n.Dv;
  Tensor z = Tensor::empty({n.B, n.T, z_stride});
  const Tensor log_sum_exp = Tensor::empty({n.B, n.H, n.T});
  if (pattern != nullptr) *pattern = Tensor::empty({n.B, n.H, n.T, n.S});
  attention_forward(problem_of(n, options, q, k, v),
                    {.z = z.data(),
                     .z_stride = z_stride,
                     .log_sum_exp = log_sum_exp.data(),
                     .pattern = pattern ? pattern->data() : nullptr});
  std::array inputs{q, k, v};
  separate(inputs);  // one gradient buffer for each
  return record("attention", z, inputs,
                [n, options = std::move(options), log_sum_exp, z_stride](Node& node) {
                  attention_backward(problem_of(n, options, node.input(0), node.input(1),
                                                node.input(2)),
                                     {.z = node.output(),
                                      .dz = node.gradient(),
                                      .z_stride = z_stride,
                                      .log_sum_exp = log_sum_exp.data(),
                                      .dq = node.slot(0),
                                      .dk = node.slot(1),
                                      .dv = node.slot(2)});
                });
}

Tensor attention_scores(const Tensor& q, const Tensor& k, const AttentionOptions& options) {
  const Sizes n(q, k, k, options);
  const Tensor queries = split_heads(q, n.H, {});                            // [B, H, T, D]
  const Tensor keys = split_heads(k, n.G, options.kv_head);                  // [B, H, S, D]
  Tensor scores = matmul(queries, keys, {.transpose_b = true}) * n.scale();  // [B, H, T, S]
  if (!options.slopes.empty()) {
    scores = scores + distance_bias(n, options);
  }
  return scores + mask_tensor(n, options);
}

Tensor weighted_values(const Tensor& weights, const Tensor& v, const AttentionOptions& options,
                       Tensor* pattern) {
  require(weights.rank() == 4 && v.rank() == 3 && weights.size(0) == v.size(0) &&
              weights.size(3) == v.size(1) && weights.size(1) == options.heads,
          "cannot compute attention: weights ", weights.shape(), " of ", options.heads,
          " heads do not fit values ", v.shape());
  if (pattern != nullptr) {
    *pattern = weights.clone();
  }
  const Tensor kept =
      options.dropout > 0 ? weights * dropout_tensor(weights.shape(), options) : weights;
  const Index G = kv_blocks(options);
  const Tensor values = split_heads(v, G, options.kv_head);      // [B, H, S, Dv]
  const Tensor z = permute(matmul(kept, values), {0, 2, 1, 3});  // [B, T, H, Dv]
  return reshape(z, {z.size(0), z.size(1), z.size(2) * z.size(3)});
}

Tensor attention_composed(const Tensor& q, const Tensor& k, const Tensor& v,
                          AttentionOptions options, Tensor* pattern) {
  const Sizes checked(q, k, v, options);
  const Tensor weights = softmax(attention_scores(q, k, options));  // [B, H, T, S]
  return weighted_values(weights, v, options, pattern);             // [B, T, H*Dv]
}

}}  // namespace headlab
