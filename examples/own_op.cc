// An op of your own: compute the output, then `record` how the gradient goes back. Here swish,
// y = x s with s = 1 / (1 + e^-x), and dy/dx = s + y (1 - s). `gradcheck` compares the two by
// central differences (link headlab::headlab_f64 for checks to 1e-8). Read next:
// include/headlab/core/tensor/tape.h and src/core/ops/arithmetic.cc, which has the built-in ones.
#include <cmath>
#include <cstdio>

#include "headlab/core/ops/ops.h"
#include "headlab/core/tensor/tape.h"
#include "headlab/lab/checks/gradcheck.h"

using namespace headlab;

Scalar sigmoid(Scalar x) { return 1 / (1 + std::exp(-x)); }

Tensor swish(const Tensor& x) {
  Tensor y = Tensor::empty(x.shape());
  for (Index i = 0; i < x.count(); ++i) y.data()[i] = x.data()[i] * sigmoid(x.data()[i]);
  return record("swish", y, {x}, [](Node& node) {  // receives its node, never captures y
    if (Scalar* dx = node.sum_into(0)) {           // gradients accumulate
      for (Index i = 0; i < node.count(); ++i) {
        const Scalar s = sigmoid(node.input(0).data()[i]);
        dx[i] += node.gradient()[i] * (s + node.output()[i] * (1 - s));
      }
    }
  });
}

int main() {
  const Tensor x = Tensor::of({4}, {-2, -0.5, 0.5, 2}).set_requires_grad();
  const Tensor y = swish(x);
  backward(sum(y));
  for (Index i = 0; i < x.count(); ++i) {
    std::printf("swish(%4.1f) = %7.4f  slope %7.4f\n", static_cast<double>(x.data()[i]),
                static_cast<double>(y.data()[i]), static_cast<double>(x.grad().data()[i]));
  }
  const auto result = gradcheck([](const auto& inputs) { return swish(inputs[0]); }, {x});
  std::printf("%s: %s, %lld derivatives compared\n", result.op.c_str(),
              result.passed ? "passed" : "failed", static_cast<long long>(result.elements));
}

// prints:
// swish(-2.0) = -0.2384  slope -0.0908
// swish(-0.5) = -0.1888  slope  0.2600
// swish( 0.5) =  0.3112  slope  0.7400
// swish( 2.0) =  1.7616  slope  1.0908
// swish: passed, 4 derivatives compared
