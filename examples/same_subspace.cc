// Two heads that read the same columns have one pattern. If their values are the same as well,
// W_O adds their blocks of rows, and one head could do it all; if their values differ, they are one
// head with wider values: one question, more said in answer. And heads of width 1, four of them: a
// score is the product of two numbers, so all queries above 0 rank the keys alike, and a query of 0
// looks everywhere alike. Read next: ablate_a_head.cc, five_tokens.cc.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "headlab/core/nn/attention.h"
#include "headlab/core/ops/ops.h"

using namespace headlab;

double largest_difference(const Tensor& a, const Tensor& b) {
  double largest = 0;
  for (Index i = 0; i < a.count(); ++i)
    largest = std::max(largest, std::abs(static_cast<double>(a.data()[i] - b.data()[i])));
  return largest;
}

void print_row(const Tensor& pattern, Index head, Index query) {
  const char* tokens[] = {"The", "cat", "sat", "on", "mat"};
  std::printf("head %d of width 1, %s:", static_cast<int>(head + 1), tokens[query]);
  for (Index key = 0; key < 5; ++key)
    std::printf("  %.4f", static_cast<double>(pattern.data()[(head * 5 + query) * 5 + key]));
  std::printf("\n");
}

int main() {
  const Tensor x = Tensor::of({1, 5, 4}, {1, 0, 1, 0,    // The
                                          0, 2, 0, 1,    // cat
                                          1, 1, 1, 0,    // sat
                                          0, 0, 1, 1,    // on
                                          1, 0, 0, 1});  // mat
  const Tensor W_O = Tensor::of({4, 4}, {1, 2, 0, 1, 0, 1, 1, 2, 2, 0, 1, 1, 1, 1, 2, 0});
  const Tensor half = slice(x, 2, 0, 2);
  const Tensor twice = concat({half, half}, 2);  // both heads read columns 0 and 1
  Tensor pattern, one_pattern;
  const auto attend = [](const Tensor& q, const Tensor& v, Index heads, Tensor& weights) {
    return attention(q, q, v, {.heads = heads}, &weights);
  };

  const Tensor same = attend(twice, twice, 2, pattern);
  std::printf("patterns of the two heads differ by %.4f\n",
              largest_difference(slice(pattern, 1, 0, 1), slice(pattern, 1, 1, 2)));
  const Tensor sum = slice(W_O, 0, 0, 2) + slice(W_O, 0, 2, 4);
  const Tensor one = attend(half, half, 1, one_pattern);
  std::printf("same values: two heads and one differ by %.4f\n",
              largest_difference(matmul(same, W_O), matmul(one, sum)));

  const Tensor values = attend(twice, x, 2, pattern);  // head 2 carries columns 2 and 3
  const Tensor wide = attend(half, x, 1, one_pattern);
  std::printf("other values: two heads and a wide one differ by %.4f\n",
              largest_difference(values, wide));
  std::printf("                         from the same values by %.4f\n",
              largest_difference(values, same));

  attend(x, x, 4, pattern);
  for (Index head = 0; head < 4; ++head) print_row(pattern, head, 2);
  print_row(pattern, 1, 1);
}

// prints:
// patterns of the two heads differ by 0.0000
// same values: two heads and one differ by 0.0000
// other values: two heads and a wide one differ by 0.0000
//                          from the same values by 0.7919
// head 1 of width 1, sat:  0.2677  0.0985  0.2677  0.0985  0.2677
// head 2 of width 1, sat:  0.0763  0.5637  0.2074  0.0763  0.0763
// head 3 of width 1, sat:  0.2677  0.0985  0.2677  0.2677  0.0985
// head 4 of width 1, sat:  0.2000  0.2000  0.2000  0.2000  0.2000
// head 2 of width 1, cat:  0.0154  0.8401  0.1137  0.0154  0.0154
