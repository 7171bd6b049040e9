// The fused attention against its plain version, over shapes, masks, grouped heads, dropout and
// threads; and the plain backward pass against central differences of the plain forward pass.
#include "core/kernels/attention.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "kernels/attention_trial.h"

namespace headlab { namespace {

std::vector<AttentionCase> cases() {
  std::vector<AttentionCase> all;
  for (Index t : {1, 2, 15, 16, 17, 31, 32, 33, 64, 127, 128, 129, 150}) {
    all.push_back({.name = "full" + std::to_string(t), .queries = t, .keys = t});
    all.push_back({.name = "causal" + std::to_string(t), .queries = t, .keys = t, .causal = true});
  }
  for (Index d : {1, 3, 15, 16, 17, 33, 64}) {
    all.push_back({"width" + std::to_string(d), 2, 37, 37, 2, 2, d, 40 - d / 2, true});
  }
  const std::vector<AttentionCase> masks = {
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
      {.name = "lanes", .batch = 5, .queries = 16, .keys = 16, .heads = 7, .kv_heads = 7},
      {.name = "lanes_causal",
       .batch = 37,
       .queries = 10,
       .keys = 10,
       .heads = 1,
       .kv_heads = 1,
       .causal = true},
      {.name = "lanes_cross", .batch = 5, .queries = 9, .keys = 23, .heads = 7, .kv_heads = 7},
      {"lanes_everything", 5, 21, 21, 7, 7, 5, 7, true, 9, true, false, true, true, .4, true},
      {"everything", 3, 150, 150, 4, 2, 5, 7, true, 100, true, true, true, true, .5, true}};
  all.insert(all.end(), masks.begin(), masks.end());
  return all;
}

class AttentionCases : public testing::TestWithParam<AttentionCase> {};

TEST_P(AttentionCases, FusedAgreesWithPlain) {
  AttentionTrial fused(GetParam());
  AttentionTrial plain(GetParam());
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
  AttentionTrial one(GetParam());
  {
    const Threads threads(1);
    one.run_fused();
  }
  for (int count : {2, 3, 8}) {
    const Threads threads(count);
    AttentionTrial many(GetParam());
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
  AttentionTrial longer({.name = "", .batch = 1, .queries = 150, .keys = 150, .causal = true});
  AttentionTrial shorter({.name = "", .batch = 1, .queries = 150, .keys = 150, .causal = true});
  longer.run_fused();
  shorter.p.queries = shorter.p.keys = 69;
  attention_forward(shorter.p,
                    {shorter.z.data(), shorter.g.z_stride, shorter.log_sum_exp.data(), nullptr});
  const Index count = 69 * shorter.g.z_stride;
  EXPECT_TRUE(std::equal(shorter.z.begin(), shorter.z.begin() + count, longer.z.begin()));
}

TEST(Attention, AQueryThatSeesNothingGivesZeroAndNoGradient) {
  AttentionTrial run({.name = "", .batch = 1, .queries = 3, .keys = 3, .lengths = true});
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
  AttentionTrial run({.name = "", .batch = 1, .queries = 3, .keys = 3, .lengths = true});
  run.options.mask.lengths[0] = 2;
  const Scalar root = std::sqrt(std::numeric_limits<Scalar>::max());
  std::ranges::fill(run.q, -4 * root);
  std::ranges::fill(run.k, 4 * root);
  run.run_fused();
  for (const Scalar z : run.z) EXPECT_TRUE(std::isnan(z));
}

TEST(Attention, NaNInAKeyReachesEveryQueryThatSeesIt) {
  AttentionTrial run({"", 1, 40, 40, 1, 1, 4, 1, true});
  run.k[20 * 4] = std::numeric_limits<Scalar>::quiet_NaN();
  run.run_fused();
  for (std::size_t t = 0; t < 40; ++t) EXPECT_EQ(std::isnan(run.z[t]), t >= 20) << t;
}

TEST(Attention, AWindowOfAnyLengthBeyondTheSequenceHidesNothing) {
  const AttentionCase c{.name = "", .queries = 40, .keys = 40};
  AttentionTrial open(c), wide(c);
  open.run_fused();
  wide.options.mask.window = std::numeric_limits<Index>::max();
  wide.run_fused();
  EXPECT_EQ(wide.z, open.z);
}

TEST(Attention, NullGradientsAreSkipped) {
  const AttentionCase c{.name = "", .queries = 40, .keys = 40};
  AttentionTrial all(c);
  AttentionTrial some(c);
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
double loss_at(AttentionTrial& run, std::vector<Scalar>& x, std::size_t i, Scalar h) {
  const Scalar before = x[i];
  x[i] += h;
  attention_forward_plain(run.p, {run.z.data(), run.g.z_stride, run.log_sum_exp.data(), nullptr});
  x[i] = before;
  double loss = 0;
  for (std::size_t j = 0; j < run.z.size(); ++j) loss += run.z[j] * run.dz[j];
  return loss;
}

TEST(Attention, GradientsAreCentralDifferences) {
  AttentionTrial run({"", 2, 6, 6, 4, 2, 3, 2, true, 4, false, true, false, false, .3});
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
