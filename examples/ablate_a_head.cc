// Shows how the output changes when one head is ablated: exactly the rows that the head adds: y
// is the sum over heads of z_h W_O,h. With W_O the identity each head has columns of its own, and
// the change stays in them. A W_O that mixes spreads the same loss over all columns: after it, no
// column belongs to a head any more. Read next: same_subspace.cc,
// include/headlab/core/nn/attention.h.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "headlab/core/nn/attention.h"
#include "headlab/core/ops/ops.h"

using namespace headlab;

/// The L2 norm of each column of x [1, T, C], and of all.
void print_norms(const char* what, const Tensor& x) {
  double all = 0;
  std::printf("%-16s", what);
  for (Index column = 0; column < x.size(2); ++column) {
    double squares = 0;
    for (Index row = 0; row < x.size(1); ++row)
      squares += std::pow(static_cast<double>(x.data()[row * x.size(2) + column]), 2);
    std::printf("  %.4f", std::sqrt(squares));
    all += squares;
  }
  std::printf("  all %.4f\n", std::sqrt(all));
}

void ablate_each(const MultiHeadAttention& attention, const Tensor& x) {
  const Tensor y = attention.forward(x, x, {});
  print_norms("output", y);
  Tensor rest = y;
  for (const Index head : {0, 1}) {
    HeadInterventions interventions{.gate = Tensor::full({2}, 1)};
    interventions.gate.data()[head] = 0;
    const Tensor change = y - attention.forward(x, x, {}, {}, {.interventions = &interventions});
    print_norms(head == 0 ? "ablate head 1" : "ablate head 2", change);
    rest = rest - change;
  }
  print_norms("neither", rest);
}

int main() {
  MultiHeadAttention attention(
      {.d_model = 4, .heads = 2, .d_head = 2, .d_value = 2, .kv_heads = 2});
  for (Linear* linear : {&attention.Q, &attention.K, &attention.V, &attention.O})
    for (Index i = 0; i < 4; ++i) linear->W.data()[i * 5] = 1;
  const Tensor x = Tensor::of({1, 5, 4}, {1, 0, 1, 0,    // The
                                          0, 2, 0, 1,    // cat
                                          1, 1, 1, 0,    // sat
                                          0, 0, 1, 1,    // on
                                          1, 0, 0, 1});  // mat
  std::printf("W_O is the identity\n");
  ablate_each(attention, x);
  const Scalar h = 0.5;  // orthogonal: keeps every length
  const Tensor mixing = Tensor::of({4, 4}, {h, h, h, h, h, -h, h, -h, h, h, -h, -h, h, -h, -h, h});
  std::copy_n(mixing.data(), 16, attention.O.W.data());
  std::printf("W_O mixes\n");
  ablate_each(attention, x);
}

// prints:
// W_O is the identity
// output            1.3913  2.0527  1.4408  1.4408  all 3.2095
// ablate head 1     1.3913  2.0527  0.0000  0.0000  all 2.4798
// ablate head 2     0.0000  0.0000  1.4408  1.4408  all 2.0376
// neither           0.0000  0.0000  0.0000  0.0000  all 0.0000
// W_O mixes
// output            3.0115  0.8301  0.3332  0.6572  all 3.2095
// ablate head 1     1.6059  0.7041  1.6059  0.7041  all 2.4798
// ablate head 2     1.4182  0.2543  1.4182  0.2543  all 2.0376
// neither           0.0000  0.0000  0.0000  0.0000  all 0.0000
