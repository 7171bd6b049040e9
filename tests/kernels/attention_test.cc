// The fused attention against its plain version, over shapes, masks, grouped heads, dropout and
// threads; and the plain backward pass against central differences of the plain forward pass.
#include "core/kernels/attention.h"

#include <gtest/gtest.h>

#include <array>
#include <ostream>
#include <string>

#include "kernels/numbers.h"
#include "kernels/plain.h"

namespace headlab { namespace {

/// Written in this order where designators would fill a page.
struct Case {
  std::string name;
  Index batch = 2, queries = 5, keys = 5, heads = 2, kv_heads = 2, d_head = 8, d_value = 8;
  bool causal = false;
  Index window = 0;
  bool lengths = false, hidden = false, padded_rows = false, accumulate = false;
  double dropout = 0;
  bool slopes = false;
  Index first_query = 0;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

/// Inputs of a case, and the results of one of the two implementations.
struct Trial {
  std::vector<Scalar> q, k, v, dz, z, log_sum_exp, pattern, dq, dk, dv;
  AttentionOptions options;
  AttentionProblem p;
  AttentionBackward g{};

  explicit Trial(const Case& c) : p(problem_of(c)) {
    g = {.z = z.data(),
         .dz = dz.data(),
         .z_stride = z_stride_of(c),
         .log_sum_exp = log_sum_exp.data(),
         .dq = {dq.data(), c.accumulate},
         .dk = {dk.data(), c.accumulate},
         .dv = {dv.data(), c.accumulate}};
  }

  static Index pad(const Case& c) { return c.padded_rows ? 3 : 0; }
  static Index z_stride_of(const Case& c) { return c.heads * c.d_value + pad(c); }

  /// Fills the arrays, too.
  AttentionProblem problem_of(const Case& c) {
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

  void fill_options(const Case& c) {
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
  void fill_distances(const Case& c) {
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
  void run_plain() {
    attention_forward_plain(p, {z.data(), g.z_stride, log_sum_exp.data(), pattern.data()});
    attention_backward_plain(p, g);
  }
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (Index t : {1, 2, 15, 16, 17, 31, 32, 33, 64, 127, 128, 129, 150}) {
    all.push_back({.name = "full" + std::to_string(t), .queries = t, .keys = t});
    all.push_back({.name = "causal" + std::to_string(t), .queries = t, .keys = t, .causal = true});
  }
  for (Index d : {1, 3, 15, 16, 17, 33, 64}) {
    all.push_back({"width" + std::to_string(d), 2, 37, 37, 2, 2, d, 40 - d / 2, true});
  }
  const std::vector<Case> masks = {
      {.name = "no_keys", .keys = 0},
      {.name = "cross", .queries = 40, .keys = 13},
      {.name = "cross_long", .queries = 3, .keys = 300},
      {.name = "window", .queries = 300, .keys = 300, .window = 5},
      {.name = "window_causal", .queries = 300, .keys = 300, .causal = true, .window = 40},
      {.name = "window_cross", .queries = 300, .keys = 20, .window = 30},
      {.name = "window_beyond_all", .queries = 40, .keys = 70, .window = Index{1} << 40},
      {.name = "lengths", .batch = 3, .queries = 40, .keys = 40, .lengths = true},
      {.name = "hidden", .queries = 40, .keys = 140, .hidden = true},
      {.name = "rows", .queries = 33, .keys = 33, .padded_rows = true, .accumulate = true},
      {.name = "groups", .queries = 33, .keys = 33, .heads = 6, .kv_heads = 2, .causal = true},
      {.name = "one_group", .batch = 1, .queries = 70, .keys = 70, .heads = 3, .kv_heads = 1},
      {.name = "dropout", .queries = 41, .keys = 141, .dropout = .3},
      {.name = "slopes", .queries = 150, .keys = 150, .causal = true, .slopes = true},
      {.name = "slopes_cross", .queries = 40, .keys = 170, .slopes = true},
      {.name = "slopes_cache", .queries = 3, .keys = 40, .slopes = true, .first_query = 37},
      {"everything", 3, 150, 150, 4, 2, 5, 7, true, 100, true, true, true, true, .5, true}};
  all.insert(all.end(), masks.begin(), masks.end());
  return all;
}

class AttentionCases : public testing::TestWithParam<Case> {};

TEST_P(AttentionCases, FusedAgreesWithPlain) {
  Trial fused(GetParam());
  Trial plain(GetParam());
  fused.run_fused();
  plain.run_plain();
  // A row of weights sums to 1 (2 with dropout); a gradient of K or V adds one term per query and
  // head of its group. Every term carries an error of some epsilon of numbers below 4.
  const double terms =
      static_cast<double>(plain.p.queries * plain.p.options.heads / plain.p.kv_heads);
  const double tolerance = 64 * kEpsilon;
  expect_near(fused.z, plain.z, tolerance, "z");
  expect_near(fused.log_sum_exp, plain.log_sum_exp, tolerance, "log_sum_exp");
  expect_near(fused.pattern, plain.pattern, tolerance, "pattern");
  expect_near(fused.dq, plain.dq, 2 * tolerance, "dq");
  expect_near(fused.dk, plain.dk, tolerance * std::sqrt(terms), "dk");
  expect_near(fused.dv, plain.dv, tolerance * std::sqrt(terms), "dv");
}

TEST_P(AttentionCases, AnyNumberOfThreadsGivesTheSameBits) {
  Trial one(GetParam());
  {
    const Threads threads(1);
    one.run_fused();
  }
  for (int count : {2, 3, 8}) {
    const Threads threads(count);
    Trial many(GetParam());
    many.run_fused();
    EXPECT_EQ(many.z, one.z);
    EXPECT_EQ(many.pattern, one.pattern);
    EXPECT_EQ(many.dq, one.dq);
    EXPECT_EQ(many.dk, one.dk);
    EXPECT_EQ(many.dv, one.dv);
  }
}

INSTANTIATE_TEST_SUITE_P(All, AttentionCases, testing::ValuesIn(cases()),
                         [](const auto& c) { return c.param.name; });

TEST(Attention, RowDoesNotDependOnLaterTokens) {
  Trial longer({.name = "", .batch = 1, .queries = 150, .keys = 150, .causal = true});
  Trial shorter({.name = "", .batch = 1, .queries = 150, .keys = 150, .causal = true});
  longer.run_fused();
  shorter.p.queries = shorter.p.keys = 69;
  attention_forward(shorter.p,
                    {shorter.z.data(), shorter.g.z_stride, shorter.log_sum_exp.data(), nullptr});
  const Index count = 69 * shorter.g.z_stride;
  EXPECT_TRUE(std::equal(shorter.z.begin(), shorter.z.begin() + count, longer.z.begin()));
}

TEST(Attention, AQueryThatSeesNothingGivesZeroAndNoGradient) {
  Trial run({.name = "", .batch = 1, .queries = 3, .keys = 3, .lengths = true});
  run.options.mask.lengths[0] = 0;
  run.run_fused();
  const auto zero = [](const std::vector<Scalar>& x) {
    return std::all_of(x.begin(), x.end(), [](Scalar s) { return s == 0; });
  };
  EXPECT_TRUE(zero(run.z) && zero(run.pattern) && zero(run.dq) && zero(run.dk) && zero(run.dv));
  EXPECT_EQ(run.log_sum_exp[0], -kInfinity);
}

/// Scores beyond Scalar would be -inf, as hidden keys are, and the result 0 without a word.
TEST(Attention, AQueryWhoseScoresAllOverflowIsNaN) {
  Trial run({.name = "", .batch = 1, .queries = 3, .keys = 3, .lengths = true});
  run.options.mask.lengths[0] = 2;
  const Scalar root = std::sqrt(std::numeric_limits<Scalar>::max());
  std::ranges::fill(run.q, -4 * root);
  std::ranges::fill(run.k, 4 * root);
  run.run_fused();
  for (const Scalar z : run.z) EXPECT_TRUE(std::isnan(z));
}

TEST(Attention, NaNInAKeyReachesEveryQueryThatSeesIt) {
  Trial run({"", 1, 40, 40, 1, 1, 4, 1, true});
  run.k[20 * 4] = std::numeric_limits<Scalar>::quiet_NaN();
  run.run_fused();
  for (std::size_t t = 0; t < 40; ++t) EXPECT_EQ(std::isnan(run.z[t]), t >= 20) << t;
}

TEST(Attention, AWindowOfAnyLengthBeyondTheSequenceHidesNothing) {
  const Case c{.name = "", .queries = 40, .keys = 40};
  Trial open(c), wide(c);
  open.run_fused();
  wide.options.mask.window = std::numeric_limits<Index>::max();
  wide.run_fused();
  EXPECT_EQ(wide.z, open.z);
}

TEST(Attention, NullGradientsAreSkipped) {
  const Case c{.name = "", .queries = 40, .keys = 40};
  Trial all(c);
  Trial some(c);
  all.run_fused();
  some.g.dq = some.g.dv = {};
  const auto before = some.dq;
  some.run_fused();
  EXPECT_EQ(some.dk, all.dk);
  EXPECT_EQ(some.dq, before);
}

TEST(Attention, DropoutKeepsTheExpectedShareAndHeadsQueriesAndKeysAreIndependent) {
  const auto keeps = [](Index b, Index head, Index t, Index s) {
    return attention_keeps({b, head, t, s}, 5, Scalar(.25));
  };
  int kept = 0;
  std::array<int, 4> same{};
  for (Index t = 0; t < 100; ++t) {
    for (Index s = 0; s < 100; ++s) {
      const bool keep = keeps(0, 3, t, s);
      kept += keep;
      same[0] += keep == keeps(1, 3, t, s);
      same[1] += keep == keeps(0, 4, t, s);
      same[2] += keep == keeps(0, 3, t + 1, s);
      same[3] += keep == keeps(0, 3, t, s + 1);
    }
  }
  // Binomial(10000, p) within 5 standard deviations: p = .75, and .75^2 + .25^2 = .625 for another
  // place.
  EXPECT_NEAR(kept, 7500, 5 * 43.4);
  for (int count : same) EXPECT_NEAR(count, 6250, 5 * 48.5);
}

#ifdef HEADLAB_F64
/// sum(dz z) after adding h to x[i].
double loss_at(Trial& run, std::vector<Scalar>& x, std::size_t i, Scalar h) {
  const Scalar before = x[i];
  x[i] += h;
  attention_forward_plain(run.p, {run.z.data(), run.g.z_stride, run.log_sum_exp.data(), nullptr});
  x[i] = before;
  double loss = 0;
  for (std::size_t j = 0; j < run.z.size(); ++j) loss += run.z[j] * run.dz[j];
  return loss;
}

TEST(Attention, GradientsAreCentralDifferences) {
  Trial run({"", 2, 6, 6, 4, 2, 3, 2, true, 4, false, true, false, false, .3});
  run.run_fused();
  const auto check = [&](std::vector<Scalar>& x, const std::vector<Scalar>& gradient) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double slope = (loss_at(run, x, i, 1e-5) - loss_at(run, x, i, -1e-5)) / 2e-5;
      EXPECT_NEAR(gradient[i], slope, 1e-9) << i;
    }
  };
  check(run.q, run.dq);
  check(run.k, run.dk);
  check(run.v, run.dv);
}
#endif

}  // namespace
}  // namespace headlab
