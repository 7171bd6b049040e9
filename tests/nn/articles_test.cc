// Figures that articles on multi-head attention print and that can be computed: the weights and
// outputs of a sentence of five tokens and of one of two, the number of parameters, and statistics
// of heads with random weights, drawn as the article draws them. All to the digits printed.
#include "headlab/nn/attention.h"
#include "headlab/ops/ops.h"
#include "support/numpy.h"
#include "support/tensors.h"

namespace headlab { namespace {

constexpr double kFourDecimals = 0.5e-4 + 16 * kEpsilon;
constexpr double kThreeDecimals = 0.5e-3 + 16 * kEpsilon;

struct Attended {
  Tensor output, pattern;
};

/// Attention whose projections are the identity: heads see slices of q, k and v.
Attended attend(const Tensor& q, const Tensor& k, const Tensor& v, Index heads) {
  Attended result;
  result.output = attention(q, k, v, {.heads = heads}, &result.pattern);
  return result;
}

/// "The cat sat on mat", width 4.
Attended five_tokens() {
  const Tensor q =
      Tensor::of({1, 5, 4}, {1, 0, 1, 0, 0, 2, 0, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 1});
  const Tensor k = Tensor::of({1, 5, 4}, {0, 1, 0, 1, 1, 0, 1, 0, 1,          1,
                                          0, 0, 0, 0, 1, 1, 1, 0, Scalar(.5), Scalar(.5)});
  const Tensor v =
      Tensor::of({1, 5, 4}, {1, 0, 0, 0, 0, 1, 0,          0,          0,          0,
                             1, 0, 0, 0, 0, 1, Scalar(.5), Scalar(.5), Scalar(.5), Scalar(.5)});
  return attend(q, k, v, 2);
}

std::vector<double> head_of(const Tensor& pattern, Index head) {
  return numbers(slice(pattern, 1, head, head + 1));
}

TEST(FiveTokens, HaveTheWeightsOfHeadOne) {
  expect_near(head_of(five_tokens().pattern, 0), {.1237, .2509, .2509, .1237, .2509,  //
                                                  .3664, .0891, .3664, .0891, .0891,  //
                                                  .1811, .1811, .3673, .0893, .1811,  //
                                                  .2000, .2000, .2000, .2000, .2000,  //
                                                  .1237, .2509, .2509, .1237, .2509},
              kFourDecimals);
}

TEST(FiveTokens, HaveTheWeightsOfHeadTwo) {
  expect_near(head_of(five_tokens().pattern, 1), {.1337, .2711, .1337, .2711, .1904,  //
                                                  .2711, .1337, .1337, .2711, .1904,  //
                                                  .1337, .2711, .1337, .2711, .1904,  //
                                                  .1811, .1811, .0893, .3673, .1811,  //
                                                  .2711, .1337, .1337, .2711, .1904},
              kFourDecimals);
}

TEST(FiveTokens, HaveTheAveragedWeights) {
  AttentionCaptures captures;
  captures.pattern = five_tokens().pattern;
  expect_near(numbers(captures.average_pattern()), {.1287, .2610, .1923, .1974, .2206,  //
                                                    .3188, .1114, .2500, .1801, .1397,  //
                                                    .1574, .2261, .2505, .1802, .1858,  //
                                                    .1906, .1906, .1447, .2837, .1906,  //
                                                    .1974, .1923, .1923, .1974, .2206},
              kFourDecimals);
}

TEST(FiveTokens, HaveTheConcatenatedOutput) {
  expect_near(numbers(five_tokens().output), {.2491, .3763, .2289, .3663,  //
                                              .4109, .1336, .2289, .3663,  //
                                              .2717, .2717, .2289, .3663,  //
                                              .3000, .3000, .1799, .4579,  //
                                              .2491, .3763, .2289, .3663},
              kFourDecimals);
}

TEST(FiveTokens, GoThroughMultiHeadAttentionUnchanged) {
  // Selection matrices as projections: heads see the columns of the input, and W_O is the identity.
  MultiHeadAttention attn({.d_model = 4, .heads = 2, .d_head = 2, .d_value = 2, .kv_heads = 2});
  for (Linear* linear : {&attn.Q, &attn.K, &attn.V, &attn.O})
    for (Index i = 0; i < 4; ++i) linear->W.data()[i * 5] = 1;
  const Tensor x = Tensor::of({1, 2, 4}, {1, 2, 0, 0, 0, 0, 1, 2});
  expect_near(attn.forward(x, x, {}), attend(x, x, x, 2).output, 4 * kEpsilon);
}

TEST(TwoTokens, HaveTheWeightsAndOutputsOfBothHeads) {
  // "Cat sleeps": the article rounds 5 / sqrt(2) to 3.5 and prints two decimals, [.97, .03]: the
  // weights are 1 / (1 + e^-3.5355) = .9717 and .0283.
  const Tensor x = Tensor::of({1, 2, 4}, {1, 2, 0, 0, 0, 0, 1, 2});
  const Attended result = attend(x, x, x, 2);
  const double high = 1 / (1 + std::exp(-5 / std::sqrt(2.0)));
  expect_near(head_of(result.pattern, 0), {high, 1 - high, .5, .5}, 4 * kEpsilon);
  expect_near(head_of(result.pattern, 1), {.5, .5, 1 - high, high}, 4 * kEpsilon);
  expect_near(head_of(result.pattern, 0), {.97, .03, .50, .50}, 0.5e-2);
  const std::vector<double> head_one{numbers(slice(result.output, 2, 0, 2))};
  expect_near(head_one, {.97, 1.94, .50, 1.00}, 0.5e-2);
  const std::vector<double> sleeps{numbers(slice(slice(result.output, 1, 1, 2), 2, 2, 4))};
  expect_near(sleeps, {.97, 1.94}, 0.5e-2);
}

TEST(TwoTokens, LetAQueryWithoutScoresAverageAllValues) {
  // Where the article prints 0.00 for "Cat" in head two, softmax of equal scores is [.5, .5], and
  // the output the mean of the values, as in its own head one for "sleeps".
  const Tensor x = Tensor::of({1, 2, 4}, {1, 2, 0, 0, 0, 0, 1, 2});
  const Tensor output = attend(x, x, x, 2).output;
  expect_near(numbers(slice(slice(output, 1, 0, 1), 2, 2, 4)), {.5, 1}, 4 * kEpsilon);
}

Index parameters_of(Index width, Index heads, bool biases) {
  MultiHeadAttention attn({.d_model = width,
                           .heads = heads,
                           .d_head = width / heads,
                           .d_value = width / heads,
                           .kv_heads = heads});
  Index count = 0;
  attn.visit("", [&](const std::string& name, const Tensor& parameter) {
    count += biases || name[0] == 'W' ? parameter.count() : 0;
  });
  return count;
}

TEST(Parameters, OfAttentionDoNotDependOnTheNumberOfHeads) {
  for (Index heads : {1, 2, 4, 8, 16}) {
    EXPECT_EQ(parameters_of(512, heads, true), 1050624);
    EXPECT_EQ(parameters_of(512, heads, false), 4 * 512 * 512);
  }
}

/// Patterns [1, H, T, T] of attention with random weights: one matrix for Q, K and V side by side.
Tensor random_pattern(const Tensor& x, Index heads) {
  const Index width = x.size(2);
  NumPyRandom random(42);
  const Tensor W = normals(random, {width, 3 * width}, std::sqrt(2 / static_cast<double>(width)));
  const Tensor qkv = matmul(x, W);
  const auto part = [&](Index i) { return slice(qkv, 2, i * width, (i + 1) * width); };
  return attend(part(0), part(1), part(2), heads).pattern;
}

std::vector<double> row(const Tensor& pattern, Index h, Index t) {
  const Index T = pattern.size(2), S = pattern.size(3);
  const Scalar* first = pattern.data() + (h * T + t) * S;
  return std::vector<double>(first, first + S);
}

double entropy(const std::vector<double>& p) {
  double sum = 0;
  for (double x : p) sum -= x > 0 ? x * std::log(x) : 0;
  return sum;
}

/// The square root of the Jensen-Shannon divergence: H((p + q) / 2) - (H(p) + H(q)) / 2.
double distance(const std::vector<double>& p, const std::vector<double>& q) {
  std::vector<double> middle;
  for (std::size_t i = 0; i < p.size(); ++i) middle.push_back((p[i] + q[i]) / 2);
  return std::sqrt(std::max(0.0, entropy(middle) - (entropy(p) + entropy(q)) / 2));
}

TEST(RandomHeads, HaveTheEntropiesThatTheArticlePrints) {
  const Tensor pattern = random_pattern(numpy_normals(42, {1, 6, 32}), 4);
  const double expected[] = {1.206, 0.925, 1.259, 0.843};
  for (Index h = 0; h < 4; ++h) {
    double mean = 0;
    for (Index t = 0; t < 6; ++t) mean += entropy(row(pattern, h, t)) / 6;
    EXPECT_NEAR(mean, expected[h], kThreeDecimals) << "head " << h + 1;
  }
}

TEST(RandomHeads, DifferAsMuchAsTheArticlePrints) {
  const Tensor x = numpy_normals(42, {1, 8, 64});
  const std::vector<std::pair<Index, double>> expected = {{1, 0},
                                                          {2, 0.5962},
                                                          {4, 0.5770},
                                                          {8, 0.5774}};
  for (const auto& [heads, diversity] : expected) {
    const Tensor pattern = random_pattern(x, heads);
    double total = 0;
    for (Index a = 0; a < heads; ++a) {
      for (Index b = a + 1; b < heads; ++b)
        for (Index t = 0; t < 8; ++t) total += distance(row(pattern, a, t), row(pattern, b, t));
    }
    const auto count = static_cast<double>(std::max<Index>(1, heads * (heads - 1) / 2 * 8));
    EXPECT_NEAR(total / count, diversity, kFourDecimals) << heads << " heads";
  }
}

}  // namespace
}  // namespace headlab
