// The fast kernels' results, computed plainly: a product entry by entry, softmax, cross-entropy and
// layer norm row by row, attention one score at a time; each gradient has the line of the
// forward pass as a comment before it. gemm.cc, rows.cc, attention.cc and attention_backward.cc are
// tested against them. Sums run in double, in the order of the terms.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/kernels/attention.h"
#include "core/kernels/elementwise.h"
#include "core/kernels/gemm.h"

namespace headlab {

inline Scalar entry(const ConstMatrix& x, Index i, Index j) {
  return x.data[i * x.row_stride + j * x.column_stride];
}

inline void gemm_plain(const Gemm& g) {
  for (Index i = 0; i < g.m; ++i) {
    for (Index j = 0; j < g.n; ++j) {
      double sum = 0;
      for (Index p = 0; p < g.k; ++p)
        sum += static_cast<double>(entry(g.a, i, p)) * static_cast<double>(entry(g.b, p, j));
      const Index at_c = i * g.c_stride + j;
      const auto value = [](const Scalar* x, Index i_x) { return static_cast<double>(x[i_x]); };
      if (g.accumulate) sum += value(g.c, at_c);
      if (g.finish.bias) sum += value(g.finish.bias, j);
      if (g.finish.factor) sum *= value(g.finish.factor, at_c);
      g.c[at_c] = static_cast<Scalar>(sum);
      if (g.finish.gelu) gelu_forward(1, g.c + at_c, g.finish.gelu + at_c);
    }
  }
  for (Index p = 0; g.column_sums && p < g.k; ++p)
    for (Index j = 0; j < g.n; ++j) g.column_sums[j] += entry(g.b, p, j);
}

using Row = std::vector<double>;

/// y = softmax(x); in sums of exp no row here overflows.
inline Row softmax_plain(const Row& x) {
  double sum = 0;
  for (const double value : x) sum += std::exp(value);
  Row y;
  for (const double value : x) y.push_back(std::exp(value) / sum);
  return y;
}

inline Row softmax_backward_plain(const Row& y, const Row& dy) {
  Row dx(y.size());
  for (std::size_t i = 0; i < y.size(); ++i)
    for (std::size_t j = 0; j < y.size(); ++j)
      // forward: y[i] = exp(x[i]) / sum, where x[i] is in the numerator, and each x[j] in the sum
      dx[j] += dy[i] * y[i] * ((i == j ? 1 : 0) - y[j]);
  return dx;
}

inline double cross_entropy_plain(const Row& x, std::int32_t target) {
  return target < 0 ? 0 : -std::log(softmax_plain(x)[target]);
}

inline Row cross_entropy_backward_plain(const Row& x, std::int32_t target, double dloss) {
  if (target < 0) return Row(x.size());
  // forward: loss = -x[target] + log(sum of exp(x)), whose slope is the softmax
  Row dx = softmax_plain(x);
  dx[target] -= 1;
  for (double& slope : dx) slope *= dloss;
  return dx;
}

/// y = h gain + bias, h = (x - mean) rstd, for one row.
struct LayerNormRow {
  double n, mean = 0, variance = 0, rstd;
  Row x, gain, h, y{};

  LayerNormRow(const Row& x_, const Row& gain_, const Row& bias, double eps)
      : n(static_cast<double>(x_.size())), x(x_), gain(gain_), h(x_.size()) {
    for (const double value : x) mean += value / n;
    for (const double value : x) variance += (value - mean) * (value - mean) / n;
    rstd = std::pow(variance + eps, -.5);
    for (std::size_t j = 0; j < x.size(); ++j) {
      h[j] = (x[j] - mean) * rstd;
      y.push_back(h[j] * gain[j] + bias[j]);
    }
  }

  /// dx; and adds to dgain and dbias.
  Row backward(const Row& dy, Row& dgain, Row& dbias) const {
    Row dx(x.size());
    double dmean = 0, drstd = 0;
    for (std::size_t j = 0; j < x.size(); ++j) {
      // forward: y[j] = h[j] * gain[j] + bias[j]
      dbias[j] += dy[j];
      dgain[j] += dy[j] * h[j];
      const double dh = dy[j] * gain[j];
      // forward: h[j] = (x[j] - mean) * rstd
      dx[j] += dh * rstd;
      dmean -= dh * rstd;
      drstd += dh * (x[j] - mean);
    }
    // forward: rstd = pow(variance + eps, -.5)
    const double dvariance = drstd * -.5 * std::pow(rstd, 3);
    for (std::size_t j = 0; j < x.size(); ++j) {
      // forward: variance += (x[j] - mean) * (x[j] - mean) / n, least at this mean: slope 0 in it
      dx[j] += dvariance * 2 * (x[j] - mean) / n;
      // forward: mean += x[j] / n
      dx[j] += dmean / n;
    }
    return dx;
  }
};

/// Whether query t of head h in sequence b may look at key s: all masks together.
inline bool attention_sees(const AttentionProblem& p, Index b, Index h, Index t, Index s) {
  const AttentionOptions& options = p.options;
  const auto& [causal, window, lengths] = options.mask;
  if (causal && s > t) return false;
  if (window > 0 && (t - s >= window || s - t >= window)) return false;
  if (!lengths.empty() && s >= lengths[b]) return false;
  return options.masked_edges.empty() ||
         !options.masked_edges[((b * options.heads + h) * p.queries + t) * p.keys + s];
}

/// One query of one head: its place, the K, V block it reads, and its weights over the keys.
struct QueryWeights {
  Index b, h, t, block, row;  // row = b T + t
  std::vector<double> weights{};
  double log_sum_exp = 0;
};

inline double dot(Index n, const Scalar* x, const Scalar* y) {
  double sum = 0;
  for (Index i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(y[i]);
  return sum;
}

/// Returns slope |distance|, by which the score of key s for query t falls.
inline double distance_cost(const AttentionProblem& p, Index h, Index t, Index s) {
  const AttentionOptions& options = p.options;
  if (options.slopes.empty()) return 0;
  const Index key = options.key_positions.empty() ? s : options.key_positions[s];
  return static_cast<double>(options.slopes[h]) *
         static_cast<double>(std::abs(options.first_query + t - key));
}

inline QueryWeights weigh(const AttentionProblem& p, Index b, Index h, Index t) {
  QueryWeights query{b, h, t, p.block_of(h), b * p.queries + t};
  query.weights.resize(p.keys);
  const Scalar* q = p.q + query.row * p.q_stride + h * p.d_head;
  double sum = 0;
  double largest = -std::numeric_limits<double>::infinity();
  for (Index s = 0; s < p.keys; ++s) {
    double& weight = query.weights[s];
    const Scalar* k = p.k + (b * p.keys + s) * p.k_stride + query.block * p.d_head;
    weight = -std::numeric_limits<double>::infinity();
    if (attention_sees(p, b, h, t, s)) {
      weight = static_cast<double>(p.scale) * dot(p.d_head, q, k) - distance_cost(p, h, t, s);
    }
    largest = std::fmax(largest, weight);
  }
  for (double& weight : query.weights) {
    weight = std::isinf(weight) ? 0 : std::exp(weight - largest);
    sum += weight;
  }
  for (double& weight : query.weights) weight = sum > 0 ? weight / sum : 0;
  query.log_sum_exp = largest + std::log(sum);
  return query;
}

/// 0 or 1/(1-p): what dropout multiplies the weight of key s by.
inline double dropout_factor(const AttentionProblem& p, const QueryWeights& query, Index s) {
  const AttentionOptions& options = p.options;
  if (options.dropout == 0) return 1;
  const Index original = options.original_heads.empty() ? query.h : options.original_heads[query.h];
  return attention_keeps({query.b, original, query.t, s}, options.key.value, options.dropout)
             ? 1 / (1 - static_cast<double>(options.dropout))
             : 0;
}

template <class Body>
void for_queries(const AttentionProblem& p, Body body) {
  for (Index b = 0; b < p.batch; ++b) {
    for (Index h = 0; h < p.options.heads; ++h)
      for (Index t = 0; t < p.queries; ++t) body(weigh(p, b, h, t));
  }
}

inline void attention_forward_plain(const AttentionProblem& p, const AttentionOutput& out) {
  for_queries(p, [&](const QueryWeights& query) {
    const Index row = (query.b * p.options.heads + query.h) * p.queries + query.t;
    std::vector<double> sum(p.d_value);
    for (Index s = 0; s < p.keys; ++s) {
      const double weight = query.weights[s];
      const Scalar* v = p.v + (query.b * p.keys + s) * p.v_stride + query.block * p.d_value;
      if (out.pattern) out.pattern[row * p.keys + s] = static_cast<Scalar>(weight);
      const double dropped = weight * dropout_factor(p, query, s);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += dropped * static_cast<double>(v[i]);
    }
    Scalar* z = out.z + query.row * out.z_stride + query.h * p.d_value;
    for (double value : sum) *z++ = static_cast<Scalar>(value);
    out.log_sum_exp[row] = static_cast<Scalar>(query.log_sum_exp);
  });
}

inline void clear_unless_added(const GradientSlot& x, Index rows, Index width, Index stride) {
  for (Index i = 0; x && !x.accumulate && i < rows; ++i) std::fill_n(x.data + i * stride, width, 0);
}

inline void add_scaled_row(Scalar* y, Index n, double a, const Scalar* x) {
  for (Index i = 0; y && i < n; ++i) y[i] += static_cast<Scalar>(a * static_cast<double>(x[i]));
}

inline void attention_backward_plain(const AttentionProblem& p, const AttentionBackward& g) {
  clear_unless_added(g.dq, p.batch * p.queries, p.options.heads * p.d_head, p.q_stride);
  clear_unless_added(g.dk, p.batch * p.keys, p.kv_heads * p.d_head, p.k_stride);
  clear_unless_added(g.dv, p.batch * p.keys, p.kv_heads * p.d_value, p.v_stride);
  for_queries(p, [&](const QueryWeights& query) {
    const Index q_at = query.row * p.q_stride + query.h * p.d_head;
    const Index z_at = query.row * g.z_stride + query.h * p.d_value;
    // softmax: P = exp(S) / sum(exp(S)), so dS = P (dP - sum over keys of P dP); as z = P V, that
    // sum is z . dz
    const double delta = dot(p.d_value, g.z + z_at, g.dz + z_at);
    for (Index s = 0; s < p.keys; ++s) {
      const double weight = query.weights[s];
      if (weight == 0) continue;
      const Index k_at = (query.b * p.keys + s) * p.k_stride + query.block * p.d_head;
      const Index v_at = (query.b * p.keys + s) * p.v_stride + query.block * p.d_value;
      const double factor = dropout_factor(p, query, s);
      // forward: z += factor * weight * v
      add_scaled_row(g.dv ? g.dv.data + v_at : nullptr, p.d_value, factor * weight, g.dz + z_at);
      const double dp = factor * dot(p.d_value, g.dz + z_at, p.v + v_at);
      // forward: score = scale * q . k
      const double ds = static_cast<double>(p.scale) * weight * (dp - delta);
      add_scaled_row(g.dq ? g.dq.data + q_at : nullptr, p.d_head, ds, p.k + k_at);
      add_scaled_row(g.dk ? g.dk.data + k_at : nullptr, p.d_head, ds, p.q + q_at);
    }
  });
}

}  // namespace headlab
