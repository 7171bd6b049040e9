// The half of the consumer that computes in double: it links headlab::headlab_f64, which defines
// HEADLAB_F64 for it. Both halves live in one program because the names of the two libraries differ
// by an inline namespace. Read next: main.cc.
#include <headlab/headlab.h>

#include <type_traits>

double derivative_in_double(double at) {
  static_assert(std::is_same_v<headlab::Scalar, double>);
  headlab::Tensor x = headlab::Tensor::scalar(at);
  x.set_requires_grad();
  headlab::backward(x * x * headlab::exp(x));
  return x.grad().item();
}
