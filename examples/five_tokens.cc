// Multi-head attention by hand: five tokens, width 4, two heads of width 2. Head 1 sees columns 0
// and 1 of Q, K and V, head 2 columns 2 and 3. "on" asks nothing of head 1 (its query is 0), so
// that head looks everywhere alike; in head 2 it finds itself. Read next:
// include/headlab/core/ops/attention.h.
#include <cstdio>

#include "headlab/core/nn/attention.h"
#include "headlab/core/ops/ops.h"
#include "headlab/lab/heads/lessons/lessons.h"

using namespace headlab;

/// Rows of x [..., columns], each with its token.
void print(const char* title, const Tensor& x) {
  const std::vector<std::string>& tokens = worked_example("five-tokens").tokens;
  std::printf("%s\n", title);
  for (Index row = 0; row < x.size(-2); ++row) {
    std::printf("%5s", tokens[static_cast<std::size_t>(row)].c_str());
    for (Index column = 0; column < x.size(-1); ++column)
      std::printf("  %.4f", static_cast<double>(x.data()[row * x.size(-1) + column]));
    std::printf("\n");
  }
}

/// A matrix [T, d] as a batch of one sequence.
Tensor sequence(const Matrix& matrix) {
  const std::vector<Scalar> values(matrix.values().begin(), matrix.values().end());
  return Tensor::of({1, matrix.rows(), matrix.columns()}, values);
}

int main() {
  const WorkedExample& worked = worked_example("five-tokens");
  const Tensor q = sequence(worked.q), k = sequence(worked.k), v = sequence(worked.v);
  print("q: columns of head 1, of head 2", q);
  AttentionActivations activations;
  const Tensor z = attention(q, k, v, {.heads = 2}, &activations.pattern);
  print("weights of head 1", slice(activations.pattern, 1, 0, 1));
  print("weights of head 2", slice(activations.pattern, 1, 1, 2));
  print("weights, averaged", activations.average_pattern());
  print("output: head 1, head 2", z);
}

// prints:
// q: columns of head 1, of head 2
//   The  1.0000  0.0000  1.0000  0.0000
//   cat  0.0000  2.0000  0.0000  1.0000
//   sat  1.0000  1.0000  1.0000  0.0000
//    on  0.0000  0.0000  1.0000  1.0000
//   mat  1.0000  0.0000  0.0000  1.0000
// weights of head 1
//   The  0.1237  0.2509  0.2509  0.1237  0.2509
//   cat  0.3664  0.0891  0.3664  0.0891  0.0891
//   sat  0.1811  0.1811  0.3673  0.0893  0.1811
//    on  0.2000  0.2000  0.2000  0.2000  0.2000
//   mat  0.1237  0.2509  0.2509  0.1237  0.2509
// weights of head 2
//   The  0.1337  0.2711  0.1337  0.2711  0.1904
//   cat  0.2711  0.1337  0.1337  0.2711  0.1904
//   sat  0.1337  0.2711  0.1337  0.2711  0.1904
//    on  0.1811  0.1811  0.0893  0.3673  0.1811
//   mat  0.2711  0.1337  0.1337  0.2711  0.1904
// weights, averaged
//   The  0.1287  0.2610  0.1923  0.1974  0.2206
//   cat  0.3188  0.1114  0.2500  0.1801  0.1397
//   sat  0.1574  0.2261  0.2505  0.1802  0.1858
//    on  0.1906  0.1906  0.1447  0.2837  0.1906
//   mat  0.1974  0.1923  0.1923  0.1974  0.2206
// output: head 1, head 2
//   The  0.2491  0.3763  0.2289  0.3663
//   cat  0.4109  0.1336  0.2289  0.3663
//   sat  0.2717  0.2717  0.2289  0.3663
//    on  0.3000  0.3000  0.1799  0.4579
//   mat  0.2491  0.3763  0.2289  0.3663
