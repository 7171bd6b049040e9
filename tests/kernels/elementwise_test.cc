// Vector math by ulp against libm in double, over dense sweeps; the other kernels against their
// formulas.
#include "core/kernels/elementwise.h"

#include <gtest/gtest.h>

#include <functional>

#include "core/kernels/vector_math.h"
#include "headlab/core/base/error.h"
#include "kernels/numbers.h"
#include "support/golden_text.h"

namespace headlab { namespace {

using Kernel = void (*)(Index, const Scalar*, Scalar*);
using Reference = double (*)(double);
constexpr Scalar kNaN = std::numeric_limits<Scalar>::quiet_NaN();

std::vector<Scalar> sweep(double from, double to, std::size_t count) {
  std::vector<Scalar> x(count);
  for (std::size_t i = 0; i < count; ++i) {
    x[i] = static_cast<Scalar>(from +
                               (to - from) * static_cast<double>(i) / static_cast<double>(count));
  }
  return x;
}

std::vector<Scalar> apply(Kernel kernel, const std::vector<Scalar>& x) {
  std::vector<Scalar> y(x.size());
  kernel(static_cast<Index>(x.size()), x.data(), y.data());
  return y;
}

/// The largest |kernel(x) - reference(x)|, in units of the last place of the reference.
double worst_ulp(Kernel kernel, Reference reference, const std::vector<Scalar>& x) {
  const std::vector<Scalar> y = apply(kernel, x);
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = reference(static_cast<double>(x[i]));
    const Scalar size = std::fabs(static_cast<Scalar>(expected));
    const double ulp =
        static_cast<double>(std::nextafter(size, kInfinity)) - static_cast<double>(size);
    worst = std::max(worst, std::fabs(static_cast<double>(y[i]) - expected) / ulp);
  }
  return worst;
}

double gelu(double x) {
  return x / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1)) * (x + 0.044715 * x * x * x)));
}
double gelu_slope(double x) {
  const double c = std::sqrt(2 / std::acos(-1));
  const double u = c * (x + 0.044715 * x * x * x);
  const double slope_of_tanh = 1 / (std::cosh(u) * std::cosh(u));
  return (1 + std::tanh(u)) / 2 + x / 2 * slope_of_tanh * c * (1 + 3 * 0.044715 * x * x);
}

TEST(Exp, IsWithinOneUlp) {
  EXPECT_LT(worst_ulp(exp_array, std::exp, sweep(-87, 88, 2'000'000)), 1);
  EXPECT_LT(worst_ulp(exp_array, std::exp, sweep(-1, 1, 2'000'000)), 1);
}

TEST(Exp, GoesThroughSubnormalNumbersToZeroAndToInfinity) {
#ifndef HEADLAB_F64
  EXPECT_LT(worst_ulp(exp_array, std::exp, sweep(-104, -87, 200'000)), 1);
#endif
  const Scalar largest = std::log(std::numeric_limits<Scalar>::max());
  const std::vector<Scalar> x{-kInfinity, -1e30f,    -2000, largest * Scalar(1.001),
                              1e30f,      kInfinity, 0};
  const std::vector<Scalar> y = apply(exp_array, x);
  EXPECT_EQ(y, (std::vector<Scalar>{0, 0, 0, kInfinity, kInfinity, kInfinity, 1}));
  EXPECT_TRUE(std::isnan(apply(exp_array, {kNaN})[0]));
}

TEST(Tanh, IsWithinTwoUlp) {
  EXPECT_LT(worst_ulp(tanh_array, std::tanh, sweep(-12, 12, 2'000'000)), 2);
  EXPECT_LT(worst_ulp(tanh_array, std::tanh, sweep(-.01, .01, 200'001)), 2);
}

TEST(Tanh, EndsAtOneAndKeepsNaN) {
  EXPECT_EQ(apply(tanh_array, {-kInfinity, -100, 0, 100, kInfinity}),
            (std::vector<Scalar>{-1, -1, 0, 1, 1}));
  EXPECT_TRUE(std::isnan(apply(tanh_array, {kNaN})[0]));
}

void log_of_sum_array(Index n, const Scalar* x, Scalar* y) {
  map(
      n, [](Vec v) { return log_of_sum(v); }, y, x);
}

TEST(LogOfSum, IsWithinTwoUlp) {
  EXPECT_LT(worst_ulp(log_of_sum_array, std::log, sweep(1, 2, 2'000'000)), 2);
  EXPECT_LT(worst_ulp(log_of_sum_array, std::log, sweep(Scalar(.5), 1, 2'000'000)), 2);
  EXPECT_LT(worst_ulp(log_of_sum_array, std::log, sweep(2, 100'000, 2'000'000)), 2);
  EXPECT_LT(worst_ulp(log_of_sum_array, std::log, sweep(Scalar(1e-37), Scalar(1e-30), 99'000)), 2);
}

TEST(LogOfSum, KeepsNaN) {
  EXPECT_EQ(apply(log_of_sum_array, {1})[0], 0);
  EXPECT_TRUE(std::isnan(apply(log_of_sum_array, {kNaN})[0]));
}

TEST(Gelu, AgreesWithItsFormula) {
  const std::vector<Scalar> x = sweep(-12, 12, 1'000'000);
  const std::vector<Scalar> y = apply(gelu_forward, x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = gelu(static_cast<double>(x[i]));
    // Relative in x: 1 + tanh(u) carries the rounding of the tanh, as the formula does.
    const double bound = 4 * kEpsilon * std::max(1e-3, std::fabs(static_cast<double>(x[i])));
    ASSERT_NEAR(static_cast<double>(y[i]), expected, bound) << x[i];
  }
}

TEST(Gelu, StaysFiniteFarOut) {
  const Scalar huge = std::numeric_limits<Scalar>::max();
  const std::vector<Scalar> y =
      apply(gelu_forward, {-kInfinity, -huge, -100, 100, huge, kInfinity});
  for (std::size_t i : {0u, 1u, 2u}) EXPECT_NEAR(static_cast<double>(y[i]), 0, 1e-19);
  EXPECT_EQ(y[3], 100);
  EXPECT_EQ(y[4], huge);
  EXPECT_EQ(y[5], kInfinity);
  EXPECT_TRUE(std::isnan(apply(gelu_forward, {kNaN})[0]));
}

TEST(Gelu, BackwardIsTheSlopeAndAddsOnRequest) {
  std::vector<Scalar> x = sweep(-12, 12, 100'000);
  x.push_back(std::numeric_limits<Scalar>::max());
  const std::vector<Scalar> dy = numbers(static_cast<Index>(x.size()), 1);
  std::vector<Scalar> set(x.size(), 7);
  std::vector<Scalar> added(x.size(), 1);
  gelu_backward(static_cast<Index>(x.size()), x.data(), dy.data(), set.data(), false);
  gelu_backward(static_cast<Index>(x.size()), x.data(), dy.data(), added.data(), true);
  // exp(2u) carries the rounding of 2u, which matters most near 2u = 10: there it is some 10
  // epsilon.
  const double bound = 32 * kEpsilon;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    const double expected = gelu_slope(static_cast<double>(x[i])) * static_cast<double>(dy[i]);
    ASSERT_NEAR(static_cast<double>(set[i]), expected, bound) << x[i];
    ASSERT_NEAR(static_cast<double>(added[i]), 1 + expected, bound) << x[i];
  }
  EXPECT_EQ(set.back(), dy.back());
}

/// Lengths around vectors, unrolled loops and the pieces of long arrays.
const std::vector<Index> kLengths{0,  1,  3,  4,  7,     8,     15,    16,
                                  17, 33, 64, 65, 16383, 16384, 16385, 40000};

TEST(Gelu, WithItsSlopeIsTheSameBitForBit) {
  const std::vector<Scalar> x = sweep(-12, 12, 40000);
  const std::vector<Scalar> ones(x.size(), 1);
  for (Index n : kLengths) {
    const auto size = static_cast<std::size_t>(n);
    std::vector<Scalar> y(size), expected(size), slope(size), expected_slope(size);
    gelu_forward(n, x.data(), expected.data());
    gelu_backward(n, x.data(), ones.data(), expected_slope.data(), false);
    gelu_with_slope(n, x.data(), y.data(), slope.data());
    EXPECT_EQ(y, expected) << n;
    EXPECT_EQ(slope, expected_slope) << n;
  }
}

TEST(SiluGate, IsItsFormulaForwardAndBackward) {
  constexpr Index n = 40001;  // several pieces, and a vector that is not full
  const std::vector<Scalar> g = sweep(-12, 12, n), x = numbers(n, 1), dy = numbers(n, 2);
  std::vector<Scalar> y(n), again(n), dg(n), dx(n);
  kSiluGate.forward(n, g.data(), x.data(), y.data());
  kSiluGate.backward({n, g.data(), x.data(), dy.data(), again.data(), dg.data(), dx.data()});
  EXPECT_EQ(again, y);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double at = g[i], s = 1 / (1 + std::exp(-at));
    EXPECT_NEAR(y[i], at * s * double(x[i]), 32 * kEpsilon) << at;
    EXPECT_NEAR(dg[i], double(dy[i]) * double(x[i]) * s * (1 + at * (1 - s)), 32 * kEpsilon) << at;
    EXPECT_NEAR(dx[i], double(dy[i]) * at * s, 32 * kEpsilon) << at;
  }
}

TEST(Rotate, TurnsPairsByTheAnglesOfTheirPlaces) {
  constexpr Index kRows = 6000, kWidth = 8, kHead = 4, kLength = 3;
  const std::vector<Scalar> x = numbers(kRows * kWidth, 1), angles = numbers(kLength * kHead, 2);
  std::vector<Scalar> cosines(kLength * kHead), sines(kLength * kHead), y(x.size());
  for (Index i = 0; i < kLength * kHead; ++i) {
    cosines[i] = std::cos(angles[i / 2]);
    sines[i] = (i % 2 == 0 ? -1 : 1) * std::sin(angles[i / 2]);
  }
  rotate({kRows, kWidth, kHead, kLength, cosines.data(), sines.data(), x.data(), y.data(), false,
          false});
  for (Index i = 0; i < kRows * kWidth; i += 2) {
    const Scalar angle = angles[(i / kWidth % kLength * kHead + i % kHead) / 2];
    EXPECT_NEAR(y[i], x[i] * std::cos(angle) - x[i + 1] * std::sin(angle), 8 * kEpsilon) << i;
    EXPECT_NEAR(y[i + 1], x[i + 1] * std::cos(angle) + x[i] * std::sin(angle), 8 * kEpsilon) << i;
  }
}

TEST(Elementwise, AnElementDoesNotDependOnWhereItStands) {
  const std::vector<Scalar> all = numbers(40000, 1);
  for (Kernel kernel : {Kernel{exp_array}, Kernel{tanh_array}, Kernel{gelu_forward}}) {
    const std::vector<Scalar> expected = apply(kernel, all);
    for (Index n : kLengths) {
      std::vector<Scalar> y(all.begin(), all.begin() + n);
      kernel(n, y.data(), y.data());  // in place
      EXPECT_TRUE(std::equal(y.begin(), y.end(), expected.begin())) << n;
    }
  }
}

TEST(Elementwise, ScalesAndAdds) {
  for (Index n : kLengths) {
    const std::vector<Scalar> x = numbers(n, 1);
    std::vector<Scalar> y = numbers(n, 2);
    std::vector<Scalar> expected = y;
    for (std::size_t i = 0; i < y.size(); ++i) expected[i] = (expected[i] + Scalar(.5) * x[i]) * 3;
    add_scaled(n, Scalar(.5), x.data(), y.data());
    scale_array(n, 3, y.data());
    expect_near(y, expected, 8 * kEpsilon, "y");
  }
}

TEST(Elementwise, FillsAndStopsAtTheEnd) {
  for (Index n : kLengths) {
    std::vector<Scalar> y(static_cast<std::size_t>(n) + 1, 1);
    fill_array(n, 2, y.data());
    EXPECT_EQ(std::count(y.begin(), y.end(), Scalar{2}), n);
    EXPECT_EQ(y.back(), 1);
  }
}

TEST(SumOfSquares, AddsInDoubleAndInTheSameOrderForAnyNumberOfThreads) {
  for (Index n : kLengths) {
    const std::vector<Scalar> x = numbers(n, 1);
    double expected = 0;
    for (Scalar value : x) expected += static_cast<double>(value) * static_cast<double>(value);
    const double sum = sum_of_squares(n, x.data());
    EXPECT_NEAR(sum, expected, 1e-12 * static_cast<double>(n + 1));
    const Threads threads(5);
    EXPECT_EQ(sum_of_squares(n, x.data()), sum);
  }
}

TEST(AllFinite, FindsOneBadNumberAnywhere) {
  for (Index n : {1, 17, 16385, 2'000'000}) {
    std::vector<Scalar> x = numbers(n, 1);
    x[0] = std::numeric_limits<Scalar>::max();
    EXPECT_TRUE(all_finite(n, x.data()));
    for (Scalar bad : {kNaN, kInfinity, -kInfinity}) {
      for (std::size_t i : {std::size_t{0}, x.size() / 2, x.size() - 1}) {
        const Scalar before = std::exchange(x[i], bad);
        EXPECT_FALSE(all_finite(n, x.data())) << n << ' ' << i;
        x[i] = before;
      }
    }
  }
}

TEST(DropoutArray, KeepsTheExpectedShareAndScalesIt) {
  const std::vector<Scalar> x(100'001, 3);
  std::vector<Scalar> y(x.size());
  dropout_array(static_cast<Index>(x.size()), Scalar(.25), 9, x.data(), y.data());
  const auto kept = std::count(y.begin(), y.end(), Scalar(3 / .75));
  EXPECT_EQ(kept + std::count(y.begin(), y.end(), Scalar{0}), 100'001);
  EXPECT_NEAR(static_cast<double>(kept), 75'000, 5 * 137);  // binomial, 5 standard deviations
}

/// The first 2,000 places, 1 if kept; then the number of those kept in each 100 places.
std::string kept_of(const std::vector<Scalar>& factors) {
  std::string all;
  for (const Scalar factor : factors) {
    all += factor > 0 ? '1' : '0';
  }
  std::string shown;
  for (std::size_t at = 0; at < all.size(); at += 100) {
    const std::string part = all.substr(at, 100);
    const auto kept = std::ranges::count(part, '1');
    shown += at < 2000 ? part + "\n" : text("from ", at, ": ", kept, "\n");
  }
  return shown;
}

TEST(DropoutArray, DependsOnKeyAndPlaceAlone) {
  const std::vector<Scalar> x(40'000, 1);
  std::vector<Scalar> all(x.size());
  std::vector<Scalar> other(x.size());
  dropout_array(40'000, Scalar(.5), 1, x.data(), all.data());
  dropout_array(40'000, Scalar(.5), 2, x.data(), other.data());
  EXPECT_NE(all, other);
  expect_golden("kernels/dropout.txt", kept_of(other));
  for (Index n : kLengths) {
    const Threads threads(3);
    std::vector<Scalar> y(x.begin(), x.begin() + n);
    dropout_array(n, Scalar(.5), 1, y.data(), y.data());
    EXPECT_TRUE(std::equal(y.begin(), y.end(), all.begin())) << n;
  }
}

TEST(DropoutArray, RefusesAProbabilityOfOne) {
  Scalar x = 1;
  EXPECT_THROW(dropout_array(1, 1, 0, &x, &x), Error);
}

TEST(AdamStep, AgreesWithTheFormulaInDouble) {
  const AdamStep step{.lr = Scalar(.01),
                      .one_minus_beta1 = Scalar(1 - .9),
                      .one_minus_beta2 = Scalar(1 - .99),
                      .eps = Scalar(1e-8),
                      .decay = Scalar(.1),
                      .correction1 = Scalar(.271),
                      .correction2 = Scalar(.0297),
                      .grad_scale = Scalar(.5)};
  for (Index n : kLengths) {
    const std::vector<Scalar> grad = numbers(n, 1);
    std::vector<Scalar> w = numbers(n, 2);
    std::vector<Scalar> m = numbers(n, 3);
    std::vector<Scalar> v = numbers(n, 4);
    for (Scalar& x : v) x = std::fabs(x);
    std::vector<Scalar> expected = w, expected_m = m, expected_v = v;
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double g = .5 * static_cast<double>(grad[i]);
      const double mean = .9 * static_cast<double>(m[i]) + .1 * g;
      const double square = .99 * static_cast<double>(v[i]) + .01 * g * g;
      expected_m[i] = static_cast<Scalar>(mean);
      expected_v[i] = static_cast<Scalar>(square);
      expected[i] = static_cast<Scalar>(static_cast<double>(w[i]) * (1 - .01 * .1) -
                                        .01 * (mean / .271) / (std::sqrt(square / .0297) + 1e-8));
    }
    adam_step(n, step, {grad.data(), w.data(), m.data(), v.data()});
    // lr m / sqrt(v) is below 1 for nearly all; v near 0 makes it as large as lr / sqrt(v).
    expect_near(w, expected, 32 * kEpsilon, "w");
    expect_near(m, expected_m, 4 * kEpsilon, "m");
    expect_near(v, expected_v, 4 * kEpsilon, "v");
  }
}

TEST(AdamStep, GivesTheSameBitsForAnyNumberOfThreads) {
  const auto run = [](int count) {
    const Threads threads(count);
    std::vector<Scalar> w = numbers(40'000, 1), m = numbers(40'000, 2), v(40'000, 1);
    adam_step(40'000, {Scalar(.1), Scalar(.1), Scalar(.01), Scalar(1e-8), 0, 1, 1},
              {numbers(40'000, 3).data(), w.data(), m.data(), v.data()});
    return std::vector{w, m, v};
  };
  const auto one = run(1);
  for (int count : {2, 3, 8}) EXPECT_EQ(run(count), one);
}

}  // namespace
}  // namespace headlab
