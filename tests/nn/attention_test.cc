// Multi-head attention as a part: interventions, captures, removal of heads, and what it refuses.
#include "headlab/core/nn/attention.h"

#include <set>

#include "headlab/core/ops/ops.h"
#include "support/tensors.h"

namespace headlab { namespace {

/// Random weights and biases, so that nothing is 0 by accident.
MultiHeadAttention made(const AttentionSizes& sizes, Scalar dropout = 0) {
  MultiHeadAttention attn(sizes, dropout);
  attn.visit("", [](const std::string& name, const Tensor& p) {
    const Tensor values = random_tensor(p.shape(), Key{1}.fold(name));
    std::copy_n(values.data(), values.count(), p.data());
  });
  return attn;
}

constexpr AttentionSizes kSelf{.d_model = 8, .heads = 4, .d_head = 3, .d_value = 2, .kv_heads = 4};
constexpr AttentionSizes kGrouped{
    .d_model = 8, .heads = 4, .d_head = 3, .d_value = 2, .kv_heads = 2};

Tensor input() { return random_tensor({2, 5, 8}, Key{2}); }

Tensor forward(const MultiHeadAttention& attn, const Tensor& x,
               const HeadInterventions& interventions) {
  return attn.forward(x, x, {.causal = true}, {}, {.interventions = &interventions});
}

TEST(MultiHeadAttention, SumsTheOutputsOfItsHeads) {
  const MultiHeadAttention attn = made(kSelf);
  const Tensor x = input(), y = attn.forward(x, x, {.causal = true});
  Tensor sum = Tensor::zeros(y.shape()) + attn.O.b;
  for (std::int32_t head : attn.heads)
    sum = sum + (attn.with_heads({head}).forward(x, x, {.causal = true}) - attn.O.b);
  expect_near(y, sum, 64 * kEpsilon);
}

TEST(MultiHeadAttention, WithoutHeadsRecordsNothing) {
  AttentionActivations activations;
  made(kSelf).forward(input(), input(), {}, {}, {.activations = &activations});
  made(kSelf).with_heads({}).forward(input(), input(), {}, {}, {.activations = &activations});
  EXPECT_TRUE(activations.heads.empty() && activations.wants_pattern);
  EXPECT_FALSE(activations.z.defined() || activations.pattern.defined());
}

TEST(MultiHeadAttention, WithoutHeadsAddsItsBiasAlone) {
  const MultiHeadAttention attn =
      made({.d_model = 8, .heads = 0, .d_head = 1, .d_value = 1, .kv_heads = 0});
  const Tensor x = input();
  expect_near(attn.forward(x, x, {}), Tensor::zeros(x.shape()) + attn.O.b, 0);
}

TEST(KeyValueCache, KeepsTheLastPositionsAndIsExtendedByOne) {
  KeyValueCache cache{.capacity = 3};
  const Tensor k = input();               // of 5 positions
  const Tensor next = slice(k, 1, 0, 1);  // of one
  const SeenKeysAndValues first = cache.append_self(k, k, {.causal = true});
  expect_near(first.k, k, 0);  // the first queries see what came with them
  EXPECT_TRUE(first.mask.causal && first.positions.empty());
  expect_near(slice(cache.k, 1, 2, 3), slice(k, 1, 2, 3), 0);  // the oldest of three
  EXPECT_THROW(cache.append_self(k, k, {}), Error);
  const SeenKeysAndValues seen = cache.append_self(next, next, {.causal = true});
  const Tensor kept = concat(std::vector<Tensor>{slice(k, 1, 3, 5), slice(k, 1, 0, 1)}, 1);
  expect_near(seen.k, kept, 0);  // the next key replaces the oldest one
  expect_near(seen.v, kept, 0);
  EXPECT_EQ(seen.mask.lengths, Ids(2, 3));
  EXPECT_FALSE(seen.mask.causal);
  EXPECT_EQ(seen.positions, (Ids{3, 4, 5}));
  EXPECT_EQ(cache.length, 6);
}

TEST(KeyValueCache, KeepsTheSourceOfTheFirstCall) {
  KeyValueCache cache;
  const Tensor k = input();
  const Tensor v = random_tensor(k.shape(), Key{3});
  cache.keep_source(k, v, {});
  const SeenKeysAndValues seen = cache.keep_source({}, {}, {.lengths = {5, 3}});
  expect_near(seen.k, k, 0);
  expect_near(seen.v, v, 0);
  EXPECT_EQ(seen.mask.lengths, (Ids{5, 3}));
  EXPECT_EQ(cache.length, 5);
}

/// Interventions still apply, and the input is not looked at.
TEST(MultiHeadAttention, TakesOutputsThatWereComputedBefore) {
  const MultiHeadAttention attn = made(kGrouped);
  const Tensor x = input();
  AttentionActivations activations;
  attn.forward(x, x, {.causal = true}, {}, {.activations = &activations});
  const HeadInterventions interventions{.gate = Tensor::full({4}, Scalar{0.5})};
  const Tensor other = random_tensor(x.shape(), Key{8});
  expect_near(attn.forward(other, other, {.causal = true}, {},
                           {.interventions = &interventions, .z = activations.z}),
              forward(attn, x, interventions), 0);
}

TEST(MultiHeadAttention, NamesItsParameters) {
  const auto names = [](MultiHeadAttention attn) {
    std::set<std::string> found;
    attn.visit("a.", [&](const std::string& name, const Tensor&) { found.insert(name); });
    return found;
  };
  EXPECT_EQ(names(made(kSelf)), (std::set<std::string>{"a.W_Q", "a.W_K", "a.W_V", "a.W_O", "a.b_Q",
                                                       "a.b_K", "a.b_V", "a.b_O"}));
  EXPECT_EQ(names(made(kSelf).with_heads({})), std::set<std::string>{"a.b_O"});
}

TEST(MultiHeadAttention, RefusesSizesThatDoNotFit) {
  expect_error([] { made({.d_model = 8, .heads = 3, .d_head = 2, .d_value = 2, .kv_heads = 2}); },
               {"3 heads do not divide into 2 groups"});
  expect_error([] { made({.d_model = 8, .heads = 3, .d_head = 0, .d_value = 2, .kv_heads = 3}); },
               {"3 heads of width 0"});
}

TEST(Captures, EqualTheOutputsOfTheHeads) {
  const MultiHeadAttention attn = made(kGrouped);
  const Tensor x = input();
  AttentionActivations activations;
  const Tensor y = attn.forward(x, x, {}, {}, {.activations = &activations});
  EXPECT_EQ(activations.q.shape(), (Shape{2, 5, 12}));
  EXPECT_EQ(activations.k.shape(), (Shape{2, 5, 6}));
  EXPECT_EQ(activations.v.shape(), (Shape{2, 5, 4}));
  EXPECT_EQ(activations.pattern.shape(), (Shape{2, 4, 5, 5}));
  expect_near(y, attn.O.forward(activations.z), 0);
  expect_near(activations.q, attn.Q.forward(x), 0);
}

TEST(Captures, LeaveOutPatternsOnRequest) {
  const MultiHeadAttention attn = made(kSelf);
  AttentionActivations activations;
  activations.wants_pattern = false;
  attn.forward(input(), input(), {}, {}, {.activations = &activations});
  EXPECT_FALSE(activations.pattern.defined());
  EXPECT_TRUE(activations.z.defined());
}

TEST(Captures, NameThePatternAndTheOutputOfAHeadByItsPlace) {
  const MultiHeadAttention attn = made(kSelf).with_heads({1, 3});
  AttentionActivations activations;
  attn.forward(input(), input(), {.causal = true}, {}, {.activations = &activations});
  EXPECT_EQ(activations.slot_of(1), 0);
  EXPECT_EQ(activations.slot_of(3), 1);
  const std::span<const Scalar> pattern = activations.pattern_of(activations.slot_of(3), 1);
  ASSERT_EQ(pattern.size(), 25u);
  expect_near(std::vector<double>(pattern.begin(), pattern.end()),
              numbers(slice(slice(activations.pattern, 0, 1, 2), 1, 1, 2)), 0);
  EXPECT_EQ(pattern[1], 0);  // causal: the first query does not see the second key
  const Tensor output = activations.output_of(1);
  EXPECT_EQ(output.shape(), (Shape{2, 5, 2}));
  expect_near(output, slice(activations.z, 2, 2, 4), 0);
}

TEST(Captures, RefuseHeadsThatAreNotThere) {
  const MultiHeadAttention attn = made(kSelf).with_heads({1, 3});
  AttentionActivations activations;
  activations.wants_pattern = false;
  expect_error([&] { activations.output_of(0); }, {"no head output"});
  attn.forward(input(), input(), {}, {}, {.activations = &activations});
  expect_error([&] { activations.slot_of(2); }, {"head 2", "2 heads"});
  expect_error([&] { activations.pattern_of(0); }, {"no pattern"});
  activations.wants_pattern = true;
  attn.forward(input(), input(), {}, {}, {.activations = &activations});
  expect_error([&] { activations.pattern_of(2); }, {"index 2"});
  expect_error([&] { activations.pattern_of(0, 2); }, {"sequence 2"});
  expect_error([&] { activations.output_of(2); }, {"slice"});
}

TEST(Captures, AverageTheirPatternsOverHeads) {
  const MultiHeadAttention attn = made(kSelf);
  AttentionActivations activations;
  attn.forward(input(), input(), {}, {}, {.activations = &activations});
  const Tensor average = activations.average_pattern();
  ASSERT_EQ(average.shape(), (Shape{2, 5, 5}));
  double sum = 0;
  for (Index h = 0; h < 4; ++h)
    sum += static_cast<double>(activations.pattern.data()[((4 + h) * 5 + 3) * 5 + 2]) / 4;
  EXPECT_NEAR(average.data()[(5 + 3) * 5 + 2], sum, 4 * kEpsilon);
}

TEST(Dropout, ChangesWeightsWhileTrainingButNotThePattern) {
  const MultiHeadAttention attn = made(kSelf, Scalar(0.5));
  const Tensor x = input();
  AttentionActivations plain, dropped;
  const Tensor y = attn.forward(x, x, {}, {}, {.activations = &plain});
  const Tensor z =
      attn.forward(x, x, {}, {.training = true, .key = Key{3}}, {.activations = &dropped});
  EXPECT_EQ(numbers(plain.pattern), numbers(dropped.pattern));
  EXPECT_NE(numbers(y), numbers(z));
  EXPECT_EQ(numbers(z), numbers(attn.forward(x, x, {}, {.training = true, .key = Key{3}})));
}

TEST(Dropout, UsesOriginalIndicesOfHeads) {
  const MultiHeadAttention attn = made(kSelf, Scalar(0.5));
  const Tensor x = input();
  const ForwardContext training{.training = true, .key = Key{3}};
  const HeadInterventions interventions{.gate = Tensor::of({4}, {0, 1, 0, 1})};
  const Tensor gated = attn.forward(x, x, {}, training, {.interventions = &interventions});
  expect_near(attn.with_heads({1, 3}).forward(x, x, {}, training), gated, 64 * kEpsilon);
}

TEST(Gate, OneChangesNothing) {
  const MultiHeadAttention attn = made(kSelf);
  const Tensor x = input();
  expect_near(forward(attn, x, {.gate = Tensor::full({4}, 1)}), forward(attn, x, {}), 0);
}

TEST(Gate, ScalesEachHeadForHeadsExamplesOrPositions) {
  const MultiHeadAttention attn = made(kSelf);
  const Tensor x = input();
  AttentionActivations activations;
  attn.forward(x, x, {.causal = true}, {}, {.activations = &activations});
  for (const Shape& shape : {Shape{4}, Shape{2, 4}, Shape{2, 5, 4}}) {
    const Tensor gate = random_tensor(shape, Key{4});
    Tensor z = activations.z.clone();
    for (Index i = 0; i < z.count(); ++i) {
      const Index h = i / 2 % 4, t = i / 8 % 5, b = i / 40;
      const Index at = shape.rank() == 1 ? h : shape.rank() == 2 ? b * 4 + h : (b * 5 + t) * 4 + h;
      z.data()[i] *= gate.data()[at];
    }
    expect_near(forward(attn, x, {.gate = gate}), attn.O.forward(z), 16 * kEpsilon);
  }
}

TEST(Gate, ZeroReplacesTheHead) {
  const MultiHeadAttention attn = made(kSelf);
  const Tensor x = input(), replacement = random_tensor({4, 2}, Key{5});
  const Tensor y = forward(attn, x, {.gate = Tensor::zeros({4}), .replacement = replacement});
  const Tensor z = Tensor::zeros({2, 5, 8}) + reshape(replacement, {8});
  expect_near(y, attn.O.forward(z), 16 * kEpsilon);
}

TEST(Gate, InBetweenMixesTheHeadWithItsReplacement) {
  const MultiHeadAttention attn = made(kSelf);
  const Tensor x = input(), replacement = random_tensor({2, 5, 4, 2}, Key{5});
  AttentionActivations activations;
  attn.forward(x, x, {.causal = true}, {}, {.activations = &activations});
  const Tensor y =
      forward(attn, x, {.gate = Tensor::full({4}, Scalar(0.25)), .replacement = replacement});
  const Tensor z = activations.z * Scalar(0.25) + reshape(replacement, {2, 5, 8}) * Scalar(0.75);
  expect_near(y, attn.O.forward(z), 16 * kEpsilon);
}

TEST(Gate, RefusesAnotherShape) {
  const MultiHeadAttention attn = made(kSelf);
  expect_error([&] { forward(attn, input(), {.gate = Tensor::zeros({3})}); },
               {"gate", "[4]", "[2, 4]", "[2, 5, 4]", "got [3]"});
}

TEST(MaskedEdges, TakeTheWeightAndRenormaliseTheRest) {
  const MultiHeadAttention attn = made(kSelf);
  const Tensor x = input();
  HeadInterventions interventions;
  interventions.masked_edges.assign(2 * 4 * 5 * 5, 0);
  interventions.masked_edges[((0 * 4 + 2) * 5 + 4) * 5 + 1] = 1;  // b 0, head 2, query 4, key 1
  AttentionActivations before, after;
  attn.forward(x, x, {.causal = true}, {}, {.activations = &before});
  attn.forward(x, x, {.causal = true}, {},
               {.interventions = &interventions, .activations = &after});
  std::vector<double> expected = numbers(before.pattern);
  const std::size_t row = ((0 * 4 + 2) * 5 + 4) * 5;
  const double left = 1 - expected[row + 1];
  expected[row + 1] = 0;
  for (std::size_t s = 0; s < 5; ++s) expected[row + s] /= left;
  expect_near(numbers(after.pattern), expected, 16 * kEpsilon);
}

TEST(WithHeads, KeepsOriginalIndicesThroughTwoRemovals) {
  const MultiHeadAttention attn = made(kGrouped).with_heads({3, 0, 2}).with_heads({2, 3});
  EXPECT_EQ(attn.heads, (std::vector<std::int32_t>{2, 3}));
  EXPECT_EQ(attn.kv_blocks, (std::vector<std::int32_t>{1}));
  EXPECT_EQ(attn.kv_head, (Ids{0, 0}));
  EXPECT_EQ(attn.Q.W.shape(), (Shape{8, 6}));
  EXPECT_EQ(attn.K.W.shape(), (Shape{8, 3}));
  EXPECT_EQ(attn.O.W.shape(), (Shape{4, 8}));
}

TEST(WithHeads, DropsAKeyBlockWhenItsLastHeadGoes) {
  EXPECT_EQ(made(kGrouped).with_heads({0, 2}).kv_blocks, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(made(kGrouped).with_heads({0, 1}).kv_blocks, std::vector<std::int32_t>{0});
  EXPECT_EQ(made(kGrouped).with_heads({3}).kv_blocks, std::vector<std::int32_t>{1});
}

TEST(WithHeads, SharesNothingWithTheLayerItCameFrom) {
  const MultiHeadAttention attn = made(kSelf);
  MultiHeadAttention copy = attn.with_heads({0, 1, 2, 3});
  const std::vector<double> before = numbers(attn.forward(input(), input(), {}));
  copy.visit("", [](const std::string&, const Tensor& p) {
    std::fill_n(p.data(), p.count(), Scalar{0});
  });
  EXPECT_EQ(numbers(attn.forward(input(), input(), {})), before);
}

TEST(WithHeads, NamesAHeadThatIsNotThereOrNamedTwice) {
  const MultiHeadAttention attn = made(kSelf).with_heads({0, 2});
  expect_error([&] { attn.with_heads({2, 1}); }, {"head 1", "cannot keep heads"});
  expect_error([&] { attn.with_heads({2, 2}); }, {"head 2", "twice"});
}

}  // namespace
}  // namespace headlab
