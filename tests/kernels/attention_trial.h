// A problem of attention with all its arrays, for the tests of both kernels: a case describes it in
// one line, and a trial computes it by either kernel, by the chosen one, or by the plain version.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "core/kernels/attention_tiles.h"
#include "kernels/numbers.h"
#include "kernels/plain.h"

namespace headlab { namespace {

/// Written in this order where designators would fill a page.
struct AttentionCase {
  std::string name;
  Index batch = 2, queries = 5, keys = 5, heads = 2, kv_heads = 2, d_head = 8, d_value = 8;
  bool causal = false;
  Index window = 0;
  bool lengths = false, hidden = false, padded_rows = false, accumulate = false;
  double dropout = 0;
  bool slopes = false;
  Index first_query = 0;
};
inline void PrintTo(const AttentionCase& c, std::ostream* out) { *out << c.name; }

/// Inputs of a case, and the results of one of the two implementations.
struct AttentionTrial {
  std::vector<Scalar> q, k, v, dz, z, log_sum_exp, pattern, dq, dk, dv;
  AttentionOptions options;
  AttentionProblem p;
  AttentionBackward g{};

  explicit AttentionTrial(const AttentionCase& c) : p(problem_of(c)) {
    g = {.z = z.data(),
         .dz = dz.data(),
         .z_stride = z_stride_of(c),
         .log_sum_exp = log_sum_exp.data(),
         .dq = {dq.data(), c.accumulate},
         .dk = {dk.data(), c.accumulate},
         .dv = {dv.data(), c.accumulate}};
  }

  static Index pad(const AttentionCase& c) { return c.padded_rows ? 3 : 0; }
  static Index z_stride_of(const AttentionCase& c) { return c.heads * c.d_value + pad(c); }

  /// Fills the arrays, too.
  AttentionProblem problem_of(const AttentionCase& c) {
    const Index q_stride = c.heads * c.d_head + pad(c);
    const Index k_stride = c.kv_heads * c.d_head + pad(c);
    const Index v_stride = c.kv_heads * c.d_value + pad(c);
    const Index z_stride = z_stride_of(c);
    const Index rows = c.batch * c.queries;
    q = numbers(rows * q_stride, 1);
    k = numbers(c.batch * c.keys * k_stride, 2);
    v = numbers(c.batch * c.keys * v_stride, 3);
    dz = numbers(rows * z_stride, 4);
    z = numbers(rows * z_stride, 5);
    dq = numbers(rows * q_stride, 6);
    dk = numbers(c.batch * c.keys * k_stride, 7);
    dv = numbers(c.batch * c.keys * v_stride, 8);
    log_sum_exp.resize(static_cast<std::size_t>(rows * c.heads));
    pattern = numbers(rows * c.heads * c.keys, 9);
    fill_options(c);
    const auto scale = static_cast<Scalar>(1 / std::sqrt(static_cast<double>(c.d_head)));
    return {.batch = c.batch,
            .queries = c.queries,
            .keys = c.keys,
            .kv_heads = c.kv_heads,
            .d_head = c.d_head,
            .d_value = c.d_value,
            .q = q.data(),
            .k = k.data(),
            .v = v.data(),
            .q_stride = q_stride,
            .k_stride = k_stride,
            .v_stride = v_stride,
            .scale = scale,
            .options = options};
  }

  void fill_options(const AttentionCase& c) {
    options = {.heads = c.heads,
               .mask = {.causal = c.causal, .window = c.window},
               .dropout = static_cast<Scalar>(c.dropout),
               .key = Key{77}};
    Generator random(Key{10});
    fill_distances(c);
    for (Index h = 0; h < c.heads; ++h) {
      if (c.kv_heads != c.heads)
        options.kv_head.push_back(static_cast<std::int32_t>(h * c.kv_heads / c.heads));
      if (c.dropout > 0) options.original_heads.push_back(static_cast<std::int32_t>(2 * h + 1));
    }
    // The first sequence is empty, the last full.
    for (Index b = 0; c.lengths && b < c.batch; ++b)
      options.mask.lengths.push_back(
          static_cast<std::int32_t>(b * c.keys / std::max<Index>(1, c.batch - 1)));
    // One query sees nothing.
    for (Index i = 0; c.hidden && i < c.batch * c.heads * c.queries * c.keys; ++i)
      options.masked_edges.push_back(i / c.keys == 1 || random.uniform() < .4);
  }

  /// Gives each head its slope. If the queries do not begin at position 0, the keys are those of a
  /// cache that writes over its oldest entries: the last ones first.
  void fill_distances(const AttentionCase& c) {
    for (Index h = 0; c.slopes && h < c.heads; ++h) {
      options.slopes.push_back(static_cast<Scalar>(std::exp2(-1 - static_cast<double>(h))));
    }
    options.first_query = c.first_query;
    for (Index s = 0; c.first_query > 0 && s < c.keys; ++s) {
      options.key_positions.push_back(static_cast<std::int32_t>((s + c.keys / 2) % c.keys));
    }
  }

  void run_fused() {
    attention_forward(p, {z.data(), g.z_stride, log_sum_exp.data(), pattern.data()});
    attention_backward(p, g);
  }
  void run_by_queries() {
    attention_forward_by_queries(p, {z.data(), g.z_stride, log_sum_exp.data(), pattern.data()});
    attention_backward_by_queries(p, g);
  }
  void run_in_lanes() {
    attention_forward_in_lanes(p, {z.data(), g.z_stride, log_sum_exp.data(), pattern.data()});
    attention_backward_in_lanes(p, g);
  }
  void run_plain() {
    attention_forward_plain(p, {z.data(), g.z_stride, log_sum_exp.data(), pattern.data()});
    attention_backward_plain(p, g);
  }
};

}  // namespace
}  // namespace headlab
