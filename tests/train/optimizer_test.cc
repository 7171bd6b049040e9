// Optimizers against loops in double that say the same in the words of the papers. Betas are exact
// in binary, so that both sides start from the same numbers.
#include "headlab/core/train/optimizer.h"

#include "core/kernels/elementwise.h"
#include "core/tensor/gradient_storage.h"
#include "headlab/core/ops/ops.h"
#include "support/tensors.h"

namespace headlab { namespace {

/// Before any test reads the table.
const bool kOwn =
    (own_optimizers().push_back({"plain", "w -= lr g", 1,
                                 [](const OptimizerStep& s) {
                                   add_scaled(s.count, static_cast<Scalar>(-s.lr), s.g, s.w);
                                 }}),
     true);

TEST(OwnOptimizer, IsARowOfTheTable) {
  TrainConfig config;
  settings_of(config).set_all_text("optimizer=plain");
  EXPECT_EQ(settings_of(config).find("optimizer")->get().string(), "plain");
  Tensor w = Tensor::of({2}, {2, 3}).set_requires_grad();
  Optimizer optimizer(config);
  optimizer.add("w", w);
  backward(sum(w * w));
  optimizer.step(0.25, 0);
  EXPECT_EQ(numbers(w), (std::vector<double>{1, 1.5}));
  TensorFile file;
  optimizer.store(file);
  EXPECT_EQ(file.tensors.size(), 1u) << "it keeps one moment";
}

constexpr int kSteps = 20;
constexpr double kLr = 0.05;

/// One parameter as the papers step it.
struct Reference {
  TrainConfig config;
  bool decays;
  std::vector<double> w, m, v;

  Reference(const TrainConfig& c, const Tensor& parameter)
      : config(c), decays(parameter.rank() >= 2), w(numbers(parameter)), m(w.size()), v(w.size()) {}

  void step(const std::vector<double>& gradient, double scale, double lr, int t) {
    const double decay = decays ? config.decay : 0;
    for (std::size_t i = 0; i < w.size(); ++i) {
      double g = scale * gradient[i];
      if (config.optimizer == OptimizerKind::adamw)
        w[i] -= lr * decay * w[i];
      else
        g += decay * w[i];
      if (config.optimizer == OptimizerKind::sgd) {
        m[i] = config.momentum * m[i] + g;
        w[i] -= lr * m[i];
        continue;
      }
      m[i] = config.beta1 * m[i] + (1 - config.beta1) * g;
      v[i] = config.beta2 * v[i] + (1 - config.beta2) * g * g;
      const double mhat = m[i] / (1 - std::pow(config.beta1, t));
      const double vhat = v[i] / (1 - std::pow(config.beta2, t));
      w[i] -= lr * mhat / (std::sqrt(vhat) + config.eps);
    }
  }
};

void give_gradient(const Tensor& parameter, const Tensor& gradient) {
  backward(parameter * Scalar(1), gradient);
}

TrainConfig config_of(OptimizerKind kind) {
  TrainConfig config;
  config.optimizer = kind;
  settings_of(config).set_all_text("beta1=0.875 beta2=0.984375 momentum=0.875 decay=0.125 clip=0");
  return config;
}

class EveryOptimizer : public testing::TestWithParam<OptimizerKind> {
 protected:
  /// Steps a matrix and a vector kSteps times, next to their references.
  void compare(TrainConfig config) {
    Tensor matrix = random_leaf({5, 7}, Key{1}), vector = random_leaf({11}, Key{2});
    Optimizer optimizer(config);
    optimizer.add("matrix", matrix);
    optimizer.add("vector", vector);
    Reference for_matrix(config, matrix), for_vector(config, vector);
    for (int t = 1; t <= kSteps; ++t) {
      const Tensor g = random_tensor({5, 7}, Key{3}.fold(t)),
                   h = random_tensor({11}, Key{4}.fold(t));
      give_gradient(matrix, g);
      give_gradient(vector, h);
      const double norm = optimizer.gradient_norm();
      const double scale = config.clip > 0 && norm > config.clip ? config.clip / (norm + 1e-6) : 1;
      optimizer.step(kLr, norm);
      for_matrix.step(numbers(g), scale, kLr, t);
      for_vector.step(numbers(h), scale, kLr, t);
    }
    // A step rounds w once or twice, and each update, at most about 1, in about 10 places.
    const double tolerance = kSteps * kEpsilon * (2 * largest(for_matrix.w) + 10);
    expect_near(numbers(matrix), for_matrix.w, tolerance, "matrix");
    expect_near(numbers(vector), for_vector.w, tolerance, "vector");
    EXPECT_EQ(optimizer.steps(), kSteps);
  }
};

TEST_P(EveryOptimizer, StepsAsThePaperSays) { compare(config_of(GetParam())); }

TEST_P(EveryOptimizer, ClipsByTheNormOfAllGradientsTogether) {
  TrainConfig config = config_of(GetParam());
  config.clip = 0.5;
  compare(config);
}

TEST_P(EveryOptimizer, DoesNotClipSmallGradients) {
  TrainConfig config = config_of(GetParam());
  config.clip = 1000;
  compare(config);
}

TEST_P(EveryOptimizer, ContinuesFromItsStoredMomentsBitForBit) {
  const auto step = [](Optimizer& optimizer, const Tensor& w, int t) {
    give_gradient(w, random_tensor(w.shape(), Key{5}.fold(t)));
    optimizer.step(kLr, 1);
  };
  Tensor w = random_leaf({3, 4}, Key{1});
  Optimizer straight(config_of(GetParam()));
  straight.add("w", w);
  step(straight, w, 1);
  TensorFile file;
  straight.store(file);
  Tensor again = w.clone().set_requires_grad();
  Optimizer resumed(config_of(GetParam()));
  resumed.add("w", again);
  resumed.load(file, straight.steps());
  step(straight, w, 2);
  step(resumed, again, 2);
  EXPECT_EQ(numbers(w), numbers(again));
}

// A gradient of 1 at every step has the moments 1, so each step is lr, whatever the betas are.
TEST(Optimizer, StepsAsLongAsTheRateSaysForBetasThatAreNotExactInBinary) {
  TrainConfig config;
  config.decay = config.clip = config.eps = 0;
  Tensor w = Tensor::full({1}, 0).set_requires_grad();
  Optimizer optimizer(config);  // AdamW, beta2 = .999
  optimizer.add("w", w);
  double before = 0;
  for (int t = 1; t <= kSteps; ++t) {
    give_gradient(w, Tensor::full({1}, 1));
    optimizer.step(kLr, 1);
    const auto step = before - static_cast<double>(w.item());
    EXPECT_NEAR(step / kLr, 1, 2 * kEpsilon * (t + 2)) << t;
    before = w.item();
  }
}

/// Pieces of 16,384 elements cut rows of 24 numbers, so rows must be joined across pieces.
TEST_P(EveryOptimizer, StepsAGradientStoredByRowsBitForBit) {
  constexpr Index kRows = 50000, kWidth = 24;
  const Ids ids{0, 49999, 682, 683, 682, 20000, 31};
  std::vector<std::vector<double>> results;
  std::vector<double> norms;
  for (const bool by_rows : {true, false}) {
    Tensor table = random_leaf({kRows, kWidth}, Key{1});
    Optimizer optimizer(config_of(GetParam()));
    optimizer.add("table", table);
    for (int t = 1; t <= 2; ++t) {
      backward(embedding(table, ids, {7}), random_tensor({7, kWidth}, Key{3}.fold(t)));
      EXPECT_EQ(GradientStorage::of(table)->rows.size(), 6u);
      if (!by_rows) table.grad();  // stores all rows
      norms.push_back(optimizer.gradient_norm());
      optimizer.step(kLr, norms.back());
    }
    results.push_back(numbers(table));
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(norms[0], norms[2]);
  EXPECT_EQ(norms[1], norms[3]);
  EXPECT_GT(norms[1], 0);
}

std::string kind_name(const testing::TestParamInfo<OptimizerKind>& test) {
  return std::array{"AdamW", "Adam", "Sgd"}[static_cast<std::size_t>(test.param)];
}
INSTANTIATE_TEST_SUITE_P(Kinds, EveryOptimizer,
                         testing::Values(OptimizerKind::adamw, OptimizerKind::adam,
                                         OptimizerKind::sgd),
                         kind_name);

// The norm and a little more, so that a gradient of next to nothing divides by something.
TEST(Optimizer, ClipsByTheNormAndAMillionth) {
  TrainConfig config = config_of(OptimizerKind::sgd);
  config.clip = 1e-6;
  config.momentum = 0;
  Tensor w = Tensor::full({1}, 0).set_requires_grad();
  Optimizer optimizer(config);
  optimizer.add("w", w);
  give_gradient(w, Tensor::full({1}, Scalar(2e-6)));
  optimizer.step(1, optimizer.gradient_norm());
  EXPECT_NEAR(static_cast<double>(w.item()), -2e-6 / 3, 1e-12);
}

// The pieces of a large parameter end where it ends, whatever lies in memory after it.
TEST(Optimizer, TakesNoMoreThanTheParameter) {
  for (const Index count : {Index{1} << 12, Index{3} << 14, (Index{1} << 18) + 1}) {
    { const Tensor before = Tensor::full({4 * count}, 7); }  // leaves its sevens in the pool
    Tensor w = Tensor::full({count}, 0).set_requires_grad();
    Optimizer optimizer(config_of(OptimizerKind::sgd));
    optimizer.add("w", w);
    give_gradient(w, Tensor::full({count}, 1));
    EXPECT_NEAR(optimizer.gradient_norm(), std::sqrt(static_cast<double>(count)), 1e-3) << count;
  }
}

TEST(Optimizer, DecaysOnlyTensorsOfTwoOrMoreAxes) {
  for (OptimizerKind kind : {OptimizerKind::adamw, OptimizerKind::adam, OptimizerKind::sgd}) {
    Tensor scalar = Tensor::full({}, 1), vector = Tensor::full({2}, 1);
    Tensor matrix = Tensor::full({2, 2}, 1), cube = Tensor::full({1, 2, 2}, 1);
    Tensor spared = Tensor::full({2, 2}, 1);
    Optimizer optimizer(config_of(kind));
    for (Tensor* w : {&scalar, &vector, &matrix, &cube, &spared}) {
      w->set_requires_grad();
      optimizer.add(text("w", w), *w, {.decay = w != &spared});
      give_gradient(*w, Tensor::zeros(w->shape()));
    }
    optimizer.step(kLr, 0);
    EXPECT_EQ(scalar.item(), 1);
    EXPECT_EQ(vector.data()[0], 1);
    EXPECT_LT(matrix.data()[0], 1);
    EXPECT_LT(cube.data()[0], 1);
    EXPECT_EQ(spared.data()[0], 1);
  }
}

TEST(Optimizer, ScalesTheRateOfAGroup) {
  Tensor whole = Tensor::full({1}, 0), half = Tensor::full({1}, 0), none = Tensor::full({1}, 0);
  Optimizer optimizer(config_of(OptimizerKind::sgd));
  for (const auto& [w, scale] : {std::pair{&whole, 1.0}, {&half, 0.5}, {&none, 0.0}}) {
    w->set_requires_grad();
    optimizer.add(text(scale), *w, {.lr_scale = scale});
    give_gradient(*w, Tensor::full({1}, 1));
  }
  optimizer.step(0.5, 0);
  EXPECT_EQ(whole.item(), Scalar(-0.5));
  EXPECT_EQ(half.item(), Scalar(-0.25));
  EXPECT_EQ(none.item(), 0);
}

TEST(Optimizer, SkipsParametersWithoutGradient) {
  Tensor with = random_leaf({2, 2}, Key{1}), without = random_leaf({2, 2}, Key{2});
  const std::vector<double> before = numbers(without);
  Optimizer optimizer(config_of(OptimizerKind::adamw));
  optimizer.add("with", with);
  optimizer.add("without", without);
  give_gradient(with, Tensor::full({2, 2}, 1));
  optimizer.step(kLr, 2);
  EXPECT_EQ(numbers(without), before);
}

TEST(Optimizer, ClearsGradientsAfterAStep) {
  Tensor w = random_leaf({2, 2}, Key{1});
  Optimizer optimizer(config_of(OptimizerKind::adam));
  optimizer.add("w", w);
  give_gradient(w, Tensor::full({2, 2}, 3));
  EXPECT_NEAR(optimizer.gradient_norm(), 6, 1e-12);
  optimizer.step(kLr, 6);
  EXPECT_EQ(optimizer.gradient_norm(), 0);
}

TEST(Optimizer, NamesTheFirstGradientThatIsNotFinite) {
  Tensor a = random_leaf({2}, Key{1}), b = random_leaf({2}, Key{2}), c = random_leaf({2}, Key{3});
  Optimizer optimizer(config_of(OptimizerKind::adamw));
  optimizer.add("a", a);
  optimizer.add("b", b);
  optimizer.add("c", c);
  EXPECT_EQ(optimizer.first_not_finite(), "");
  give_gradient(a, Tensor::of({2}, {1, 2}));
  EXPECT_EQ(optimizer.first_not_finite(), "");
  give_gradient(c, Tensor::of({2}, {1, Scalar(NAN)}));
  EXPECT_EQ(optimizer.first_not_finite(), "c");
  give_gradient(b, Tensor::of({2}, {Scalar(HUGE_VAL), 0}));
  EXPECT_EQ(optimizer.first_not_finite(), "b");
  EXPECT_FALSE(std::isfinite(optimizer.gradient_norm()));
}

TEST(Optimizer, NamesDamagedState) {
  Tensor a = random_leaf({2}, Key{1}), b = random_leaf({2}, Key{2});
  TrainConfig config = config_of(OptimizerKind::adam);
  Optimizer optimizer(config);
  optimizer.add("a", a);
  optimizer.add("b", b);
  EXPECT_EQ(optimizer.first_damaged(), "");
  give_gradient(a, Tensor::full({2}, Scalar(0.9) * std::numeric_limits<Scalar>::max()));
  optimizer.step(kLr, 0);  // the square of the gradient overflows
  EXPECT_EQ(optimizer.first_damaged(), "optimizer.v.a");
  a.data()[0] = Scalar(NAN);
  EXPECT_EQ(optimizer.first_damaged(), "a");
}

TEST(Optimizer, RefusesMomentsThatAreNotItsOwn) {
  Tensor w = random_leaf({3}, Key{1}), wider = random_leaf({4}, Key{1});
  Optimizer one(config_of(OptimizerKind::adam)), other(config_of(OptimizerKind::adam));
  one.add("w", w);
  other.add("w", wider);
  TensorFile file;
  one.store(file);
  expect_error([&] { other.load(file, 1); }, {"optimizer.m.w", "[3]", "[4]"});
  file.tensors.pop_back();
  expect_error([&] { one.load(file, 1); }, {"optimizer.v.w"});
  EXPECT_NO_THROW(one.load({}, 1)) << "a parameter that is new to the run";
}

}  // namespace
}  // namespace headlab
