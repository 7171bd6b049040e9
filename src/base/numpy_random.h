// The random numbers of NumPy's legacy generator, np.random.seed and np.random.randn, with which
// articles print their figures: Mersenne Twister, doubles of 53 bits, and normal numbers by the
// polar method of Marsaglia, which makes two at a time and keeps the second for the next call. For
// figures that must come out to the last digit; everything else draws from random.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace headlab {

class NumPyRandom {
 public:
  /// np.random.seed(seed).
  explicit NumPyRandom(std::uint32_t seed) : bits_(seed) {}

  /// np.random.rand(): uniform in [0, 1).
  double uniform();
  /// np.random.randn().
  double normal();
  /// scale * np.random.randn(count).
  std::vector<double> normals(std::size_t count, double scale = 1);

 private:
  std::mt19937 bits_;
  bool has_kept_ = false;
  double kept_ = 0;
};

}  // namespace headlab
