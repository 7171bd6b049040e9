// A program that uses headlab in float, and through in_double.cc in double as well. It
// differentiates x^2 e^x at x = 1 both ways: the exact answer is 3 e. The exit status says whether
// all was right. Read next: CMakeLists.txt.
#include <headlab/core/base/build.h>
#include <headlab/headlab.h>

#include <cmath>
#include <cstdio>
#include <numbers>
#include <type_traits>

double derivative_in_double(double x);

int main() {
  static_assert(std::is_same_v<headlab::Scalar, float>);
  headlab::Tensor x = headlab::Tensor::scalar(1);
  x.set_requires_grad();
  headlab::backward(x * x * headlab::exp(x));
  const double single = static_cast<double>(x.grad().item());
  const double twice = derivative_in_double(1);
  const double exact = 3 * std::numbers::e;
  std::printf("headlab %s: %.6f in float, %.12f in double, 3e = %.12f\n", headlab::version(),
              single, twice, exact);
  return std::abs(single - exact) < 1e-5 && std::abs(twice - exact) < 1e-13 ? 0 : 1;
}
