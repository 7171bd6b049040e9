// The kernel of attention with problems in lanes: the same bits as the kernel with queries in
// lanes, and as itself for any split of a batch. AttentionCases hold it against the plain version.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "kernels/attention_trial.h"

namespace headlab { namespace {

void expect_same_bits(const AttentionTrial& a, const AttentionTrial& b) {
  EXPECT_EQ(a.z, b.z);
  EXPECT_EQ(a.log_sum_exp, b.log_sum_exp);
  EXPECT_EQ(a.pattern, b.pattern);
  EXPECT_EQ(a.dq, b.dq);
  EXPECT_EQ(a.dk, b.dk);
  EXPECT_EQ(a.dv, b.dv);
}

void expect_both_kernels_agree(const AttentionCase& c) {
  SCOPED_TRACE(c.name);
  AttentionTrial by_queries(c), in_lanes(c);
  by_queries.run_by_queries();
  in_lanes.run_in_lanes();
  expect_same_bits(in_lanes, by_queries);
}

/// Both kernels, over lengths and widths next to the sizes of tiles, vectors and blocks of queries.
struct HeadSize {
  Index length, width;
};
class BothKernels : public testing::TestWithParam<HeadSize> {};

/// 21 problems: the last group has empty lanes.
TEST_P(BothKernels, GiveTheSameBits) {
  const auto [length, width] = GetParam();
  for (int options = 0; options < 16; ++options) {
    const bool windowed = (options & 2) != 0, others = (options & 8) != 0;
    expect_both_kernels_agree({.name = "options " + std::to_string(options),
                               .batch = 3,
                               .queries = length,
                               .keys = length,
                               .heads = 7,
                               .kv_heads = 7,
                               .d_head = width,
                               .d_value = width + width % 3,
                               .causal = (options & 1) != 0,
                               .window = windowed ? 5 : 0,
                               .lengths = (options & 4) != 0,
                               .padded_rows = others,
                               .accumulate = others,
                               .dropout = options % 3 == 2 ? .3 : 0,
                               .slopes = others});
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, BothKernels,
                         testing::Values(HeadSize{1, 4}, HeadSize{2, 1}, HeadSize{3, 64},
                                         HeadSize{7, 5}, HeadSize{8, 20}, HeadSize{15, 3},
                                         HeadSize{16, 8}, HeadSize{17, 16}, HeadSize{31, 7},
                                         HeadSize{33, 12}, HeadSize{48, 8}, HeadSize{70, 4}),
                         [](const auto& size) {
                           return "length" + std::to_string(size.param.length) + "_width" +
                                  std::to_string(size.param.width);
                         });

TEST(ShortAttention, BothKernelsGiveTheSameBitsIfQueriesAndKeysDiffer) {
  for (Index queries : {1, 9, 35}) {
    for (Index keys : {0, 1, 6, 40}) {
      for (Index window : {0, 3, 50}) {
        expect_both_kernels_agree({.name = std::to_string(queries) + " queries, " +
                                           std::to_string(keys) + " keys, window " +
                                           std::to_string(window),
                                   .queries = queries,
                                   .keys = keys,
                                   .heads = 11,
                                   .kv_heads = 11,
                                   .d_head = 6,
                                   .window = window,
                                   .lengths = true,
                                   .slopes = true,
                                   .first_query = 3});
      }
    }
  }
}

/// A sequence has the same result in any batch, at any place in it, and whatever its neighbours and
/// its own padding contain.
TEST(ShortAttention, ResultOfASequenceDoesNotDependOnItsBatch) {
  const AttentionCase c{
      .name = "", .batch = 6, .queries = 9, .keys = 9, .heads = 5, .kv_heads = 5, .lengths = true};
  AttentionTrial all(c), last(c);
  const Scalar infinity = std::numeric_limits<Scalar>::infinity();
  all.options.mask.lengths = {2, 9, 4, 1, 7, 3};
  for (Index row = 5 * 9 + 3; row < 6 * 9; ++row) {
    std::fill_n(all.v.begin() + row * all.p.v_stride, all.p.v_stride, infinity);
    std::fill_n(all.k.begin() + row * all.p.k_stride, all.p.k_stride, infinity);
  }
  ASSERT_TRUE(suits_lanes(all.p));
  all.run_fused();
  last.options.mask.lengths = {3};
  last.p.batch = 1;
  last.p.q += 5 * 9 * last.p.q_stride;
  last.p.k += 5 * 9 * last.p.k_stride;
  last.p.v += 5 * 9 * last.p.v_stride;
  last.g.dz += 5 * 9 * last.g.z_stride;
  last.run_fused();
  const auto same = [](const std::vector<Scalar>& part, const std::vector<Scalar>& whole) {
    const std::size_t count = whole.size() / 6;
    EXPECT_TRUE(std::equal(part.begin(), part.begin() + count, whole.begin() + 5 * count));
  };
  same(last.z, all.z);
  same(last.pattern, all.pattern);
  same(last.dq, all.dq);
  same(last.dk, all.dk);
  same(last.dv, all.dv);
}

/// The model gives every head its block by number, also if each has its own.
TEST(ShortAttention, KernelIsChosenBySize) {
  AttentionTrial trial({.name = "",
                        .batch = 8,
                        .queries = 16,
                        .keys = 16,
                        .heads = 8,
                        .kv_heads = 8,
                        .causal = true});
  EXPECT_TRUE(suits_lanes(trial.p));
  trial.options.kv_head = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_TRUE(suits_lanes(trial.p));
  trial.options.kv_head = {0, 1, 2, 3, 4, 5, 7, 6};
  EXPECT_FALSE(suits_lanes(trial.p));
  trial.options.kv_head = {};
  trial.options.masked_edges.resize(8 * 8 * 16 * 16);
  EXPECT_FALSE(suits_lanes(trial.p));
  trial.options.masked_edges = {};
  trial.p.queries = trial.p.keys = 512;
  EXPECT_FALSE(suits_lanes(trial.p));
}

}  // namespace
}  // namespace headlab
