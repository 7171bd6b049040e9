// Inputs and comparisons that the tests of the kernels share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "headlab/core/base/random.h"
#include "headlab/core/base/threads.h"
#include "headlab/core/kernels/scalar.h"

namespace headlab {

inline constexpr double kEpsilon = static_cast<double>(std::numeric_limits<Scalar>::epsilon());
inline constexpr Scalar kInfinity = std::numeric_limits<Scalar>::infinity();

/// `count` numbers, uniform in [-1, 1).
inline std::vector<Scalar> numbers(Index count, std::uint64_t seed) {
  Generator generator(Key{seed});
  std::vector<Scalar> values(static_cast<std::size_t>(count));
  for (Scalar& value : values) value = static_cast<Scalar>(generator.uniform(-1, 1));
  return values;
}

/// Every pair differs by at most `tolerance`; equal infinities and pairs of NaN agree.
inline void expect_near(const std::vector<Scalar>& got, const std::vector<Scalar>& expected,
                        double tolerance, const char* what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == expected[i] || (std::isnan(got[i]) && std::isnan(expected[i]))) continue;
    const double difference =
        std::fabs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
    ASSERT_LE(difference, tolerance)
        << what << " at " << i << ": " << got[i] << ", not " << expected[i];
  }
}

/// Sets the number of threads until the end of the scope.
class Threads {
 public:
  explicit Threads(int count) : before_(thread_count()) { set_thread_count(count); }
  ~Threads() { set_thread_count(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

}  // namespace headlab
