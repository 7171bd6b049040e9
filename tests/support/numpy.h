// The random numbers of NumPy's legacy generator, np.random.seed and np.random.randn, with which
// articles print their figures: Mersenne Twister, doubles of 53 bits, and normal numbers by the
// polar method of Marsaglia, which makes two at a time and keeps the second for the next call.
#pragma once

#include <cmath>
#include <random>

#include "headlab/tensor/tensor.h"

namespace headlab {

class NumPyRandom {
 public:
  explicit NumPyRandom(std::uint32_t seed) : bits_(seed) {}

  /// Uniform in [0, 1).
  double uniform() {
    const auto high = static_cast<double>(bits_() >> 5), low = static_cast<double>(bits_() >> 6);
    return (high * 67108864 + low) / 9007199254740992;
  }

  double normal() {
    if (has_kept_) {
      has_kept_ = false;
      return kept_;
    }
    double x = 0, y = 0, square = 0;
    do {
      x = 2 * uniform() - 1;
      y = 2 * uniform() - 1;
      square = x * x + y * y;
    } while (square >= 1 || square == 0);
    const double factor = std::sqrt(-2 * std::log(square) / square);
    kept_ = factor * x;
    has_kept_ = true;
    return factor * y;
  }

  Tensor normals(const Shape& shape, double scale = 1) {
    Tensor x = Tensor::empty(shape);
    for (Scalar& value : x.values()) value = static_cast<Scalar>(scale * normal());
    return x;
  }

 private:
  std::mt19937 bits_;
  bool has_kept_ = false;
  double kept_ = 0;
};

}  // namespace headlab
