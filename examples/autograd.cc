// Automatic differentiation in 20 lines: a tensor that requires a gradient, a formula, backward.
// f(x) = sum(tanh(x)^2 + 3 x), so df/dx = 2 tanh(x) (1 - tanh(x)^2) + 3. Read next:
// include/headlab/core/tensor/tape.h, then examples/own_op.cc.
#include <cmath>
#include <cstdio>

#include "headlab/core/ops/ops.h"
#include "headlab/core/tensor/tape.h"

using namespace headlab;

int main() {
  const Tensor x = Tensor::of({3}, {-1, 0, 2}).set_requires_grad();
  const Tensor y = tanh(x);
  const Tensor f = sum(y * y + 3 * x);
  backward(f);
  std::printf("f = %.4f\n", static_cast<double>(f.item()));
  for (Index i = 0; i < x.count(); ++i) {
    const double t = std::tanh(static_cast<double>(x.data()[i]));
    std::printf("x = %4.1f  df/dx = %.4f  by hand %.4f\n", static_cast<double>(x.data()[i]),
                static_cast<double>(x.grad().data()[i]), 2 * t * (1 - t * t) + 3);
  }
}

// prints:
// f = 4.5094
// x = -1.0  df/dx = 2.3603  by hand 2.3603
// x =  0.0  df/dx = 3.0000  by hand 3.0000
// x =  2.0  df/dx = 3.1362  by hand 3.1362
