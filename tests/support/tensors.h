// Helpers of the tests of the engine: random tensors and comparisons with a tolerance. Everything
// is made from keys, so a failure is the same on every run and machine.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "headlab/core/base/random.h"
#include "headlab/core/tensor/tape.h"
#include "headlab/core/tensor/tensor.h"
#include "support/errors.h"

namespace headlab {

constexpr double kEpsilon = std::numeric_limits<Scalar>::epsilon();

inline Tensor random_tensor(const Shape& shape, Key key, double low = -1, double high = 1) {
  Generator random(key);
  Tensor x = Tensor::empty(shape);
  for (Scalar& value : x.values()) value = static_cast<Scalar>(random.uniform(low, high));
  return x;
}

/// A random leaf that requires a gradient.
inline Tensor random_leaf(const Shape& shape, Key key, double low = -1, double high = 1) {
  Tensor x = random_tensor(shape, key, low, high);
  x.set_requires_grad();
  return x;
}

inline std::vector<double> numbers(const Tensor& x) {
  return std::vector<double>(x.values().begin(), x.values().end());
}

inline double largest(const std::vector<double>& values) {
  double largest = 0;
  for (double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

/// |actual - expected| <= tolerance, element by element; the worst is reported.
inline void expect_near(const std::vector<double>& actual, const std::vector<double>& expected,
                        double tolerance, const std::string& what = "values") {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  std::size_t worst = 0;
  double error = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double difference = std::abs(actual[i] - expected[i]);
    if (!(difference <= error)) {
      worst = i;
      error = std::isfinite(difference) ? difference : HUGE_VAL;
    }
  }
  EXPECT_LE(error, tolerance) << what << ": at " << worst << ", "
                              << (actual.empty() ? 0 : actual[worst]) << " instead of "
                              << (expected.empty() ? 0 : expected[worst]);
}

inline void expect_near(const Tensor& actual, const Tensor& expected, double tolerance,
                        const std::string& what = "values") {
  ASSERT_TRUE(actual.defined()) << what;
  ASSERT_TRUE(expected.defined()) << what;
  EXPECT_EQ(actual.shape(), expected.shape()) << what;
  expect_near(numbers(actual), numbers(expected), tolerance, what);
}

}  // namespace headlab
