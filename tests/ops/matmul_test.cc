// Matrix products of all layouts against three loops in double.
#include "headlab/core/ops/matmul.h"

#include "headlab/core/base/threads.h"
#include "headlab/core/ops/arithmetic.h"
#include "support/tensors.h"

namespace headlab { namespace {

struct Product {
  Shape a, b;
  bool transpose_b = false;
};

/// Element (i, j) of matrix `index` of x, which may be transposed or a single matrix.
double element(const Tensor& x, bool transposed, Index index, Index i, Index j) {
  const Index rows = x.size(-2), columns = x.size(-1);
  const Index at = transposed ? j * columns + i : i * columns + j;
  return static_cast<double>(x.data()[(x.rank() > 2 ? index * rows * columns : 0) + at]);
}

class Matmul : public testing::TestWithParam<Product> {};

TEST_P(Matmul, SumsTheProductsOfRowsAndColumns) {
  const Product& p = GetParam();
  const Tensor a = random_tensor(p.a, Key{1}), b = random_tensor(p.b, Key{2});
  const Tensor y = matmul(a, b, {.transpose_b = p.transpose_b});
  const Index m = y.size(-2), n = y.size(-1), k = a.size(-1);
  EXPECT_EQ(m, a.size(-2));
  EXPECT_EQ(n, b.size(p.transpose_b ? -2 : -1));
  for (Index i = 0; i < y.count(); ++i) {
    const Index matrix = i / (m * n), row = i / n % m, column = i % n;
    double sum = 0;
    for (Index j = 0; j < k; ++j)
      sum += element(a, false, matrix, row, j) * element(b, p.transpose_b, matrix, j, column);
    ASSERT_NEAR(y.data()[i], sum, kEpsilon * static_cast<double>(k)) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, Matmul,
    testing::Values(Product{{3, 4}, {4, 5}}, Product{{3, 4}, {5, 4}, true},
                    Product{{2, 3, 4}, {2, 4, 5}}, Product{{2, 2, 3, 4}, {2, 2, 5, 4}, true},
                    Product{{2, 3, 4}, {4, 5}}, Product{{2, 3, 4}, {5, 4}, true},
                    Product{{3, 4}, {2, 4, 5}}, Product{{3, 4}, {2, 5, 4}, true},
                    Product{{1, 1}, {1, 1}}, Product{{0, 4}, {4, 5}}, Product{{3, 0}, {0, 5}},
                    Product{{0, 3, 4}, {4, 5}}, Product{{2, 3, 0}, {2, 0, 5}},
                    Product{{65, 130}, {130, 67}}));

TEST(Matmul, EmptyBatchGivesZeroGradients) {
  const Tensor a = random_leaf({0, 2, 3}, Key{1}), b = random_leaf({3, 4}, Key{2});
  backward(matmul(a, b), Tensor::zeros({0, 2, 4}));
  EXPECT_EQ(numbers(b.grad()), std::vector<double>(12, 0));
  const Tensor c = random_leaf({2, 3}, Key{3}), d = random_leaf({0, 3, 4}, Key{4});
  backward(matmul(c, d), Tensor::zeros({0, 2, 4}));
  EXPECT_EQ(numbers(c.grad()), std::vector<double>(6, 0));
}

TEST(Matmul, NamesTheShapesThatDoNotFit) {
  const auto zeros = [](const Shape& shape) { return Tensor::zeros(shape); };
  expect_error(
      [&] {
        matmul(zeros({2, 3}), zeros({4, 5}));
      },
      {"matmul", "[2, 3]", "[4, 5]", "3 and 4"});
  expect_error(
      [&] {
        matmul(zeros({2, 3}), zeros({3, 2}), {.transpose_b = true});
      },
      {"inner sizes", "3 and 2"});
  expect_error([&] { matmul(zeros({3}), zeros({3, 2})); }, {"two axes", "[3]"});
  expect_error([&] { matmul(zeros({2, 3, 4}), zeros({3, 4, 5})); }, {"leading axes", "[2, 3, 4]"});
  expect_error([&] { matmul(zeros({1, 3, 4}), zeros({2, 4, 5})); }, {"leading axes"});
}

TEST(Linear, IsXTimesWPlusB) {
  const Tensor x = random_tensor({2, 3, 4}, Key{1}), W = random_tensor({4, 5}, Key{2});
  const Tensor b = random_tensor({5}, Key{3});
  const Tensor y = linear(x, W, b);
  ASSERT_EQ(y.shape(), (Shape{2, 3, 5}));
  for (Index i = 0; i < y.count(); ++i) {
    double sum = static_cast<double>(b.data()[i % 5]);
    for (Index c = 0; c < 4; ++c) {
      sum += static_cast<double>(x.data()[i / 5 * 4 + c]) *
             static_cast<double>(W.data()[c * 5 + i % 5]);
    }
    EXPECT_NEAR(y.data()[i], sum, 8 * kEpsilon);
  }
}

TEST(Linear, KnowsEmptyInputs) {
  const Tensor x = random_leaf({0, 4}, Key{1}), W = random_leaf({4, 5}, Key{2});
  const Tensor b = random_leaf({5}, Key{3});
  backward(linear(x, W, b), Tensor::zeros({0, 5}));
  EXPECT_EQ(numbers(W.grad()), std::vector<double>(20, 0));
  EXPECT_EQ(numbers(b.grad()), std::vector<double>(5, 0));
  const Tensor no_inputs = linear(Tensor::zeros({2, 0}), Tensor::zeros({0, 5}), b);
  EXPECT_EQ(no_inputs.data()[7], b.data()[2]);
}

TEST(Linear, NamesTheShapesThatDoNotFit) {
  const Tensor W = Tensor::zeros({4, 5});
  expect_error([&] { linear(Tensor::zeros({2, 3}), W, {}); }, {"linear", "[2, 3]", "[4, 5]"});
  expect_error(
      [&] {
        linear(Tensor::zeros({2, 4}), W, Tensor::zeros({4}));
      },
      {"needs b [5]", "got [4]"});
}

struct Network {
  Index rows, inputs = 4, hidden = 9;
  bool gated = false;
};

/// y and the gradients of the inputs of a feed-forward network, fused or composed.
std::vector<std::vector<double>> feed_forward_values(const Network& n, bool fused, int passes = 1) {
  std::vector<Tensor> in{random_leaf({n.rows, n.inputs}, Key{1}),
                         random_leaf({n.inputs, n.hidden}, Key{2}), random_leaf({n.hidden}, Key{3}),
                         random_leaf({n.hidden, n.inputs}, Key{4}),
                         random_leaf({n.inputs}, Key{5})};
  if (n.gated)
    in.insert(in.end(),
              {random_leaf({n.inputs, n.hidden}, Key{6}), random_leaf({n.hidden}, Key{8})});
  std::vector<std::vector<double>> values;
  for (int pass = 0; pass < passes; ++pass) {
    FeedForwardInputs inputs{in[0], in[1], in[2], in[3], in[4]};
    if (n.gated) inputs.W_gate = in[5], inputs.b_gate = in[6];
    const Tensor y = fused ? feed_forward(inputs) : feed_forward_composed(inputs);
    if (pass == 0) values.push_back(numbers(y));
    backward(y, random_tensor(y.shape(), Key{7}));
  }
  for (const Tensor& x : in) values.push_back(numbers(x.grad()));
  return values;
}

constexpr Network kBeyondL2{.rows = 520, .inputs = 64, .hidden = 4100};

TEST(FeedForward, HasValuesAndGradientsOfTheComposedOneWhereverItsRowsAreCut) {
  std::vector<Network> networks;
  for (Index rows : {0, 1, 127, 128, 129, 511, 512, 513, 1030}) networks.push_back({rows});
  networks.push_back({0, kBeyondL2.inputs, kBeyondL2.hidden});
  networks.push_back(kBeyondL2);
  for (Index rows : {0, 129, 600}) networks.push_back({.rows = rows, .gated = true});
  networks.push_back({kBeyondL2.rows, kBeyondL2.inputs, kBeyondL2.hidden, true});
  for (const Network& n : networks) {
    const auto fused = feed_forward_values(n, true), plain = feed_forward_values(n, false);
    for (std::size_t i = 0; i < plain.size(); ++i) {
      const double scale = 1 + largest(plain[i]);
      expect_near(fused[i], plain[i], 64 * kEpsilon * scale,
                  std::to_string(n.rows) + " rows, value " + std::to_string(i));
    }
  }
}

TEST(FeedForward, IsTheSameForAnyNumberOfThreads) {
  const int threads = thread_count();
  for (const Network& n : {Network{700, 24, 40}, Network{700, 24, 40, true}, kBeyondL2}) {
    set_thread_count(1);
    const auto alone = feed_forward_values(n, true);
    for (int count : {2, 3, 8}) {
      set_thread_count(count);
      EXPECT_EQ(feed_forward_values(n, true), alone) << count << " threads";
    }
  }
  set_thread_count(threads);
}

TEST(FeedForward, AddsToTheGradientsThatAreThere) {
  const auto once = feed_forward_values({600}, true), twice = feed_forward_values({600}, true, 2);
  for (std::size_t i = 1; i < once.size(); ++i)
    for (std::size_t j = 0; j < once[i].size(); ++j)
      ASSERT_NEAR(twice[i][j], 2 * once[i][j], 64 * kEpsilon * (1 + largest(once[i]))) << i;
}

}  // namespace
}  // namespace headlab
