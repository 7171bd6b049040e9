// Fused attention.
#include "headlab/kernels/attention.h"

namespace headlab::inline HEADLAB_SCALAR {

void attention_forward(const AttentionProblem& problem, Scalar* z, Index z_stride,
                       Scalar* log_sum_exp, Scalar* pattern) {
  attention_forward_plain(problem, z, z_stride, log_sum_exp, pattern);
}

void attention_backward(const AttentionProblem& problem, const AttentionBackward& gradients) {
  attention_backward_plain(problem, gradients);
}

}  // namespace headlab::inline HEADLAB_SCALAR
