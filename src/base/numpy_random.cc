// Order matters here: each pair of normal numbers is made of one point in the unit disc, and the
// second coordinate is handed out first. The distributions of <random> would do, but no standard
// says which numbers they give. Read next: random.cc, the generator of all else.
#include "base/numpy_random.h"

#include <cmath>

namespace headlab {

double NumPyRandom::uniform() {
  const auto high = static_cast<double>(bits_() >> 5), low = static_cast<double>(bits_() >> 6);
  return (high * 67108864 + low) / 9007199254740992;
}

double NumPyRandom::normal() {
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

std::vector<double> NumPyRandom::normals(std::size_t count, double scale) {
  std::vector<double> values(count);
  for (double& value : values) value = scale * normal();
  return values;
}

}  // namespace headlab
