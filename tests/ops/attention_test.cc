// Fused attention against the version composed of matmul, mask and softmax: values, patterns and
// gradients over masks, windows, lengths, shared keys, masked edges and dropout. Then the edges:
// queries that see nothing, one key, no key, and sizes that do not fit.
#include "headlab/core/ops/attention.h"

#include "headlab/core/ops/ops.h"
#include "support/tensors.h"

namespace headlab { namespace {

struct Case {
  const char* name;
  Index B, T, S, H, G, D, Dv;
  AttentionOptions options;
};

std::size_t size(Index n) { return static_cast<std::size_t>(n); }

Flags random_flags(Index count, double share, Key key) {
  Generator random(key);
  Flags flags(size(count));
  for (std::uint8_t& flag : flags) flag = random.uniform() < share;
  return flags;
}

std::vector<Case> cases() {
  const Scalar p = Scalar(0.2);
  const Key key{21};
  const AttentionOptions together{.kv_head = {0, 0, 0, 1},
                                  .mask = {.causal = true, .window = 9, .lengths = {17, 11}},
                                  .masked_edges = random_flags(2 * 4 * 289, 0.2, key.fold(1)),
                                  .dropout = p,
                                  .key = key};
  return {
      {"Plain", 2, 7, 9, 2, 2, 3, 4, {}},
      {"Causal", 2, 9, 9, 3, 3, 4, 4, {.mask = {.causal = true}}},
      {"CausalLong", 1, 150, 150, 2, 2, 8, 8, {.mask = {.causal = true}}},
      {"Long", 1, 70, 200, 1, 1, 16, 16, {}},
      {"Window", 2, 40, 40, 1, 1, 5, 3, {.mask = {.window = 7}}},
      {"CausalWindow", 2, 40, 40, 1, 1, 5, 3, {.mask = {.causal = true, .window = 1}}},
      {"Lengths", 3, 5, 9, 2, 2, 6, 4, {.mask = {.lengths = {9, 4, 0}}}},
      {"SharedKeys", 2, 6, 6, 4, 2, 3, 2, {.kv_head = {0, 0, 1, 1}, .mask = {.causal = true}}},
      {"OneKeyBlock", 2, 6, 6, 3, 1, 3, 2, {.kv_head = {0, 0, 0}}},
      {"MaskedEdges", 2, 8, 8, 2, 2, 3, 3, {.masked_edges = random_flags(256, 0.7, key)}},
      {"Dropout", 2, 20, 20, 2, 2, 4, 4, {.dropout = p, .key = key}},
      {"DropoutByOriginalIndex",
       1,
       9,
       9,
       2,
       2,
       4,
       4,
       {.dropout = p, .key = key, .original_heads = {1, 3}}},
      {"Slopes", 2, 40, 40, 2, 2, 4, 4, {.mask = {.causal = true}, .slopes = {1, Scalar(0.25)}}},
      {"SlopesBothSides", 1, 40, 150, 1, 1, 4, 4, {.slopes = {Scalar(0.5)}}},
      {"SlopesOfPositions",
       1,
       2,
       4,
       1,
       1,
       3,
       3,
       {.slopes = {1}, .first_query = 4, .key_positions = {4, 5, 2, 3}}},
      {"Together", 2, 17, 17, 4, 2, 5, 3, together},
      {"OneOfEverything", 1, 1, 1, 1, 1, 1, 1, {.mask = {.causal = true}}},
      {"NoQueries", 1, 0, 4, 1, 1, 2, 2, {}},
      {"NoKeys", 1, 3, 0, 1, 1, 2, 2, {}},
      {"NoSequences", 0, 3, 3, 1, 1, 2, 2, {}},
  };
}

struct Result {
  Tensor q, k, v, z, pattern;
};

template <class Attention>
Result run(const Case& c, Attention attend) {
  Result r;
  r.q = random_leaf({c.B, c.T, c.H * c.D}, Key{1}, -2, 2);
  r.k = random_leaf({c.B, c.S, c.G * c.D}, Key{2}, -2, 2);
  r.v = random_leaf({c.B, c.S, c.G * c.Dv}, Key{3});
  AttentionOptions options = c.options;
  options.heads = c.H;
  r.z = attend(r.q, r.k, r.v, options, &r.pattern);
  backward(r.z, random_tensor(r.z.shape(), Key{4}));
  return r;
}

class Fused : public testing::TestWithParam<Case> {};

// The order of the sums differs: errors grow with the square root of their lengths at most.
double tolerance(const Case& c) {
  return 16 * kEpsilon * std::sqrt(static_cast<double>(std::max({c.T, c.S, c.D, Index{16}})));
}

TEST_P(Fused, GivesTheValuesOfComposed) {
  const Result fused = run(GetParam(), attention), composed = run(GetParam(), attention_composed);
  expect_near(fused.z, composed.z, tolerance(GetParam()), "z");
  expect_near(fused.pattern, composed.pattern, tolerance(GetParam()), "pattern");
}

TEST_P(Fused, GivesTheGradientsOfComposed) {
  const Result fused = run(GetParam(), attention), composed = run(GetParam(), attention_composed);
  const double bound = 8 * tolerance(GetParam());
  expect_near(fused.q.grad(), composed.q.grad(), bound, "dq");
  expect_near(fused.k.grad(), composed.k.grad(), bound, "dk");
  expect_near(fused.v.grad(), composed.v.grad(), bound, "dv");
}

TEST_P(Fused, GivesTheSameValuesWithAndWithoutPatterns) {
  const auto without = [](const Tensor& q, const Tensor& k, const Tensor& v,
                          const AttentionOptions& o, Tensor*) { return attention(q, k, v, o); };
  const Result a = run(GetParam(), attention), b = run(GetParam(), without);
  EXPECT_EQ(numbers(a.z), numbers(b.z));
  EXPECT_EQ(numbers(a.q.grad()), numbers(b.q.grad()));
}

TEST_P(Fused, HasRowsThatSumToOneOrSeeNothing) {
  const Case& c = GetParam();
  const Result r = run(c, attention);
  const Tensor sums = sum(r.pattern, -1);
  for (Index i = 0; i < sums.count(); ++i) {
    const Index t = i % c.T, h = i / c.T % c.H, b = i / c.T / c.H;
    bool sees = false;
    for (Index s = 0; s < c.S; ++s) {
      const bool hidden =
          !c.options.masked_edges.empty() && c.options.masked_edges[size(i * c.S + s)] != 0;
      const bool visible = c.options.mask.sees(b, t, s) && !hidden;
      sees = sees || visible;
      EXPECT_TRUE(visible || r.pattern.data()[i * c.S + s] == 0);
    }
    EXPECT_NEAR(sums.data()[i], sees ? 1 : 0, 64 * kEpsilon);
    for (Index d = 0; !sees && d < c.Dv; ++d)
      EXPECT_EQ(r.z.data()[((b * c.T + t) * c.H + h) * c.Dv + d], 0);
    for (Index d = 0; !sees && d < c.D; ++d)
      EXPECT_EQ(r.q.grad().data()[((b * c.T + t) * c.H + h) * c.D + d], 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Fused, testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.name; });

TEST(Rotary, EqualsItsDefinition) {
  for (const Index width : {2, 6, 20, 34}) {
    const Tensor table = rotary_table(9, width, 100), x = random_leaf({2, 5, 3 * width}, Key{1}),
                 same = x.clone().set_requires_grad(), dy = random_tensor(x.shape(), Key{2});
    const Tensor y = rotary(x, table, 4), expected = rotary_composed(same, table, 4);
    expect_near(y, expected, 4 * kEpsilon);
    backward(y, dy);
    backward(expected, dy);
    expect_near(x.grad(), same.grad(), 4 * kEpsilon);
  }
}

TEST(Rotary, KeepsLengthsAndLetsProductsDependOnDistance) {
  const Tensor table = rotary_table(20, 8, 10000), q = random_tensor({1, 1, 8}, Key{1}),
               k = random_tensor({1, 1, 8}, Key{2});
  const auto product = [&](Index t, Index s) {
    return sum(rotary(q, table, t) * rotary(k, table, s)).item();
  };
  EXPECT_NEAR(product(7, 3), product(19, 15), 32 * kEpsilon);
  EXPECT_NEAR(product(5, 5), sum(q * k).item(), 32 * kEpsilon);
  EXPECT_NE(product(7, 3), product(7, 4));
}

TEST(Rotary, RefusesOddWidthsAndTablesThatAreTooShort) {
  expect_error([] { rotary_table(4, 3, 100); }, {"width 3"});
  expect_error(
      [] {
        rotary(Tensor::zeros({1, 4, 2}), rotary_table(4, 2, 100), 1);
      },
      {"from position 1", "[2, 4, 2]"});
}

TEST(Attention, SameTensorAsQueryKeyAndValueSumsThreeGradients) {
  const AttentionOptions options{.heads = 2, .mask = {.causal = true}};
  const Tensor x = random_leaf({2, 70, 8}, Key{1});
  const Tensor q = x.clone(), k = x.clone(), v = x.clone();
  for (Tensor part : {q, k, v}) part.set_requires_grad();
  const Tensor dz = random_tensor({2, 70, 8}, Key{2});
  backward(attention(x, x, x, options), dz);
  backward(attention(q, k, v, options), dz);
  expect_near(x.grad(), q.grad() + k.grad() + v.grad(), 64 * kEpsilon);
}

TEST(Attention, AddsToGradientsThatAreThere) {
  const Tensor q = random_leaf({1, 5, 4}, Key{1}), k = random_leaf({1, 6, 4}, Key{2});
  const Tensor v = random_leaf({1, 6, 4}, Key{3}), dz = random_tensor({1, 5, 4}, Key{4});
  backward(attention(q, k, v, {}), dz);
  const Tensor once[] = {q.grad().clone(), k.grad().clone(), v.grad().clone()};
  backward(attention(q, k, v, {}), dz);
  expect_near(q.grad(), once[0] * Scalar{2}, 8 * kEpsilon);
  expect_near(k.grad(), once[1] * Scalar{2}, 8 * kEpsilon);
  expect_near(v.grad(), once[2] * Scalar{2}, 8 * kEpsilon);
}

TEST(Attention, ComputesGradientsOnlyForInputsThatRequireThem) {
  const Tensor q = random_tensor({1, 5, 4}, Key{1}), v = random_leaf({1, 5, 4}, Key{3});
  backward(sum(attention(q, q, v, {.heads = 2})));
  EXPECT_FALSE(q.grad().defined());
  EXPECT_TRUE(v.grad().defined());
}

TEST(Attention, DropsTheWeightsThatTheKeyNames) {
  const Tensor q = Tensor::zeros({1, 4, 2}), v = Tensor::full({1, 4, 2}, 1);
  Tensor pattern;
  const AttentionOptions options{.dropout = Scalar(0.5), .key = Key{3}};
  const Tensor z = attention(q, q, v, options, &pattern);
  expect_near(numbers(pattern), std::vector<double>(16, 0.25), kEpsilon);
  for (Scalar value : z.values()) {  // kept / 4 * 2
    const double kept = static_cast<double>(value) * 2;
    EXPECT_NEAR(kept, std::round(kept), 8 * kEpsilon);
  }
}

TEST(Attention, NamesShapesThatDoNotFit) {
  const Tensor q = Tensor::zeros({2, 5, 6}), k = Tensor::zeros({2, 3, 6});
  const auto attend = [&](const AttentionOptions& o) { return [&, o] { attention(q, k, k, o); }; };
  expect_error(attend({.heads = 4}), {"attention", "[2, 5, 6]", "4 heads"});
  expect_error(attend({.heads = 0}), {"0 heads"});
  expect_error(attend({.heads = 2, .kv_head = {0, 0}}), {"2 heads and 1 K, V blocks", "[2, 3, 6]"});
  expect_error(attend({.heads = 2, .kv_head = {0}}), {"kv_head needs 2 values, got 1"});
  expect_error(attend({.heads = 2, .kv_head = {-1, 1}}), {"block -1"});
  expect_error(attend({.heads = 2, .mask = {.causal = true}}), {"causal", "3 and 5"});
  expect_error(attend({.heads = 2, .mask = {.lengths = {3}}}), {"lengths needs 2", "got 1"});
  expect_error(attend({.heads = 2, .masked_edges = {1}}), {"masked_edges needs 60", "got 1"});
  expect_error(attend({.heads = 2, .dropout = 1}), {"dropout", "[0, 1)"});
  expect_error(attend({.heads = 2, .original_heads = {1}}), {"original_heads needs 2"});
  expect_error([&] { attention(Tensor::zeros({2, 5}), k, k, {}); }, {"three axes", "[2, 5]"});
  expect_error([&] { attention(Tensor::zeros({2, 5, 0}), k, k, {}); }, {"does not split"});
}

}  // namespace
}  // namespace headlab
